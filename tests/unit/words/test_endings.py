"""How a test ended is said in words, wherever it is printed for people."""

from __future__ import annotations

import pytest
from assay.errors import DeviceFailureError, InterruptedRunError, StoreError, TimekeepingError
from assay.report.formats.terminal.listed import listed_run
from assay.words.outcomes import ending_label
from report_run import synthetic_run, synthetic_test

ERRORS = (DeviceFailureError, InterruptedRunError, StoreError, TimekeepingError)


@pytest.mark.parametrize("slug", ["steady", "round-limit", "time", "amount", *(error.slug for error in ERRORS)])
def test_an_ending_is_a_sentence_and_not_its_short_name(slug: str) -> None:
    assert " " in ending_label(slug)
    assert "-" not in ending_label(slug)
    assert "an error ended it" not in ending_label(slug)


def test_an_error_that_no_test_foresees_is_named_too() -> None:
    assert ending_label("not-a-drive") == "an error ended it: not a drive"


def test_a_list_of_runs_has_the_words_and_its_json_the_short_name() -> None:
    run = synthetic_run(synthetic_test(tracked=(1.0, 2.0), ended="device-failure"))
    (test,) = listed_run(run, "a").tests
    assert test.ended == "device-failure"
    assert test.outcome.startswith("the drive failed, or stopped answering, RESULTS WITHHELD: ")
