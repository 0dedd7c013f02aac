"""The last words of ``assay show`` and ``assay run`` say of steady state what the lines of verdicts say."""

from __future__ import annotations

import pytest
from assay.cli.show import not_settled
from assay.report.formats.terminal.overview import ShownTest


@pytest.mark.parametrize(
    ("verdict", "reached", "last"),
    [
        ("steady state: YES, rounds 1-5", True, ""),
        ("steady state: reached, 31 min to 155 min", True, ""),
        ("steady state: N/A", True, ""),
        ("steady state: not reached", True, "WSAT: steady state: not reached"),
        ("steady state: not judged: ended after 65 min", True, "WSAT: steady state: not judged: ended after 65 min"),
        # An alarm says it.
        ("steady state: NO, rounds 21-25", False, ""),
    ],
)
def test_a_verdict_that_is_not_yes_is_among_the_last_words(verdict: str, *, reached: bool, last: str) -> None:
    test = ShownTest.model_construct(test="wsat", verdict=verdict, reached=reached, withheld=None)
    assert not_settled(test) == last
