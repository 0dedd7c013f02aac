"""What a cross stimulus recovery test measured: every sample of its access groups, and when the last one recovered."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

from assay.procedures.xsr.run import CrossStimulusSettings
from assay.results.ended import stored_error_count
from assay.results.outcome import withheld_reason
from assay.results.step import Samples, ran_whole, rate_bytes
from assay.spec.units import GB, MINUTE_NS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.engine.records import StepRecord, StoredTest
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


def cross_stimulus_result(test: StoredTest) -> CrossStimulusResult:
    """Compute every value that the pages of cross stimulus recovery print from its stored steps.

    Source: SNIA PTS session 202-C (2013); the recovery time is a public implementation's.
    Worked: a first group at 200 MB/s in the mean and a last one of 50, 150, 200 -> recovered after 3 minutes.
    """
    settings, withheld = test.settings_as(CrossStimulusSettings), withheld_reason(test)
    groups: list[GroupResult] = []
    steps: list[StepRecord] = []
    begun_ns = 0
    for index, group in enumerate(settings.groups, 1):
        steps = list(takewhile(ran_whole, test.steps("group", index)))
        is_whole = not withheld and len(steps) == settings.sample_count(group)
        before = next((result.mean_mb_per_s for result in groups if result.label == group.label), None)
        groups.append(_group_result(group.label, Samples.of(steps, begun_ns=begun_ns), before, is_whole=is_whole))
        begun_ns += sum(step.span_ns for step in steps)
    rates, mean = groups[-1].samples.throughput, groups[0].mean_mb_per_s or 0
    is_complete = all(result.mean_mb_per_s is not None for result in groups)
    recovered = (index for index, rate in enumerate(rates, 1) if rate >= settings.recovered_share * mean)
    until = steps[: next(recovered, 0)] if is_complete else []
    return CrossStimulusResult(
        groups=tuple(groups),
        recovery_minutes=sum(step.span_ns for step in until) / MINUTE_NS if until else None,
        recovery_gb=sum(map(rate_bytes, until)) / GB if until else None,
        lowest_share=min(rates) / (mean or 1) if is_complete else None,
        error_count=stored_error_count(test),
        withheld=withheld,
    )


def _group_result(label: str, samples: Samples, before: float | None, *, is_whole: bool) -> GroupResult:
    """The values of a group. before : mean of the first group with the same accesses."""
    mean = fmean(samples.throughput) if is_whole else None
    return GroupResult(
        label=label,
        samples=samples,
        mean_mb_per_s=mean,
        end_mb_per_s=fmean(_last_tenth(samples.throughput)) if is_whole else None,
        latency_ms_mean_peak=_largest(samples.latency_ms_mean) if is_whole else None,
        latency_ms_max_peak=_largest(samples.latency_ms_max) if is_whole else None,
        drop_share=1 - mean / before if mean is not None and before else None,
    )


class Slowest(NamedTuple):
    """The slowest I/O of a test: its time, the number of its access group, and the end of its sample."""

    latency_ms: float
    group: int
    minute: float


def slowest(result: CrossStimulusResult) -> Slowest | None:
    """The slowest I/O of all groups that are whole, None without one.

    Worked: maxima of 3 and 9 ms in the samples of a first group of two minutes -> 9 ms, group 1, minute 2.
    """
    results = [
        Slowest(sample.latency_ms_max, number, sample.minute)
        for number, group in enumerate(result.groups, 1)
        for sample in group.samples.each()
        if sample.latency_ms_max is not None and group.latency_ms_max_peak is not None
    ]
    return max(results, default=None, key=lambda one: one.latency_ms)


def end_samples(group: GroupResult) -> tuple[float, ...]:
    """Throughput of the samples in the last tenth of a group. Worked: 480 samples -> the last 48."""
    return _last_tenth(group.samples.throughput)


def _last_tenth(rates: tuple[float, ...]) -> tuple[float, ...]:
    return rates[-max(round(len(rates) * END_SHARE), 1) :]


def _largest(times_ms: Sequence[float | None]) -> float | None:
    return max((time_ms for time_ms in times_ms if time_ms is not None), default=None)
