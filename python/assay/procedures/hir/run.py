"""What host idle recovery is set to do, and the steps that do it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.engine.records import IDLE, Ending, Purge, StepSequence
from assay.engine.records.settings import PatternSettings
from assay.procedures.families.saturation.result import SaturationSettings
from assay.procedures.families.saturation.run import pattern_step, saturate
from assay.procedures.planned import numbered

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.engine.records import StepSpec
    from assay.plan.procedure import Context, Course

CYCLES_PER_SEQUENCE = 60
"""A sequence ends after so many idle steps of a wait state, so that what was measured is durable now and then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IdleRecoverySettings(PatternSettings):
    """What a host idle recovery test used.

    preconditioning : write saturation until steady, before the first wait state.
    pattern, label : of every burst. burst_ns : length of one burst.
    wait_states, idles_ns : number of each wait state and the idle time after its bursts, in the order they run.
    cycles : bursts with an idle time after each. return_bursts : bursts without, after those.
    """

    preconditioning: SaturationSettings
    burst_ns: int
    wait_states: tuple[int, ...]
    idles_ns: tuple[int, ...]
    cycles: int
    return_bursts: int

    def wait_state_ns(self, idle_ns: int) -> int:
        """How long a wait state takes. Worked: 360 bursts of 5 s with 5 s of idle, then 360 without -> 5,400 s."""
        return self.cycles * (self.burst_ns + idle_ns) + self.return_bursts * self.burst_ns


def run_hir(settings: IdleRecoverySettings, _: Context) -> Course:
    """Purge, samples until steady, which give the baseline of the bursts, then every wait state."""
    yield Purge()
    prepared = yield from saturate(settings.preconditioning, "measure")
    if prepared.silent:
        return prepared.ending(reached=False)
    for index in range(1, len(settings.idles_ns) + 1):
        yield from wait_state(settings, index)
    steady = prepared.ended == "steady"
    return Ending(reason="steady" if steady else "round-limit", reached=steady)


def wait_state(settings: IdleRecoverySettings, index: int) -> Iterator[StepSequence]:
    """The sequences of wait state ``index``, from 1: bursts with idle time after each, then bursts without.

    Worked: 360 cycles and 360 return bursts -> six sequences of 120 steps and one of 360.
    """
    idle_ns = settings.idles_ns[index - 1]
    burst = pattern_step(
        settings.label, settings.pattern, settings.demand, settings.range_amount_bytes, settings.burst_ns
    )
    idle = pattern_step("idle", settings.pattern, IDLE, settings.range_amount_bytes, idle_ns)
    for first in range(0, settings.cycles, CYCLES_PER_SEQUENCE):
        count = min(CYCLES_PER_SEQUENCE, settings.cycles - first)
        yield _of_wait_state(index, numbered("burst", first + 1, count), [burst, idle] * count)
    yield _of_wait_state(index, "bursts without idle time", [burst] * settings.return_bursts)


def _of_wait_state(index: int, part: str, steps: Sequence[StepSpec]) -> StepSequence:
    name = f"wait state {index}, {part}"
    return StepSequence(name=name, stage="segment", index=index, steps=tuple(steps), role="measure", on_void="stop")
