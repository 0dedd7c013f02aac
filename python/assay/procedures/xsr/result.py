"""What a cross stimulus recovery test measured: every sample of its access groups, and when the last one recovered."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate, takewhile
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

from assay.procedures.xsr.settings import CrossStimulusSettings
from assay.results.ended import stored_error_count
from assay.results.outcome import withheld_reason
from assay.results.step import Samples, ran_whole, rate_bytes
from assay.spec.units import GB, MINUTE_NS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.engine.records import StepRecord, StoredTest
    from assay.procedures.xsr.settings import AccessGroup
    from assay.results.finding import Finding
    from assay.words.coded import Coded

END_SHARE = 0.1
"""The throughput at the end of a group is the mean of its last samples, so many of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupResult:
    """One access group.

    samples : the complete samples, each at its end since the first group began.
    mean_mb_per_s : throughput of all samples. end_mb_per_s : throughput of the last tenth. latency_ms_mean_peak,
    latency_ms_max_peak : the largest average and the largest response time of a sample; all None unless the group is
    whole. drop_share : how far its mean lies below the mean of the first group with the same accesses, None for the
    first one.
    """

    label: str
    samples: Samples
    mean_mb_per_s: float | None
    end_mb_per_s: float | None
    latency_ms_mean_peak: float | None
    latency_ms_max_peak: float | None
    drop_share: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossStimulusResult:
    """All values of the pages of cross stimulus recovery.

    recovery_minutes : from the beginning of the last group to the end of its first sample that reaches the recovered
    share of the first group's mean; None where none does or nothing may be printed.
    recovery_gb : written until then. lowest_share : the lowest sample of the last group over the first group's mean.
    """

    groups: tuple[GroupResult, ...]
    recovery_minutes: float | None
    recovery_gb: float | None
    lowest_share: float | None
    error_count: int
    withheld: Coded | None
    findings: tuple[Finding, ...] = ()


def sample_count(settings: CrossStimulusSettings, group: AccessGroup) -> int:
    """Samples of one access group, at least one. Worked: 8 h of one-minute samples -> 480."""
    return max(round(group.span_ns / settings.sample_ns), 1)


def cross_stimulus_result(test: StoredTest) -> CrossStimulusResult:
    """Compute every value that the pages of cross stimulus recovery print from its stored steps.

    Source: SNIA PTS session 202-C (2013); the recovery time is a public implementation's.
    Worked: a first group at 200 MB/s in the mean and a last one of 50, 150, 200 -> recovered after 3 minutes.
    """
    settings, withheld = test.settings_as(CrossStimulusSettings), withheld_reason(test)
    steps = [_complete(test, place) for place in range(1, len(settings.groups) + 1)]
    whole = [
        not withheld and len(step) == sample_count(settings, group)
        for group, step in zip(settings.groups, steps, strict=True)
    ]
    groups = _groups(settings, steps, whole)
    until = _until_recovered(settings, groups, steps[-1]) if all(whole) else ()
    return CrossStimulusResult(
        groups=groups,
        recovery_minutes=sum(step.span_ns for step in until) / MINUTE_NS if until else None,
        recovery_gb=sum(map(rate_bytes, until)) / GB if until else None,
        lowest_share=min(groups[-1].samples.throughput) / (groups[0].mean_mb_per_s or 1) if all(whole) else None,
        error_count=stored_error_count(test),
        withheld=withheld,
    )


def _complete(test: StoredTest, index: int) -> list[StepRecord]:
    steps = test.steps("group", index)
    return list(takewhile(ran_whole, steps))


def _groups(
    settings: CrossStimulusSettings, steps: Sequence[Sequence[StepRecord]], whole: Sequence[bool]
) -> tuple[GroupResult, ...]:
    spans = [sum(step.span_ns for step in groups) for groups in steps]
    begins = [0, *accumulate(spans)]
    results: list[GroupResult] = []
    for group, groups, begin, complete in zip(settings.groups, steps, begins, whole, strict=False):
        before = next((result.mean_mb_per_s for result in results if result.label == group.label), None)
        results.append(_group(group.label, groups, begin, before, complete=complete))
    return tuple(results)


def _group(
    label: str, steps: Sequence[StepRecord], begin_ns: int, before: float | None, *, complete: bool
) -> GroupResult:
    samples = Samples.of(steps, begun_ns=begin_ns)
    mean = fmean(samples.throughput) if complete else None
    return GroupResult(
        label=label,
        samples=samples,
        mean_mb_per_s=mean,
        end_mb_per_s=fmean(_last(samples.throughput)) if complete else None,
        latency_ms_mean_peak=_peak(samples.latency_ms_mean) if complete else None,
        latency_ms_max_peak=_peak(samples.latency_ms_max) if complete else None,
        drop_share=1 - mean / before if mean is not None and before else None,
    )


def _peak(times: Sequence[float | None]) -> float | None:
    return max((time for time in times if time is not None), default=None)


class Slowest(NamedTuple):
    """The slowest I/O of a test: its time, the number of its access group, and of its sample end and average time."""

    latency_ms: float
    group: int
    minute: float
    mean_ms: float


def slowest(result: CrossStimulusResult) -> Slowest | None:
    """The slowest I/O of all groups that are whole, None without one.

    Worked: maxima of 3 and 9 ms in the samples of a first group of two minutes -> 9 ms, group 1, minute 2.
    """
    results = [
        Slowest(largest, number, sample.minute, mean)
        for number, group in enumerate(result.groups, 1)
        for sample in group.samples.each()
        if (largest := sample.latency_ms_max) is not None and (mean := sample.latency_ms_mean) is not None
        if group.latency_ms_max_peak is not None
    ]
    return max(results, default=None, key=lambda one: one.latency_ms)


def end_samples(group: GroupResult) -> tuple[float, ...]:
    """Throughput of the samples in the last tenth of a group. Worked: 480 samples -> the last 48."""
    return _last(group.samples.throughput)


def _last(rates: tuple[float, ...]) -> tuple[float, ...]:
    return rates[-max(round(len(rates) * END_SHARE), 1) :]


def _until_recovered(
    settings: CrossStimulusSettings, groups: Sequence[GroupResult], last: Sequence[StepRecord]
) -> Sequence[StepRecord]:
    asked = settings.recovered_share * (groups[0].mean_mb_per_s or 0)
    reached = next((index for index, rate in enumerate(groups[-1].samples.throughput) if rate >= asked), None)
    return () if reached is None else last[: reached + 1]
