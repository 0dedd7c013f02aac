"""The counts of a step against its threads, its sizes and the kernel's counters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.results.audit import counted, program_pairs
from assay.results.record.contradiction import Contradiction
from assay.results.record.steps import steps_of_test
from assay.results.sequence_names import sequence_place
from assay.results.step import rate_count
from assay.results.stimulus_checks import read_share, transfer_sizes
from assay.results.stimulus_steps import asked_steps
from assay.words.coded import coded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records import StoredTest


def threads(test: StoredTest) -> Iterator[Contradiction]:
    """The thread with the fewest I/Os and that with the most lie about the mean of all.

    Worked: 400 I/Os of 4 threads, of which the busiest has 90 -> ``about 400 of 4 threads``.
    """
    for step in steps_of_test(test):
        least, most = step.record.thread_io_count_min, step.record.thread_io_count_max
        count, total = step.spec.demand.thread_count, rate_count(step.record)
        if least is not None and most is not None and not least * count <= total <= most * count:
            stored = coded("record-threads", least=least, most=most)
            expected = coded("record-of-threads", total=total, count=count)
            yield Contradiction(where=step.where, stored=stored, expected=expected)


def sizes(test: StoredTest) -> Iterator[Contradiction]:
    """I/Os have the size and the direction that were asked for; drawn shares are left to the audit of the stimulus.

    Worked: 1,000 I/Os of 4 KiB with 8,192,000 bytes -> ``its I/Os times their size``.
    """
    steps = tuple(asked_steps(test))
    fixed = tuple(step for step in steps if len(step.pattern.sizes) == 1)
    pure = tuple(step for step in steps if step.pattern.read_share in {0, 1})
    for findings, code in (transfer_sizes(fixed), "record-of-size"), (read_share(pure), "record-of-direction"):
        for finding in findings:
            if finding.marked and finding.reason is not None:
                yield Contradiction(where=finding.where, stored=finding.reason, expected=coded(code))


def counters(test: StoredTest) -> Iterator[Contradiction]:
    """The kernel counted, for each sequence, at least the bytes that were issued; what others issue comes on top.

    Worked: 8,192 bytes of reads issued, 4,096 counted -> ``at least the 8,192 issued``.
    """
    for _, sequence in program_pairs(test):
        for side in counted(sequence.steps):
            if side.counted_bytes is not None and side.counted_bytes < side.byte_count:
                stored = coded("record-counted", count=side.counted_bytes, side=side.direction)
                expected = coded("record-issued", count=side.byte_count)
                yield Contradiction(where=sequence_place(sequence), stored=stored, expected=expected)
