"""The figures of a comparison: curves over one another, columns at one scale, distributions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assay.compare.numbers import NOT_RUN, WITHOUT_RESULT
from assay.compare.summary import matrix_numbers
from assay.pages.model import Figure, Series, Table, Tick
from assay.pages.printed import mix_label
from assay.pages.tail import tail_figure

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.compare.comparison import Compared, Comparison
    from assay.compare.subject import Subject
    from assay.pages.distribution import Part
    from assay.pages.model import Block
    from assay.pages.test_report import TestReport

CURVES_MAX = 9
"""Curves in one figure: more have no colour of their own."""

Titled = tuple[str, tuple["Block", ...]]


def curve_figures(found: Comparison) -> Iterator[Titled]:
    """What each test offers to be laid over others, such as IOPS over time: a page each, all subjects on its axes.

    Behind them one list of what is not drawn, where there is any, with the reason.
    """
    left_out = []
    for test, shown in found.tests:
        reports = [(one, _test_of(one, test)) for one in _alike(found)]
        offered = [(one, figure) for one, report in reports if report for figure in report.overlaid()]
        for name in dict.fromkeys(figure.name for _, figure in offered):
            curves = [(one, figure) for one, figure in offered if figure.name == name]
            if reason := _unlike_amounts(curves):
                left_out.append((_title(shown, curves), reason))
            else:
                yield from _overlaid(found, shown, curves)
    if left_out:
        yield "Not drawn", (Table(caption="Not drawn", columns=("Figure", "Why"), rows=tuple(left_out)),)


def _title(shown: str, curves: Sequence[tuple[Subject, Figure]]) -> str:
    first = curves[0][1]
    return f"{shown}: {first.y_title} over {first.x_title}"


def _unlike_amounts(curves: Sequence[tuple[Subject, Figure]]) -> str:
    """Why curves over what was written are not drawn; empty where they are."""
    capacities = {one.capacity for one, _ in curves}
    if len(capacities) < 2 or not curves[0][1].by_amount:  # noqa: PLR2004 - two to differ
        return ""
    return (
        f"The drives have {', '.join(sorted(capacities))}, so that equal amounts written say nothing of equal states. "
        "Over drive fills they can be compared."
    )


def _overlaid(found: Comparison, shown: str, curves: Sequence[tuple[Subject, Figure]]) -> Iterator[Titled]:
    first, title = curves[0][1], _title(shown, curves)
    for begin in range(0, len(curves), CURVES_MAX):
        part = curves[begin : begin + CURVES_MAX]
        series = tuple(_curve(found, one, figure) for one, figure in part)
        name = f"compare-{first.name}" + (f"-{begin}" if begin else "")
        alt = f"{first.y_title} over {first.x_title.lower()} of {len(part)} drives on the same axes"
        most = max(y for _, figure in curves for y in figure.series[0].y)
        yield title, (replace(first, name=name, alt=alt, series=series, y_most=most),)


def _curve(found: Comparison, subject: Subject, figure: Figure) -> Series:
    place = found.subjects.index(subject)
    apart = subject.letter in found.unlike
    label = f"{subject.title} (apart)" if apart else subject.title
    return replace(figure.series[0], label=label, colour=place, dash="dash" if apart else "solid")


def fresh_figures(found: Comparison) -> Iterator[Titled]:
    """Fresh against settled of a write saturation, as bars of every drive."""
    for test, shown in found.tests:
        quoted = {one.name.label.rpartition(", ")[2]: one for one in found.quoted if one.name.test == test}
        fresh, settled = quoted.get("first sample"), quoted.get("settled")
        if fresh and settled:
            yield f"{shown}: fresh against settled", (_bars(found, f"compare-{test}-fresh", fresh, settled),)


def _bars(found: Comparison, name: str, fresh: Compared, settled: Compared) -> Figure:
    series = [
        Series(
            label=label,
            x=tuple(place * 2.0 + side for place, each in enumerate(one.entries) if each.side.counts),
            y=tuple(each.side.value or 0.0 for each in one.entries if each.side.counts),
            colour=side,
        )
        for side, (label, one) in enumerate((("First sample", fresh), ("Settled", settled)))
    ]
    drawn = tuple(one for one in series if one.x)
    return Figure(
        name=name,
        kind="bars",
        alt="IOPS of the first sample and of the settled state of every drive",
        x_title="Drive",
        y_title=fresh.name.unit,
        series=drawn,
        ticks=tuple(Tick(at=place * 2 + 0.5, label=one.letter) for place, one in enumerate(found.subjects)),
    )


def columns_figures(found: Comparison) -> Iterator[Titled]:
    """The variable of all cells of each test loop as columns, a page per drive, all with the height of the largest."""
    for test, numbers in matrix_numbers(found).items():
        mixes = list(dict.fromkeys(dict(one.name.cell)["read_pct"] for one in numbers))
        sizes = list(dict.fromkeys(dict(one.name.cell)["block_kib"] for one in numbers))
        values = [entry.side.value for one in numbers for entry in one.entries if entry.side.counts]
        if len(mixes) < 2 or len(sizes) < 2 or not values:  # noqa: PLR2004 - columns in space need a plane
            continue
        shown, most = numbers[0].name.shown, max(value or 0.0 for value in values)
        for place, one in enumerate(found.subjects):
            series = tuple(_row(numbers, place, mix, sizes, number) for number, mix in enumerate(mixes))
            if any(row.y for row in series):
                figure = Figure(
                    name=f"compare-{test}-columns-{one.letter.lower()}",
                    kind="columns",
                    alt=f"{numbers[0].name.unit} of every cell of {one.title}, at the scale of all drives",
                    x_title="Block Size (KiB)",
                    y_title=numbers[0].name.unit,
                    z_title="Read/Write Mix (%)",
                    series=series,
                    ticks=tuple(Tick(at=float(at), label=f"{size:g}") for at, size in enumerate(map(float, sizes))),
                    y_most=most,
                )
                yield f"{shown}: all cells of {one.title}, at the scale of all drives", (figure,)


def _row(numbers: Sequence[Compared], place: int, mix: object, sizes: Sequence[object], colour: int) -> Series:
    points = []
    for one in numbers:
        cell, side = dict(one.name.cell), one.entries[place].side
        if cell["read_pct"] == mix and side.counts and side.value is not None:
            points.append((float(sizes.index(cell["block_kib"])), side.value))
    points.sort()
    label = mix_label(int(str(mix)))
    return Series(label=label, x=tuple(x for x, _ in points), y=tuple(y for _, y in points), colour=colour)


def distribution_figures(found: Comparison) -> Iterator[Titled]:
    """Response times of the same part of every drive over one another: the parts that each test draws itself."""
    for test, shown in found.tests:
        parts = _parts(found, test)
        for number, (label, curves) in enumerate(parts.items(), 1):
            figure = tail_figure(
                f"compare-{test}-tail-{number}", [(one.title, part.times) for one, part in curves[:CURVES_MAX]]
            )
            if figure and len(curves) > 1:
                yield f"{shown}: response times of {label}", (figure,)


def _parts(found: Comparison, test: str) -> dict[str, list[tuple[Subject, Part]]]:
    parts: dict[str, list[tuple[Subject, Part]]] = {}
    for one in _alike(found):
        report = _test_of(one, test)
        spread = report.distribution() if report else None
        quoted = [part for part in spread.parts if part.label in _QUOTED] if spread else []
        for part in quoted or (spread.drawn[:_DISTRIBUTIONS] if spread else ()):
            parts.setdefault(part.label, []).append((one, part))
    return dict(list(parts.items())[:_DISTRIBUTIONS])


_QUOTED = ("RND 4KiB 100/0", "RND 4KiB 0/100")
_DISTRIBUTIONS = 2
"""Parts of each test whose response times are drawn."""


def _alike(found: Comparison) -> list[Subject]:
    """The subjects; those of other conditions come last, so that they stand apart."""
    return sorted(found.subjects, key=lambda one: one.letter in found.unlike)


def _test_of(subject: Subject, test: str) -> TestReport | None:
    found = next((one for one in subject.first.tests if one.prefix == test), None)
    return None if subject.first.states.get(test, NOT_RUN)[0] in WITHOUT_RESULT else found
