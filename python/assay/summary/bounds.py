"""How far each number of a test is the host's: its bound and its mark, from what was recorded beside its steps."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from assay.results import counted_sequences
from assay.results.calm import calm_of_step
from assay.results.host_part import average_part, busy_steps, part_level, step_part
from assay.results.host_tail import host_excess, late_ns_near_maximum
from assay.spec.units import MILLISECOND_NS
from assay.summary.measures import quantile_of
from assay.words.coded import coded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from assay.engine.records import StoredSequence, StoredTest
    from assay.results.finding import Level
    from assay.summary.record import Mark, Measure, Sources
    from assay.words.coded import Coded

LATE_BEYOND = 0.5
"""A percentile is marked where the host was late in this share of the time that is beyond it: late I/Os come on top of
those that are slow on a quiet host."""
LATE_OF_MAXIMUM = 0.5
"""A maximum is marked where the host was late by this share of it."""
_MARKS: dict[Level, Mark | None] = {"unknown": "uncalibrated", "warn": "warn", "invalid": "invalid", "pass": None}
"""What the level of a known part makes of a number."""


def bounded(test: StoredTest, measures: Iterable[Measure]) -> Iterator[Measure]:
    """The numbers of a test with bound and mark; unchanged where time is virtual.

    A number without a value, an amount and a count have neither. One that is invalid by itself loses its value.
    Worked: waits of 2 % of the time in the steps of a cell -> its IOPS with bound 0.02 and mark ``warn``.
    """
    if not any(sequence.host for sequence in test.sequences):
        yield from measures
        return
    host = _Host(test)
    for measure in measures:
        bound, mark = host.of(measure) if measure.value is not None else (None, None)
        marked = replace(measure, bound=bound, mark=mark)
        yield _without_value(marked) if mark == "invalid" else _noted(marked)


def host_note(measure: Measure) -> Coded | None:
    """What the host did to a number, where its mark says that it did; None where it has none, or it is not known.

    Worked: IOPS with bound 0.02 and mark ``warn`` -> ``"host's part up to 2.0 %"``.
    """
    if measure.mark == "uncalibrated":
        return coded("not-calm")
    if measure.mark != "warn":
        return None
    if measure.stat == "maximum":
        return coded("host-beside", late_ms=measure.bound)
    return coded("host-wakes" if measure.stat == "percentile" else "host-bound", share=measure.bound)


def moved_share(measure: Measure) -> float:
    """By which share the host may have moved a number; 0 where it is not marked, or its bound is no share of it."""
    is_share = measure.stat not in {"maximum", "percentile"}
    return measure.bound or 0.0 if measure.mark == "warn" and is_share else 0.0


def _noted(measure: Measure) -> Measure:
    note = host_note(measure)
    return replace(measure, basis=coded("noted", basis=measure.basis, note=note)) if note else measure


def _without_value(measure: Measure) -> Measure:
    reason = coded("host-part-number", share=measure.bound)
    return replace(measure, value=None, rounds=(), tracked=False, basis=coded("withheld", reason=reason))


@dataclass
class _Host:
    test: StoredTest
    _parts: dict[Sources, float | None] = field(default_factory=dict)

    def of(self, measure: Measure) -> tuple[float | None, Mark | None]:
        """Bound and mark of one number."""
        if measure.stat in {"amount", "count"}:
            return None, None
        if measure.stat == "maximum":
            return self._maximum(measure)
        part = self._part(measure.sources)
        if measure.stat == "ratio":
            # Both numbers that it is of may be off.
            part = None if part is None else 2 * part
        if measure.stat == "percentile":
            return self._percentile(measure, part)
        return part, self._mark(part)

    def _mark(self, part: float | None) -> Mark | None:
        if part is None:
            return "unknown"
        return _MARKS[part_level(part, self.test.calibration)]

    def _part(self, sources: Sources) -> float | None:
        """Of the steps that a number comes from, by their length; else the largest of any step that measured."""
        if not sources:
            return self._worst
        # Rate, mean and percentiles of a cell come from the same steps.
        if sources not in self._parts:
            self._parts[sources] = average_part(self._steps(sources), self.test.calibration)
        return self._parts[sources]

    @cached_property
    def _worst(self) -> float | None:
        parts = [step_part(sequence, step, self.test.calibration) for sequence, step in self._counted]
        known = [part for part in parts if part is not None]
        return max(known) if known and len(known) == len(parts) else None

    @cached_property
    def _counted(self) -> Sequence[tuple[StoredSequence, int]]:
        return [
            (sequence, step)
            for sequence in counted_sequences(self.test)
            for step in busy_steps(sequence)
            if sequence.steps[step].span_ns
        ]

    def _steps(self, sources: Sources) -> Sequence[tuple[StoredSequence, int]]:
        return [(self.test.sequences[sequence], step) for sequence, step in sources] or self._counted

    def _percentile(self, measure: Measure, part: float | None) -> tuple[float | None, Mark | None]:
        """The worst of its sequences; a host that shows in the rate shows in every percentile."""
        excesses = [self._excess(measure, sequence, step) for sequence, step in self._steps(measure.sources)]
        if not excesses or None in excesses or part is None:
            return None, "unknown"
        share, sure = (max(shares) for shares in zip(*filter(None, excesses), strict=True))
        late = sure > LATE_BEYOND * (1 - (quantile_of(measure.key) or 0))
        mark = self._mark(part)
        return max(share, 0.0), "warn" if late or mark == "invalid" else mark

    def _excess(self, measure: Measure, sequence: StoredSequence, step: int) -> tuple[float, float] | None:
        value_ns = float(measure.value or 0) * MILLISECOND_NS
        calm = calm_of_step(sequence, step, self.test.calibration)
        return host_excess(sequence.host, calm, value_ns) if sequence.host else None

    def _maximum(self, measure: Measure) -> tuple[float | None, Mark | None]:
        late = [late_ns_near_maximum(sequence, sequence.steps[step]) for sequence, step in self._steps(measure.sources)]
        if not late or None in late:
            return None, "unknown"
        bound = max(late_ns or 0 for late_ns in late) / MILLISECOND_NS
        return bound, "warn" if bound >= LATE_OF_MAXIMUM * float(measure.value or 0) else None
