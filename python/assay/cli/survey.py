"""``assay survey``: one plan on several drives, one after the other, and the comparison of what they gave."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.commands import HelpedCommand
from assay.cli.completion import drive_candidates
from assay.cli.config import with_settings
from assay.cli.options import refuse_writes_limit, scale_option, signature_option
from assay.cli.progress import RunDisplay
from assay.cli.table import print_heading, print_paragraph, print_table
from assay.errors import InterruptedRunError, strongest
from assay.words.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.dut.dut import Answers
    from assay.run.survey import Sample, SampleOutcome

COMPARISON = "comparison"
"""The folder of the comparison, in that of the survey."""
COMPARED_MIN = 2


@click.command(
    cls=HelpedCommand,
    examples=(
        "survey plan.toml sim:slc-a sim:mlc-a --out survey",
        "survey plan.toml /dev/nvme0n1 /dev/nvme1n1 --out survey --blind",
    ),
)
@click.argument("plan", metavar="PLAN.toml", type=click.Path(path_type=Path))
@click.argument("drives", metavar="[DRIVE ...]", nargs=-1, shell_complete=drive_candidates)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    required=True,
    metavar="DIR",
    help="Folder of the run folders; complete runs in it are kept.",
)
@click.option("--suite", metavar="NAME", help="Tests and edition by name. Default: the plan's, or blind-survey.")
@click.option(
    "--seed", type=int, metavar="N", help="Seed of the addresses, the same for every drive. Default: drawn for each."
)
@scale_option
@click.option(
    "--yes-destroy",
    "confirmed",
    multiple=True,
    metavar="ID",
    help="Confirm a drive; repeat for each. Default: none is confirmed.",
)
@signature_option
@click.option(
    "--max-drive-writes",
    "drive_writes_max",
    type=click.FloatRange(0, min_open=True),
    metavar="N",
    help="Refuse where more than N capacities of a drive could be written. Default: as assay run.",
)
@click.option("--blind", is_flag=True, help="Compare without names: classes and letters instead of identities.")
@click.option("--no-report", is_flag=True, help="Write only the comparison, without reports of the runs.")
def survey(
    *,
    plan: Path,
    drives: tuple[str, ...],
    out: Path,
    confirmed: tuple[str, ...],
    signatures: tuple[str, ...],
    acknowledged: frozenset[str],
    drive_writes_max: float | None,
    blind: bool,
    no_report: bool,
    **options: Any,
) -> int:
    """Run PLAN.toml on every DRIVE, or on those that it lists as drives, in turn, and compare them.

    Every drive is identified and checked before the first write. If a drive fails, the others still run.
    Real drives lose ALL DATA; each must be confirmed with its identity. Exit codes are those of assay run.
    """
    from assay.dut.dut import Answers  # noqa: PLC0415
    from assay.dut.simulated.model import is_simulated  # noqa: PLC0415
    from assay.run.survey import answers_of, refuse_survey, survey_samples  # noqa: PLC0415

    given = {name: value for name, value in options.items() if value is not None}
    samples = survey_samples(plan, drives, given, out, completed=with_settings)
    common = Answers(signatures=frozenset(signatures), acknowledged=acknowledged, drive_writes_max=drive_writes_max)
    for sample in samples if all(is_simulated(sample.plan.drive) for sample in samples) else ():
        refuse_writes_limit(sample.plan, drive_writes_max)
    answers = answers_of(samples, confirmed, common)
    refuse_survey(samples, answers)
    ended = _run(samples, answers, report=not no_report)
    _tell(ended)
    _compare([outcome.sample.folder for outcome in ended if outcome.error is None], out / COMPARISON, blind=blind)
    return strongest({outcome.exit_code for outcome in ended})


def _run(samples: Sequence[Sample], answers: dict[int, Answers], *, report: bool) -> list[SampleOutcome]:
    from assay.run.survey import run_sample  # noqa: PLC0415

    ended = []
    for sample in samples:
        name = f"Drive {sample.number} of {len(samples)}: {sample.plan.drive}"
        print_heading(f"{name} (measured before)" if sample.measured else name)
        display = RunDisplay()
        with display:
            outcome = run_sample(sample, answers[sample.number], display.show)
            if report and outcome.error is None and not sample.measured:
                _render(sample.folder, display)
        if outcome.error:
            click.echo(str(outcome.error), err=True)
        ended.append(outcome)
    return ended


def _render(folder: Path, display: RunDisplay) -> None:
    from assay.archive.rendering import render_run  # noqa: PLC0415
    from assay.report import FORMATS  # noqa: PLC0415

    try:
        render_run(folder, FORMATS, shown=display.rendering)
    except KeyboardInterrupt:
        reason = f"stopped while a report was written; the run in {folder} is complete"
        raise InterruptedRunError("survey", reason, "give the same command again to go on") from None


def _compare(folders: Sequence[Path], out: Path, *, blind: bool) -> None:
    """Compare what was measured, with the figures of 2010. A single drive is not compared."""
    from assay.cli.compare import BLIND_KEY, loaded_runs, print_comparison  # noqa: PLC0415
    from assay.compare.comparison import Options, compare_runs  # noqa: PLC0415
    from assay.report.comparison.files import write_comparison  # noqa: PLC0415
    from assay.report.comparison.pages import published_tables  # noqa: PLC0415

    if len(folders) < COMPARED_MIN:
        return
    options = Options(despite=True, repeats=False, blind=BLIND_KEY if blind else None)
    result = compare_runs(loaded_runs(folders), options)
    click.echo()
    print_comparison(result)
    click.echo()
    for path in write_comparison(result, out, published_tables()):
        if path.suffix in {".pdf", ".html"}:
            click.echo(visible(f"Comparison: {path.resolve()}"))


def _tell(ended: Sequence[SampleOutcome]) -> None:
    click.echo()
    print_heading("Survey")
    print_table(("No", "Drive", "Run folder", "Outcome"), list(_rows(ended)))
    for outcome in ended:
        if outcome.error:
            print_paragraph(visible(str(outcome.error)), mark=f"{outcome.sample.number}: ")


def _rows(ended: Sequence[SampleOutcome]) -> Iterator[tuple[str, ...]]:
    for outcome in ended:
        sample = outcome.sample
        measured = "measured before" if sample.measured else "measured"
        text = f"exit code {outcome.exit_code}" if outcome.exit_code else measured
        yield str(sample.number), sample.plan.drive, str(sample.folder), text
