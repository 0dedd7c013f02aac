"""How much of a test was measured whole, by what is stored of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.results.ended import ran_to_its_end
from assay.results.stall import void_reason
from assay.results.step import ran_whole
from assay.spec.units import SECOND_NS, count_label

if TYPE_CHECKING:
    from assay.engine.records import StoredRun, StoredSequence, StoredTest

_SAMPLE, _ROUND = "sample", "round"
_BESIDE = {_SAMPLE, "histogram"}
"""Stages that are not the main one of a test that measures in any other."""


def measured_extent(test: StoredTest) -> str:
    """Count what a test has measured whole: its rounds, variants and so on, or samples where it has nothing else.

    A sequence that was cut short, saw an I/O fail or is void counts for nothing.
    Worked: an interrupted test with one whole round and half of another -> ``"1 round"``; a study -> ``"6 variants"``;
    one that was cut short while its drive was prepared -> ``"nothing"``.
    """
    measured = [sequence for sequence in test.sequences if sequence.role == "measure"]
    stage = next((one.stage for one in measured if one.stage not in _BESIDE), None)
    if stage is not None:
        return count_label(_whole_places([one for one in measured if one.stage == stage], test), stage)
    samples = [step for one in measured if one.stage == _SAMPLE for step in one.steps if ran_whole(step)]
    return count_label(len(samples), _SAMPLE) if samples else "nothing"


def driven_s(run: StoredRun) -> float:
    """Seconds from the first step of each test to the end of its last, in all, by the drive's clock.

    A simulated drive has a clock of its own. Worked: steps that begin at 10 and 70 s, the last of 60 s -> 120.0.
    """
    return sum(map(_driven_ns, run.tests)) / SECOND_NS


def _driven_ns(test: StoredTest) -> int:
    steps = [step for sequence in test.sequences for step in sequence.steps]
    return max(step.start_ns + step.span_ns for step in steps) - min(step.start_ns for step in steps) if steps else 0


def _whole_places(sequences: list[StoredSequence], test: StoredTest) -> int:
    """How many rounds, variants and so on are whole, all their sequences being so."""
    indexes = {sequence.index for sequence in sequences}
    broken = {sequence.index for sequence in sequences if not _is_whole(sequence, test)}
    # A round is run again under its next number; of others several sequences make one, and the last may lack some.
    if sequences[0].stage != _ROUND and not ran_to_its_end(test):
        broken.add(max(indexes))
    return len(indexes - broken)


def _is_whole(sequence: StoredSequence, test: StoredTest) -> bool:
    ran = len(sequence.steps) == len(sequence.asked) and all(map(ran_whole, sequence.steps))
    return ran and void_reason(sequence.steps, test.settings) is None
