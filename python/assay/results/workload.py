"""What steps of a stored run were asked, as a workload that other tools can be given.

```
run ── numbered_steps ──> NumberedSequence, each with the numbers of its steps ── chosen_steps ──> asked_workload
```
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pydantic import ValidationError

from assay.errors import UsageError
from assay.results.step import goes_on, group_of
from assay.spec.model_faults import first_fault
from assay.spec.nearest import nearest
from assay.spec.units import MILLISECOND_NS, SECOND_NS
from assay.spec.workload import Content, LbaGroup, Line, Rate, Stage, Stream, Workload

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.engine.records import (
        AccessPattern,
        ActiveRange,
        DataPattern,
        Demand,
        StepSpec,
        StoredRun,
        StoredSequence,
    )

_NAME_MAX = 127
_SPAN = re.compile(r"\s*(\d{1,9})(?:\s*-\s*(\d{1,9}))?\s*", re.ASCII)
_TITLE_MAX = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberedSequence:
    """A sequence of a run. first : number of its first step in the run, from 1; streams side by side are one step.

    test : as the report calls it, such as ``iops-1``. groups : the places of what each step consists of.
    """

    first: int
    test: str
    sequence: StoredSequence
    groups: tuple[range, ...]

    @property
    def name(self) -> str:
        """Test and sequence, as they are listed. Worked: ``iops-1, round 3``."""
        return f"{self.test}, {self.sequence.name}"

    @property
    def last(self) -> int:
        """The number of its last step."""
        return self.first + len(self.groups) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedWorkload:
    """Steps as a workload. notes : what a workload cannot say of them, a line each, with what it says instead."""

    workload: Workload
    notes: tuple[str, ...]


def numbered_steps(run: StoredRun) -> list[NumberedSequence]:
    """Every sequence of a run with the numbers of its steps, in the order they ran.

    Worked: a fill of one step before a round of 56 -> steps 1, and 2 to 57.
    """
    steps: list[NumberedSequence] = []
    names = [test.settings.test for test in run.tests]
    for index, test in enumerate(run.tests):
        name = f"{names[index]}-{names[: index + 1].count(names[index])}"
        for sequence in test.sequences:
            first = steps[-1].last + 1 if steps else 1
            steps.append(NumberedSequence(first=first, test=name, sequence=sequence, groups=_groups(sequence)))
    return steps


def chosen_steps(run: StoredRun, step: str) -> list[NumberedSequence]:
    """The steps of a number, of a range of numbers, or of the sequence that is printed under a name.

    step : a number as of ``numbered_steps``, a range such as ``2-57``, a name such as ``round 3``, or the name with its
    test, ``iops-1, round 3``. The parts of a range that lie in several sequences come one for each.
    Raises UsageError where there is none, or where several sequences have the name.
    """
    listed = numbered_steps(run)
    if match := _SPAN.fullmatch(step):
        return _spanned(listed, step, int(match[1]), int(match[2] or match[1]))
    wanted = " ".join(step.casefold().split())
    full = [one for one in listed if one.name.casefold() == wanted]
    same = full or [one for one in listed if one.sequence.name.casefold() == wanted]
    if len(same) == 1:
        return same
    if same:
        names = ", ".join(repr(one.name) for one in same[:8])
        raise UsageError(f"--step {step!r}", f"names {len(same)} sequences", f"choose from {names}, or give a number")
    near = nearest(step, sorted({name for one in listed for name in (one.sequence.name, one.name)}))
    hint = f"did you mean {near!r}?" if near else "give a number, a range or a name that is listed"
    raise UsageError(f"--step {step!r}", "is the name of no sequence of this run", hint)


def _spanned(listed: Sequence[NumberedSequence], step: str, first: int, last: int) -> list[NumberedSequence]:
    """The parts of sequences between two numbers, both among them."""
    count = listed[-1].last if listed else 0
    if not 1 <= first <= last <= count:
        word = "step" if first == last else "range of steps"
        raise UsageError(f"--step {step}", f"is no {word} of this run, which has {count:,}", "give a listed number")
    return [
        replace(one, first=begin, groups=one.groups[begin - one.first : end - one.first + 1])
        for one in listed
        if (begin := max(first, one.first)) <= (end := min(last, one.last))
    ]


def asked_workload(run: StoredRun, step: str) -> AskedWorkload:
    """What a step, all steps of a sequence, or a range of steps were asked. step : as of ``chosen_steps``.

    Equal steps in a row run as one of their whole time. Worked: 60 samples of 1 s -> a stage of 60 s.
    Raises UsageError as ``chosen_steps``.
    """
    chosen = chosen_steps(run, step)
    notes: list[str] = []
    result: list[Stage] = []
    for one in chosen:
        _add_stages(result, one, notes)
    workload = Workload(
        title=_title(chosen)[:_TITLE_MAX], source=f"run {run.run_id}", purge=False, stages=tuple(result)
    )
    return AskedWorkload(workload=workload, notes=tuple(dict.fromkeys(notes)))


def _add_stages(stages: list[Stage], chosen: NumberedSequence, notes: list[str]) -> None:
    """Add the steps of a sequence to the stages of those before it."""
    before = len(stages)
    for group in chosen.groups:
        stage = _stage(chosen.sequence, group, notes)
        whole = len(stages) > before and goes_on(chosen.sequence.asked, group[0])
        if whole and stages[-1].time_s and stage.time_s:
            stages[-1] = stages[-1].model_copy(update={"time_s": stages[-1].time_s + stage.time_s})
        else:
            stages.append(_named(stage, stages))
    if len(stages) - before < len(chosen.groups):
        notes.append(f"{len(chosen.groups)} steps; equal consecutive steps are merged")


def _title(chosen: Sequence[NumberedSequence]) -> str:
    """Worked: ``iops-1, round 1, steps 2 to 57``; of several sequences ``iops-1, round 1 to iops-1, round 2, ...``."""
    first, last = chosen[0], chosen[-1]
    names = first.name if len(chosen) == 1 else f"{first.name} to {last.name}"
    return f"{names}, {_numbers(first.first, last.last)}"


def asked_stage(sequence: StoredSequence) -> Stage:
    """The first result of a sequence, a step or streams side by side, as a stage with the name of the sequence."""
    stage = _stage(sequence, group_of(sequence.asked, sequence.ramp_up_steps), [])
    return stage.model_copy(update={"name": sequence.name[:_NAME_MAX]})


def _numbers(first: int, last: int) -> str:
    return f"step {first}" if first == last else f"steps {first} to {last}"


def _groups(sequence: StoredSequence) -> tuple[range, ...]:
    asked = sequence.asked
    return tuple(group_of(asked, index) for index, spec in enumerate(asked) if not spec.beside)


def _named(stage: Stage, before: Sequence[Stage]) -> Stage:
    """A stage under a name that none before it has."""
    taken = {one.name for one in before}
    name = stage.name if stage.name not in taken else f"{stage.name[: _NAME_MAX - 8]}, {len(before) + 1}"
    return stage.model_copy(update={"name": name})


def _stage(sequence: StoredSequence, group: range, notes: list[str]) -> Stage:
    specs = [sequence.asked[place] for place in group]
    name = (sequence.name if len(specs) > 1 else specs[0].label)[:_NAME_MAX] or "step"
    try:
        streams = tuple(_streams([spec for spec in specs if spec.demand.thread_count], notes))
        return Stage.model_validate({"name": name, "streams": streams} | _end(sequence, group, notes))
    except ValidationError as error:
        reason, remedy = first_fault(error)
        raise UsageError(f"step {name!r}", f"no workload file says it: {reason}", remedy) from None


def _end(sequence: StoredSequence, group: range, notes: list[str]) -> dict[str, float | int]:
    """When a stage ends. Where several streams shared an amount, after the time that it took them."""
    stop = sequence.asked[group[0]].stop
    if stop.time_ns is not None:
        return {"time_s": stop.time_ns / SECOND_NS}
    if len(group) > 1 and group[0] < len(sequence.steps) and (span_ns := sequence.steps[group[0]].span_ns):
        notes.append(f"all streams together ended after an amount; here after the {span_ns / SECOND_NS:.3f} s it took")
        return {"time_s": span_ns / SECOND_NS}
    if stop.amount_bytes is not None:
        return {"amount_bytes": stop.amount_bytes}
    return {"io_count": stop.io_count or 0}


def _streams(specs: Sequence[StepSpec], notes: list[str]) -> Iterator[Stream]:
    taken: set[str] = set()
    for spec in specs:
        name = spec.label[:_NAME_MAX] or "stream"
        name = name if name not in taken else f"{name[: _NAME_MAX - 8]}, {len(taken) + 1}"
        taken.add(name)
        start, size = _extent(spec.active_range, name, notes)
        operation, rate = spec.pattern.operation, _rate(spec.demand)
        if operation == "replay":
            reason = "issues the I/Os of a trace, which no workload says"
            raise UsageError(f"step {spec.label!r}", reason, "give the trace itself to the other tool")
        yield Stream(
            name=name,
            operation=operation,
            lines=_lines(spec.pattern),
            start_bytes=start or None,
            size_bytes=size,
            thread_count=spec.demand.thread_count,
            queue_depth=spec.demand.queue_depth,
            rate=rate,
            grid_from=spec.pattern.alignment_origin,
            cursor="fio" if spec.pattern.cursor == "per_direction" else spec.pattern.cursor,
            data=_content(spec.pattern.data, name, notes),
            lba_groups=tuple(_group(access, part) for access, part in spec.pattern.lba_groups),
        )


def _extent(active: ActiveRange, name: str, notes: list[str]) -> tuple[int, int]:
    starts, each = active.segment_starts, active.segment_bytes
    if len(starts) > 1:
        notes.append(
            f"{name}: {len(starts):,} segments of {each:,} bytes; here all from {starts[0]:,} to {starts[-1] + each:,}"
        )
    return starts[0], starts[-1] + each - starts[0]


def _lines(pattern: AccessPattern) -> tuple[Line, ...]:
    if pattern.lines:
        return tuple(
            Line(
                percent=_percent(line.share),
                size_bytes=line.transfer_bytes,
                read_percent=_percent(line.read_share),
                random_percent=_percent(line.random_share),
                align_bytes=line.alignment_bytes,
                burst_io_count=line.burst_io_count,
                delay_ms=line.delay_ns / MILLISECOND_NS,
            )
            for line in pattern.lines
        )
    return tuple(
        Line(
            percent=_percent(share),
            size_bytes=size,
            read_percent=_percent(pattern.read_share),
            random_percent=_percent(pattern.random_share),
            align_bytes=pattern.alignment_bytes,
        )
        for size, share in pattern.sizes
    )


def _percent(share: float) -> float:
    """Per cent without the last digits of a float. Worked: 0.07 -> 7.0."""
    return round(share * 100, 9)


def _group(access: float, part: float) -> LbaGroup:
    return LbaGroup(access_percent=_percent(access), range_percent=_percent(part))


def _rate(demand: Demand) -> Rate | None:
    if demand.arrivals_per_s is None or demand.arrival_process == "recorded":
        return None
    return Rate(ios_per_s=demand.arrivals_per_s, arrivals=demand.arrival_process, end_factor=demand.arrival_end_factor)


def _content(data: DataPattern, name: str, notes: list[str]) -> Content | None:
    """None for random data, which a plan writes unless told."""
    if data.kind == "file":
        notes.append(f"{name}: writes the bytes of a file; here random data")
    if data.kind == "file" or data.kind == "random":  # noqa: PLR1714 - types are told apart so
        return None
    stored = _percent(data.stored_share) if data.kind == "compressible" else None
    return Content(kind=data.kind, stored_percent=stored, pool_bytes=data.pool_bytes or None)
