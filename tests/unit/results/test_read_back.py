"""What was read back is a row of its own; wrong data withhold results and name the LBA and what was read."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from assay.engine.records import ReadBack, WrongBlock
from assay.results.data_check import wrong_data
from assay.results.outcome import withheld_reason
from assay.results.run_checks import run_checks
from assay.words.text import text_or_none
from report_run import synthetic_test

if TYPE_CHECKING:
    from assay.engine.records import Returned

GOOD = ReadBack(
    after="preconditioning",
    checked_count=64,
    known_count=1_024,
    given_count=0,
    unknown_count=0,
    wrong_count=0,
    span_ns=1,
    limit_ns=2,
)


def row(*read_backs: ReadBack) -> tuple[str, str]:
    test = replace(synthetic_test(), read_backs=read_backs)
    (checked,) = [checked for checked in run_checks(test) if checked.name == "data-held"]
    return checked.level, checked.finding.words


def test_blocks_that_returned_what_was_written_pass() -> None:
    assert row(GOOD, replace(GOOD, after="")) == ("pass", "64 blocks returned the data written last")


def test_a_test_of_which_nothing_was_read_back_says_so() -> None:
    assert row() == ("n/a", "not checked: nothing was written to a real drive")


def test_data_that_repeat_are_not_checked_and_say_so() -> None:
    given = replace(GOOD, checked_count=0, known_count=0, given_count=1_024)
    assert row(given) == ("unknown", "not checked: the data repeat or come from a file")
    assert row(replace(given, given_count=0)) == ("n/a", "not checked: nothing was written to a real drive")


@pytest.mark.parametrize(
    ("returned", "words"),
    [
        ("zeros", "zeros"),
        ("stale", "an older version"),
        ("elsewhere", "the data of another LBA"),
        ("another", "the data of another write"),
        ("other", "unknown data"),
    ],
)
def test_wrong_data_withhold_the_results_and_name_lba_and_content(returned: Returned, words: str) -> None:
    wrong = replace(GOOD, wrong_count=1, wrong=(WrongBlock(lba=1_024, returned=returned),))
    reason = f"LBA 1,024 returned {words}, not the data written last (1 of 64 blocks wrong after preconditioning)"
    assert row(GOOD, wrong) == ("invalid", reason)
    test = replace(synthetic_test(), read_backs=(GOOD, wrong), ended="wrong-data")
    assert text_or_none(withheld_reason(test)) == reason
    at_end = text_or_none(wrong_data(replace(wrong, after="")))
    assert at_end == f"LBA 1,024 returned {words}, not the data written last (1 of 64 blocks wrong)"


def test_a_block_that_cannot_be_read_back_withholds_the_results() -> None:
    assert row(replace(GOOD, unread_lba=7, after="")) == ("invalid", "LBA 7 could not be read back")
    assert wrong_data(GOOD) is None
