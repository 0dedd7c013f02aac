"""``progress.json`` as it is read: how far a run is, and what is seen of it. See docs/formats/run-folder.md."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from assay.spec.steady import SteadyVerdict

_Time = Annotated[int, Field(ge=0, lt=1 << 63)]
_Text = Annotated[str, Field(max_length=4096)]
_Count = Annotated[int, Field(ge=0, lt=1 << 63)]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptLeft:
    """Between what the time left lies, wall time in ns; latest_ns is None where nobody knows."""

    earliest_ns: _Time
    latest_ns: _Time | None


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptDrive:
    """The drive of a run. kind : as in ``DriveIdentity``; texts are the drive's, None where unknown."""

    path: _Text
    kind: Literal["block", "file", "simulated"]
    capacity_bytes: _Count
    model_number: _Text | None
    serial: _Text | None
    firmware: _Text | None


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptWatched:
    """What was seen beside the running test; see ``Watched``."""

    after: _Text
    temperature_c: float | None
    host_stalls: _Count | None
    host_stalled_ns: _Time
    drive_events: _Count


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptValue:
    """A tracked variable in a round."""

    label: _Text
    value: float
    unit: _Text


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptBounds(SteadyVerdict):
    """The last verdict on a tracked variable, in its unit. label : of the variable."""

    label: _Text


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptRound:
    """A round, or a sequence of samples, of the running test. void : why it enters no verdict, None where it may."""

    index: _Count
    values: tuple[KeptValue, ...]
    void: _Text | None


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptStep:
    """A step of the sequence that ended last, from its record. A percentile is None with too few I/Os beyond it."""

    label: _Text
    span_ns: _Time
    iops: float
    mb_s: float
    latency_ms_mean: float | None
    latency_ms_p50: float | None
    latency_ms_p99: float | None
    latency_ms_p999: float | None
    latency_ms_max: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptEvent:
    """Something that happened once. kind : ``round``, ``phase``, ``test``, ``advice``. span_ns : device time of it."""

    wall_ns: _Time
    kind: Literal["round", "phase", "test", "advice"]
    test: _Text
    name: _Text
    span_ns: _Time
    detail: _Text


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptProgress:
    """How far a run was at an instant.

    virtual : the drive's time is not that of the clock. rounds : the last 32 of the running test. sample_count : its
    samples so far. steps : of the sequence that ended last, at most 16. events : the last 40.
    """

    pid: _Count
    wall_ns: _Time
    elapsed_ns: _Time
    test: _Text
    test_number: _Count
    test_count: _Count
    phase: _Text
    name: _Text
    step: _Text
    step_number: _Count
    step_count: _Count
    share: Annotated[float, Field(ge=0, le=1)] | None
    left: KeptLeft | None
    test_left: KeptLeft | None
    run_left: KeptLeft | None
    virtual: bool = False
    drive: KeptDrive | None = None
    watched: KeptWatched | None = None
    rounds: tuple[KeptRound, ...] = ()
    bounds: tuple[KeptBounds, ...] = ()
    sample_count: _Count = 0
    steps: tuple[KeptStep, ...] = ()
    events: tuple[KeptEvent, ...] = ()
