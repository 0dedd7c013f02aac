"""What cross stimulus recovery is set to do, and the steps that do it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.engine.records import Ending, Purge, StepSequence
from assay.engine.records.settings import TestSettings
from assay.engine.records.stimulus import AccessPattern
from assay.procedures.families.saturation.run import pattern_step
from assay.procedures.planned import numbered

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.plan.procedure import Context, Course

SAMPLES_PER_SEQUENCE = 60
"""A sequence ends after so many samples, so that what was measured is durable now and then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessGroup:
    """One access group of a cross stimulus test: its accesses, their name, and for how long."""

    label: str
    pattern: AccessPattern
    span_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossStimulusSettings(TestSettings):
    """What a cross stimulus recovery test used.

    groups : access groups in the order they run. sample_ns : length of one sample.
    recovered_share : of the mean throughput of the first group, at which the third has recovered.
    """

    groups: tuple[AccessGroup, ...]
    sample_ns: int
    recovered_share: float

    @property
    def transfer_bytes_max(self) -> int:
        """The largest transfer of all groups."""
        return max(size for group in self.groups for size, _ in group.pattern.sizes)

    def sample_count(self, group: AccessGroup) -> int:
        """Samples of one access group, at least one. Worked: 8 h of one-minute samples -> 480."""
        return max(round(group.span_ns / self.sample_ns), 1)


def run_xsr(settings: CrossStimulusSettings, _: Context) -> Course:
    """Purge, then every access group on what the one before has left."""
    yield Purge()
    for index in range(1, len(settings.groups) + 1):
        yield from access_group(settings, index)
    return Ending(reason="time", reached=True)


def access_group(settings: CrossStimulusSettings, index: int) -> Iterator[StepSequence]:
    """The sequences of access group ``index``, from 1. Worked: 480 samples -> eight sequences of 60."""
    group = settings.groups[index - 1]
    sample = pattern_step(group.label, group.pattern, settings.demand, settings.range_amount_bytes, settings.sample_ns)
    total = settings.sample_count(group)
    for first in range(0, total, SAMPLES_PER_SEQUENCE):
        count = min(SAMPLES_PER_SEQUENCE, total - first)
        yield StepSequence(
            name=f"access group {index}, {numbered('sample', first + 1, count)}",
            stage="group",
            index=index,
            steps=(sample,) * count,
            role="measure",
            on_void="stop",
        )
