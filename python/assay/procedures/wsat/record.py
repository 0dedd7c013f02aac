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
from assay.summary.pages.figures import MINUTES, minutes_window
from assay.summary.pages.histograms import distribution_measures, histogram_parts
from assay.summary.pages.model import Box, figure_or_reason
from assay.summary.pages.test_record import Shown, Source
from assay.summary.record import Level, Tile
from assay.words.coded import Coded, coded
from assay.words.outcomes import ending_label
from assay.words.printed import NOT_AVAILABLE, minutes_label, one_decimal, percent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records import StoredTest
    from assay.procedures.families.saturation.result import Mark, SaturationResult
    from assay.summary.pages.model import Entry, Figure
    from assay.summary.pages.test_record import PagePart


_NO_SAMPLE = "no sample ran to its end"
_ENDS = {"time": "time limit", "amount": "amount written", "steady": "five-point rule"}


@dataclass(frozen=True, kw_only=True)
class SaturationPages(Source):
    """What the pages of a write saturation test are made of."""

    result: SaturationResult

    @property
    def settings(self) -> SaturationSettings:
        """What the test used."""
        return self.test.settings_as(SaturationSettings)

    def curve(self, x_title: str, subtitle: str, *, log: bool = False) -> PagePart:
        """IOPS over time, data written or drive fills, under the strip of marks."""
        name = f"{self.prefix}-iops-{'minutes' if x_title == MINUTES else 'written' if x_title == WRITTEN else 'fills'}"
        figure = iops_figure(
            name + ("-log" if log else ""), self.result, x_title, "log" if log else "linear", self.settings
        )
        return subtitle, (marks_strip(self.test, self.result), figure_or_reason(figure, _NO_SAMPLE))


def wsat_shown(source: Source) -> Shown:
    """What a stored write saturation test shows: of 1.x the standard four pages, of 2.0 those of its edition.

    Raises VerificationError as ``saturation_result``.
    """
    run, test = source.run, source.test
    result, settings = saturation_result(test, run.identity.capacity_bytes), test.settings_as(SaturationSettings)
    spread = saturation_distribution(test, result, source.prefix)
    pages, is_2_0 = SaturationPages(**source.origin, result=result), source.edition.header == "2.0"
    (subtitle, blocks), *others = _parts_2_0(pages) if is_2_0 else _parts_1_0(pages)
    workload = "" if settings.label == "RND 4KiB 0/100" else f" - {settings.label}"
    of_1_0 = f"{source.edition.market} WSAT ({source.status}){workload} - Report Page"
    change = last_fill_change(result) or 0
    return Shown(
        **source.origin,
        findings=result.findings,
        facts=saturation_facts(run, test, result),
        outline=saturation_outline(settings),
        title=f"WSAT Test{workload} - Report Page" if is_2_0 else of_1_0,
        parts=((subtitle, (*source.plan_box(), *blocks)), *others, *histogram_parts(source.test, source.prefix)),
        readings=saturation_readings(
            settings,
            steady_label(settings, result),
            level_text(settings, result),
            reached=result.reached,
            change=change,
        ),
        overlaid=_overlaid(source.prefix, result),
        drawn=saturation_main_figures(settings, result, spread, source.prefix),
        numbers=(*saturation_measures(settings, result), *distribution_measures(spread)),
        tiled=lambda _: _tiles(settings, result),
        seen=saturation_insights(test, result),
        remarks=_remarks(test, settings, result),
        ruled=saturation_ruled(settings, result),
        settings=saturation_settings(settings),
        tables=lambda: saturation_tables(test, result, source.suffix),
        distribution=spread,
    )


def _tiles(settings: SaturationSettings, result: SaturationResult) -> Iterator[Tile]:
    """Fresh, and where it settles."""
    settled = result.steady_iops is not None
    title = coded("tile-settled" if settled else "tile-not-settled", label=settings.label)
    yield Tile(slot="settled", title=title, value=(FIRST, "iops"), then=(SETTLED if settled else LAST, "iops"))


def _remarks(test: StoredTest, settings: SaturationSettings, result: SaturationResult) -> tuple[Coded, ...]:
    """That the samples are long for a drive of this size, and that it ended before it could be judged, where so."""
    early = result.window is None and test.ended in _ENDS and not result.withheld
    ended = coded("ended-unjudged", end=_end_label(test, result))
    coarse = (coded("reason", reason=line) for line in coarse_samples(settings, result))
    return (*coarse, *((ended,) if early else ()))


def _overlaid(prefix: str, result: SaturationResult) -> Iterator[Figure]:
    """IOPS over time, data written and drive fills."""
    for name, x_title in (("minutes", MINUTES), ("written", WRITTEN), ("fills", FILLS)):
        if figure := iops_figure(f"{prefix}-{name}", result, x_title, "log"):
            yield replace(figure, by_amount=x_title == WRITTEN)


def marks_strip(test: StoredTest, result: SaturationResult) -> Box:
    """What is read off the curve, by the rule that the guide states."""
    levels: tuple[tuple[str, Level], ...] = () if result.reached else (("Steady-state IOPS", "warn"),)
    return Box(title="Write saturation", entries=marks(test, result), wide=True, levels=levels)


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


def _parts_1_0(pages: SaturationPages) -> tuple[PagePart, ...]:
    market = pages.edition.market
    return (
        pages.curve(MINUTES, f"{market} IOPS (Linear) vs Time (Linear)"),
        pages.curve(MINUTES, f"{market} IOPS (Log) vs Time (Linear)", log=True),
        pages.curve(WRITTEN, f"{market} IOPS (Linear) vs Total Gigabytes Written (Linear)"),
        pages.curve(WRITTEN, f"{market} IOPS (Log) vs Total Gigabytes Written (Linear)", log=True),
    )


def _parts_2_0(pages: SaturationPages) -> tuple[PagePart, ...]:
    figure = response_figure(f"{pages.prefix}-response", pages.result, FILLS)
    return (
        pages.curve(MINUTES, "IOPS v Time"),
        pages.curve(WRITTEN, "IOPS v TGBW"),
        pages.curve(FILLS, "IOPS v Normalized Capacity"),
        ("ART, 99.999 % & MRT v Normalized Capacity", (figure_or_reason(figure, _NO_SAMPLE),)),
    )


def _end_label(test: StoredTest, result: SaturationResult) -> str:
    end = _ENDS.get(test.ended or "") or ending_label(test.ended)
    if not result.samples.minutes:
        return end
    return f"{end}: {minutes_label(result.samples.minutes[-1])}, {result.written_gb[-1]:,.1f} GB"
