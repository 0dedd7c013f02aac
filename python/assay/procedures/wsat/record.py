"""The pages of write saturation: four in form 1.0, four and the histogram's two in form 2.0."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from assay.procedures.families.saturation.figures import (
    FILLS,
    WRITTEN,
    iops_figure,
    response_figure,
    saturation_main_figures,
    saturation_readings,
)
from assay.procedures.families.saturation.record import (
    coarse_samples,
    fresh_label,
    is_fresh,
    last_fill_change,
    level_text,
    saturation_distribution,
    saturation_facts,
    saturation_insights,
    saturation_measures,
    saturation_outline,
    saturation_ruled,
    saturation_settings,
    saturation_tables,
    steady_label,
)
from assay.procedures.families.saturation.result import (
    LEVEL_BAND,
    SaturationSettings,
    saturation_result,
    verdict_minutes,
)
from assay.summary.measures import FIRST, LAST, SETTLED
from assay.summary.pages.axes import MINUTES
from assay.summary.pages.histogram import histogram_parts
from assay.summary.pages.model import Box, figure_or_reason
from assay.summary.pages.test_report import TestReport
from assay.summary.pages.verdict import minutes_window
from assay.summary.record import Tile
from assay.words.coded import Coded, coded
from assay.words.endings import ending_label
from assay.words.printed import NOT_AVAILABLE, minutes_label, one_decimal, percent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records import StoredTest
    from assay.engine.records.run import StoredRun
    from assay.procedures.families.saturation.result import Mark, SaturationResult
    from assay.spec.edition import Edition
    from assay.summary.insight import Insight
    from assay.summary.pages.distribution import Distribution
    from assay.summary.pages.facts import TestFacts
    from assay.summary.pages.main_figure import MainFigure
    from assay.summary.pages.model import Entry, Figure, Page
    from assay.summary.pages.test_report import PagePart
    from assay.summary.record import Measure
    from assay.summary.table import ResultTable
    from assay.summary.verdict import Ruled


_NO_SAMPLE = "no sample ran to its end"
_ENDS = {"time": "time limit", "amount": "amount written", "steady": "five-point rule"}


@dataclass(frozen=True, slots=True, kw_only=True)
class SaturationReport(TestReport):
    """One write saturation test on its way to pages."""

    result: SaturationResult

    @property
    def settings(self) -> SaturationSettings:
        """What the test used."""
        return self.test.settings_as(SaturationSettings)

    @property
    def facts(self) -> TestFacts:
        """The test in the words of headers and summaries."""
        return saturation_facts(self.run, self.test, self.result)

    @property
    def outline(self) -> str:
        """Samples until the stop rule."""
        return saturation_outline(self.settings)

    @property
    def readings(self) -> dict[str, str]:
        """Sentences below the figures."""
        settings, result = self.settings, self.result
        change = last_fill_change(result) or 0
        return saturation_readings(settings, steady_label(settings, result), level_text(settings, result), change)

    def report_pages(self) -> tuple[Page, ...]:
        """The standard pages."""
        return wsat_pages(self)

    @property
    def ruled(self) -> Ruled:
        """That of its verdict samples."""
        return saturation_ruled(self.settings, self.result)

    def tiles(self) -> Iterator[Tile]:
        """Fresh, and where it settles."""
        settled = self.result.steady_iops is not None
        title = coded("tile-settled" if settled else "tile-not-settled", label=self.settings.label)
        yield Tile(slot="settled", title=title, value=(FIRST, "iops"), then=(SETTLED if settled else LAST, "iops"))

    def insights(self) -> Iterator[Insight]:
        """How far writes fall, whether they still do, and how long they wait."""
        return saturation_insights(self.test, self.result)

    def numbers(self) -> Iterator[Measure]:
        """Fresh, settled, their ratio, gigabytes written, and response times."""
        yield from saturation_measures(self.settings, self.result)
        yield from TestReport.numbers(self)

    def remarks(self) -> tuple[Coded, ...]:
        """That the samples are long for a drive of this size, and that it ended before it could be judged, where so."""
        early = self.result.window is None and self.test.ended in _ENDS and not self.result.withheld
        ended = coded("ended-unjudged", end=_end_label(self.test, self.result))
        coarse = (coded("reason", reason=line) for line in coarse_samples(self.settings, self.result))
        return (*coarse, *((ended,) if early else ()))

    def main_figures(self) -> Iterator[MainFigure]:
        """Its curve over drive fills, fresh response times against settled ones, and how they develop."""
        return saturation_main_figures(self.settings, self.result, self.distribution(), self.prefix)

    def overlaid(self) -> tuple[Figure, ...]:
        """IOPS over time, data written and drive fills."""
        result = (
            iops_figure(f"{self.prefix}-{name}", self.result, x_title, "log")
            for name, x_title in (("minutes", MINUTES), ("written", WRITTEN), ("fills", FILLS))
        )
        return tuple(replace(one, by_amount=one.x_title == WRITTEN) for one in result if one)

    def own_settings(self) -> tuple[Entry, ...]:
        """Samples and stop rule."""
        return saturation_settings(self.settings)

    def distribution(self) -> Distribution:
        """Response times of the first and last sample and of the steady part."""
        return self.once("distribution", lambda: saturation_distribution(self.test, self.result, self.prefix))

    def tables(self, suffix: str) -> Iterator[ResultTable]:
        """Samples, marks and the histogram behind them."""
        return saturation_tables(self.test, self.result, suffix)

    def curve(self, x_title: str, subtitle: str, *, log: bool = False) -> PagePart:
        """IOPS over time, data written or drive fills, under the strip of marks."""
        name = f"{self.prefix}-iops-{'minutes' if x_title == MINUTES else 'written' if x_title == WRITTEN else 'fills'}"
        figure = iops_figure(
            name + ("-log" if log else ""), self.result, x_title, "log" if log else "linear", self.settings
        )
        return subtitle, (marks_strip(self.test, self.result), figure_or_reason(figure, _NO_SAMPLE))


def wsat_pages(test_report: SaturationReport) -> tuple[Page, ...]:
    """Lay out the pages of one write saturation test: 1.x the standard four, 2.0 those of its edition."""
    edition, label = test_report.edition, test_report.settings.label
    workload = "" if label == "RND 4KiB 0/100" else f" - {label}"
    if edition.header == "2.0":
        title, found = f"WSAT Test{workload} - Report Page", _parts_2_0(test_report)
    else:
        title, found = (
            f"{edition.market} WSAT ({test_report.status}){workload} - Report Page",
            _parts_1_0(test_report),
        )
    first, *rest = found
    with_strip = (first[0], (*test_report.strip(), *first[1]))
    pages = (with_strip, *rest, *histogram_parts(test_report))
    return test_report.pages(title, pages)


def wsat_report(run: StoredRun, test: StoredTest, edition: Edition, prefix: str) -> SaturationReport:
    """A stored test with everything that its pages print. Raises VerificationError as ``saturation_result``."""
    result = saturation_result(test, run.identity.capacity_bytes)
    return SaturationReport(run=run, test=test, edition=edition, prefix=prefix, result=result)


def marks_strip(test: StoredTest, result: SaturationResult) -> Box:
    """What is read off the curve, by the rule that the guide states."""
    return Box(title="Write saturation", entries=marks(test, result), wide=True)


def marks(test: StoredTest, result: SaturationResult) -> tuple[Entry, ...]:
    """Peak, peak drop, steady state and end of a write saturation test as printed."""
    settings, first, peak = test.settings_as(SaturationSettings), result.first, result.peak
    fresh = f"{one_decimal(first.iops)}: {fresh_label(settings, first)}" if first else NOT_AVAILABLE
    window = result.window
    steady = None
    if window is not None and result.steady_iops is not None:
        judged = minutes_window(
            window.verdicts[settings.label], verdict_minutes(window.verdicts[settings.label], settings)
        )
        steady = f"{one_decimal(result.steady_iops)}: average of {judged}"
    return (
        ("First sample (FOB)" if first and is_fresh(first.fills) else "First sample", fresh),
        ("Highest sample (peak)", f"{one_decimal(peak.iops)} at {mark_label(peak)}" if peak else NOT_AVAILABLE),
        ("Peak drop at", mark_label(result.peak_drop)),
        ("Steady-state IOPS", steady or steady_label(settings, result)),
        (f"Level reached: within {percent(LEVEL_BAND)} of it from", mark_label(result.steady)),
        ("Five-point rule first held at", mark_label(result.first_steady)),
        ("Ended by", _end_label(test, result)),
    )


def mark_label(mark: Mark | None) -> str:
    """Print a mark. Worked: minute 60 at 250 GB on 256 GB -> ``"60 min / 250.0 GB / 0.98 fills"``."""
    if mark is None:
        return NOT_AVAILABLE
    return f"{minutes_label(mark.minutes)} / {mark.written_gb:,.1f} GB / {mark.fills:.2f} fills"


def _parts_1_0(test_report: SaturationReport) -> tuple[PagePart, ...]:
    market = test_report.edition.market
    return (
        test_report.curve(MINUTES, f"{market} IOPS (Linear) vs Time (Linear)"),
        test_report.curve(MINUTES, f"{market} IOPS (Log) vs Time (Linear)", log=True),
        test_report.curve(WRITTEN, f"{market} IOPS (Linear) vs Total Gigabytes Written (Linear)"),
        test_report.curve(WRITTEN, f"{market} IOPS (Log) vs Total Gigabytes Written (Linear)", log=True),
    )


def _parts_2_0(test_report: SaturationReport) -> tuple[PagePart, ...]:
    figure = response_figure(f"{test_report.prefix}-response", test_report.result, FILLS)
    return (
        test_report.curve(MINUTES, "IOPS v Time"),
        test_report.curve(WRITTEN, "IOPS v TGBW"),
        test_report.curve(FILLS, "IOPS v Normalized Capacity"),
        ("ART, 99.999 % & MRT v Normalized Capacity", (figure_or_reason(figure, _NO_SAMPLE),)),
    )


def _end_label(test: StoredTest, result: SaturationResult) -> str:
    end = _ENDS.get(test.ended or "") or ending_label(test.ended)
    if not result.samples.minutes:
        return end
    return f"{end}: {minutes_label(result.samples.minutes[-1])}, {result.written_gb[-1]:,.1f} GB"
