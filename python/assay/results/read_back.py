"""Whether a drive returned what was written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.results.data_check import sectors_held
from assay.results.finding import Finding
from assay.words.coded import coded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records import ReadBack, StoredTest
    from assay.words.coded import Coded

NAMED_MAX = 64
"""Wrong blocks of a check that are named, at most."""


def wrong_data(record: ReadBack) -> Coded | None:
    """What a drive did not return as it was written; None where all that was read is right.

    Worked: LBA 1,024 of 64 blocks holds zeros -> ``"LBA 1,024 returned zeros, not the data written last (1 of 64 blocks
    wrong)"``.
    """
    if record.wrong:
        first = record.wrong[0]
        return coded(
            "wrong-data",
            lba=first.lba,
            returned=coded(f"returned-{first.returned}"),
            wrong=record.wrong_count,
            checked=record.checked_count,
            where=record.after or None,
        )
    if record.unread_lba is not None:
        return coded("unread-data", lba=record.unread_lba, where=record.after or None)
    return None


def data_held(test: StoredTest) -> Iterator[Finding]:
    """What was read back after preparation and at the end of a test."""
    yield from sectors_held(test.data_checks)
    for record in test.read_backs:
        if reason := wrong_data(record):
            yield Finding(level="invalid", reason=reason, measured=record.wrong_count, limit=0)
        elif record.checked_count:
            yield Finding(level="pass", reason=coded("data-held", checked=record.checked_count), measured=0, limit=0)
        elif record.given_count:
            yield Finding(level="unknown", reason=coded("data-given"))
