"""What searches look at: texts of a run as they are stored, without regard to case.

SQLite folds the case of ASCII only and PostgreSQL by its locale. Both therefore have the texts folded by Python.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

RUN_FOLDS = (
    "name_folded", "host_folded", "system_folded", "lab_folded", "drive_folded", "drive_id_folded",
    "drive_serial_folded", "drive_model_folded", "drive_firmware_folded",
)  # fmt: skip
TEST_FOLDS = ("test_folded", "procedure_folded", "edition_folded")
"""Columns, each of the column that it is named after."""


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
