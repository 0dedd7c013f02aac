"""Text from drives, files and plans made safe to show: nothing in it steers a terminal or hides other text."""

from __future__ import annotations

import unicodedata

_UNSEEN = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}
"""Categories of Unicode: control, format, unassigned, private, surrogate; separators of lines and of paragraphs."""


def visible(text: str) -> str:
    r"""Write control, format and undecodable characters and separators of lines and paragraphs as escapes.

    Worked: ``visible("A\x1b[2J")`` is ``"A\\x1b[2J"``.
    """
    return text if text.isascii() and text.isprintable() else "".join(map(_visible, text))


def unicode_name(name: str) -> str:
    """A name as JSON can hold it: bytes that are no text become escapes."""
    return name if name.isascii() else name.encode("utf-8", "backslashreplace").decode("utf-8")


def _visible(character: str) -> str:
    if unicodedata.category(character) not in _UNSEEN:
        return character
    return character.encode("unicode_escape", "backslashreplace").decode("ascii")
