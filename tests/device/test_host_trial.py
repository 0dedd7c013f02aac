"""On a disturbed host no unmarked number is off by more than its bound; on a quiet host nearly none is marked."""

from __future__ import annotations

import pytest
from host_trial import disturbances, line_of, marks_of, measurer, quiet_trial, trial

SEED = 1
NEVER_QUIET = "SKIPPED: other programs never left this host alone"


@pytest.mark.long
def test_a_sample_of_disturbances_leaves_no_number_unmarked_that_it_made() -> None:
    with measurer() as tool:
        (wish, kinds), *_ = disturbances(1, SEED)
        tried = list(trial(tool, wish, kinds[:3]))
    if not tried:
        pytest.skip(NEVER_QUIET)
    assert [line_of(one) for one in tried if one.beyond] == []


@pytest.mark.soak
@pytest.mark.timeout(3 * 3600)
def test_two_hundred_disturbances_leave_no_number_unmarked_that_they_made() -> None:
    with measurer() as tool:
        tried = [one for wish, kinds in disturbances(200, SEED) for one in trial(tool, wish, kinds)]
    if not tried:
        pytest.skip(NEVER_QUIET)
    assert [line_of(one) for one in tried if one.beyond] == []


@pytest.mark.soak
@pytest.mark.timeout(3 * 3600)
def test_of_three_hundred_quiet_sequences_three_are_marked_at_most() -> None:
    with measurer() as tool:
        quiet = [numbers for _, numbers in quiet_trial(tool, 300, SEED)]
    if None in quiet:
        pytest.skip(NEVER_QUIET)
    marked = [marks for numbers in quiet if numbers is not None and (marks := marks_of(numbers))]
    assert len(marked) <= 3, marked
