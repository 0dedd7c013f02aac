"""The tables of numbers of host idle recovery."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from assay.procedures.families.saturation.tables import samples_table
from assay.summary import columns as of
from assay.summary.table import Column, Lines, table_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.procedures.hir.result import IdleRecoveryResult, WaitState
    from assay.results.step import Sample
    from assay.summary.table import Declared, ResultTable

_STATE, _IDLE = Column("wait_state", "Wait state", role="key"), Column("idle_s", "Idle", "s", role="key")
_KIND = Column("kind", "Kind", role="key")


class _Burst(NamedTuple):
    state: WaitState
    kind: str
    sample: Sample


_BURSTS: Declared[_Burst] = (
    (_STATE, lambda burst: burst.state.number),
    (_IDLE, lambda burst: burst.state.idle_s),
    (_KIND, lambda burst: burst.kind),
    (of.MINUTE, lambda burst: burst.sample.minute),
    (of.IOPS, lambda burst: burst.sample.iops),
    (of.MEAN, lambda burst: burst.sample.latency_ms_mean),
    (of.MAXIMUM, lambda burst: burst.sample.latency_ms_max),
)
_STATES: Declared[WaitState] = (
    (_STATE, lambda state: state.number),
    (_IDLE, lambda state: state.idle_s),
    (Column("mean_iops", "Mean burst", "IOPS"), lambda state: state.mean_iops),
    (Column("over_baseline", "Over baseline"), lambda state: state.over_baseline),
    (Column("over_return", "Over return"), lambda state: state.over_return),
    (Column("gain_per_s", "Gain per second of idle", "IOPS"), lambda state: state.gain_per_s),
    (Column("return_iops", "Return to baseline", "IOPS"), lambda state: state.return_iops),
    (Column("unplanned_idle_share", "Unplanned idle of a burst"), lambda state: state.unplanned_idle_share),
)


_BRIEF = ("wait_state", "idle_s", "mean_iops", "return_iops", "over_return")


def idle_recovery_tables(result: IdleRecoveryResult, suffix: str) -> Iterator[ResultTable]:
    """Preconditioning, every burst, and the wait states."""
    yield samples_table(result.preconditioning, f"hir_preconditioning{suffix}")
    lines = Lines(of.MINUTE.key, of.IOPS.key, by=(_IDLE.key, _KIND.key))
    yield table_of(f"hir_bursts{suffix}", "Bursts", _BURSTS, _bursts(result), lines=(lines,))
    yield table_of(f"hir_wait_states{suffix}", "Wait states", _STATES, result.states, section="results", brief=_BRIEF)


def _bursts(result: IdleRecoveryResult) -> Iterator[_Burst]:
    for state in result.states:
        for kind, bursts in (("burst", state.bursts), ("return", state.returned)):
            yield from (_Burst(state, kind, sample) for sample in bursts.each())
