"""``assay drives``: what could be tested, and what stands against it."""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import asdict
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

import click

from assay.cli.candidates import drive_candidates
from assay.cli.helped import HelpedCommand

if TYPE_CHECKING:
    from assay.dut.simulated.shipped import ShippedModel
    from assay.engine.records import DriveIdentity

_KEYS = ("id", "path", "model_number", "serial", "capacity_bytes", "kind", "refusals")
_NO_IDENTITY = "none needed"
_COLUMNS_MIN = 80
_REASONS_SHOWN = 2
_REASON_LETTERS = 60


@click.command(cls=HelpedCommand, examples=("drives", "drives --describe /dev/nvme0n1"))
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option(
    "--describe",
    metavar="DRIVE",
    shell_complete=drive_candidates,
    help="Show every fact of DRIVE. Default: all drives are listed.",
)
@click.option("--file-target", is_flag=True, help="DRIVE is a regular file.")
def drives(as_json: bool, describe: str | None, file_target: bool) -> None:
    """List the drives of this host and the simulated drives, or describe a drive.

    The reasons against a test of a drive are shortened; --describe and --json show them in full.
    """
    if describe is not None:
        _describe(describe, file_target=file_target, as_json=as_json)
        return
    result = _all_drives()
    if as_json:
        click.echo(json.dumps(result, indent=2))
    else:
        _print(result)


def _all_drives() -> list[dict[str, Any]]:
    from assay.dut.real.preflight import list_drives  # noqa: PLC0415
    from assay.dut.simulated.shipped import shipped_models  # noqa: PLC0415

    return [*map(_real, list_drives()), *map(_simulated, shipped_models())]


def _real(drive: DriveIdentity) -> dict[str, Any]:
    facts = asdict(drive)
    return {key: facts[key] for key in _KEYS}


def _simulated(model: ShippedModel) -> dict[str, Any]:
    return {
        "id": model.drive,
        "path": model.drive,
        "model_number": model.title,
        "serial": model.serial,
        "capacity_bytes": model.capacity_bytes,
        "kind": "simulated",
        "refusals": (),
    }


def _print(found: list[dict[str, Any]]) -> None:
    """As a table; a narrow terminal has no place for the model."""
    from assay.cli.table import print_table  # noqa: PLC0415

    left_out = {"model"} if sys.stdout.isatty() and get_terminal_size().columns < _COLUMNS_MIN else set()
    rows = [{key: text for key, text in _row(drive).items() if key not in left_out} for drive in found]
    headers = [key for key in _row(found[0]) if key not in left_out]
    print_table(headers, [tuple(row.values()) for row in rows], right={"GB"})


def _row(drive: dict[str, Any]) -> dict[str, str]:
    """A drive by the headers of the table."""
    from assay.spec.units import gigabytes  # noqa: PLC0415

    return {
        "drive": drive["path"],
        "GB": f"{gigabytes(drive['capacity_bytes']):,.2f}",
        "model": drive["model_number"] or "unknown",
        "identity": _NO_IDENTITY if drive["kind"] == "simulated" else drive["id"],
        "may be tested": _short(drive["refusals"]),
    }


def _short(refusals: tuple[str, ...]) -> str:
    """Whether a drive may be tested, and if not, the kinds of reasons.

    Worked: ("backs the system (/)", "backs the system (/boot)") -> ``no: backs the system (2x)``.
    """
    if not refusals:
        return "yes"
    kinds = Counter(reason.partition(" (")[0] for reason in refusals)
    shown = [f"{_cut(kind)} ({count}x)" if count > 1 else _cut(kind) for kind, count in kinds.items()]
    more = len(shown) - _REASONS_SHOWN
    return f"no: {'; '.join(shown[:_REASONS_SHOWN])}" + (f"; {more} more" if more > 0 else "")


def _cut(text: str) -> str:
    return text if len(text) <= _REASON_LETTERS else f"{text[: _REASON_LETTERS - 3]}..."


def _describe(target: str, *, file_target: bool, as_json: bool) -> None:
    from assay.cli.describe import describe_real, describe_simulated, real_facts, simulated_facts  # noqa: PLC0415
    from assay.dut.simulated.model import is_simulated  # noqa: PLC0415

    simulated = is_simulated(target)
    facts = simulated_facts(target) if simulated else real_facts(target, file_target=file_target)
    if as_json:
        click.echo(json.dumps(facts, indent=2))
    elif simulated:
        describe_simulated(facts)
    else:
        describe_real(facts)
