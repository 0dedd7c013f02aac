"""``assay crosscheck``: the same points by our engine and by fio, with the uncertainty of the differences."""

from __future__ import annotations

import json
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import click

from assay.cli.commands import HelpedCommand
from assay.cli.completion import drive_candidates
from assay.cli.config import output_folder
from assay.cli.options import file_target_option, report_folder_option, signature_option, yes_destroy_option

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from assay.host.points import CheckPoint
    from assay.tools.crosscheck import Difference

_RATIO_MAX = 1000
_METRICS = {"iops": ("IOPS", 1, 0), "mean_ns": ("mean, us", 1000, 1), "p99_ns": ("99 %, us", 1000, 1)}
"""What each metric is called, its divisor to the printed unit, and decimals."""


@click.command(cls=HelpedCommand, examples=("crosscheck /dev/nvme0n1", "crosscheck disk.img --file-target --pairs 10"))
@click.argument("drive", shell_complete=drive_candidates)
@click.option(
    "--seconds", type=click.FloatRange(0.1, 3600), default=5.0, show_default=True, help="Seconds per measurement."
)
@click.option(
    "--pairs", type=click.IntRange(2, 1000), default=5, show_default=True, help="Pairs of measurements per point."
)
@report_folder_option
@yes_destroy_option
@signature_option
@file_target_option
@click.option("--json", "as_json", is_flag=True, help="Print the differences as JSON.")
def crosscheck(drive: str, out: Path | None, yes_destroy: str | None, as_json: bool, **options: Any) -> None:
    """Measure points of DRIVE alternately with this engine and with fio, and report the differences.

    The first 16 GiB of the drive LOSE ALL DATA; it must be confirmed with its identity.
    """
    from importlib.metadata import version  # noqa: PLC0415

    from assay.tools.crosscheck import crosscheck_drive, differences  # noqa: PLC0415
    from assay.tools.crosscheck.pages import crosscheck_facts, write_crosscheck  # noqa: PLC0415

    with _report_folder(out) as folder:
        check = crosscheck_drive(
            drive,
            tool=f"Assay {version('assay')}",
            confirmation=yes_destroy,
            file_target=options["file_target"],
            signatures=frozenset(options["signatures"]),
            acknowledged=options["acknowledged"],
            seconds=options["seconds"],
            pairs=options["pairs"],
            show=lambda text: click.echo(f"assay: now: {text}", err=True),
        )
        result = [(point, differences(pairs)) for point, pairs in check.pairs]
        paths = write_crosscheck(folder, check, result)
    if as_json:
        facts = {**crosscheck_facts(check, result), "report": [str(path) for path in paths]}
        click.echo(json.dumps(facts, indent=2))
        return
    _print(result)
    for path in paths:
        click.echo(f"Report: {path.resolve()}")


def _print(compared: Sequence[tuple[CheckPoint, Sequence[Difference]]]) -> None:
    """A row for each metric of each point, with one verdict for the point, and what verdicts mean."""
    from assay.cli.table import print_table  # noqa: PLC0415
    from assay.tools.crosscheck import AGREEMENT, point_verdict  # noqa: PLC0415

    rows = [
        (
            "" if index else point.label,
            _METRICS[difference.metric][0],
            _figure(difference.ours, difference.metric),
            _figure(difference.fio, difference.metric),
            _ratio(difference.ratio),
            f"{_ratio(difference.low)} to {_ratio(difference.high)}",
            "" if index else point_verdict(differences),
        )
        for point, differences in compared
        for index, difference in enumerate(differences)
    ]
    headers = ("point, TC x QD", "figure", "ours", "fio", "ours / fio", "95 % interval", "verdict")
    print_table(headers, rows, right={"ours", "fio", "ours / fio"})
    click.echo(
        "ours, fio: medians over the pairs; ours / fio: geometric mean of our figure over fio's in each pair, 1 where "
        "they are equal. "
        f"agree: every interval of the point lies within {AGREEMENT * 100:g} % of 1; differ: an interval excludes 1; "
        "undecided: neither; measure more pairs with --pairs."
    )


def _ratio(value: float) -> str:
    """A ratio, cut at 1000. Worked: 1.0446 -> ``1.045``."""
    return f"{value:.3f}" if value < _RATIO_MAX else f"over {_RATIO_MAX}"


def _figure(value: float, metric: str) -> str:
    """A figure in its unit. Worked: 1948798.2 IOPS -> ``1,948,798``; a mean of 81234 ns -> ``81.2``."""
    _, divisor, decimals = _METRICS[metric]
    return f"{value / divisor:,.{decimals}f}"


@contextmanager
def _report_folder(out: Path | None) -> Iterator[Path]:
    """The folder of the report, made before anything is measured; one that was made and stayed empty is removed."""
    from assay.run.store.write import new_folder  # noqa: PLC0415

    existed = out is not None and out.exists()
    folder = new_folder(out, f"crosscheck-{time.time_ns():x}", below=output_folder())
    try:
        yield folder
    finally:
        if not existed:
            with suppress(OSError):
                folder.rmdir()
