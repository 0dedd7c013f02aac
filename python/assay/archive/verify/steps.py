"""Rules of single steps and of steps that follow each other: exact identities between what was counted and timed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.archive.verify.rule import Broken
from assay.results import record
from assay.results.finding import Finding
from assay.results.record import steps_of_test
from assay.results.run_checks import RUN_CHECKS
from assay.results.step import group_of, ran_whole, short_of_asked, submitted_count
from assay.results.stimulus_audit import AUDIT, Issued
from assay.results.stimulus_steps import asked_steps
from assay.words.text import text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from assay.archive.verify.evidence import Evidence
    from assay.engine.records import StepSpec, StoredTest
    from assay.results.record import Contradiction, Step


def all_steps(evidence: Evidence) -> Iterator[tuple[str, Step]]:
    """Every stored step of a run in the order they ran, each with its test and name."""
    for test in evidence.run.tests:
        for step in steps_of_test(test):
            yield f"{test.settings.test}: {step.where}", step


def contradicted(evidence: Evidence, find: Callable[[StoredTest], Iterable[Contradiction]]) -> Iterator[Broken]:
    """What the records of a run say against themselves. find : looks for it in a test."""
    for test in evidence.run.tests:
        for result in find(test):
            where = f"{test.settings.test}: {result.where}"
            yield Broken(place=where, found=text(result.stored), expected=text(result.expected))


def labels(evidence: Evidence) -> Iterator[Broken]:
    """A step has the name of what was asked of it, and with those beside it did what ends them."""
    for where, step in all_steps(evidence):
        stored, asked, group = step.record.label, step.spec.label, group_of(step.sequence.asked, step.place)
        if stored != asked:
            yield Broken(place=where, found=f"is named {stored!r:.60}", expected=f"{asked!r:.60}")
        elif not step.spec.beside and (
            fault := short_of_asked(step.sequence.steps[group.start : group.stop], step.spec.stop)
        ):
            yield Broken(place=where, found=fault, expected="the amount of its stop rule, as it ran to its end")


def succession(evidence: Evidence) -> Iterator[Broken]:
    """Each window opens behind the one before it, a lead-in apart; equal steps have none."""
    for where, step in all_steps(evidence):
        lead_in_ns, before = step.record.lead_in_ns, step.before
        # One that was cut short may have ended before its window opened.
        if before is None or not step.ran_to_its_rule or not before.ran_to_its_rule:
            continue
        opened_ns = before.record.start_ns + before.record.span_ns + lead_in_ns
        if step.record.start_ns != opened_ns:
            yield Broken(place=where, found=f"opened at {step.record.start_ns:,} ns", expected=f"{opened_ns:,} ns")
        elif step.is_equal_to_before and lead_in_ns:
            yield Broken(place=where, found=f"a lead-in of {lead_in_ns:,} ns", expected="none, as an equal step")
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
    yield from contradicted(evidence, record.carried)


def littles_integral(evidence: Evidence) -> Iterator[Broken]:
    """The time integral of the outstanding I/Os is that of their response times, to the nanosecond."""
    for test in evidence.run.tests:
        check = next(check for check in RUN_CHECKS if check.name == "balance")
        yield from _judged(check.answer(test), test.settings.test, "0 ns more than the times of its I/Os")


def depth(evidence: Evidence) -> Iterator[Broken]:
    """No more I/Os are outstanding than were asked for."""
    yield from contradicted(evidence, record.depth)


def submissions(evidence: Evidence) -> Iterator[Broken]:
    """I/Os are issued from the end of the step before to the end of the window."""
    for where, step in all_steps(evidence):
        first, last = step.record.first_submission_ns, step.record.last_submission_ns
        begun_ns = step.record.start_ns - step.record.lead_in_ns
        ended_ns = step.record.start_ns + step.record.span_ns
        issued = submitted_count(step.record)
        if first is None or last is None:
            if issued or (first, last) != (None, None):
                yield Broken(place=where, found=f"{issued:,} I/Os and no submission", expected="times of both")
        elif ran_whole(step.record) and not begun_ns <= first <= last <= ended_ns:
            found = f"submissions from {first:,} to {last:,} ns"
            yield Broken(place=where, found=found, expected=f"within {begun_ns:,} to {ended_ns:,} ns")


def threads(evidence: Evidence) -> Iterator[Broken]:
    """The thread with the fewest I/Os and that with the most lie about the mean of all."""
    yield from contradicted(evidence, record.threads)


def arrivals(evidence: Evidence) -> Iterator[Broken]:
    """Due I/Os, and times from when they were due, are there where a rate of arrivals is stated, and only there."""
    for where, step in all_steps(evidence):
        stated = step.spec.demand.arrivals_per_s is not None
        known = step.record.offered_io_count is not None
        times = any(side.intended_ns_max is not None for _, side in step.sides)
        if stated != known or (times and not stated):
            found = "I/Os that were due" if known or times else "no I/Os that were due"
            yield Broken(place=where, found=found, expected=f"{'a' if stated else 'no'} stated rate of arrivals")


def sizes(evidence: Evidence) -> Iterator[Broken]:
    """I/Os have the size and the direction that were asked for; drawn shares are left to the checks of the run."""
    yield from contradicted(evidence, record.sizes)


def places(evidence: Evidence) -> Iterator[Broken]:
    """I/Os lie on the grid of their step, sequential ones follow each other; drawn shares are left to the checks."""
    yield from _audited(evidence, "alignment", "every I/O on its grid")
    yield from _audited(evidence, "successors", "each at the end of its predecessor", chosen=_in_order)


def _in_order(spec: StepSpec) -> bool:
    return spec.pattern.random_share == 0


def against_counters(evidence: Evidence) -> Iterator[Broken]:
    """The kernel counted, for each sequence, at least the bytes that were issued; what others issue comes on top."""
    yield from contradicted(evidence, record.counters)


def _audited(
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
