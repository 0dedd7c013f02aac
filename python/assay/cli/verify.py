"""``assay verify``: whether run folders are what they say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli import stored_runs
from assay.cli.commands import HelpedCommand, same_as_json_option
from assay.cli.table import print_heading, print_paragraph, print_table
from assay.errors import StoreError, VerificationError, strongest
from assay.spec.units import count_label
from assay.version import tool_version
from assay.words.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.archive.verify import Verification
    from assay.archive.verify.listed import VerifiedRun

_COLUMNS = ("Rule", "Location", "Actual", "Expected")


@click.command(cls=HelpedCommand, examples=("verify runs/p1", "verify p1.assay --json"))
@click.argument("runs", metavar="RUN|BUNDLE...", nargs=-1, required=True, type=click.Path(path_type=Path))
@same_as_json_option
def verify(runs: tuple[Path, ...], as_json: bool) -> int:
    """Verify that each RUN is what it says: work everything out again from the lowest level that is stored.

    BUNDLE is a file that assay export wrote: it is checked as assay import does, and unpacked for the time of this.

    The rules and their IDs are in docs/rules.md. Nothing is written to the folder; the result is kept in the user's
    state folder. That a run was interrupted or cut short breaks no rule; what it holds is verified. Results that the
    run itself withholds stay withheld.

    Exit codes: 0 no rule is broken, 5 a rule is broken or the run withholds results, 6 a folder that cannot be read.
    """
    result = [_verified(folder) for folder in runs]
    if as_json:
        click.echo(json.dumps([run.as_json() for run in result], indent=2))
    else:
        for number, one in enumerate(result):
            click.echo("\n" if number else "", nl=False)
            _print(one)
    return strongest({run.exit_code for run in result})


def _verified(path: Path) -> VerifiedRun:
    from assay.archive.bundle import bundle_level, is_bundle, level_text, opened, trusted_keys  # noqa: PLC0415
    from assay.archive.levels import verify_and_keep  # noqa: PLC0415
    from assay.archive.verify import verify_run  # noqa: PLC0415
    from assay.archive.verify.listed import unreadable_run, verified_run  # noqa: PLC0415
    from assay.spec.files import config_folder  # noqa: PLC0415

    try:
        if not is_bundle(path):
            verified = verify_and_keep(path)[0]
            return verified_run(verified, str(path), _level(path, verified))
        with opened(path) as result:
            verified = verify_run(result.folder)
            level = bundle_level(
                result.bundle, trusted_keys(config_folder()), passed=verified.passed and bool(verified.sequence_count)
            )
            return verified_run(verified, str(path), level_text(level))
    except (StoreError, VerificationError) as error:
        return unreadable_run(error, str(path), tool_version())


def _level(path: Path, verified: Verification) -> str | None:
    """How far a run folder is vouched for, as ``assay show`` says it; None where a rule says why not."""
    from assay.archive.bundle import trusted_keys, with_origin  # noqa: PLC0415 - heavy, as above
    from assay.report.annex.trust import level_label  # noqa: PLC0415
    from assay.run.store.read import read_run  # noqa: PLC0415
    from assay.spec.files import config_folder  # noqa: PLC0415

    if not verified.passed or not verified.sequence_count:
        return None
    return level_label(
        with_origin(read_run(path), path, trusted_keys(config_folder()), host_id=stored_runs.host_id(), checked=True)
    )


def _print(verified: VerifiedRun) -> None:
    print_heading(visible(f"{verified.run}: {_verdict(verified)}"))
    if verified.error is not None:
        click.echo(f"assay: {visible(verified.error)}", err=True)
        return
    if verified.broken:
        print_table(_COLUMNS, [(row.rule, row.place, row.found, row.expected) for row in verified.broken])
    if verified.level is not None:
        print_paragraph(visible(f"Level: {verified.level}."))
    print_paragraph(_basis(verified))
    if verified.unchecked:
        for count, why in _unchecked(verified):
            print_paragraph(f"{count_label(count, 'rule')} not checked: {why}.")
    for test, reason in verified.withheld.items():
        print_paragraph(f"The run withholds the results of {test}: {reason}. That stands, whatever was verified.")
    if not verified.broken and not verified.complete:
        print_paragraph("The journal ends without the end of the run: it goes on, was interrupted, or was cut.")


def _unchecked(verified: VerifiedRun) -> Iterator[tuple[int, str]]:
    """How many rules were not checked, by reason."""
    if verified.broken:
        yield len(verified.unchecked), "they rest on what is broken"
        return
    of_report = [rule for rule in verified.unchecked if rule.startswith("R-")]
    if of_report:
        yield len(of_report), "the report is of an older form: assay report writes it anew"
    if others := len(verified.unchecked) - len(of_report):
        yield others, f"Assay {verified.tool_version} did not store what they ask for"


def _verdict(verified: VerifiedRun) -> str:
    if verified.error is not None:
        return "CANNOT BE READ"
    rules = sorted({row.rule for row in verified.broken})
    if rules:
        return f"NOT VERIFIED: broken {', '.join(rules)}"
    if not verified.sequence_count:
        return "NOTHING MEASURED: there is no result to verify"
    return f"verified, {len(verified.rules)} rules hold" + (
        ", results withheld by the run itself" if verified.withheld else ""
    )


def _basis(verified: VerifiedRun) -> str:
    """By what it was verified, and what is held by the last hash."""
    written = (
        f"written by Assay {verified.tool_version}, edition {verified.edition}"
        if verified.tool_version
        else "writer unknown"
    )
    held = f"; final hash {verified.journal_hash}" if verified.journal_hash else ""
    return f"Checked by Assay {verified.checker}: {len(verified.rules)} rules (docs/rules.md); {written}{held}."
