"""``progress.json``: how far an active run is and what it has shown, for readers outside: written, and read back.

Its keys are in docs/formats/run-folder.md.
"""

from __future__ import annotations

import os
import time
from collections import deque
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from assay.engine.codec import decode, parse
from assay.errors import StoreError
from assay.results.step import iops, max_latency_ns, mean_latency_ms, throughput
from assay.run.store import PROGRESS
from assay.spec.files import read_inside
from assay.spec.steady import SteadyVerdict
from assay.spec.units import MILLISECOND_NS, SECOND_NS
from assay.words.outcomes import ending_label
from assay.words.text import text_or_none

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from assay.engine.records import DriveIdentity, StepRecord
    from assay.plan.until import RoundOutcome
    from assay.run.progress import Progress
    from assay.run.store.write import RunWriter


_Time = Annotated[int, Field(ge=0, lt=1 << 63)]
_Text = Annotated[str, Field(max_length=4096)]
_Count = Annotated[int, Field(ge=0, lt=1 << 63)]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptLeft:
    """Bounds of the time left, wall time in ns; latest_ns is None where it is unknown."""

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


ROUNDS_MAX, STEPS_MAX, EVENTS_MAX = 32, 16, 40
_TEXT_MAX = 400
_PROGRESS_BYTES_MAX = 1 << 18
_SHARES = {"p50": 0.5, "p99": 0.99, "p999": 0.999}


class RunHistory:
    """The last rounds, steps and events of a run, for readers that begin later. clock : wall time in ns."""

    def __init__(self, clock: Callable[[], int] = time.time_ns) -> None:
        self._clock = clock
        self._test = ("", 0)
        self._rounds: deque[dict[str, Any]] = deque(maxlen=ROUNDS_MAX)
        self._bounds: list[dict[str, Any]] = []
        self._samples = 0
        self._steps: tuple[StepRecord, ...] = ()
        self._events: deque[dict[str, Any]] = deque(maxlen=EVENTS_MAX)

    def add(self, progress: Progress) -> None:
        """Add what an observer is shown."""
        if (progress.test, progress.number) != self._test:
            self._test = (progress.test, progress.number)
            self._rounds.clear()
            self._bounds, self._samples, self._steps = [], 0, ()
        if progress.judged:
            self._add_round(progress, progress.judged)
        elif progress.phase_end:
            self._steps = progress.phase_end.steps
            self._add_event(progress, "phase", progress.phase_end.name, progress.phase_end.span_ns)
        elif progress.ending:
            self._add_event(progress, "test", progress.test, 0, ending_label(progress.ending.reason))
        elif progress.advice:
            self._add_event(progress, "advice", progress.name, 0, progress.advice)

    def facts(self) -> Callable[[], dict[str, Any]]:
        """What makes the facts of now; it may be called later, on another thread, where percentiles disturb nothing."""
        steps = self._steps[-STEPS_MAX:]
        known = {
            "rounds": list(self._rounds),
            "bounds": self._bounds,
            "sample_count": self._samples,
            "events": list(self._events),
        }
        return lambda: {**known, "steps": [step_facts(step) for step in steps]}

    def _add_round(self, progress: Progress, judged: RoundOutcome) -> None:
        void = text_or_none(judged.void)
        values = [value._asdict() for value in judged.values]
        self._rounds.append({"index": judged.index, "values": values, "void": void and void[:_TEXT_MAX]})
        self._samples += len(judged.steps) if judged.stage == "sample" else 0
        self._steps = judged.steps
        if judged.window:
            self._bounds = [{"label": label, **asdict(verdict)} for label, verdict in judged.window.verdicts.items()]
        span_ns = sum(step.span_ns for step in judged.steps)
        reached = "" if judged.window is None else "steady" if judged.window.reached else "not steady yet"
        self._add_event(progress, "round", progress.name, span_ns, void or reached)

    def _add_event(self, progress: Progress, kind: str, name: str, span_ns: int, detail: str = "") -> None:
        self._events.append(
            {
                "wall_ns": self._clock(),
                "kind": kind,
                "test": progress.test,
                "name": name,
                "span_ns": span_ns,
                "detail": detail[:_TEXT_MAX],
            }
        )


def step_facts(step: StepRecord) -> dict[str, Any]:
    """Rates and response times of a step that ended, from its record; percentiles come from its histogram."""
    from assay.results.histogram import direction_times, merged, percentiles  # noqa: PLC0415 - numpy is slow to import

    largest = max_latency_ns(step)
    given = percentiles(merged([direction_times(side) for side in step.sides]), _SHARES.values())
    return {
        "label": step.label,
        "span_ns": step.span_ns,
        "iops": float(iops(step)) if step.span_ns else 0.0,
        "mb_s": float(throughput(step)) if step.span_ns else 0.0,
        "latency_ms_mean": mean_latency_ms(step),
        **{f"latency_ms_{name}": given[share] for name, share in _SHARES.items()},
        "latency_ms_max": None if largest is None else largest / MILLISECOND_NS,
    }


EVERY_NS = 5 * SECOND_NS
"""Between two writes: a few kB at most, on the thread that writes the journal."""
EVENT_EVERY_NS = SECOND_NS
"""Between two writes after an event."""


def keeping(
    writer: RunWriter,
    show: Callable[[Progress], None],
    *,
    drive: DriveIdentity | None = None,
    clock: Callable[[], int] = time.monotonic_ns,
) -> Callable[[Progress], None]:
    """Show progress, and keep it as well: at once, every five seconds, and a second after something happened."""
    last_ns, history, had_event = -EVERY_NS, RunHistory(), False

    def both(progress: Progress) -> None:
        nonlocal last_ns, had_event
        history.add(progress)
        had_event = had_event or progress.is_event
        now_ns = clock()
        if now_ns - last_ns >= (EVENT_EVERY_NS if had_event else EVERY_NS):
            last_ns, had_event = now_ns, False
            known, more = progress_facts(progress, drive), history.facts()
            writer.keep_progress(lambda: {**known, **more()})
        show(progress)

    return both


_PLAIN_FIELDS = ("elapsed_ns", "test", "phase", "name", "step", "step_number", "step_count", "share", "virtual")
_RECORD_FIELDS = ("left", "test_left", "run_left", "watched")


def progress_facts(progress: Progress, drive: DriveIdentity | None) -> dict[str, Any]:
    """The fields of ``KeptProgress`` that are of one instant."""
    records = {name: getattr(progress, name) for name in _RECORD_FIELDS}
    return {
        "pid": os.getpid(),
        "wall_ns": time.time_ns(),
        "test_number": progress.number,
        "test_count": progress.count,
        "drive": drive and {field.name: getattr(drive, field.name) for field in fields(KeptDrive)},
        **{name: getattr(progress, name) for name in _PLAIN_FIELDS},
        **{name: None if record is None else asdict(record) for name, record in records.items()},
    }


def kept_progress(folder: Path) -> KeptProgress | None:
    """The progress of a run that was kept last; None where there is none that can be read."""
    try:
        content = read_inside(folder, PROGRESS, bytes_max=_PROGRESS_BYTES_MAX)
        name = str(folder / PROGRESS)
        return decode(KeptProgress, parse(content, name=name), name=name)
    except (OSError, StoreError):
        return None
