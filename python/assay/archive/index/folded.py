"""What searches look at: texts of a run as they are stored, without regard to case.

SQLite folds the case of ASCII only and PostgreSQL by its locale. Both therefore have the texts folded by Python.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_OF_RUN = ("name", "host", "system", "lab", "drive", "drive_id", "drive_serial", "drive_model", "drive_firmware")
_OF_TEST = ("test", "procedure", "edition")
RUN_FOLDS, TEST_FOLDS = ({f"{name}_folded": name for name in names} for names in (_OF_RUN, _OF_TEST))
"""Columns that are searched, each with the column that it is made from."""


def storable(text: str) -> str:
    r"""A text as both databases take it: NUL and halves of surrogate pairs are escaped.

    Worked: ``a\0b`` with a NUL becomes ``a\\x00b``.
    """
    if text.isascii() and "\0" not in text:
        return text
    return text.replace("\0", "\\x00").encode("utf-8", "backslashreplace").decode("utf-8")


def folded(text: str | None) -> str:
    """A text of a column as it is searched; empty for None. Worked: ``STRASSE`` and ``straße`` are equal."""
    return "" if text is None else storable(text).casefold()


def all_words(texts: Iterable[str | None]) -> str:
    r"""What free text is searched in: a text a line. Worked: ``("Night 4", None, "bay 2")`` -> ``"night 4\nbay 2"``."""
    return "\n".join(folded(text) for text in texts if text)
