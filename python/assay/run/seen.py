"""What a run has shown so far, for those who begin to watch later: rounds with bounds, ended steps, events."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from assay.results.step import iops, max_latency_ns, mean_latency_ms, throughput
from assay.spec.units import MILLISECOND_NS
from assay.words.endings import ending_label
from assay.words.text import text_or_none

if TYPE_CHECKING:
    from collections.abc import Callable

    from assay.engine.records import DriveIdentity, StepRecord
    from assay.plan.until import RoundOutcome
    from assay.run.progress import Progress

ROUNDS_MAX, STEPS_MAX, EVENTS_MAX = 32, 16, 40
_TEXT_MAX = 400
_SHARES = {"p50": 0.5, "p99": 0.99, "p999": 0.999}


class Seen:
    """Remembers what happened in a run. clock : wall time in ns."""

    def __init__(self, clock: Callable[[], int] = time.time_ns) -> None:
        self._clock = clock
        self._test = ("", 0)
        self._rounds: deque[dict[str, Any]] = deque(maxlen=ROUNDS_MAX)
        self._bounds: list[dict[str, Any]] = []
        self._samples = 0
        self._steps: tuple[StepRecord, ...] = ()
        self._events: deque[dict[str, Any]] = deque(maxlen=EVENTS_MAX)

    def look(self, progress: Progress) -> None:
        """Take what an observer is shown."""
        if (progress.test, progress.number) != self._test:
            self._test = (progress.test, progress.number)
            self._rounds.clear()
            self._bounds, self._samples, self._steps = [], 0, ()
        if progress.judged:
            self._judged(progress, progress.judged)
        elif progress.phase_end:
            self._steps = progress.phase_end.steps
            self._happened(progress, "phase", progress.phase_end.name, progress.phase_end.span_ns)
        elif progress.ending:
            self._happened(progress, "test", progress.test, 0, ending_label(progress.ending.reason))
        elif progress.advice:
            self._happened(progress, "advice", progress.name, 0, progress.advice)

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

    def _judged(self, progress: Progress, judged: RoundOutcome) -> None:
        void = text_or_none(judged.void)
        values = [value._asdict() for value in judged.values]
        self._rounds.append({"index": judged.index, "values": values, "void": void and void[:_TEXT_MAX]})
        self._samples += len(judged.steps) if judged.stage == "sample" else 0
        self._steps = judged.steps
        if judged.window:
            self._bounds = [{"label": label, **asdict(verdict)} for label, verdict in judged.window.verdicts.items()]
        span_ns = sum(step.span_ns for step in judged.steps)
        self._happened(progress, "round", progress.name, span_ns, void or _outcome(judged))

    def _happened(self, progress: Progress, kind: str, name: str, span_ns: int, detail: str = "") -> None:
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


def drive_facts(drive: DriveIdentity) -> dict[str, Any]:
    """The drive as ``progress.json`` names it."""
    names = ("path", "kind", "capacity_bytes", "model_number", "serial", "firmware")
    return {name: getattr(drive, name) for name in names}


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


def _outcome(judged: RoundOutcome) -> str:
    """Worked: five rounds whose window is not steady -> ``not steady yet``."""
    if judged.window is None:
        return ""
    return "steady" if judged.window.reached else "not steady yet"
