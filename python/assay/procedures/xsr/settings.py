"""What cross stimulus recovery was set to do."""

from __future__ import annotations

from dataclasses import dataclass

from assay.engine.records.settings import TestSettings
from assay.engine.records.stimulus import AccessPattern


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
