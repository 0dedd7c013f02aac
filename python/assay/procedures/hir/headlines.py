"""The numbers of host idle recovery that people quote: the baseline, and the burst after the longest idle time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.pages.headline import Headline
from assay.pages.printed import outstanding_label
from assay.procedures.saturation.result import settled_values
from assay.spec.units import duration_label

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.procedures.hir.result import IdleRecoveryResult
    from assay.procedures.hir.settings import IdleRecoverySettings


def idle_recovery_headlines(settings: IdleRecoverySettings, result: IdleRecoveryResult) -> Iterator[Headline]:
    """The steady baseline, the mean burst after the shortest and the longest idle time, and the gain of the latter.

    Worked: a baseline of 1,000 IOPS and bursts of 1,500 after 5 s -> 1,500.0 IOPS and 1.500 over the baseline.
    """
    baseline = "verdict samples, steady" if result.baseline_iops is not None else "n/a: no steady baseline"
    demand = outstanding_label(settings.demand)
    judged = settled_values(settings.preconditioning, result.preconditioning)
    yield Headline(
        item=f"{settings.label}, baseline",
        unit="IOPS",
        value=result.baseline_iops,
        values=judged,
        basis=f"{baseline}, {demand}",
    )
    if not result.states:
        return
    burst = duration_label(settings.burst_ns)
    states = sorted(result.states, key=lambda one: one.idle_s)
    longest = states[-1]
    for state in {one.idle_s: one for one in (states[0], longest)}.values():
        item = f"{settings.label}, burst after {state.idle_s:g} s idle"
        basis = f"mean of {settings.cycles} bursts of {burst}, {demand}{_unrested(state.bursts.iops)}"
        yield Headline(item=item, unit="IOPS", value=state.mean_iops, values=state.bursts.iops, basis=basis)
    item = f"{settings.label}, burst after {longest.idle_s:g} s idle over baseline"
    yield Headline(item=item, unit="x", value=longest.over_baseline, basis="the burst over the baseline")


def _unrested(rates: Sequence[float]) -> str:
    """That the slowest burst is the first one, which follows writes without a pause; empty where it is not."""
    return "; the least is the first, with no idle before it" if rates and rates[0] == min(rates) else ""
