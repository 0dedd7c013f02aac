"""The figures of a demand grid as data, and their captions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assay.procedures.families.grid.result import by_total_oio
from assay.procedures.families.loop.figures import ROUND_TITLE
from assay.procedures.families.loop.record import SPREAD
from assay.results.step import iops, latency_count, response_time
from assay.spec.units import MINUTE_NS, duration_label
from assay.summary.pages.figures import MINUTES, MainFigure, main_tail, matrix_heat
from assay.summary.pages.model import Figure, Series, Tick, is_close, linear_range
from assay.words.printed import NOT_AVAILABLE, depth_label, percent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from assay.procedures.families.grid.plan import DemandSettings
    from assay.procedures.families.grid.result import DemandCell, DemandResult, PointName, PointRun
    from assay.summary.pages.model import Mode


ART_TITLE = "Average Response Time (ms)"
SERIES_MAX = 9
NEAR_SHARE = 0.9
WHOLE_FROM = 100
BESIDE_ASPECT = 1.25
_BELOW_STRIP = 1.1
LABEL_RATIO = 1.2
_DRAWN = ("Min", "Mid", "Max")
_POINT_COLOURS = {"Max": 7, "Mid": 8, "Min": 6}


def samples_figure(
    name: str, values: Sequence[float], sample_minutes: float, alt: str, span: tuple[float, float] | None = None
) -> Figure | None:
    """Plot IOPS of samples over time, the minutes of the verdict shaded; None without one."""
    if not values:
        return None
    minutes = tuple(number * sample_minutes for number in range(1, len(values) + 1))
    mode: Mode = "lines+markers" if len(values) <= 100 else "lines"  # noqa: PLR2004 - markers would hide the line
    line = Series(label="IOPS, one sample each", x=minutes, y=tuple(values), colour=0, mode=mode)
    return Figure(name=name, kind="lines", alt=alt, x_title=MINUTES, y_title="IOPS", series=(line,), span=span)


def point_writes_figure(name: str, settings: DemandSettings, result: DemandResult) -> Figure | None:
    """Plot the pre-writes of all operating points, one after the other as they ran, in one scale; None without any."""
    sample, capture = (span_ns / MINUTE_NS for span_ns in (settings.sample_ns, settings.capture_ns))
    apart = settings.point_pre_write_samples * sample + capture
    series = tuple(
        Series(
            label=f"before {run.point.name}",
            x=tuple(index * apart + number * sample for number in range(1, len(run.pre_write_iops) + 1)),
            y=tuple(run.pre_write_iops),
            colour=index,
        )
        for index, run in enumerate(result.points)
    )
    return _drawn(
        Figure(
            name=name,
            kind="lines",
            alt="IOPS of the writes before the operating points over time, a line for each point",
            x_title=MINUTES,
            y_title="IOPS",
            series=series,
        )
    )


def pre_writes_figure(name: str, settings: DemandSettings, result: DemandResult) -> Figure | None:
    """Plot the pre-writes of the last rounds over time, a line for each; None before the first round."""
    minutes = tuple(number * settings.sample_ns / 60e9 for number in range(1, settings.pre_write_samples + 1))
    last = list(result.pre_writes.items())[-SERIES_MAX:]
    return _drawn(
        Figure(
            name=name,
            kind="lines",
            alt="IOPS of the pre-writes before the cells over time, a line for each round",
            x_title=MINUTES,
            y_title="IOPS",
            legend_title="Round",
            series=tuple(
                Series(label=str(index), x=minutes, y=values, colour=place)
                for place, (index, values) in enumerate(last)
            ),
        )
    )


def variation_by_round(name: str, settings: DemandSettings, result: DemandResult) -> Figure | None:
    """Plot the cells with the threads of the tracking cell by round, a line for each queue depth."""
    threads = settings.tracking.thread_count
    cells = [demand for demand in settings.grid if demand.thread_count == threads]
    rounds = tuple(float(index) for index in result.rounds)
    return _drawn(
        Figure(
            name=name,
            kind="lines",
            alt=f"IOPS at TC {threads} by round, a line for each queue depth",
            x_title=ROUND_TITLE,
            rounds=True,
            y_title="IOPS",
            legend_title=f"TC {threads}",
            series=tuple(
                Series(label=f"QD {demand.queue_depth}", x=rounds, y=result.by_round[demand], colour=index)
                for index, demand in enumerate(cells)
            ),
        )
    )


def variation_figure(name: str, settings: DemandSettings, cells: Sequence[DemandCell]) -> Figure | None:
    """Plot IOPS over queue depth, a line for each number of threads."""
    depths = sorted({demand.queue_depth for demand in settings.grid})
    return _drawn(
        Figure(
            name=name,
            kind="lines",
            alt="IOPS over queue depth, a line for each number of threads",
            x_title="Queue Depth (QD)",
            y_title="IOPS",
            legend_title="Threads",
            x_scale="log",
            ticks=tuple(Tick(at=float(depth), label=str(depth)) for depth in depths),
            series=tuple(
                Series(
                    label=f"TC {threads}",
                    x=tuple(float(cell.demand.queue_depth) for cell in row),
                    y=tuple(float(cell.iops) for cell in row),
                    colour=index,
                )
                for index, (threads, row) in enumerate(_rows(cells).items())
            ),
        )
    )


def intensity_figures(name: str, result: DemandResult) -> tuple[Figure, ...]:
    """Plot the average response time over IOPS with the operating points: all cells from 0 on, and those near the top.

    Beside the lines through all cells stand, without lines, those whose IOPS are within a tenth of the most: of the
    whole they lie on one stroke. None without a cell.
    """
    rows = {threads: [cell for cell in row if cell.completed] for threads, row in _rows(result.cells).items()}
    cells = {threads: [(float(one.iops), float(one.latency_ms_mean)) for one in row] for threads, row in rows.items()}
    points = _measured_points(result)
    most = max((x for row in cells.values() for x, _ in row), default=0.0)
    if not most:
        return ()
    near = {threads: [one for one in row if one[0] >= NEAR_SHARE * most] for threads, row in cells.items()}
    whole = _intensity(name, cells, points, "lines+markers", "all cells")
    shown = {which: one for which, one in points.items() if one[0] >= NEAR_SHARE * most}
    close = _intensity(f"{name}-top", near, shown, "markers", f"cells from {percent(NEAR_SHARE)} of the most on")
    rates = [x for one in close.series for x in one.x]
    return (replace(whole, x_range=linear_range([most], cut=False)), replace(close, x_range=fitted_range(rates)))


def _intensity(
    name: str,
    cells: Mapping[int, list[tuple[float, float]]],
    points: Mapping[PointName, tuple[float, float]],
    mode: Mode,
    what: str,
) -> Figure:
    lines = [
        Series.through(row, f"TC {threads}", index, mode) for index, (threads, row) in enumerate(cells.items()) if row
    ]
    marks = [_point_mark(which, x=x, y=y) for which, (x, y) in points.items()]
    return Figure(
        name=name,
        kind="lines",
        alt=f"Average response time over IOPS, {what}, a colour for each number of threads",
        x_title=f"IOPS, {what}",
        y_title=ART_TITLE,
        y_scale="log",
        legend_title="Threads, QD rising",
        series=(*lines, *marks),
        # It stands below a strip of many lines.
        aspect=BESIDE_ASPECT * _BELOW_STRIP,
        room="figure",
    )


def demand_maps(name: str, cells: Sequence[DemandCell]) -> tuple[Figure, ...]:
    """IOPS and average response time of every cell of the grid as fields of colour with their numbers."""
    rows = _rows(cells)
    depths = sorted({cell.demand.queue_depth for cell in cells})
    maps = (
        _map(f"{name}-iops", "IOPS", rows, depths, lambda cell: float(cell.iops)),
        _map(f"{name}-art", ART_TITLE, rows, depths, lambda cell: float(cell.latency_ms_mean)),
    )
    return tuple(replace(one, aspect=BESIDE_ASPECT, room="figure") for one in maps if one)


def _map(
    name: str,
    title: str,
    rows: Mapping[int, list[DemandCell]],
    depths: Sequence[int],
    value: Callable[[DemandCell], float],
) -> Figure | None:
    fields = {
        threads: {cell.demand.queue_depth: value(cell) for cell in row if cell.completed}
        for threads, row in rows.items()
    }
    values = [[row.get(depth) for depth in depths] for row in fields.values()]
    return matrix_heat(
        name,
        values,
        [[_field(one) for one in row] for row in values],
        columns=list(map(str, depths)),
        rows=list(map(str, rows)),
        titles=("Queue Depth (QD)", "Threads (TC)", title),
    )


def _field(value: float | None) -> str:
    """Three digits, or all before the point. Worked: 2624.8 -> ``"2,625"``, 0.4041 -> ``"0.404"``."""
    if not value:
        return NOT_AVAILABLE
    return f"{value:,.0f}" if value >= WHOLE_FROM else f"{value:#.3g}"


def processor_figure(
    name: str, settings: DemandSettings, cells: Sequence[DemandCell], processor_count: int
) -> Figure | None:
    """Plot host CPU time of the stimulus as columns over queue depth and threads, in percent of all processors."""
    if not cells or any(cell.cpu_share is None for cell in cells):
        return None
    depths = sorted({demand.queue_depth for demand in settings.grid})
    return Figure(
        name=name,
        kind="columns",
        alt="Host CPU time of the stimulus over queue depth and number of threads",
        x_title="Queue Depth (QD)",
        y_title="CPU (%)",
        z_title="Threads (TC)",
        ticks=tuple(Tick(at=float(index), label=str(depth)) for index, depth in enumerate(depths)),
        series=tuple(
            Series(
                label=str(threads),
                x=tuple(float(place) for place in range(len(row))),
                y=tuple((cell.cpu_share or 0.0) / processor_count * 100 for cell in row),
                colour=place,
            )
            for place, (threads, row) in enumerate(_rows(cells).items())
        ),
    )


def totals_figure(name: str, result: DemandResult) -> Figure | None:
    """IOPS from zero on over average response time, a point per total of outstanding I/Os, with the operating points.

    Worked: totals of 1, 2 and 4 -> a line of three points from left to right, and up to three marks.
    """
    results = by_total_oio(result.cells)
    if not results:
        return None
    line = Series(
        label="Cells of equal TC x QD, averaged",
        x=tuple(time for _, _, time in results),
        y=tuple(rate for _, rate, _ in results),
        colour=0,
    )
    marks = [_point_mark(which, x=time, y=rate) for which, (rate, time) in _measured_points(result).items()]
    series = (line, *marks)
    return Figure(
        name=name,
        kind="lines",
        alt="IOPS over average response time, a point for each total of outstanding I/Os, with the operating points",
        x_title=ART_TITLE,
        y_title="IOPS",
        x_scale="log",
        series=series,
        y_most=max(y for one in series for y in one.y),
    )


def _measured_points(result: DemandResult) -> dict[PointName, tuple[float, float]]:
    """IOPS and average response time of each operating point in its own measurement; drawn last and on top is Max."""
    return {
        run.point.name: (float(iops(run.step)), float(response_time(run.step)))
        for run in sorted(result.points, key=lambda point: _DRAWN.index(point.point.name))
        if run.step and latency_count(run.step)
    }


def _point_mark(which: PointName, *, x: float, y: float) -> Series:
    return Series(label=f"{which}IOPS", x=(x,), y=(y,), colour=_POINT_COLOURS[which], mode="markers", mark=True)


def total_figure(name: str, cells: Sequence[DemandCell], *, times: bool) -> Figure | None:
    """Plot IOPS, or else the average response time, over total outstanding I/Os."""
    result = by_total_oio(cells)
    values = tuple(latency_ms_mean if times else rate for _, rate, latency_ms_mean in result)
    label = "ART" if times else "IOPS"
    return _drawn(
        Figure(
            name=name,
            kind="lines",
            alt=f"{label} over total outstanding I/Os on a logarithmic axis",
            x_title="Total OIO (TC x QD)",
            y_title=ART_TITLE if times else "IOPS",
            x_scale="log",
            y_scale="log" if times else "linear",
            ticks=tuple(_spaced([total for total, _, _ in result])),
            series=(Series(label=label, x=tuple(float(total) for total, _, _ in result), y=values, colour=int(times)),),
        )
    )


def fitted_range(values: Sequence[float]) -> tuple[float, float]:
    """Where an axis of rates begins and ends, by the rule of all axes. Worked: 100 and 300 -> 0 and 318."""
    return linear_range(values, cut=is_close(values))


def _rows(cells: Sequence[DemandCell]) -> dict[int, list[DemandCell]]:
    """Cells by number of threads, both ascending."""
    ordered = sorted(cells, key=lambda cell: (cell.demand.thread_count, cell.demand.queue_depth))
    return {
        threads: [cell for cell in ordered if cell.demand.thread_count == threads]
        for threads in dict.fromkeys(cell.demand.thread_count for cell in ordered)
    }


def _spaced(places: Sequence[int]) -> Iterator[Tick]:
    """Ticks on a logarithmic axis; what lies too near the last labelled one has none. Worked: 32, 36 -> 32 alone."""
    labelled = 0.0
    for place in places:
        if place > labelled * LABEL_RATIO:
            labelled = place
            yield Tick(at=float(place), label=str(place))
        else:
            yield Tick(at=float(place), label="")


def _drawn(figure: Figure) -> Figure | None:
    return figure if any(series.x for series in figure.series) else None


def demand_main_figures(settings: DemandSettings, result: DemandResult, prefix: str) -> Iterator[MainFigure]:
    """IOPS over response times first."""
    if figure := totals_figure(f"{prefix}-main-demand", result):
        yield MainFigure(kind="demand", title="IOPS over response time", note=settings.label, figure=figure)
    tails = [(_label(run), run.times) for run in result.points if run.times]
    yield from main_tail(f"{prefix}-main-tail", tails, settings.label, "Response times at the operating points")
    for demand_map in demand_maps(f"{prefix}-main-map", result.cells)[:1]:
        yield MainFigure(
            kind="matrix",
            title="IOPS by threads and queue depth",
            note=settings.label,
            figure=replace(demand_map, x_title="QD per thread"),
        )


def _label(run: PointRun) -> str:
    """Worked: the Max point at two threads of 16 -> ``"Max, QD 32"``."""
    return f"{run.point.name}, {depth_label(run.point.demand)}"


def grid_readings(settings: DemandSettings) -> dict[str, str]:
    """The sentences by the beginning of a figure's name."""
    sample, cell = duration_label(settings.sample_ns), duration_label(settings.cell_ns)
    spread = (
        f"How are response times spread? All I/Os that were issued in the point (IOPS: that completed in it), {SPREAD} "
        "MRT is that of a single I/O."
    )
    capture = duration_label(settings.capture_ns)
    steady = (
        "Is it steady? The points are the five values that are judged; greatest less least and the rise of the "
        "fitted line must stay within the limits in the box."
    )
    return {
        "precondition": (
            f"How do IOPS change until the drive has settled? Writes of the workload's sizes, a point per {sample}; "
            "the page of their window says whether they settled."
        ),
        "window-pc": steady,
        "window-dv": steady,
        "pre-writes": f"Is the drive in the same state before each round? Writes in samples of {sample}, by round.",
        "by-round": f"Do the cells repeat from round to round? Each point is a cell of {cell}; level lines mean yes.",
        "variation": (
            f"How do IOPS depend on demand? Cells of {cell}, averages of the last five rounds, a line per thread "
            "count over queue depth; where a line is flat, more outstanding I/Os bring nothing."
        ),
        "intensity": (
            "What does each additional I/O per second cost in response time? A point per demand; best is low and to "
            "the right, and where the points turn upwards the drive is saturated. Large marks: operating points, "
            f"measured for {capture}."
        ),
        "intensity-top": (
            "What separates the fastest points? Points within 10 % of the highest IOPS, enlarged; at equal IOPS the "
            "lowest point needs the fewest outstanding I/Os."
        ),
        "map-iops": f"How many IOPS does each demand give? Cells of {cell}, averages of the last five rounds.",
        "map-art": "How long does an I/O take at each demand? The same cells; low is good.",
        "point-writes": (
            f"Is the drive in the same state before each point? Writes in samples of {sample}, a line per point, in "
            f"order of time; in each gap the point was measured for {capture}. Equal levels mean yes."
        ),
        "cpu": "How busy was the test system? CPU time of the threads that issue I/Os, per demand.",
        "total": "How do IOPS or response times depend on outstanding I/Os (threads times depth)? A point per demand.",
        **{f"{point}-histogram": spread for point in ("max", "mid", "min")},
    }
