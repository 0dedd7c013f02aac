"""What a host idle recovery test measured: every burst, and how far idle time lifts them over the baseline."""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import fmean, median
from typing import TYPE_CHECKING

from assay.procedures.families.saturation.result import preconditioning_result
from assay.procedures.hir.run import IdleRecoverySettings
from assay.results.outcome import unsteady, verify_verdict, withheld_reason
from assay.results.step import Samples, iops
from assay.spec.units import SECOND_NS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.engine.records import MeasurementWindow, StepRecord, StoredTest
    from assay.procedures.families.saturation.result import SaturationResult
    from assay.results.finding import Finding
    from assay.words.coded import Coded


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitState:
    """One wait state: bursts with idle time after each, and the return to the baseline without.

    number : of the wait state. idle_s : idle time after a burst. bursts, returned : with idle time and without, each in
    the middle of the burst since the first wait state began.
    mean_iops, return_iops : mean of all bursts, those without a completion and the first included, and of those of the
    return; None where one is missing.
    over_baseline : mean_iops over the baseline; over_return : over that of all return phases. gain_per_s : rise of
    mean_iops over the baseline, in IOPS per second of idle time. unplanned_idle_share : of a burst without a submission
    at its edges, in the median.
    """

    number: int
    idle_s: float
    bursts: Samples
    returned: Samples
    mean_iops: float | None
    return_iops: float | None
    over_baseline: float | None
    over_return: float | None
    gain_per_s: float | None
    unplanned_idle_share: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class IdleRecoveryResult:
    """All values of the pages of host idle recovery.

    preconditioning : its samples and verdict. baseline_iops : average of the steady verdict samples.
    return_iops : a second baseline, the mean of the return bursts of all wait states; None unless all of them ran.
    window : of the preconditioning. findings : what a reader must know before any of it.
    """

    preconditioning: SaturationResult
    baseline_iops: float | None
    return_iops: float | None
    states: tuple[WaitState, ...]
    window: MeasurementWindow | None
    withheld: Coded | None
    findings: tuple[Finding, ...] = ()


def idle_recovery_result(test: StoredTest, capacity_bytes: int) -> IdleRecoveryResult:
    """Compute every value that the pages of host idle recovery print from its stored steps.

    Source: SNIA PTS session 202-C (2013) for the bursts; mean burst over baseline is a derived figure of our own.
    Worked: a baseline of 1,000 IOPS and bursts of 1,500 after 5 s of idle -> 1.5 over baseline, 100 IOPS per second;
    return bursts of 960 IOPS -> 1.5625 over the return.
    Raises VerificationError where the verdict in the run folder is not the one its samples give.
    """
    settings, withheld = test.settings_as(IdleRecoverySettings), withheld_reason(test)
    before = preconditioning_result(test, settings.preconditioning, capacity_bytes)
    verify_verdict(test.verdict, before.window)
    baseline = None if withheld else before.steady_iops
    states = [
        _wait_state(test, settings, index, baseline, withheld=bool(withheld))
        for index in range(len(settings.wait_states))
    ]
    known = [state.return_iops for state in states if state.return_iops is not None]
    returned = fmean(known) if known and len(known) == len(states) else None
    return IdleRecoveryResult(
        preconditioning=before,
        baseline_iops=baseline,
        return_iops=returned,
        states=tuple(replace(state, over_return=_over(state.mean_iops, returned)) for state in states),
        window=before.window,
        withheld=withheld,
        findings=unsteady(before.window, len(before.samples.iops), "sample"),
    )


def unplanned_idle_share(burst: StepRecord) -> float | None:
    """The share of a burst before its first and after its last submission; None where nothing was submitted.

    Worked: 1 ms before and 1 ms after in a burst of 5 s -> 0.0004.
    """
    if burst.first_submission_ns is None or burst.last_submission_ns is None:
        return None
    after = burst.start_ns + burst.span_ns - burst.last_submission_ns
    return (burst.first_submission_ns - burst.start_ns + max(after, 0)) / max(burst.span_ns, 1)


def _wait_state(
    test: StoredTest, settings: IdleRecoverySettings, index: int, baseline: float | None, *, withheld: bool
) -> WaitState:
    steps = test.steps("segment", index + 1)
    begun_ns = next((step.start_ns for step in test.steps("segment")), 0)
    waited = [step for step in steps[: 2 * settings.cycles : 2] if step.ended == "stop-rule"]
    returned = [step for step in steps[2 * settings.cycles :] if step.ended == "stop-rule"]
    whole = not withheld and len(waited) == settings.cycles and len(returned) == settings.return_bursts
    idle_s = settings.idles_ns[index] / SECOND_NS
    mean = fmean(float(iops(step)) for step in waited) if whole else None
    idles = [share for step in waited if (share := unplanned_idle_share(step)) is not None]
    return WaitState(
        number=settings.wait_states[index],
        idle_s=idle_s,
        bursts=_bursts(waited, begun_ns),
        returned=_bursts(returned, begun_ns),
        mean_iops=mean,
        return_iops=fmean(float(iops(step)) for step in returned) if whole else None,
        over_baseline=_over(mean, baseline),
        over_return=None,
        gain_per_s=(mean - baseline) / idle_s if mean is not None and baseline is not None else None,
        unplanned_idle_share=median(idles) if idles else None,
    )


def _over(mean: float | None, baseline: float | None) -> float | None:
    return mean / baseline if mean is not None and baseline else None


def _bursts(steps: Sequence[StepRecord], begun_ns: int) -> Samples:
    return Samples.of(steps, [step.start_ns + step.span_ns / 2 - begun_ns for step in steps])
