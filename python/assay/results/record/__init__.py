"""What a record says against itself: its counts, times, histograms and counters held against each other.

Each contradiction is found by one function. Reading a run asks them all (``contradictions``), and so does
``assay verify``, rule by rule.
"""

from __future__ import annotations

from assay.results.record.contradiction import Contradiction
from assay.results.record.counts import counters, sizes, threads
from assay.results.record.histograms import histogram_counts, histogram_ends
from assay.results.record.read import CONTRADICTIONS, contradictions
from assay.results.record.seconds import second_counts
from assay.results.record.steps import Step, sequence_steps, steps_of_test
from assay.results.record.times import carried, depth

__all__ = [
    "CONTRADICTIONS",
    "Contradiction",
    "Step",
    "carried",
    "contradictions",
    "counters",
    "depth",
    "histogram_counts",
    "histogram_ends",
    "second_counts",
    "sequence_steps",
    "sizes",
    "steps_of_test",
    "threads",
]
