"""``assay runs``: the run folders below a folder."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.notice import say_unfinished
from assay.errors import StoreError, VerificationError
from assay.visible import visible

if TYPE_CHECKING:
    from assay.engine.records import StoredTest


@click.command()
@click.argument("folder", type=click.Path(path_type=Path), default=Path("runs"))
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def runs(folder: Path, as_json: bool) -> None:
    """List the runs in FOLDER (default: runs)."""
    from assay.run.store.read import list_runs  # noqa: PLC0415

    facts = sorted((_facts(path) for path in list_runs(folder)), key=lambda run: run["started"])
    if as_json:
        click.echo(json.dumps(facts, indent=2))
        return
    for run in facts:
        click.echo("\t".join(visible(run[key]) for key in ("run", "started", "drive", "tests")).expandtabs(4))
    if not facts:
        click.echo(f"no runs in {folder}")


def _facts(path: Path) -> dict[str, Any]:
    from assay.run.store.read import read_run  # noqa: PLC0415

    try:
        run = read_run(path)
    except (StoreError, VerificationError) as error:
        return {"run": str(path), "started": "unknown", "drive": "unknown", "tests": str(error), "withheld": []}
    say_unfinished(path, run)
    return {
        "run": str(path),
        "started": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(run.started_wall_ns // 10**9)),
        "drive": run.identity.path,
        "tests": ", ".join(_test(test) for test in run.tests) or "none",
        "withheld": [{"test": test.settings.test, "reason": reason} for test in run.tests if (reason := _why(test))],
    }


def _test(test: StoredTest) -> str:
    samples = len(test.steps("sample"))
    extent = f"{samples} samples" if samples else f"{len(test.rounds)} rounds"
    withheld = f", RESULTS WITHHELD: {reason}" if (reason := _why(test)) else ""
    return f"{test.settings.test} {test.settings.edition}: {extent}, {test.ended or 'unfinished'}{withheld}"


def _why(test: StoredTest) -> str | None:
    """Why a test that ran to its end has no results; how others ended says enough."""
    from assay.results import withheld_reason  # noqa: PLC0415

    early = test.ended in {None, "interrupted", "device-failure"}
    return None if early else withheld_reason(test)
