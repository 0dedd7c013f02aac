"""Rules of steps: exact identities between counts, times, histograms, seconds, captures and replayed I/Os."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from assay.archive.verify.evidence import Broken
from assay.results.captured import latency_buckets
from assay.results.finding import Finding
from assay.results.histogram import step_times
from assay.results.record import second_counts, sequence_steps, steps_of_test
from assay.results.run_checks import RUN_CHECKS
from assay.results.step import (
    completed_count,
    group_of,
    issued_bytes,
    issued_count,
    ran_whole,
    short_of_asked,
    submitted_count,
)
from assay.results.stimulus_audit import AUDIT, Issued
from assay.results.stimulus_steps import asked_steps
from assay.run.store.read import checked_table
from assay.run.store.tables import BUCKET_COUNT, SERIES, series_rows, with_series
from assay.run.store.traces import window_latencies
from assay.words.text import text
from assay.workloads.traces import FLUSH, OPERATIONS, replay_fault

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from assay.archive.verify.evidence import Evidence
    from assay.engine.records import DirectionRecord, StepSpec, StoredSequence, StoredTest, TraceSummary
    from assay.results.histogram import ResponseTimes
    from assay.results.record import Contradiction, Step
    from assay.workloads.traces import Batch

_OPERATION_SIDES = {"read": "read", "write": "write", "trim": "other", "flush": "other"}
"""The part of a record that counts an operation."""


def all_steps(evidence: Evidence) -> Iterator[tuple[str, Step]]:
    """Every stored step of a run in the order they ran, each with its test and name."""
    for test in evidence.run.tests:
        for step in steps_of_test(test):
            yield f"{test.settings.test}: {step.where}", step


def contradicted(find: Callable[[StoredTest], Iterable[Contradiction]], evidence: Evidence) -> Iterator[Broken]:
    """The contradictions in the records of a run. find : a function of ``results.record``, which looks at one test."""
    for test in evidence.run.tests:
        for fault in find(test):
            where = f"{test.settings.test}: {fault.where}"
            yield Broken(place=where, found=text(fault.stored), expected=text(fault.expected))


def labels(evidence: Evidence) -> Iterator[Broken]:
    """A step has the name of its demand, and moved the amount of its stop rule together with parallel steps."""
    for where, step in all_steps(evidence):
        stored, asked, group = step.record.label, step.spec.label, group_of(step.sequence.asked, step.place)
        if stored != asked:
            yield Broken(place=where, found=f"is named {stored!r:.60}", expected=f"{asked!r:.60}")
        elif not step.spec.beside and (
            fault := short_of_asked(step.sequence.steps[group.start : group.stop], step.spec.stop)
        ):
            yield Broken(place=where, found=fault, expected="the amount of its stop rule, as it ran to its end")


def succession(evidence: Evidence) -> Iterator[Broken]:
    """Each window opens a lead-in after the previous window; equal steps have no lead-in."""
    for where, step in all_steps(evidence):
        lead_in_ns, before = step.record.lead_in_ns, step.before
        # A step that was cut short may have ended before its window opened.
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


def littles_integral(evidence: Evidence) -> Iterator[Broken]:
    """The time integral of I/Os in flight equals their response times, to the nanosecond (Little's law)."""
    for test in evidence.run.tests:
        check = next(check for check in RUN_CHECKS if check.name == "balance")
        yield from _marked(check.answer(test), test.settings.test, "0 ns more than the times of its I/Os")


def submissions(evidence: Evidence) -> Iterator[Broken]:
    """I/Os are issued between the end of the previous step and the end of the window."""
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


def arrivals(evidence: Evidence) -> Iterator[Broken]:
    """A step has due I/Os, and times since they were due, if and only if it has a rate of arrivals."""
    for where, step in all_steps(evidence):
        stated = step.spec.demand.arrivals_per_s is not None
        known = step.record.offered_io_count is not None
        times = any(side.intended_ns_max is not None for _, side in step.sides)
        if stated != known or (times and not stated):
            found = "I/Os that were due" if known or times else "no I/Os that were due"
            yield Broken(place=where, found=found, expected=f"{'a' if stated else 'no'} stated rate of arrivals")


def addresses(evidence: Evidence) -> Iterator[Broken]:
    """I/Os lie on the grid of their step; sequential I/Os follow each other. Checks of the run judge drawn shares."""
    yield from _audited(evidence, "alignment", "every I/O on its grid")
    expected = "each at the end of its predecessor"
    yield from _audited(evidence, "successors", expected, chosen=lambda spec: spec.pattern.random_share == 0)


def _audited(
    evidence: Evidence, name: str, expected: str, *, chosen: Callable[[StepSpec], bool] = lambda _: True
) -> Iterator[Broken]:
    """The steps that a check of the stimulus audit marks. chosen : whether the check applies to a step."""
    check = next(check for check in AUDIT if check.name == name)
    for test in evidence.run.tests:
        steps = tuple(step for step in asked_steps(test) if chosen(step.spec))
        yield from _marked(check.answer(Issued(evidence.run, test, steps)), test.settings.test, expected)


def _marked(answer: Finding | Iterable[Finding], test: str, expected: str) -> Iterator[Broken]:
    for finding in [answer] if isinstance(answer, Finding) else answer:
        if finding.marked:
            yield Broken(place=f"{test}: {finding.where}", found=finding.words, expected=expected)


def series_sums(evidence: Evidence) -> Iterator[Broken]:
    """The seconds of a window hold the I/Os and bytes of the window, and no more than its response times."""
    yield from contradicted(second_counts, evidence)
    sequences = (sequence for test in evidence.run.tests for sequence in test.sequences)
    for sequence, (steps, _) in zip(sequences, evidence.counted, strict=True):
        name = next(name for name in steps.tables if name.startswith(SERIES))
        content = checked_table(evidence.folder, name, steps)
        rows = series_rows(sequence.steps, content, name=name)
        for index, step in enumerate(with_series(sequence.steps, rows)):
            for fault, expected in (second_fault for side in step.sides for second_fault in _second_faults(side)):
                yield Broken(place=f"{name}: step {index}", found=fault, expected=expected)


def _second_faults(side: DirectionRecord) -> Iterator[tuple[str, str]]:
    counts, sums, largest = side.series_io_count, side.series_latency_ns_sum, side.series_latency_ns_max
    most = side.latency_ns_sum + (side.lead_in_latency_ns_sum or 0) + side.carried_in_latency_ns_sum
    if sum(sums) > most:
        yield f"{sum(sums):,} ns in its seconds", f"at most {most:,} ns"
    if not side.carried_in_io_count and largest:
        known_ns = max(side.latency_ns_max or 0, side.lead_in_latency_ns_max or 0)
        if max(largest) > known_ns:
            yield f"{max(largest):,} ns in a second of it", f"at most {known_ns:,} ns"
    seconds = zip(counts, sums, largest, strict=True)
    if any(longest > summed or summed > count * longest for count, summed, longest in seconds):
        yield "a second whose longest response time does not fit their sum", "between the mean and the sum"


def captured_times(evidence: Evidence) -> Iterator[Broken]:
    """A capture holds every I/O of its steps, with the response times that histograms count."""
    sequences = [(sequence, test.settings.test) for test in evidence.run.tests for sequence in test.sequences]
    for (sequence, test), (_, name) in zip(sequences, evidence.counted, strict=True):
        if sequence.trace is not None:
            counts, sums = _captured(evidence, name, sequence)
            due = step_times(sequence)
            for step in sequence_steps(sequence):
                if ran_whole(step.record):
                    times, total_ns = due[step.place], int(sums[step.place])
                    for found, expected in _captured_faults(step, sequence.trace, times, counts[step.place], total_ns):
                        yield Broken(place=f"{test}: {step.where}", found=found, expected=expected)


def _captured(evidence: Evidence, name: str, sequence: StoredSequence) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Sum up a capture over the windows of its steps: I/Os per step and bucket, response times in ns per step."""
    count = len(sequence.steps)
    counts, sums = np.zeros((count, BUCKET_COUNT), np.int64), np.zeros(count, np.int64)
    opened_ns = [step.start_ns for step in sequence.steps]
    for steps, latencies_ns in window_latencies(evidence.folder, name, opened_ns):
        np.add.at(counts, (steps, latency_buckets(latencies_ns)), 1)
        np.add.at(sums, steps, latencies_ns)
    return counts, sums


def _captured_faults(
    step: Step, trace: TraceSummary, due: ResponseTimes, counts: NDArray[np.int64], total_ns: int
) -> Iterator[tuple[str, str]]:
    kept, done = trace.io_counts[step.place], completed_count(step.record)
    if kept != done:
        yield f"{kept:,} I/Os captured", f"{done:,}, as completed"
        return
    due_ns = sum(side.latency_ns_sum for _, side in step.sides)
    filled = np.flatnonzero(counts)
    if not (np.array_equal(filled, due.buckets) and np.array_equal(counts[filled], due.counts)):
        yield "captured in other buckets", "as the histogram of its window"
    elif total_ns != due_ns:
        yield f"{total_ns:,} ns captured", f"{due_ns:,} ns"


def replayed_ios(evidence: Evidence) -> Iterator[Broken]:
    """The I/Os of a replay lie on the drive and in order, and the step issued as many of each direction."""
    capacity = evidence.document.identity.capacity_bytes
    for where, step in all_steps(evidence):
        read = step.sequence.replayed
        if read is None or step.spec.pattern.operation != "replay":
            continue
        if fault := replay_fault(read(), capacity):
            yield Broken(place=where, found=f"its file {fault}", expected="I/Os on the drive, in order")
        else:
            yield from _replay_faults(where, step, _replay_amounts(read()))


def _replay_amounts(batches: Iterable[Batch]) -> Counter[tuple[str, str]]:
    """I/Os and bytes of each part of a record."""
    amounts: Counter[tuple[str, str]] = Counter()
    for batch in batches:
        for kind, name in enumerate(OPERATIONS):
            chosen = batch.operation == kind
            amounts[_OPERATION_SIDES[name], "I/Os"] += int(chosen.sum())
            if kind != FLUSH:
                amounts[_OPERATION_SIDES[name], "bytes"] += int(batch.length_bytes[chosen].sum())
    return amounts


def _replay_faults(where: str, step: Step, due: Counter[tuple[str, str]]) -> Iterator[Broken]:
    whole = ran_whole(step.record)
    for name, side in step.record.named_sides:
        for unit, value in (("I/Os", issued_count(side)), ("bytes", issued_bytes(side))):
            asked = due[name, unit]
            if value > asked or (whole and value != asked):
                expected = f"{asked:,} of its file"
                yield Broken(place=f"{where}, {name}", found=f"{value:,} {unit}", expected=expected)
