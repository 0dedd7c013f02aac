"""What a write saturation was set to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from assay.engine.records.settings import PatternSettings

SaturationStop = Literal["first", "time", "amount", "steady"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SaturationSettings(PatternSettings):
    """What a write saturation test used.

    sample_ns : length of one sample. samples_per_verdict : every so many samples one enters the five-point rule.
    stop : what ends the test: ``first`` of all three, ``time``, ``amount`` or ``steady`` alone, or ``rounds``, which is
        steady or else time.
    first_verdict_sample : the first one that does, None for the ``samples_per_verdict``-th.
    time_ns, amount_bytes : the limits; the amount counts host bytes written.
    """

    sample_ns: int
    samples_per_verdict: int
    stop: SaturationStop | Literal["rounds"]
    time_ns: int
    amount_bytes: int
    first_verdict_sample: int | None = None
