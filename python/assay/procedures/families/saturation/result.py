"""What a write saturation measured: its samples, its level, its window."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import accumulate, takewhile
from statistics import median
from typing import TYPE_CHECKING, Literal

from assay.engine.records import MeasurementWindow
from assay.engine.records.settings import PatternSettings
from assay.results.ended import stored_error_count
from assay.results.finding import Finding
from assay.results.histogram import NINES, all_step_times, percentiles
from assay.results.outcome import verify_verdict, withheld_reason
from assay.results.stall import is_void
from assay.results.step import Samples, iops, issued_bytes, ran_whole
from assay.spec.steady import WINDOW_ROUNDS, exact_limit, steady_state
from assay.spec.units import MINUTE_NS, gigabytes
from assay.words.coded import coded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.engine.records import SteadyVerdict, StepRecord, StoredTest
    from assay.words.coded import Coded


SaturationStop = Literal["first", "time", "amount", "steady"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SaturationSettings(PatternSettings):
    """What a write saturation test used.

    sample_ns : length of one sample. samples_per_verdict : every so many samples one enters the five-point rule.
    stop : what ends the test: ``first`` of all three, ``time``, ``amount`` or ``steady`` alone, or ``rounds``, which is
        steady or else time.
    first_verdict_sample : the first one that does, None for the ``samples_per_verdict``-th.
    time_ns, amount_bytes : the limits; the amount counts host bytes written.
    """

    sample_ns: int
    samples_per_verdict: int
    stop: SaturationStop | Literal["rounds"]
    time_ns: int
    amount_bytes: int
    first_verdict_sample: int | None = None


DROP_SHARE = 0.8
LEVEL_BAND = 0.1
LEVEL_SAMPLES = 30
_MEDIAN_REACH = 2
_PLATEAU = Finding(level="warn", reason=coded("plateau"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A place on the curve. sample : from 1. minutes, written_gb, fills : at the end of that sample. iops : in it."""

    sample: int
    minutes: float
    written_gb: float
    fills: float
    iops: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SaturationResult:
    """All values of the pages of a write saturation test; every tuple has one value per complete sample.

    samples : the complete samples, each at its end. written_gb, fills : at the end of the sample; GB in base 10, fills
    in user capacities. percentiles : in ms by share, None where fewer than ten I/Os lie beyond; empty where the
    histograms were not read.
    first : the first sample, on the purged drive. window : the last five verdict samples by their own numbers.
    first_steady : the sample at which the rule first held.
    steady_iops : average of the window where it holds and may be printed. plateau : less than one drive fill was
    written when that window ended, so that the drive may still be fresh.
    findings : what a reader must know before any of it.
    """

    samples: Samples
    written_gb: tuple[float, ...]
    fills: tuple[float, ...]
    percentiles: dict[float, tuple[float | None, ...]]
    window: MeasurementWindow | None
    first: Mark | None
    first_steady: Mark | None
    peak: Mark | None
    peak_drop: Mark | None
    steady: Mark | None
    steady_iops: float | None
    plateau: bool
    error_count: int
    withheld: Coded | None
    findings: tuple[Finding, ...] = ()

    @property
    def reached(self) -> bool | None:
        """Whether steady state was; None where it was not judged or nothing may be printed."""
        return None if self.withheld or self.window is None else self.steady_iops is not None


def settled_values(settings: SaturationSettings, result: SaturationResult) -> tuple[float, ...]:
    """IOPS of the five samples that ``steady_iops`` is the average of; none where there is none."""
    window = result.window if result.steady_iops is not None else None
    return window.verdicts[settings.label].values if window else ()


def saturation_window(samples: Sequence[StepRecord], settings: SaturationSettings) -> MeasurementWindow | None:
    """Judge the last five verdict samples; None before the fifth, and until five follow the last void sample.

    samples : the complete samples so far, oldest first.
    Source: SNIA PTS session 202-C (2013): one-minute averages separated by 30 minutes of writes.
    Worked: with one sample in 31, the first verdict is taken over minutes 31, 62, 93, 124 and 155.
    """
    values = [iops(sample) for sample in samples[verdict_sample(1, settings) - 1 :: settings.samples_per_verdict]]
    if len(values) < WINDOW_ROUNDS:
        return None
    rounds = range(len(values) - WINDOW_ROUNDS + 1, len(values) + 1)
    last_void = max((number for number, sample in enumerate(samples, 1) if is_void(sample, settings)), default=0)
    if verdict_sample(rounds[0], settings) <= last_void:
        return None
    verdict = steady_state(
        rounds,
        values[-WINDOW_ROUNDS:],
        range_limit=exact_limit(settings.range_limit),
        slope_limit=exact_limit(settings.slope_limit),
    )
    return MeasurementWindow(rounds=tuple(rounds), verdicts={settings.label: verdict}, reached=verdict.steady)


def verdict_sample(number: int, settings: SaturationSettings) -> int:
    """The sample, from 1, that is the ``number``-th in the five-point rule. Worked: every 31st, the fifth -> 155."""
    first = settings.first_verdict_sample or settings.samples_per_verdict
    return first + (number - 1) * settings.samples_per_verdict


def verdict_minutes(verdict: SteadyVerdict, settings: SaturationSettings) -> tuple[float, ...]:
    """When the values of a verdict were taken. Worked: samples of a minute, every 30th from the first -> 1, 31, 61."""
    return tuple(verdict_sample(number, settings) * settings.sample_ns / MINUTE_NS for number in verdict.rounds)


def is_verdict_sample(sample: int, settings: SaturationSettings) -> bool:
    """Whether a sample, from 1, enters the five-point rule."""
    first, every = verdict_sample(1, settings), settings.samples_per_verdict
    return sample >= first and not (sample - first) % every


def complete_samples(samples: Sequence[StepRecord]) -> tuple[StepRecord, ...]:
    """The samples up to the first that was cut short or saw an I/O fail."""
    return tuple(takewhile(ran_whole, samples))


def written_bytes(samples: Sequence[StepRecord]) -> int:
    """Host bytes written by these samples, their tails included. Worked: 2 GB and 1 GB -> 3000000000."""
    return sum(issued_bytes(sample.write) for sample in samples)


def saturation_result(test: StoredTest, capacity_bytes: int) -> SaturationResult:
    """Compute every value that the pages of a write saturation test print from its stored samples.

    capacity_bytes : user capacity, the unit of drive fills.
    Raises VerificationError where the verdict in the run folder is not the one its samples give.
    Worked: 60 GB in each of two samples on a drive of 60 GB -> ``fills`` is (1.0, 2.0).
    """
    return sampled_result(test, capacity_bytes, withheld_reason(test))


def sampled_result(test: StoredTest, capacity_bytes: int, withheld: Coded | None) -> SaturationResult:
    """The result of a test's samples. withheld : why nothing of it may be printed, if so."""
    settings, samples = test.settings_as(SaturationSettings), complete_samples(test.steps("sample"))
    window = saturation_window(samples, settings)
    verify_verdict(test.verdict, _judged_again(test, samples, settings))
    curve = _Curve(samples, settings, capacity_bytes)
    level = window.verdicts[settings.label].average if window and window.reached and not withheld else None
    drop = None if withheld else curve.peak_drop()
    last = verdict_sample(window.rounds[-1], settings) - 1 if window and window.reached else None
    plateau = last is not None and curve.fills[last] < 1
    return SaturationResult(
        samples=curve.series,
        written_gb=curve.written_gb,
        fills=curve.fills,
        percentiles=_sample_percentiles(test, len(samples)),
        window=window,
        first=curve.mark(0) if samples and not withheld else None,
        first_steady=None if withheld else curve.first_steady(),
        peak=None if withheld else curve.peak(),
        peak_drop=drop,
        steady=curve.steady(level, drop),
        steady_iops=level,
        plateau=plateau,
        error_count=stored_error_count(test),
        withheld=withheld,
        findings=(_PLATEAU,) if plateau else (),
    )


def _judged_again(
    test: StoredTest, samples: Sequence[StepRecord], settings: SaturationSettings
) -> MeasurementWindow | None:
    last = verdict_sample(test.verdict.rounds[-1], settings) if test.verdict else 0
    return saturation_window(samples[:last], settings)


class _Curve:
    """IOPS over time and data written, and the marks on it."""

    def __init__(self, samples: Sequence[StepRecord], settings: SaturationSettings, capacity_bytes: int) -> None:
        self._samples, self._settings = samples, settings
        written = tuple(accumulate(issued_bytes(sample.write) for sample in samples))
        self.series = Samples.of(samples)
        self.written_gb = tuple(gigabytes(count) for count in written)
        self.fills = tuple(count / capacity_bytes for count in written)

    def mark(self, place: int | None) -> Mark | None:
        if place is None:
            return None
        return Mark(
            sample=place + 1,
            minutes=self.series.minutes[place],
            written_gb=self.written_gb[place],
            fills=self.fills[place],
            iops=self.series.iops[place],
        )

    def peak(self) -> Mark | None:
        return self.mark(self._peak_place())

    def first_steady(self) -> Mark | None:
        first = verdict_sample(WINDOW_ROUNDS, self._settings)
        for count in range(first, len(self._samples) + 1, self._settings.samples_per_verdict):
            window = saturation_window(self._samples[:count], self._settings)
            if window and window.reached:
                return self.mark(count - 1)
        return None

    def peak_drop(self) -> Mark | None:
        peak = self._peak_place()
        if peak is None:
            return None
        below = [value < DROP_SHARE * self.series.iops[peak] for value in self.series.iops]
        pairs = zip(range(peak, len(below) - 1), below[peak:], below[peak + 1 :], strict=False)
        return self.mark(next((place for place, here, after in pairs if here and after), None))

    def steady(self, level: float | None, drop: Mark | None) -> Mark | None:
        if level is None:
            return None
        middles = (median(self._around(place)) for place in range(len(self.series.iops)))
        inside = [abs(middle - level) <= LEVEL_BAND * level for middle in middles]
        start = drop.sample - 1 if drop else 0
        places = range(start, len(inside))
        return self.mark(next((place for place in places if all(inside[place : place + LEVEL_SAMPLES])), None))

    def _peak_place(self) -> int | None:
        return max(range(len(self.series.iops)), key=self.series.iops.__getitem__, default=None)

    def _around(self, index: int) -> tuple[float, ...]:
        return self.series.iops[max(index - _MEDIAN_REACH, 0) : index + _MEDIAN_REACH + 1]


def _sample_percentiles(test: StoredTest, count: int) -> dict[float, tuple[float | None, ...]]:
    times = all_step_times(test.stage("sample"))[:count]
    result = [percentiles(step) for step in times]
    return {share: tuple(one[share] for one in result) for share in NINES} if result else {}


def preconditioning_result(test: StoredTest, settings: SaturationSettings, capacity_bytes: int) -> SaturationResult:
    """The samples that a test wrote until steady, with their verdict.

    settings : of the preconditioning. capacity_bytes : user capacity, the unit of drive fills.
    A verdict is recomputed from the samples; it is withheld where the whole test is.
    """
    samples = test.stage("sample")
    part = replace(test, settings=settings, sequences=samples, verdict=None)
    return sampled_result(part, capacity_bytes, withheld_reason(test))
