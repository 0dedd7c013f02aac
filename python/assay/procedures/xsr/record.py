"""What cross stimulus recovery shows: its numbers, tables, insights and figures, and the pages made of them.

Source: SNIA PTS session 202-C (2013) and public implementations of PTS-E 1.1 and 2.0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from assay.procedures.traits import pattern_subject, restarted, stalls, waited
from assay.procedures.xsr.result import cross_stimulus_result, end_samples, slowest
from assay.procedures.xsr.run import CrossStimulusSettings
from assay.results.histogram import all_step_times
from assay.spec.units import MILLISECOND_NS, duration_label
from assay.summary import table as of
from assay.summary.measures import MAXIMUM, quoted
from assay.summary.pages.figures import enlarged, main_figures, time_figure
from assay.summary.pages.header import TestFacts, share_label
from assay.summary.pages.model import Series, figure_or_reason
from assay.summary.pages.test_record import Shown, Source
from assay.summary.record import Tile
from assay.summary.table import Column, Lines, printed_table, table_of
from assay.words.coded import coded
from assay.words.printed import (
    NOT_APPLICABLE,
    NOT_AVAILABLE,
    milliseconds_text,
    minutes_label,
    mix_label,
    outstanding,
    percent,
    size_label,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records.run import StoredRun, StoredTest
    from assay.procedures.xsr.result import CrossStimulusResult, GroupResult
    from assay.results.step import Sample
    from assay.summary.insights import Insight
    from assay.summary.pages.figures import MainFigure
    from assay.summary.pages.model import Entry, Figure, Table
    from assay.summary.pages.test_record import PagePart
    from assay.summary.record import Measure
    from assay.summary.table import Declared, ResultTable

_THROUGHPUT = Column("throughput", "Throughput", "MB/s")
_MEAN_TIME = Column("latency_ms_mean", "Average Response Time", "ms")
_MAX_TIME = Column("latency_ms_max", "Maximum Response Time", "ms")
_QUESTIONS = {
    _THROUGHPUT: "How does the drive take the change between sequential and random writes?",
    _MEAN_TIME: "How long do I/Os take on average before and after each change?",
    _MAX_TIME: "How long did the slowest I/O of each point take?",
}
"""What is drawn of every sample, and the question that each figure answers."""
_NO_SAMPLE = "no sample ran to its end"
_REACH_H, _HALF_ASPECT, _MARK_COLOUR = 0.5, 1.1, 7


class _GroupSample(NamedTuple):
    number: int
    group: GroupResult
    sample: Sample


class _Group(NamedTuple):
    number: int
    group: GroupResult
    span_ns: int


_SAMPLES: Declared[_GroupSample] = (
    (of.GROUP, lambda row: row.number),
    (of.LABEL, lambda row: row.group.label),
    *of.SAMPLE_COLUMNS,
)
_VALUES: Declared[_Group] = (
    (Column("mean_mb_per_s", "Mean", "MB/s"), lambda row: row.group.mean_mb_per_s),
    (
        Column("end_mb_per_s", "At its end", "MB/s", page_title="At the end (MB/s)"),
        lambda row: row.group.end_mb_per_s,
    ),
    (
        Column("latency_ms_mean_peak", "Largest mean response time", "ms", page_title="Peak ART (ms)"),
        lambda row: row.group.latency_ms_mean_peak,
    ),
    (
        Column("latency_ms_max_peak", "Largest response time", "ms", page_title="Peak MRT (ms)"),
        lambda row: row.group.latency_ms_max_peak,
    ),
    (
        Column(
            "drop_share",
            "Drop",
            page_title="Mean below that of the first group of the same accesses",
            printer=lambda share: percent(round(share, 4)),
            missing=NOT_APPLICABLE,
        ),
        lambda row: row.group.drop_share,
    ),
)
_GROUPS: Declared[_Group] = (
    (of.GROUP, lambda row: row.number),
    (of.LABEL, lambda row: row.group.label),
    *_VALUES,
)
_PAGE_GROUPS: Declared[_Group] = (
    (Column("access_group", "Access group"), lambda row: f"{row.number}: {row.group.label}"),
    (Column("span_ns", "Duration", printer=duration_label), lambda row: row.span_ns),
    *_VALUES,
)


@dataclass(frozen=True, kw_only=True)
class CrossStimulusPages(Source):
    """What the pages of a cross stimulus recovery test are made of."""

    result: CrossStimulusResult

    @property
    def settings(self) -> CrossStimulusSettings:
        """What the test used."""
        return self.test.settings_as(CrossStimulusSettings)

    def parts(self) -> Iterator[PagePart]:
        """The standard pages: throughput of all groups and of each change, response times, the table of recovery."""
        drawn = {column: figure_or_reason(self._over_time(column), _NO_SAMPLE) for column in _QUESTIONS}
        yield "TP v Time - All Access Groups", (*self.plan_box(), drawn[_THROUGHPUT])
        yield from (self._change(index) for index in range(1, len(self.settings.groups)))
        yield "Maximum Latency v Time - All Access Groups", (drawn[_MAX_TIME],)
        yield "Average Latency v Time - All Access Groups", (drawn[_MEAN_TIME],)
        yield "TP, ART, MRT & BW Recovery Time", (self._recovery(),)

    def figures(self) -> Iterator[MainFigure]:
        """Throughput over all groups, near the last change, and the slowest I/Os."""
        last = len(self.settings.groups) - 1
        near = self._change_figures(last)[1] if last else None
        return main_figures(
            self.prefix,
            (
                ("recovery", "Throughput over the access groups", self._over_time(_THROUGHPUT)),
                ("curve", "Throughput around the last change", near),
                ("curve", "Slowest I/O of each sample", self._over_time(_MAX_TIME)),
            ),
        )

    def overlaid(self) -> Iterator[Figure]:
        """Throughput over time, all access groups in one line."""
        whole = self._over_time(_THROUGHPUT)
        if whole is not None and not self.result.withheld:
            lines = [one for one in whole.series if not one.mark]
            line = replace(lines[0], x=sum((one.x for one in lines), ()), y=sum((one.y for one in lines), ()))
            yield replace(whole, name=f"{self.prefix}-throughput-overlaid", series=(line,), reading="")

    def _change(self, index: int) -> PagePart:
        """The page of a change: a group and the next."""
        whole, near = self._change_figures(index)
        subtitle = f"TP v Time - Access Groups {index} & {index + 1}"
        if whole is None or near is None:
            return subtitle, (figure_or_reason(whole, _NO_SAMPLE),)
        return subtitle, tuple(replace(one, aspect=_HALF_ASPECT, room="figure") for one in (whole, near))

    def _change_figures(self, index: int) -> tuple[Figure | None, Figure | None]:
        """A group and the next over their whole time, and enlarged around the change; None where that is too short."""
        whole = self._over_time(_THROUGHPUT, index)
        before, after = (group.samples.minutes for group in self.result.groups[index - 1 : index + 1])
        if whole is None or not before or not after:
            return whole, None
        # The change and the recovery after it take minutes of hours.
        border = before[-1] / 60
        reach = min(_REACH_H, border - before[0] / 60, after[-1] / 60 - border)
        return whole, enlarged(whole, f"{whole.name}-near", border, reach) if reach > 0 else None

    def _over_time(self, column: Column, index: int = 0) -> Figure | None:
        """Every sample over time, a colour per access group. index : of a group, drawn with the next alone; 0: all."""
        every, first = self.result.groups, max(index - 1, 0)
        groups = every[first : index + 1] if index else every
        begun = every[first - 1].samples.minutes[-1:] if first else (0.0,)
        ends = (group.samples.minutes[-1] for group in groups if group.samples.minutes)
        figure = time_figure(
            f"{self.prefix}-{column.key.replace('_', '-')}-{f'{index}-{index + 1}' if index else 'all'}",
            [
                (f"{number + 1}: {group.label}", group.samples.minutes, getattr(group.samples, column.key), number)
                for number, group in enumerate(groups, first)
            ],
            alt=f"{column.heading} of every sample over time, a colour per access group",
            y_title=column.heading,
            y_scale="linear" if column is _THROUGHPUT else "log",
            borders=tuple(minute / 60 for minute in (*begun, *ends)),
        )
        if figure is None:
            return None
        how = f"Access groups in turn, a point per {duration_label(self.settings.sample_ns)}"
        if column is _THROUGHPUT and not index:
            how = f"{how}; where the last group begins below the first, throughput has to rise again"
        mark = self._mark(column) if len(groups) == len(every) else None
        series = (*figure.series, mark) if mark else figure.series
        return replace(figure, series=series, reading=f"{_QUESTIONS[column]} {how}.")

    def _mark(self, column: Column) -> Series | None:
        """Where throughput has recovered, or where the slowest I/O was: minutes that nobody sees on a whole day."""
        result = self.result
        last, slow = result.groups[-1].samples, slowest(result)
        if column is _THROUGHPUT and result.recovery_minutes is not None and len(result.groups) > 1:
            at = result.groups[-2].samples.minutes[-1] + result.recovery_minutes
            reached = min(last.each(), key=lambda sample: abs(sample.minute - at)).throughput
            share = percent(self.settings.recovered_share)
            return _marked(f"{share} again: {recovery_label(result)} after the change", at, reached)
        if column is _MAX_TIME and slow:
            return _marked(f"Slowest I/O: {milliseconds_text(slow.latency_ms)} ms", slow.minute, slow.latency_ms)
        return None

    def _recovery(self) -> Table:
        share = self.result.lowest_share
        lowest = NOT_AVAILABLE if share is None else percent(round(share, 4))
        notes = (
            f"{recovery_name(self.settings)}: {recovery_label(self.result)}.",
            "It ends with the first sample that reaches this share.",
            f"Lowest sample of the last group over the first group's mean: {lowest}.",
        )
        title = "Throughput and response times by access group"
        return printed_table(table_of("groups", title, _PAGE_GROUPS, _groups(self.settings, self.result)), notes=notes)


def xsr_shown(source: Source) -> Shown:
    """What a stored cross stimulus recovery test shows."""
    result, settings = cross_stimulus_result(source.test), source.test.settings_as(CrossStimulusSettings)
    pages, study = CrossStimulusPages(**source.origin, result=result), source.table is None
    recovered = Tile(slot="recovery", title=coded("tile-recovery"), value=((("group", len(result.groups)),), "minutes"))
    name = "XSR - Report Page (no test of the specification)" if study else "XSR Test - Report Page"
    of_1_0 = f"{source.edition.market} XSR ({source.status}) - Report Page"
    return Shown(
        **source.origin,
        findings=result.findings,
        facts=_facts(source.run, settings),
        outline=_outline(settings),
        title=name if study or source.edition.header == "2.0" else of_1_0,
        parts=pages.parts(),
        drawn=pages.figures(),
        overlaid=pages.overlaid(),
        numbers=cross_stimulus_measures(settings, result),
        tiled=lambda _: (recovered,),
        seen=cross_stimulus_insights(source.test, result),
        settings=_settings(settings),
        tables=lambda: _tables(settings, result, source.suffix),
    )


def _facts(run: StoredRun, settings: CrossStimulusSettings) -> TestFacts:
    sizes = sorted({size for group in settings.groups for size, _ in group.pattern.sizes})
    groups = "; ".join(f"{group.label} {duration_label(group.span_ns)}" for group in settings.groups)
    share = share_label(run, settings.range_amount_bytes)
    return TestFacts(
        dependent="None",
        test_area=share,
        test_range=share,
        step=duration_label(settings.sample_ns),
        stimulus=(
            ("Test Stimulus 1", groups),
            ("RW Mix", mix_label(0)),
            ("Block Sizes", ", ".join(map(size_label, sizes))),
        ),
        workload="; ".join(dict.fromkeys(group.label for group in settings.groups)),
        extent=f"{len(settings.groups)} access groups",
        steady=NOT_APPLICABLE,
    )


def _outline(settings: CrossStimulusSettings) -> str:
    groups = "; ".join(f"{group.label} for {duration_label(group.span_ns)}" for group in settings.groups)
    return f"{groups}; in samples of {duration_label(settings.sample_ns)} without a gap."


def _settings(settings: CrossStimulusSettings) -> tuple[Entry, ...]:
    """Access groups and samples."""
    return (
        *(
            (f"Access group {number}", f"{group.label}, {duration_label(group.span_ns)}")
            for number, group in enumerate(settings.groups, 1)
        ),
        ("Sample", duration_label(settings.sample_ns)),
        ("Recovered at", f"{percent(settings.recovered_share)} of the first group's mean"),
    )


def _tables(settings: CrossStimulusSettings, result: CrossStimulusResult, suffix: str) -> Iterator[ResultTable]:
    """Every sample, and the groups."""
    stem = settings.test.replace("-", "_")
    samples = (
        _GroupSample(number, group, sample)
        for number, group in enumerate(result.groups, 1)
        for sample in group.samples.each()
    )
    lines = Lines(of.MINUTE.key, of.MB_PER_S.key, by=(of.GROUP.key, of.LABEL.key))
    yield table_of(f"{stem}_samples{suffix}", "Samples", _SAMPLES, samples, lines=(lines,))
    yield table_of(f"{stem}_groups{suffix}", "Access groups", _GROUPS, _groups(settings, result), section="results")


def _groups(settings: CrossStimulusSettings, result: CrossStimulusResult) -> list[_Group]:
    pairs = zip(result.groups, settings.groups, strict=True)
    return [_Group(number, group, asked.span_ns) for number, (group, asked) in enumerate(pairs, 1)]


def recovery_name(settings: CrossStimulusSettings) -> str:
    """Name the recovery time with the share. Worked: ``"Recovery time to 95 % of the first group's mean"``."""
    return f"Recovery time to {percent(settings.recovered_share)} of the first group's mean"


def recovery_label(result: CrossStimulusResult) -> str:
    """Print the recovery time. Worked: recovered at the end of the third minute -> ``"3 min"``."""
    if result.recovery_minutes is not None:
        return minutes_label(result.recovery_minutes)
    return NOT_AVAILABLE if result.lowest_share is None else "not recovered"


def cross_stimulus_measures(settings: CrossStimulusSettings, result: CrossStimulusResult) -> Iterator[Measure]:
    """Throughput of each access group in its last tenth, the slowest I/O, and minutes until the last one has recovered.

    Worked: three groups -> five numbers, the last in minutes.
    """
    ends = coded("last-tenth", outstanding=outstanding(settings.demand))
    for number, group in enumerate(result.groups, 1):
        name = f"{group.label}, group {number} at its end"
        yield quoted((("group", number),), "MB/s", name, group.end_mb_per_s, ends, rounds=end_samples(group))
    if slow := slowest(result):
        where = coded("slowest-in", group=slow.group, minute=slow.minute)
        yield quoted((), "ms", "Slowest I/O", slow.latency_ms, where, key=MAXIMUM)
    if result.groups:
        none = coded("not-whole" if result.lowest_share is None else "not-recovered")
        known = coded("last-group", sample=settings.sample_ns)
        basis = none if result.recovery_minutes is None else known
        cell = (("group", len(result.groups)),)
        yield quoted(cell, "min", recovery_name(settings), result.recovery_minutes, basis)


def cross_stimulus_insights(test: StoredTest, result: CrossStimulusResult) -> Iterator[Insight]:
    """How low writes restart, when they are back, and how they stall; none where results are withheld."""
    if result.withheld:
        return
    settings = test.settings_as(CrossStimulusSettings)
    yield from recovery(settings, result)
    for index, group in enumerate(settings.groups, 1):
        steps, times = test.steps("group", index), all_step_times(test.stage("group", index))
        if len(times) == len(steps):
            yield from stalls(pattern_subject(group.pattern), [waited(steps, times, settings.demand)])


def recovery(settings: CrossStimulusSettings, result: CrossStimulusResult) -> Iterator[Insight]:
    """How low the last group restarts after the one before, and how long it takes.

    Worked: 13 % of the first group's mean in the lowest sample, back after 13 minutes -> 13 % kept, 780,000 ms.
    """
    kept, minutes = result.lowest_share, result.recovery_minutes
    if kept is None or len(settings.groups) == 1:
        return
    before, last = settings.groups[-2:]
    span_ms = settings.sample_count(last) * settings.sample_ns / MILLISECOND_NS
    about = pattern_subject(last.pattern), pattern_subject(before.pattern)
    yield restarted(*about, kept=kept, minutes=minutes, span_ms=span_ms)


def _marked(label: str, minute: float, value: float) -> Series:
    return Series(label=label, x=(minute / 60,), y=(value,), colour=_MARK_COLOUR, mode="markers", mark=True)
