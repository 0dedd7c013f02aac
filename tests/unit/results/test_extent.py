"""How much of a test was measured whole, and what its results give as an exit code."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from assay.results.ended import measured_extent, missed_steady_state
from assay.results.outcome import stored_exit_codes
from report_run import synthetic_run, synthetic_test
from saturation_run import saturation_test

if TYPE_CHECKING:
    from assay.engine.records import StoredTest


def cut(test: StoredTest, rounds: int, steps: int) -> StoredTest:
    """A test that was stopped behind so many rounds, and so many steps of another."""
    kept = [one for one in test.sequences if one.stage != "round" or one.index <= rounds + 1]
    kept[-1] = replace(kept[-1], steps=kept[-1].steps[:steps])
    return replace(test, sequences=tuple(kept), ended="interrupted", verdict=None)


def test_whole_rounds_are_counted_and_a_half_one_is_not() -> None:
    test = synthetic_test()
    assert measured_extent(test) == "5 rounds"
    assert measured_extent(cut(test, 2, 7)) == "2 rounds"
    assert measured_extent(cut(test, 1, 7)) == "1 round"
    assert measured_extent(cut(test, 0, 7)) == "0 rounds"


def test_a_round_with_a_failed_io_counts_for_nothing() -> None:
    test = synthetic_test()
    *others, last = test.sequences
    step = last.steps[-1]
    failed = replace(last, steps=(*last.steps[:-1], replace(step, read=replace(step.read, errors={5: 1}))))
    assert measured_extent(replace(test, sequences=(*others, failed))) == "4 rounds"


def test_a_test_of_samples_counts_these() -> None:
    test = saturation_test([50_000.0] * 40)
    assert measured_extent(test) == "40 samples"
    assert measured_extent(replace(test, sequences=())) == "nothing"


@pytest.mark.parametrize(
    ("ended", "codes"),
    [("steady", ()), ("round-limit", (7,)), ("interrupted", (5,)), (None, (5,)), ("no-completions", (5, 7))],
)
def test_exit_codes_follow_from_how_tests_ended(ended: str | None, codes: tuple[int, ...]) -> None:
    test = replace(synthetic_test(), ended=ended)
    assert stored_exit_codes(synthetic_run(test)) == codes
    assert missed_steady_state(test) == (7 in codes)


def test_a_run_without_a_test_has_no_result() -> None:
    assert stored_exit_codes(replace(synthetic_run(), tests=())) == (5,)
