"""Rules of single steps and of steps that follow each other: exact identities between what was counted and timed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.archive.verify.rule import Broken
from assay.results.audit import counted
from assay.results.finding import Finding
from assay.results.groups import goes_on, place_before
from assay.results.run_checks import RUN_CHECKS
from assay.results.sequence_names import step_places
from assay.results.step import ran_whole, rate_count, short_of_asked, submitted_count
from assay.results.stimulus_audit import AUDIT, Issued
from assay.results.stimulus_steps import asked_steps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from assay.archive.verify.evidence import Evidence
    from assay.engine.records import DirectionRecord, StepRecord, StepSpec, StoredSequence


_SIDES = ("reads", "writes", "trims or flushes")


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One stored step. where : its name on paper. before : the step before it in its sequence, None for the first."""

    where: str
    sequence: StoredSequence
    place: int
    record: StepRecord
    spec: StepSpec
    before: Step | None

    @property
    def sides(self) -> tuple[tuple[str, DirectionRecord], ...]:
        """What was counted, by name."""
        return tuple(zip(_SIDES, self.record.sides, strict=False))

    @property
    def ran_to_its_rule(self) -> bool:
        """Whether its stop rule ended it; the threads of a step that was cut short may have stopped one by one."""
        return self.record.ended == "stop-rule"

    @property
    def is_equal_to_before(self) -> bool:
        """Whether it was asked the same as the step before it, so that both are one stream of I/Os."""
        return goes_on(self.sequence.asked, self.place)


def all_steps(evidence: Evidence) -> Iterator[Step]:
    """Every stored step of a run in the order they ran."""
    for test in evidence.run.tests:
        for sequence in test.sequences:
            yield from sequence_steps(sequence, f"{test.settings.test}: ")


def sequence_steps(sequence: StoredSequence, prefix: str = "") -> Iterator[Step]:
    """Every step of a sequence. prefix : of their names."""
    steps: list[Step] = []
    names = step_places(sequence)
    for place, (record, spec) in enumerate(zip(sequence.steps, sequence.asked, strict=False)):
        where, follows = f"{prefix}{names[place]}", place_before(sequence.asked, place)
        before = None if follows is None else steps[follows]
        steps.append(Step(where=where, sequence=sequence, place=place, record=record, spec=spec, before=before))
    yield from steps


def labels(evidence: Evidence) -> Iterator[Broken]:
    """A step has the name of what was asked of it, and did what ends it."""
    for all_step in all_steps(evidence):
        if all_step.record.label != all_step.spec.label:
            yield Broken(
                place=all_step.where,
                found=f"is named {all_step.record.label!r:.60}",
                expected=f"{all_step.spec.label!r:.60}",
            )
        elif fault := short_of_asked(all_step.record, all_step.spec.stop):
            yield Broken(
                place=all_step.where, found=fault, expected="the amount of its stop rule, as it ran to its end"
            )


def succession(evidence: Evidence) -> Iterator[Broken]:
    """Each window opens behind the one before it, a lead-in apart; equal steps have none."""
    for all_step in all_steps(evidence):
        lead_in_ns = all_step.record.lead_in_ns
        # One that was cut short may have ended before its window opened.
        if all_step.before is None or not all_step.ran_to_its_rule or not all_step.before.ran_to_its_rule:
            continue
        opened_ns = all_step.before.record.start_ns + all_step.before.record.span_ns + lead_in_ns
        if all_step.record.start_ns != opened_ns:
            yield Broken(
                place=all_step.where, found=f"opened at {all_step.record.start_ns:,} ns", expected=f"{opened_ns:,} ns"
            )
        elif all_step.is_equal_to_before and lead_in_ns:
            yield Broken(
                place=all_step.where, found=f"a lead-in of {lead_in_ns:,} ns", expected="none, as an equal step"
            )
    yield from _sequence_times(evidence)


def _sequence_times(evidence: Evidence) -> Iterator[Broken]:
    for test in evidence.run.tests:
        end_ns = None
        for sequence in test.sequences:
            begun_ns = sequence.steps[0].start_ns - sequence.steps[0].lead_in_ns
            if end_ns is not None and begun_ns < end_ns:
                where = f"{test.settings.test}: {sequence.name}"
                yield Broken(place=where, found=f"begun at {begun_ns:,} ns", expected=f"not before {end_ns:,} ns")
            end_ns = sequence.steps[-1].start_ns + sequence.steps[-1].span_ns


def carried(evidence: Evidence) -> Iterator[Broken]:
    """What equal steps carry into a window is what the steps before it had in flight."""
    for test in evidence.run.tests:
        for sequence in test.sequences:
            yield from _carried_counts(sequence, f"{test.settings.test}: ")
    for all_step in all_steps(evidence):
        if (
            all_step.before
            and all_step.is_equal_to_before
            and ran_whole(all_step.record)
            and ran_whole(all_step.before.record)
        ):
            out_ns, in_ns = all_step.before.record.carried_out_ns, all_step.record.carried_in_ns
            if out_ns != in_ns:
                yield Broken(
                    place=all_step.where, found=f"{in_ns:,} ns carried in", expected=f"{out_ns:,} ns, as carried out"
                )


def _carried_counts(sequence: StoredSequence, prefix: str) -> Iterator[Broken]:
    """An I/O that equal steps carry in is in the tail of an earlier one, and is counted once in each of them."""
    in_flight: dict[tuple[int, str], int] = {}
    for sequence_step in sequence_steps(sequence, prefix):
        follows = place_before(sequence.asked, sequence_step.place)
        for name, side in sequence_step.sides:
            left = in_flight.get((follows, name), 0) if follows is not None and sequence_step.is_equal_to_before else 0
            if side.carried_in_io_count > left:
                found = f"{side.carried_in_io_count:,} {name} carried in"
                yield Broken(
                    place=sequence_step.where, found=found, expected=f"at most the {left:,} in flight before it"
                )
            in_flight[sequence_step.place, name] = max(left - side.carried_in_io_count, 0) + side.tail_io_count


def littles_integral(evidence: Evidence) -> Iterator[Broken]:
    """The time integral of the outstanding I/Os is that of their response times, to the nanosecond."""
    for test in evidence.run.tests:
        check = next(check for check in RUN_CHECKS if check.name == "balance")
        yield from _judged(check.answer(test), test.settings.test, "0 ns more than the times of its I/Os")


def depth(evidence: Evidence) -> Iterator[Broken]:
    """No more I/Os are outstanding than were asked for."""
    for all_step in all_steps(evidence):
        demand, record = all_step.spec.demand, all_step.record
        most_ns = demand.thread_count * demand.queue_depth * record.span_ns
        if all_step.ran_to_its_rule and record.outstanding_ns > most_ns:
            found = f"{record.outstanding_ns / max(record.span_ns, 1):.6g} I/Os outstanding in the mean"
            yield Broken(
                place=all_step.where, found=found, expected=f"at most {demand.thread_count * demand.queue_depth:,}"
            )


def submissions(evidence: Evidence) -> Iterator[Broken]:
    """I/Os are issued from the end of the step before to the end of the window."""
    for all_step in all_steps(evidence):
        record = all_step.record
        first, last = record.first_submission_ns, record.last_submission_ns
        begun_ns, ended_ns = record.start_ns - record.lead_in_ns, record.start_ns + record.span_ns
        issued = submitted_count(record)
        if first is None or last is None:
            if issued or (first, last) != (None, None):
                yield Broken(place=all_step.where, found=f"{issued:,} I/Os and no submission", expected="times of both")
        elif ran_whole(record) and not begun_ns <= first <= last <= ended_ns:
            found = f"submissions from {first:,} to {last:,} ns"
            yield Broken(place=all_step.where, found=found, expected=f"within {begun_ns:,} to {ended_ns:,} ns")


def threads(evidence: Evidence) -> Iterator[Broken]:
    """The thread with the fewest I/Os and that with the most lie about the mean of all."""
    for all_step in all_steps(evidence):
        least, most = all_step.record.thread_io_count_min, all_step.record.thread_io_count_max
        count, total = all_step.spec.demand.thread_count, rate_count(all_step.record)
        if least is not None and most is not None and not least * count <= total <= most * count:
            found = f"from {least:,} to {most:,} I/Os of a thread"
            yield Broken(place=all_step.where, found=found, expected=f"about {total:,} of {count:,} threads")


def arrivals(evidence: Evidence) -> Iterator[Broken]:
    """Due I/Os, and times from when they were due, are there where a rate of arrivals is stated, and only there."""
    for all_step in all_steps(evidence):
        stated = all_step.spec.demand.arrivals_per_s is not None
        known = all_step.record.offered_io_count is not None
        times = any(side.intended_ns_max is not None for _, side in all_step.sides)
        if stated != known or (times and not stated):
            found = "I/Os that were due" if known or times else "no I/Os that were due"
            yield Broken(
                place=all_step.where, found=found, expected=f"{'a' if stated else 'no'} stated rate of arrivals"
            )


def sizes(evidence: Evidence) -> Iterator[Broken]:
    """I/Os have the size and the direction that were asked for; drawn shares are left to the checks of the run."""
    yield from audited(evidence, "transfer-sizes", "its I/Os times their size", chosen=_one_size)
    yield from audited(evidence, "read-share", "reads or writes only, as specified", chosen=_one_direction)


def places(evidence: Evidence) -> Iterator[Broken]:
    """I/Os lie on the grid of their step, sequential ones follow each other; drawn shares are left to the checks."""
    yield from audited(evidence, "alignment", "every I/O on its grid")
    yield from audited(evidence, "successors", "each at the end of its predecessor", chosen=_in_order)


def _in_order(spec: StepSpec) -> bool:
    return spec.pattern.random_share == 0


def _one_size(spec: StepSpec) -> bool:
    return len(spec.pattern.sizes) == 1


def _one_direction(spec: StepSpec) -> bool:
    return spec.pattern.read_share in {0, 1}


def against_counters(evidence: Evidence) -> Iterator[Broken]:
    """The kernel counted, for each sequence, at least the bytes that were issued; what others issue comes on top."""
    for test in evidence.run.tests:
        for sequence in test.sequences:
            for one in counted(sequence.steps):
                if one.counted_bytes is not None and one.counted_bytes < one.byte_count:
                    found = f"{one.counted_bytes:,} bytes of {one.direction} counted"
                    where = f"{test.settings.test}: {sequence.name}"
                    yield Broken(place=where, found=found, expected=f"at least the {one.byte_count:,} issued")


def audited(
    evidence: Evidence, name: str, expected: str, *, chosen: Callable[[StepSpec], bool] = lambda _: True
) -> Iterator[Broken]:
    """What a check of the stimulus audit marks. chosen : the steps that it is asked of."""
    check = next(check for check in AUDIT if check.name == name)
    for test in evidence.run.tests:
        steps = tuple(asked_step for asked_step in asked_steps(test) if chosen(asked_step.spec))
        yield from _judged(check.answer(Issued(evidence.run, test, steps)), test.settings.test, expected)


def _judged(answer: Finding | Iterable[Finding], test: str, expected: str) -> Iterator[Broken]:
    for found in [answer] if isinstance(answer, Finding) else answer:
        if found.marked:
            yield Broken(place=f"{test}: {found.where}", found=found.words, expected=expected)
