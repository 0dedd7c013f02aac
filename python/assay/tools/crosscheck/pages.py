"""The page of a crosscheck: our engine next to fio, with the uncertainty of every difference."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from assay.report import render_pages
from assay.spec.units import MICROSECOND_NS
from assay.summary.pages.header import ORGANISATION
from assay.summary.pages.model import Group, Header, Page, Report, Table
from assay.tools.crosscheck.run import point_verdict
from assay.words.printed import capacity_label, paragraph, printable, utc, utc_datetime

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import Any

    from assay.host.points import CheckPoint, Side
    from assay.tools.crosscheck import Crosscheck, Difference

_NAMES = {"iops": "IOPS", "mean_ns": "Mean", "p99_ns": "99 %"}
_EXPLANATION = (
    """Each point is measured by our engine and by fio in turn on the same held device, with the same access, demand,
    range and time. Response times of both include the submission (fio: lat, not its default clat).""",
    """The ratio is the geometric mean of ours over theirs in each pair, with the 95 % interval of Student's t on the
    logarithms. Engines agree where the whole interval lies within 5 % of equality, and differ where it does not hold
    equality; what the pairs do not tell is undecided, and more or longer pairs would.""",
    """QD is what Little's law gives: I/Os per second times mean response time.""",
)


CROSSCHECK = "crosscheck.json"


def crosscheck_report(check: Crosscheck, compared: Sequence[tuple[CheckPoint, Sequence[Difference]]]) -> Report:
    """Lay out a crosscheck as a report of one page.

    compared : the differences of every point, in the order of ``check.pairs``.
    """
    page = Page(
        title="Crosscheck",
        subtitle="Our engine and fio on the same device",
        header=_header(check),
        banner=None,
        blocks=(_table(check, compared),),
        place="1 of 1",
    )
    return Report(
        title=f"{printable(check.drive.id)} - crosscheck",
        label="crosscheck of the stimulus engine",
        colophon=f"{printable(check.tool)} - {printable(check.fio)}",
        date=utc_datetime(check.started_wall_ns).timetuple()[:6],
        pages=(page,),
    )


def _header(check: Crosscheck) -> Header:
    drive = check.drive
    measured = len(check.pairs[0][1]) if check.pairs else 0
    return Header(
        form="2.0",
        organisation=ORGANISATION,
        revision="crosscheck",
        dates=(("Test Run Date", utc(check.started_wall_ns)), ("Report Run Date", utc(check.started_wall_ns))),
        parties=(
            ("Vendor", printable(None)),
            ("SSD Model", printable(drive.model_number)),
            ("Tested By", printable(None)),
        ),
        groups=(
            Group(
                title="Device Information",
                entries=(
                    ("Identity", printable(drive.id)),
                    ("Firmware Rev", printable(drive.firmware)),
                    ("User Capacity", capacity_label(drive.capacity_bytes)),
                ),
            ),
            Group(
                title="Crosscheck",
                entries=(
                    ("Range", f"first {capacity_label(check.range_bytes)}"),
                    ("Pairs of each point", str(measured)),
                    ("Time of each", f"{check.seconds:g} s"),
                ),
            ),
            Group(title="Engines", entries=(("Ours", printable(check.tool)), ("Theirs", printable(check.fio)))),
        ),
    )


def _table(check: Crosscheck, compared: Sequence[tuple[CheckPoint, Sequence[Difference]]]) -> Table:
    rows = [
        _row(point, difference, pairs)
        for (point, differences), (_, pairs) in zip(compared, check.pairs, strict=True)
        for difference in differences
    ]
    columns = ("Point, TC x QD", "Metric", "Ours", "fio", "Ours / fio", "95 % interval", "QD ours / fio", "Verdict")
    return Table(
        caption="Medians, and ratios of pairs; response times in us",
        columns=columns,
        rows=tuple(rows),
        notes=tuple(paragraph(text) for text in _EXPLANATION),
    )


def _row(point: CheckPoint, difference: Difference, pairs: Sequence[tuple[Side, Side]]) -> tuple[str, ...]:
    first = difference.metric == "iops"
    depths = [sum(pair[side].queue_depth for pair in pairs) / len(pairs) for side in (0, 1)]
    return (
        point.label if first else "",
        _NAMES[difference.metric],
        _value(difference.ours, difference.metric),
        _value(difference.fio, difference.metric),
        f"{difference.ratio:.3f}",
        f"{difference.low:.3f} to {difference.high:.3f}",
        f"{depths[0]:.2f} / {depths[1]:.2f}" if first else "",
        difference.verdict,
    )


def _value(value: float, metric: str) -> str:
    return f"{value:.0f}" if metric == "iops" else f"{value / MICROSECOND_NS:.1f}"


def write_crosscheck(
    folder: Path, check: Crosscheck, compared: Sequence[tuple[CheckPoint, Sequence[Difference]]]
) -> list[Path]:
    """Write what a crosscheck measured (``crosscheck.json``) and its page as PDF and HTML; the paths.

    Raises StoreError where the folder cannot be written.
    """
    facts = json.dumps(crosscheck_facts(check, compared), indent=2).encode()
    return render_pages(crosscheck_report(check, compared), folder, {CROSSCHECK: facts})


def crosscheck_facts(check: Crosscheck, compared: Sequence[tuple[CheckPoint, Sequence[Difference]]]) -> dict[str, Any]:
    """Everything that a crosscheck measured, with the differences of every point, as JSON values."""
    points = [
        {
            "point": point.label,
            "verdict": point_verdict(differences),
            "pairs": [{"ours": asdict(mine), "fio": asdict(theirs)} for mine, theirs in pairs],
            "differences": [{**asdict(difference), "verdict": difference.verdict} for difference in differences],
        }
        for (point, pairs), (_, differences) in zip(check.pairs, compared, strict=True)
    ]
    return {**asdict(check), "pairs": points}
