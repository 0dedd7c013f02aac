"""Whether the drive holds what was written: blocks read back, and the check of written data."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd
from typing import TYPE_CHECKING, Literal

from assay.engine.records.watched import SECTOR_BYTES
from assay.results.finding import Finding
from assay.words.coded import coded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from assay.engine.records import DataCheck, ReadBack, StoredTest, WrongRange
    from assay.words.coded import Coded


Span = tuple[int, int]
"""First and end, in sectors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FakeCapacity:
    """A drive that is smaller than it says.

    how : ``wraps`` (what lies beyond comes to lie at the beginning again) or ``ends`` (nothing beyond is kept).
    capacity_bytes : it is at most so large.
    """

    how: Literal["wraps", "ends"]
    capacity_bytes: int


def wrong_sectors(check: DataCheck) -> Coded | None:
    """What a drive did not return as it was written; None where all is right.

    Worked: 8 of 2,048 sectors are wrong, the first at LBA 100, which holds zeros -> ``"LBA 100 returned zeros (8 of
    2,048 sectors wrong)"``.
    """
    if not check.wrong_count:
        return None
    fake = fake_capacity(check)
    first = check.ranges[0]
    return coded(
        "wrong-sectors",
        lba=first_lba(check, first),
        found=coded(f"returned-{first.kind}"),
        wrong=check.wrong_count,
        checked=check.checked_count,
        where=check.after or None,
        fake=fake and coded(f"capacity-{fake.how}", capacity_bytes=fake.capacity_bytes),
    )


def first_lba(check: DataCheck, wrong: WrongRange) -> int:
    """The logical block in which a range begins. Worked: sector 80 and blocks of 4,096 bytes -> 10."""
    return wrong.sector * SECTOR_BYTES // check.block_bytes


def sectors_held(checks: Iterable[DataCheck]) -> Iterator[Finding]:
    """Of each read-back, whether every sector is as it was written."""
    for check in checks:
        reason = wrong_sectors(check)
        held = coded("sectors-held", checked=check.checked_count, where=check.after or None)
        yield Finding(level="invalid" if reason else "pass", reason=reason or held, measured=check.wrong_count, limit=0)


def fake_capacity(check: DataCheck) -> FakeCapacity | None:
    """How large the drive is at most, where the wrong sectors are those of a smaller drive; None where they are not.

    Worked: of 100 sectors, 0 to 59 hold the data of the sectors 40 further -> it wraps at 40 sectors; 70 to 99 hold
    zeros and all others are right -> it ends at 70.
    """
    ranges = check.ranges
    if not ranges:
        return None
    last = ranges[-1].sector + ranges[-1].count
    # Beyond the last listed range nobody knows which sectors are wrong.
    known = _spans(check, last if check.unlisted_count else None)
    distances = [wrong.distance for wrong in ranges if wrong.kind == "misdirected"]
    if distances and min(distances) > 0:
        period = gcd(*distances)
        twice = list(_overlap(known, [(first - period, end - period) for first, end in known]))
        misdirected = [(part.sector, part.sector + part.count) for part in ranges if part.kind == "misdirected"]
        if twice and _covers(misdirected, twice):
            return FakeCapacity(how="wraps", capacity_bytes=period * SECTOR_BYTES)
    first = ranges[0].sector
    beyond = list(_overlap(known, [(first, known[-1][1])]))
    wrong = [(part.sector, part.sector + part.count) for part in ranges]
    if first > known[0][0] and not check.unlisted_count and _covers(wrong, beyond):
        return FakeCapacity(how="ends", capacity_bytes=first * SECTOR_BYTES)
    return None


def _spans(check: DataCheck, end: int | None) -> list[Span]:
    spans = [(first // SECTOR_BYTES, (first + length) // SECTOR_BYTES) for first, length in check.parts]
    return spans if end is None else [(first, min(last, end)) for first, last in spans if first < end]


def _overlap(left: Sequence[Span], right: Sequence[Span]) -> Iterator[Span]:
    """What lies in both, each in rising order."""
    at, across = 0, 0
    while at < len(left) and across < len(right):
        first, end = max(left[at][0], right[across][0]), min(left[at][1], right[across][1])
        if first < end:
            yield first, end
        if left[at][1] < right[across][1]:
            at += 1
        else:
            across += 1


def _covers(cover: Sequence[Span], spans: Sequence[Span]) -> bool:
    """Whether all of the spans lies in the cover."""
    length = sum(end - first for first, end in spans)
    return sum(end - first for first, end in _overlap(cover, spans)) == length


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
