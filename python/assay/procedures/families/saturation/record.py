"""What a write saturation shows: facts, tables, numbers, and what they say of the drive."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from assay.procedures.families.saturation.result import (
    LEVEL_BAND,
    LEVEL_SAMPLES,
    SaturationSettings,
    complete_samples,
    settled_values,
    verdict_minutes,
    verdict_sample,
)
from assay.procedures.traits import not_steady, pattern_subject, stalls, tails, waited
from assay.results.ended import missed_steady_state
from assay.results.histogram import NINES, all_step_times, merged
from assay.results.stall import is_void
from assay.spec.steady import WINDOW_ROUNDS
from assay.spec.units import KIB, MINUTE_NS, duration_label
from assay.summary import table as of
from assay.summary.insights import insight, is_raised
from assay.summary.measures import FIRST, LAST, SETTLED, quoted
from assay.summary.pages.figures import time_heat
from assay.summary.pages.header import TestFacts, pattern_stimulus, share_label
from assay.summary.pages.histograms import Distribution, histogram_tables, part
from assay.summary.record import Window
from assay.summary.table import Column, Lines, percentile_columns, table_of, table_of_columns
from assay.summary.verdict import Ruled
from assay.words.coded import coded
from assay.words.printed import (
    NOT_APPLICABLE,
    NOT_AVAILABLE,
    capacity_label,
    minutes_label,
    ordinal,
    outstanding,
    percent,
    rate_or_na,
    rounds_label,
    size_label,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from assay.engine.records import AccessPattern, MeasurementWindow, StoredRun, StoredTest
    from assay.procedures.families.saturation.result import Mark, SaturationResult
    from assay.summary.insights import Insight
    from assay.summary.pages.model import Entry
    from assay.summary.record import Measure
    from assay.summary.table import Declared, Raw, ResultTable
    from assay.words.coded import Subject


_COARSE_FILLS = 0.25
"""Samples that write more of the drive each make a curve of too few points."""


def saturation_facts(run: StoredRun, test: StoredTest, result: SaturationResult) -> TestFacts:
    """The facts of a write saturation test, which requires no steady state.

    Source: WSAT pages and summaries of "Understanding SSD Performance Using the SNIA SSS PTS" (2012): PC AR 100 %
    though nothing is preconditioned, and AR AMOUNT 100 %, which the published summaries leave out as N/A.
    """
    settings = test.settings_as(SaturationSettings)
    step = duration_label(settings.sample_ns)
    minutes = result.samples.minutes
    extent = f"{minutes_label(minutes[-1])} / {result.written_gb[-1]:,.1f} GB" if minutes else NOT_APPLICABLE
    return TestFacts(
        preconditioned=share_label(run, settings.range_amount_bytes),
        dependent=settings.label,
        test_area=share_label(run, settings.range_amount_bytes),
        test_range=share_label(run, settings.range_amount_bytes),
        step=step,
        stimulus=pattern_stimulus(
            f"{settings.label}, {duration_label(settings.sample_ns)} per sample", settings.pattern
        ),
        workload=settings.label,
        extent=extent,
        convergence=saturation_steady(result),
        rounds=rounds_label(result.window.rounds) if result.window else None,
        time=window_minutes(settings, result.window) if result.window else "",
        steady=steady_label(settings, result),
    )


def saturation_steady(result: SaturationResult) -> str:
    """Whether steady state was reached. Worked: without a window of five values -> ``"not judged"``."""
    if result.reached is None:
        return NOT_AVAILABLE if result.withheld else "not judged"
    return "YES" if result.reached else "not reached"


def steady_label(settings: SaturationSettings, result: SaturationResult) -> str:
    """Whether steady state was reached, or why it could not be judged; n/a where nothing may be printed.

    Worked: 65 minutes of samples where the rule takes the 31st to the 155th ->
    ``"not judged: ended after 65 min, the rule needs 155 min"``.
    """
    if result.withheld or result.window:
        return saturation_steady(result)
    needed = minutes_label(verdict_sample(WINDOW_ROUNDS, settings) * settings.sample_ns / MINUTE_NS)
    if not result.samples.minutes:
        return f"{saturation_steady(result)}: no sample ran to its end, the rule needs {needed}"
    if len(result.samples.minutes) >= verdict_sample(WINDOW_ROUNDS, settings):
        return f"{saturation_steady(result)}: fewer than five samples of the rule after a void sample"
    return (
        f"{saturation_steady(result)}: ended after {minutes_label(result.samples.minutes[-1])}, the rule needs {needed}"
    )


def saturation_outline(settings: SaturationSettings) -> str:
    """Worked: samples of a minute, first of all rules -> ``"RND 4KiB 0/100 in samples of 1 min ..."``."""
    limits = {
        "time": f"for {duration_label(settings.time_ns)}",
        "amount": f"to {capacity_label(settings.amount_bytes)} written",
        "steady": f"until the five-point rule holds over every {ordinal(settings.samples_per_verdict)} sample",
    }
    both = ", or ".join(limits.values()) + ", whichever comes first"
    return (
        f"{settings.label} in samples of {duration_label(settings.sample_ns)} without a gap, "
        f"{limits.get(settings.stop, both)}."
    )


def saturation_settings(settings: SaturationSettings) -> tuple[Entry, ...]:
    """What only a write saturation test is set to do."""
    return (
        ("Workload", settings.label),
        ("Block sizes", ", ".join(f"{size_label(size)} {percent(share)}" for size, share in settings.pattern.sizes)),
        ("Alignment", size_label(settings.pattern.alignment_bytes) if settings.pattern.alignment_bytes else "I/O size"),
        ("Sample", duration_label(settings.sample_ns)),
        ("Five-point rule over every", f"{ordinal(settings.samples_per_verdict)} sample"),
        ("Ends by", "first of time, amount, five-point rule" if settings.stop == "first" else settings.stop),
        ("Time limit", duration_label(settings.time_ns)),
        ("Amount limit", capacity_label(settings.amount_bytes)),
        ("Preconditioning", "none"),
    )


def fresh_label(settings: SaturationSettings, first: Mark) -> str:
    """What the first sample is: its length, how much of the drive was written when it ended, and if it was fresh.

    Worked: a minute in which a fifth of the drive was written -> ``"the first 1 min, 0.20 drive fills written at its
    end"``; one of 1.34 fills is ``"not all fresh out of box"``.
    """
    text = f"the first {duration_label(settings.sample_ns)}, {first.fills:.2f} drive fills written at its end"
    return text if is_fresh(first.fills) else f"{text}: not all fresh out of box"


def is_fresh(fills: float) -> bool:
    """Whether no more was written in the first sample than the drive holds, so that all of it is of a fresh drive.

    fills : drive fills written at its end. Worked: 0.2 -> True, 1.34 -> False.
    """
    return fills <= 1


def level_text(settings: SaturationSettings, result: SaturationResult) -> str:
    """What the mark where the level is reached says, beside the verdict; that there is none where there is none.

    Worked: samples of a minute, every 30th from the 30th -> ``"level reached: the median of five samples stays within
    10 % of 3,252.8 IOPS for the next 30 samples; that is the average of the five that the rule judges (30 min to 150
    min)"``.
    """
    window = result.window
    if result.steady is None or window is None or result.steady_iops is None:
        return "no level was reached"
    rest = len(result.samples.iops) - result.steady.sample + 1
    lasting = f"for the next {LEVEL_SAMPLES} samples" if rest >= LEVEL_SAMPLES else f"in the last {rest} samples"
    return (
        f"level reached: the median of five samples stays within {percent(LEVEL_BAND)} of "
        f"{rate_or_na(result.steady_iops)} IOPS {lasting}; that is the average of the five "
        f"that the rule judges ({window_minutes(settings, window)})"
    )


def window_minutes(settings: SaturationSettings, window: MeasurementWindow) -> str:
    """When the first and the last judged sample were taken. Worked: minutes 1 and 121 -> ``"1 min to 121 min"``."""
    minutes = verdict_minutes(window.verdicts[settings.label], settings)
    return f"{minutes_label(minutes[0])} to {minutes_label(minutes[-1])}"


def coarse_samples(settings: SaturationSettings, result: SaturationResult) -> Iterator[str]:
    """That a sample is so long for the drive that the curve hides what happens within a drive fill.

    Worked: 8 samples of a minute in 4.00 drive fills -> ``"8 samples of 1 min, 0.50 drive fills each: ..."``.
    """
    count = len(result.fills)
    if result.withheld or not count or result.fills[-1] / count <= _COARSE_FILLS:
        return
    each = f"{count:,} samples of {duration_label(settings.sample_ns)}, {result.fills[-1] / count:.2f} drive fills each"
    yield f"{each}: what the drive does within a sample is in no curve"


class _Marked(NamedTuple):
    key: str
    name: str
    mark: Mark | None


def _of_mark(fill: Callable[[Mark], Raw]) -> Callable[[_Marked], Raw]:
    return lambda marked: None if marked.mark is None else fill(marked.mark)


_MARKS: Declared[_Marked] = (
    (Column("mark", "Mark", role="key"), lambda marked: marked.name),
    (Column("sample", "Sample"), _of_mark(lambda mark: mark.sample)),
    (Column("minute", "Time", "min"), _of_mark(lambda mark: mark.minutes)),
    (of.WRITTEN, _of_mark(lambda mark: mark.written_gb)),
    (of.FILLS, _of_mark(lambda mark: mark.fills)),
    (of.IOPS, _of_mark(lambda mark: mark.iops)),
)


_BRIEF = ("mark", of.IOPS.key, "minute", of.WRITTEN.key, of.FILLS.key)


def saturation_tables(test: StoredTest, result: SaturationResult, suffix: str) -> Iterator[ResultTable]:
    """The tables of a write saturation test."""
    name = test.settings.test.replace("-", "_")
    yield samples_table(result, f"{name}_samples{suffix}")
    yield marks_table(result, f"{name}_marks{suffix}")
    yield from histogram_tables(test, suffix)


def samples_table(result: SaturationResult, key: str) -> ResultTable:
    """Every complete sample of a write saturation test."""
    samples = result.samples
    missing = (None,) * len(samples.minutes)
    columns = (
        (of.MINUTE, samples.minutes),
        (of.IOPS, samples.iops),
        (of.MB_PER_S, samples.throughput),
        (of.WRITTEN, result.written_gb),
        (of.FILLS, result.fills),
        (of.MEAN, samples.latency_ms_mean),
        *zip(percentile_columns(NINES), (result.percentiles.get(share, missing) for share in NINES), strict=True),
        (of.MAXIMUM, samples.latency_ms_max),
    )
    lines = (Lines(of.MINUTE.key, of.IOPS.key, log="y"), Lines(of.FILLS.key, of.IOPS.key, log="y"))
    return table_of_columns(key, "Samples", columns, lines=lines)


def marks_table(result: SaturationResult, key: str = "marks") -> ResultTable:
    """What is read off the curve."""
    return table_of(key, "Marks of the curve", _MARKS, _marked(result), section="results", brief=_BRIEF)


def _marked(result: SaturationResult) -> tuple[_Marked, ...]:
    return (
        _Marked("first", "first sample", result.first),
        _Marked("peak", "peak", result.peak),
        _Marked("peak_drop", "peak drop", result.peak_drop),
        _Marked("level_reached", "level reached", result.steady),
        _Marked("first_steady", "five-point rule first held", result.first_steady),
    )


Phase = tuple[str, str, "tuple[int, ...]"]


def saturation_distribution(test: StoredTest, result: SaturationResult, prefix: str) -> Distribution:
    """Response times by phase, histograms of its samples added; no part where the result is withheld."""
    samples = complete_samples(test.steps("sample"))
    times = all_step_times(test.stage("sample"))[: len(samples)]
    # Histograms of a part cannot be told from those of the whole.
    times = times if len(times) == len(samples) else []
    settings = test.settings_as(SaturationSettings)
    void = {index for index, sample in enumerate(samples) if is_void(sample, settings)}
    parts = tuple(
        part((key, places[0] + 1, places[-1] + 1), label, [samples[i] for i in kept], [times[i] for i in kept if times])
        for key, label, places in phases(result, settings)
        if (kept := [place for place in places if place not in void])
    )
    heat = time_heat(f"{prefix}-heat", result.samples.minutes, times) if parts else None
    said = "I/Os by response time over the time of the test; a field without a colour had none."
    return Distribution(
        name=settings.test.replace("-", "_"),
        title=settings.test_label,
        over="samples, first to last",
        prefix=prefix,
        columns=("phase", "sample_first", "sample_last"),
        parts=parts,
        withheld=result.withheld or coded("no-whole-sample"),
        curves=tuple(range(len(parts))),
        maps=((said, heat),) if heat else (),
        printed=heat.name if heat else "",
    )


def phases(result: SaturationResult, settings: SaturationSettings) -> Iterator[Phase]:
    """The phases of a test with their samples from 0; none where the result is withheld.

    The window has the samples that its verdict was taken on, and nothing between them, like the steady-state IOPS.
    Worked: a window of verdict samples 1 to 5 with one sample in 31 -> samples 31, 62, 93, 124 and 155.
    """
    count = len(result.samples.iops)
    if result.withheld or not count:
        return
    yield "first", "First sample", (0,)
    if result.window and result.window.reached:
        window = tuple(verdict_sample(number, settings) - 1 for number in result.window.rounds)
        yield "window", f"Window, samples {', '.join(str(place + 1) for place in window)}", window
    if result.steady:
        yield (
            "steady",
            f"From where the level is reached on, samples {result.steady.sample}-{count}",
            _from(result.steady.sample, count),
        )
    yield "last", f"Last sample, {count}", (count - 1,)


def _from(sample: int, count: int) -> tuple[int, ...]:
    return tuple(range(sample - 1, count))


def saturation_measures(settings: SaturationSettings, result: SaturationResult) -> Iterator[Measure]:
    """First sample, settled average of the five-point rule, settled over first, gigabytes written.

    Where no level was reached the last sample is among them. Without a level, why: withheld, not judged or not settled.

    Worked: 10,000 IOPS in the first sample and 2,500 settled -> ratio 0.25.
    """
    label, demand = settings.label, outstanding(settings.demand)
    minutes, rates = result.samples.minutes, result.samples.iops
    first = rates[0] if rates and not result.withheld else None
    settled, values = result.steady_iops, settled_values(settings, result)
    reason = result.withheld or saturation_ruled(settings, result).reason
    none = coded("withheld", reason=reason) if reason else coded("no-level")
    fresh = none
    if first:
        fresh = coded("first-sample", minutes=minutes[0], fills=result.fills[0], outstanding=demand)
    yield quoted(FIRST, "IOPS", f"{label}, first sample", first, fresh, baseline="wsat_first_iops")
    yield quoted(
        SETTLED,
        "IOPS",
        f"{label}, settled",
        settled,
        coded("verdict-samples", outstanding=demand) if values else none,
        rounds=values,
        tracked=bool(values),
        claim="rnd_4k_write_iops" if _is_of_4k_writes(settings.pattern) else None,
        baseline="wsat_settled_iops",
    )
    if first and settled is None:
        last = coded("last-sample", fills=result.fills[-1], outstanding=demand)
        yield quoted(LAST, "IOPS", f"{label}, last sample", rates[-1], last)
    ratio = settled / first if settled and first else None
    yield quoted(SETTLED, "x", f"{label}, settled over first", ratio, coded("two-above") if ratio else none)
    written = result.written_gb[-1] if result.written_gb else None
    amount = coded("written", fills=result.fills[-1], minutes=minutes[-1]) if result.fills else none
    yield quoted((), "GB", "Written", written, amount)


def _is_of_4k_writes(pattern: AccessPattern) -> bool:
    """Whether the writes are those that a data sheet claims: random ones of 4 KiB, nothing else."""
    return pattern.read_share == 0 and pattern.random_share == 1 and [size for size, _ in pattern.sizes] == [4 * KIB]


def saturation_ruled(settings: SaturationSettings, result: SaturationResult) -> Ruled:
    """What the five-point rule said, or why it could not be judged.

    Worked: 65 minutes of samples where the rule takes the 31st to the 155th -> ended after 65 min, needs 155 min.
    """
    if result.window is not None:
        return Ruled(reached=result.window.reached, windows=(saturation_window_of(settings, result.window),))
    needed_sample = verdict_sample(WINDOW_ROUNDS, settings)
    needed = needed_sample * settings.sample_ns / MINUTE_NS
    if not result.samples.minutes:
        return Ruled(reason=coded("no-sample", needed=needed))
    if len(result.samples.minutes) >= needed_sample:
        return Ruled(reason=coded("since-void"))
    return Ruled(reason=coded("early-end", ended=result.samples.minutes[-1], needed=needed))


def saturation_window_of(settings: SaturationSettings, window: MeasurementWindow) -> Window:
    """The verdict samples of a window, and when they were taken."""
    minutes = verdict_minutes(window.verdicts[settings.label], settings)
    return Window(first=window.rounds[0], last=window.rounds[-1], minutes=(minutes[0], minutes[-1]))


_LAST_SHARE = 0.1
"""The samples at the end whose response times are those of a written drive."""


def saturation_insights(test: StoredTest, result: SaturationResult) -> Iterator[Insight]:
    """Everything that its samples say; none where results are withheld."""
    settings = test.settings_as(SaturationSettings)
    count = len(result.samples.iops)
    if result.withheld or not count:
        return
    about = pattern_subject(settings.pattern)
    if result.window and missed_steady_state(test):
        yield from not_steady(((about, verdict) for verdict in result.window.verdicts.values()), count)
    yield from falls(about, result)
    samples = complete_samples(test.steps("sample"))
    times = all_step_times(test.stage("sample"))[: len(samples)]
    if len(times) == len(samples):
        last = times[-max(round(len(times) * _LAST_SHARE), 1) :]
        yield from tails(pattern_subject(settings.pattern, settings.demand), merged(last))
        yield from stalls(about, [waited(samples, times, settings.demand)])


def falls(about: Subject, result: SaturationResult) -> Iterator[Insight]:
    """How far writes fall from the first sample to where they settle, or that they still fall at the end.

    Worked: 24,632 IOPS fresh, 3,953 where it settles -> 16 % kept; 3,953 and 25 % less per drive fill -> still falling.
    """
    rates = result.samples.iops
    first, last = rates[0], result.steady_iops or rates[-1]
    change = None if result.steady_iops else last_fill_change(result)
    if not first or not rates[1:]:
        return
    kept = last / first
    share = {"kept" if is_fresh(result.fills[0]) else "kept_of_first": kept}
    falling = insight("still-falling", about, **share, lost=1 - kept, per_fill=-(change or 0.0))
    settled = insight("settled-fall", replace(about, depth=None), **share, lost=1 - kept, first=first, settled=last)
    yield falling if is_raised(falling) else settled


def last_fill_change(result: SaturationResult) -> float | None:
    """How much IOPS changed over the last drive fill, a share; None where there was none before it.

    What it had a drive fill before its end is on the line between the two samples around that.

    Worked: 5,000 IOPS a fill before the end and 4,000 in the last sample -> -0.2.
    """
    end = result.fills[-1] if result.fills else 0
    before = [index for index, fills in enumerate(result.fills) if fills <= end - 1]
    if not before or before[-1] + 1 == len(result.fills):
        return None
    place, rates = before[-1], result.samples.iops
    (least, most), (old, new) = result.fills[place : place + 2], rates[place : place + 2]
    then = old + (new - old) * (end - 1 - least) / (most - least) if most > least else old
    return rates[-1] / then - 1 if then else None
