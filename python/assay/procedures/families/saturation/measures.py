"""The numbers of a write saturation: fresh, settled, their ratio, and what was written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.procedures.families.saturation.result import settled_values, verdict_minutes, verdict_sample
from assay.spec.steady import WINDOW_ROUNDS
from assay.spec.units import KIB, MINUTE_NS
from assay.summary.measures import FIRST, LAST, SETTLED, quoted
from assay.summary.record import Window
from assay.summary.verdict import Ruled
from assay.words.coded import coded
from assay.words.printed import outstanding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records import AccessPattern, MeasurementWindow
    from assay.procedures.families.saturation.result import SaturationResult
    from assay.procedures.families.saturation.settings import SaturationSettings
    from assay.summary.record import Measure


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
