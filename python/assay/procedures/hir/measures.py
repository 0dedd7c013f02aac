"""The numbers of host idle recovery: the baseline, and the bursts after the shortest and the longest idle time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.procedures.families.saturation.result import settled_values
from assay.summary.measures import quoted
from assay.summary.record import Measure
from assay.words.coded import coded
from assay.words.printed import outstanding

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.procedures.hir.result import IdleRecoveryResult
    from assay.procedures.hir.settings import IdleRecoverySettings
    from assay.summary.record import Key

BASELINE: Key = (("state", "baseline"),)
RETURN: Key = (("state", "return"),)


def idle_recovery_measures(settings: IdleRecoverySettings, result: IdleRecoveryResult) -> Iterator[Measure]:
    """The steady baseline, the mean burst after the shortest and the longest idle time, and the gain of the latter.

    Worked: a baseline of 1,000 IOPS and bursts of 1,500 after 5 s -> 1,500.0 IOPS and 1.500 over the baseline.
    """
    demand, label = outstanding(settings.demand), settings.label
    basis = coded("baseline" if result.baseline_iops is not None else "no-baseline", outstanding=demand)
    judged = settled_values(settings.preconditioning, result.preconditioning)
    yield quoted(BASELINE, "IOPS", f"{label}, baseline", result.baseline_iops, basis, rounds=judged)
    name = f"{label}, bursts without idle"
    yield Measure(cell=RETURN, key="iops", label=name, unit="IOPS", value=result.return_iops, stat="mean")
    if not result.states:
        return
    states = sorted(result.states, key=lambda state: state.idle_s)
    longest = states[-1]
    for state in {one.idle_s: one for one in (states[0], longest)}.values():
        unrested = coded("first-is-least") if _is_first_least(state.bursts.iops) else None
        basis = coded("bursts", count=settings.cycles, span=settings.burst_ns, outstanding=demand, unrested=unrested)
        name = f"{label}, burst after {state.idle_s:g} s idle"
        yield quoted(idle_cell(state.idle_s), "IOPS", name, state.mean_iops, basis, rounds=state.bursts.iops)
    name = f"{label}, burst after {longest.idle_s:g} s idle over baseline"
    yield quoted(idle_cell(longest.idle_s), "x", name, longest.over_baseline, coded("over-baseline"))


def idle_cell(idle_s: float) -> Key:
    """The cell of the bursts after an idle time."""
    return (("idle_s", idle_s),)


def _is_first_least(rates: Sequence[float]) -> bool:
    """Whether the slowest burst is the first one, which follows writes without a pause."""
    return bool(rates) and rates[0] == min(rates)
