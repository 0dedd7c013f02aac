"""Texts of others steer no terminal: what cannot be seen is written as an escape."""

from __future__ import annotations

import sys
import unicodedata

import pytest
from assay.words.visible import visible


@pytest.mark.parametrize("code", [0x2028, 0x2029, 0x85, 0x0A, 0x1B, 0x200B, 0x202E, 0x2066, 0xAD, 0xFEFF, 0xE0001])
def test_separators_and_formats_are_escapes(code: int) -> None:
    shown = visible(f"a{chr(code)}b")
    assert shown.isascii()
    assert shown.startswith("a\\")
    assert len(shown.splitlines()) == 1


def test_no_character_that_is_left_ends_a_line_or_has_no_form() -> None:
    left = [chr(code) for code in range(sys.maxunicode + 1) if visible(chr(code)) == chr(code)]
    assert not any(len(f"a{letter}b".splitlines()) > 1 for letter in left)
    assert {unicodedata.category(letter)[0] for letter in left} <= set("LMNPSZ")
    assert "\u6771" in left
