"""What a whole read-back says: the first wrong LBA in words, and how large a drive is that states more."""

import pytest
from assay.engine.records import DataCheck, WrongKind, WrongRange
from assay.results.data_check import FakeCapacity, fake_capacity, sectors_held, wrong_sectors
from assay.words.text import text


def check(*ranges: tuple[int, int, WrongKind, int], parts: tuple[tuple[int, int], ...] = ((0, 100),)) -> DataCheck:
    """A read-back of parts of (first sector, count)."""
    counts: dict[WrongKind, int] = {}
    for _, count, kind, _ in ranges:
        counts[kind] = counts.get(kind, 0) + count
    return DataCheck(
        after="first pass",
        block_bytes=4096,
        flushed=False,
        parts=tuple((first * 512, count * 512) for first, count in parts),
        checked_count=sum(count for _, count in parts),
        span_ns=1,
        counts=counts,
        ranges=tuple(WrongRange(sector=at, count=count, kind=kind, distance=far) for at, count, kind, far in ranges),
    )


def test_the_first_wrong_lba_is_in_logical_blocks() -> None:
    reason = wrong_sectors(check((80, 8, "zeros", 0), (90, 1, "corrupt", 0)))
    assert reason is not None
    assert text(reason) == "LBA 10 returned zeros (9 of 100 sectors wrong after first pass)"
    assert wrong_sectors(check()) is None


def test_wrong_sectors_withhold_and_right_ones_pass() -> None:
    levels = [(one.level, one.measured) for one in sectors_held([check(), check((1, 2, "stale", 0))])]
    assert levels == [("pass", 0), ("invalid", 2)]


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (check((0, 60, "misdirected", 40)), FakeCapacity(how="wraps", capacity_bytes=40 * 512)),
        # A third of the capacity: what lies first was overwritten twice.
        (
            check((0, 30, "misdirected", 60), (30, 30, "misdirected", 30), (60, 10, "misdirected", 30)),
            FakeCapacity(how="wraps", capacity_bytes=30 * 512),
        ),
        # Pieces of 2 in stretches of 10: the one at 72 came to lie in the head.
        (
            check((12, 2, "misdirected", 60), parts=((0, 20), (28, 2), (38, 2), (72, 2), (98, 2))),
            None,
        ),
        (
            check((12, 2, "misdirected", 60), parts=((0, 20), (28, 2), (38, 2), (72, 2))),
            FakeCapacity(how="wraps", capacity_bytes=60 * 512),
        ),
        (check((70, 20, "zeros", 0), (90, 10, "corrupt", 0)), FakeCapacity(how="ends", capacity_bytes=70 * 512)),
        # One write that went astray, to either side, and sectors that are wrong here and there.
        (check((0, 8, "misdirected", 40)), None),
        (check((60, 8, "misdirected", -40)), None),
        (check((10, 10, "zeros", 0)), None),
        (check((0, 100, "zeros", 0)), None),
        (check(), None),
    ],
)
def test_a_drive_is_smaller_only_where_all_of_it_says_so(found: DataCheck, expected: FakeCapacity | None) -> None:
    assert fake_capacity(found) == expected
