"""Codes have words, and values stand in them as the words ask."""

from __future__ import annotations

import re
from string import Formatter

import pytest
from assay.words.coded import Place, Range, coded
from assay.words.outcomes import OUTCOMES
from assay.words.reasons import REASONS
from assay.words.text import JOINTS, PRINTERS, SCALES, TEMPLATES, text


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (coded("few-rounds", count=3), "n/a: 3 complete rounds, a measurement window needs five"),
        (coded("few-rounds", count=1), "n/a: 1 complete round, a measurement window needs five"),
        (coded("average-of-rounds", rounds=(4, 5, 6), outstanding=1024), "average of rounds 4-6, 1,024 outstanding"),
        (coded("all-ios-of-rounds", rounds=(4, 5), steady=coded("missed")), "all I/Os of rounds 4-5, NOT STEADY"),
        (coded("all-ios-of-rounds", rounds=(4, 5), steady=None), "all I/Os of rounds 4-5"),
        (
            coded("point", span=90 * 10**9, grid=9.5, limit=5),
            "in 1 min 30 s; 9.5 in the grid, the most with ART < 5 ms",
        ),
        (coded("gb-written", amount=1_400_000_000, fills=0.35), "1.4 GB written, 0.35 drive fills"),
        (coded("withheld", reason="two\nlines"), "n/a: two lines"),
        (coded("host-stalled", late_ns=1_502_000_000), "the host stalled for 1,502 ms"),
        (coded("host-stalled", late_ns=Range(12_000_000, 30_000_000)), "the host stalled for 12 to 30 ms"),
        (coded("host-stalled", late_ns=Range(12_000_000, 12_000_001)), "the host stalled for 12 ms"),
        (
            coded("changed", value="enabled", changes=(coded("found-in", what="disabled", where=Place("round", 3)),)),
            "enabled, disabled in round 3",
        ),
    ],
)
def test_a_statement_is_printed_with_its_values(said: object, words: str) -> None:
    assert text(said) == words  # type: ignore[arg-type]


def test_no_code_has_two_texts() -> None:
    assert len(TEMPLATES) == len(OUTCOMES) + len(REASONS)


def test_a_value_that_the_words_need_is_never_left_out() -> None:
    with pytest.raises(KeyError):
        text(coded("few-rounds"))


def test_every_value_of_every_template_is_printed_in_a_known_way() -> None:
    known = re.compile(r"[a-zI][a-z/O ]+|(" + "|".join(SCALES) + r")\|\+?,?\.\df|\+?,?(\.\d)?[dfg]?")
    for template in TEMPLATES.values():
        for _, name, how, _ in Formatter().parse(template.replace("[", "").replace("]", "")):
            assert name is None or how in PRINTERS or how in JOINTS or known.fullmatch(how or ""), template
