"""What host idle recovery was set to do."""

from __future__ import annotations

from dataclasses import dataclass

from assay.engine.records.settings import PatternSettings
from assay.procedures.families.saturation.settings import SaturationSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class IdleRecoverySettings(PatternSettings):
    """What a host idle recovery test used.

    preconditioning : write saturation until steady, before the first wait state.
    pattern, label : of every burst. burst_ns : length of one burst.
    wait_states, idles_ns : number of each wait state and the idle time after its bursts, in the order they run.
    cycles : bursts with an idle time after each. return_bursts : bursts without, behind them.
    """

    preconditioning: SaturationSettings
    burst_ns: int
    wait_states: tuple[int, ...]
    idles_ns: tuple[int, ...]
    cycles: int
    return_bursts: int
