"""The pages of cross stimulus recovery: throughput and response times over the access groups, and the recovery.

Source: SNIA PTS session 202-C (2013) and public implementations of PTS-E 1.1 and 2.0.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from assay.procedures.xsr.insights import cross_stimulus_insights
from assay.procedures.xsr.measures import cross_stimulus_measures
from assay.procedures.xsr.result import cross_stimulus_result, slowest
from assay.procedures.xsr.settings import CrossStimulusSettings
from assay.procedures.xsr.tables import cross_stimulus_tables
from assay.procedures.xsr.words import recovery_label, recovery_name
from assay.spec.units import duration_label
from assay.summary.pages.facts import TestFacts, share_label
from assay.summary.pages.main_figure import MainFigure
from assay.summary.pages.model import Figure, Series, Table, Text
from assay.summary.pages.results import step_results
from assay.summary.pages.select import NO_RULE, Selected, claim_label
from assay.summary.pages.test_report import TestReport
from assay.summary.pages.time_figures import enlarged, time_figure
from assay.summary.record import Tile
from assay.words.coded import coded
from assay.words.printed import (
    NOT_APPLICABLE,
    NOT_AVAILABLE,
    milliseconds_or_na,
    milliseconds_text,
    mix_label,
    percent,
    rate_or_na,
    size_label,
)
from assay.words.text import text_or_none

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.engine.records.run import StoredRun, StoredTest
    from assay.procedures.xsr.result import CrossStimulusResult, GroupResult
    from assay.spec.edition import Edition
    from assay.summary.insight import Insight
    from assay.summary.pages.main_figure import FigureKind
    from assay.summary.pages.model import Block, Entry, Page, Scale
    from assay.summary.pages.test_report import PagePart
    from assay.summary.record import Measure
    from assay.summary.table import ResultTable

_TITLES = {
    "throughput": "Throughput (MB/s)",
    "latency_ms_mean": "Average Response Time (ms)",
    "latency_ms_max": "Maximum Response Time (ms)",
}
_REACH_H, _HALF_ASPECT, _MARK_COLOUR = 0.5, 1.1, 7
_COLUMNS = (
    "Access group", "Duration", "Mean (MB/s)", "At the end (MB/s)", "Peak ART (ms)", "Peak MRT (ms)",
    "Mean below that of the first group of the same accesses",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossStimulusReport(TestReport):
    """One cross stimulus recovery test on its way to pages."""

    result: CrossStimulusResult

    @property
    def settings(self) -> CrossStimulusSettings:
        """What the test used."""
        return self.test.settings_as(CrossStimulusSettings)

    @property
    def facts(self) -> TestFacts:
        """The test in the words of headers and summaries."""
        settings = self.settings
        sizes = sorted({size for group in settings.groups for size, _ in group.pattern.sizes})
        groups = "; ".join(f"{group.label} {duration_label(group.span_ns)}" for group in settings.groups)
        return TestFacts(
            dependent="None",
            test_area=share_label(self.run, settings.range_amount_bytes),
            test_range=share_label(self.run, settings.range_amount_bytes),
            step=duration_label(settings.sample_ns),
            stimulus=(
                ("Test Stimulus 1", groups),
                ("RW Mix", mix_label(0)),
                ("Block Sizes", ", ".join(size_label(size) for size in sizes)),
            ),
            workload="; ".join(dict.fromkeys(group.label for group in settings.groups)),
            extent=f"{len(settings.groups)} access groups",
            steady=NOT_APPLICABLE,
        )

    @property
    def outline(self) -> str:
        """The access groups in their order."""
        groups = "; ".join(f"{group.label} for {duration_label(group.span_ns)}" for group in self.settings.groups)
        return f"{groups}; in samples of {duration_label(self.settings.sample_ns)} without a gap."

    @property
    def readings(self) -> dict[str, str]:
        """Sentences below the figures."""
        how = f"Access groups in turn, a point per {duration_label(self.settings.sample_ns)}"
        return {
            "throughput": f"How does the drive take the change between sequential and random writes? {how}.",
            "throughput-all": (
                f"How does the drive take the change between sequential and random writes? {how}; where "
                "the last group begins below the first, throughput has to rise again."
            ),
            "latency-ms-mean": f"How long do I/Os take on average before and after each change? {how}.",
            "latency-ms-max": f"How long did the slowest I/O of each point take? {how}.",
        }

    def main_figures(self) -> Iterator[MainFigure]:
        """Throughput over all groups, near the last change, and the slowest I/Os."""
        groups, last = self.result.groups, len(self.settings.groups) - 1
        near = self._both(last)[1] if 0 < last < len(groups) else None
        drawn: tuple[tuple[FigureKind, str, Block | None], ...] = (
            ("recovery", "Throughput over the access groups", self._figure("throughput", groups, "all")),
            ("curve", "Throughput around the last change", near),
            ("curve", "Slowest I/O of each sample", self._figure("latency_ms_max", groups, "all")),
        )
        for index, (kind, title, figure) in enumerate(drawn):
            if isinstance(figure, Figure):
                named = replace(figure, name=f"{self.prefix}-main-{index}", reading="")
                yield MainFigure(kind=kind, title=title, figure=named)

    def overlaid(self) -> tuple[Figure, ...]:
        """Throughput over time, all access groups in one line."""
        whole = self._figure("throughput", self.result.groups, "overlaid")
        if self.result.withheld or not isinstance(whole, Figure):
            return ()
        lines = [one for one in whole.series if not one.mark]
        places = tuple(x for line in lines for x in line.x), tuple(y for line in lines for y in line.y)
        return (replace(whole, series=(replace(lines[0], x=places[0], y=places[1]),)),)

    def report_pages(self) -> tuple[Page, ...]:
        """The standard pages: throughput of all groups and of each change, response times, the table of recovery."""
        edition = self.edition
        study = self.table is None
        title = f"{edition.market} XSR ({self.status}) - Report Page"
        name = "XSR - Report Page (no test of the specification)" if study else "XSR Test - Report Page"
        changes = [self._change(place) for place in range(1, len(self.settings.groups))]
        groups = self.result.groups
        return self.pages(
            name if study or edition.header == "2.0" else title,
            (
                ("TP v Time - All Access Groups", (*self.strip(), self._figure("throughput", groups, "all"))),
                *changes,
                (
                    "Maximum Latency v Time - All Access Groups",
                    (self._figure("latency_ms_max", groups, "all"),),
                ),
                (
                    "Average Latency v Time - All Access Groups",
                    (self._figure("latency_ms_mean", groups, "all"),),
                ),
                ("TP, ART, MRT & BW Recovery Time", (self._recovery(),)),
            ),
        )

    def _change(self, index: int) -> PagePart:
        subtitle = f"TP v Time - Access Groups {index} & {index + 1}"
        whole, near = self._both(index)
        if not isinstance(whole, Figure) or near is None:
            return subtitle, (whole,)
        return subtitle, tuple(replace(one, aspect=_HALF_ASPECT, beside=True) for one in (whole, near))

    def _both(self, index: int) -> tuple[Block, Figure | None]:
        """A group and the next over their whole time, and enlarged around the change; None where that is too short."""
        both = self.result.groups[index - 1 : index + 1]
        whole = self._figure("throughput", both, f"{index}-{index + 1}")
        if not isinstance(whole, Figure) or not all(group.samples.minutes for group in both):
            return whole, None
        # The change and the recovery behind it take minutes of hours.
        border = both[0].samples.minutes[-1] / 60
        reach = min(_REACH_H, border - both[0].samples.minutes[0] / 60, both[1].samples.minutes[-1] / 60 - border)
        return whole, enlarged(whole, f"{whole.name}-near", border, reach) if reach > 0 else None

    def _figure(self, variable: str, groups: Sequence[GroupResult], name: str) -> Block:
        scale: Scale = "linear" if variable == "throughput" else "log"
        first = self.result.groups.index(groups[0])
        figure = time_figure(
            f"{self.prefix}-{variable.replace('_', '-')}-{name}",
            [
                (f"{index + 1}: {group.label}", group.samples.minutes, getattr(group.samples, variable), index)
                for index, group in enumerate(groups, first)
            ],
            alt=f"{_TITLES[variable]} of every sample over time, a colour per access group",
            y_title=_TITLES[variable],
            y_scale=scale,
            borders=_borders(groups, self.result.groups),
        )
        if figure is None:
            return Text(paragraphs=("n/a: no sample ran to its end",))
        mark = self._mark(variable) if len(groups) == len(self.result.groups) else None
        return replace(figure, series=(*figure.series, mark)) if mark else figure

    def _mark(self, variable: str) -> Series | None:
        """Where throughput has recovered, or where the slowest I/O was: minutes that nobody sees on a whole day."""
        last, found = self.result.groups[-1].samples, slowest(self.result)
        if variable == "throughput" and self.result.recovery_minutes is not None and len(self.result.groups) > 1:
            at = self.result.groups[-2].samples.minutes[-1] + self.result.recovery_minutes
            reached = last.throughput[last.minutes.index(min(last.minutes, key=lambda minute: abs(minute - at)))]
            share = percent(self.settings.recovered_share)
            return _marked(f"{share} again: {recovery_label(self.result)} after the change", at, reached)
        if variable == "latency_ms_max" and found:
            return _marked(f"Slowest I/O: {milliseconds_text(found.latency_ms)} ms", found.minute, found.latency_ms)
        return None

    def _recovery(self) -> Table:
        result, settings = self.result, self.settings
        spans = [duration_label(group.span_ns) for group in settings.groups]
        lowest = NOT_AVAILABLE if result.lowest_share is None else percent(round(result.lowest_share, 4))
        return Table(
            caption="Throughput and response times by access group",
            columns=_COLUMNS,
            rows=tuple(
                _group_row(number, group, span)
                for number, (group, span) in enumerate(zip(result.groups, spans, strict=True), 1)
            ),
            notes=(
                f"{recovery_name(settings)}: {recovery_label(result)}.",
                "It ends with the first sample that reaches this share.",
                f"Lowest sample of the last group over the first group's mean: {lowest}.",
            ),
        )

    def insights(self) -> Iterator[Insight]:
        """How low writes restart, and when they are back."""
        return cross_stimulus_insights(self.test, self.result)

    def selected(self) -> tuple[Selected, ...]:
        """Throughput at the end of each group, and the recovery time."""
        rows = [
            (f"Group {number}, {group.label} at the end", "MB/s", rate_or_na(group.end_mb_per_s))
            for number, group in enumerate(self.result.groups, 1)
        ]
        recovery, _, unit = recovery_label(self.result).rpartition(" ")
        result = (recovery, unit) if self.result.recovery_minutes is not None else (recovery_label(self.result), "min")
        rows.append((recovery_name(self.settings), result[1], result[0]))
        return tuple(
            Selected(item=item, unit=unit, value=text, basis=NO_RULE, claim=claim_label(self.run, None))
            for item, unit, text in rows
        )

    def tiles(self) -> Iterator[Tile]:
        """The recovery."""
        value = ((("group", len(self.result.groups)),), "minutes")
        yield Tile(slot="recovery", title=coded("tile-recovery"), value=value)

    def numbers(self) -> Iterator[Measure]:
        """Throughput of each group, the recovery, and response times."""
        yield from cross_stimulus_measures(self.settings, self.result, recovery_name(self.settings))
        yield from TestReport.numbers(self)

    def own_settings(self) -> tuple[Entry, ...]:
        """Access groups and samples."""
        groups = [
            (f"Access group {number}", f"{group.label}, {duration_label(group.span_ns)}")
            for number, group in enumerate(self.settings.groups, 1)
        ]
        return (
            *groups,
            ("Sample", duration_label(self.settings.sample_ns)),
            ("Recovered at", f"{percent(self.settings.recovered_share)} of the first group's mean"),
        )

    def details(self) -> tuple[Table, ...]:
        """None: the samples are many, and in tables."""
        return ()

    def tables(self, suffix: str) -> Iterator[ResultTable]:
        """Every sample, and the groups."""
        return cross_stimulus_tables(self.result, self.settings.test.replace("-", "_"), suffix)

    def results(self) -> dict[str, Any]:
        """Groups, recovery and samples."""
        result = self.result
        return {
            "error_count": result.error_count,
            "withheld": text_or_none(result.withheld),
            "recovery_minutes": result.recovery_minutes,
            "recovery_gb": result.recovery_gb,
            "lowest_share": result.lowest_share,
            "groups": [_group_results(group) for group in result.groups],
            "samples": [step_results(step) for step in self.test.steps("group")],
        }


def _group_results(group: GroupResult) -> dict[str, Any]:
    """The numbers of an access group in ``results.json``, its samples among them."""
    numbers = asdict(group)
    return {"label": numbers.pop("label"), **numbers.pop("samples"), **numbers}


def _marked(label: str, minute: float, value: float) -> Series:
    return Series(label=label, x=(minute / 60,), y=(value,), colour=_MARK_COLOUR, mode="markers", mark=True)


def _borders(shown: Sequence[GroupResult], every: Sequence[GroupResult]) -> tuple[float, ...]:
    """The hours at which the groups begin and end, the first of all at zero."""
    first = every.index(shown[0])
    begun = every[first - 1].samples.minutes[-1:] if first else (0.0,)
    return tuple(minute / 60 for minute in (*begun, *(one.samples.minutes[-1] for one in shown if one.samples.minutes)))


def _group_row(number: int, group: GroupResult, span: str) -> tuple[str, ...]:
    drop = group.drop_share
    return (
        f"{number}: {group.label}",
        span,
        rate_or_na(group.mean_mb_per_s),
        rate_or_na(group.end_mb_per_s),
        _milliseconds(group.latency_ms_mean_peak),
        _milliseconds(group.latency_ms_max_peak),
        NOT_APPLICABLE if drop is None else percent(round(drop, 4)),
    )


def _milliseconds(value: float | None) -> str:
    return milliseconds_or_na(value)


def xsr_report(run: StoredRun, test: StoredTest, edition: Edition, prefix: str) -> CrossStimulusReport:
    """A stored test with everything that its pages print."""
    result = cross_stimulus_result(test)
    return CrossStimulusReport(run=run, test=test, edition=edition, prefix=prefix, result=result)
