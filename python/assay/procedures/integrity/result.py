"""What the read-backs of the study of data integrity found, from what is stored alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from assay.engine.records.watched import SECTOR_BYTES
from assay.results.data_check import fake_capacity, first_lba
from assay.spec.units import GB

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from assay.engine.records import DataCheck, WrongKind, WrongRange

BINS = 128
"""Equal parts of the drive of which the map shows how much is wrong."""


class KindCount(NamedTuple):
    """Wrong sectors of one kind in a read-back. first_lba, last_lba : None where none of its ranges is listed."""

    check: DataCheck
    kind: WrongKind
    sector_count: int
    first_lba: int | None
    last_lba: int | None


class Wrong(NamedTuple):
    """A range of wrong sectors in a read-back. written_lba : where the data were written to, if not there."""

    check: DataCheck
    range: WrongRange
    first_lba: int
    written_lba: int | None


def first_wrong_lba(check: DataCheck) -> int | None:
    """The first block that is wrong; None where none is."""
    return first_lba(check, check.ranges[0]) if check.ranges else None


def true_bytes(check: DataCheck) -> int | None:
    """The true capacity at most; None where it is as stated."""
    fake = fake_capacity(check)
    return fake.capacity_bytes if fake else None


def kind_counts(checks: Iterable[DataCheck]) -> Iterator[KindCount]:
    """Wrong sectors by kind. Worked: 8 sectors of zeros from LBA 100 on, of 2,048 -> a count of 8, LBA 100 to 107."""
    for check in checks:
        for kind, count in check.counts.items():
            ranges = [wrong for wrong in check.ranges if wrong.kind == kind]
            first = min((first_lba(check, wrong) for wrong in ranges), default=None)
            ends = ((wrong.sector + wrong.count - 1) * SECTOR_BYTES // check.block_bytes for wrong in ranges)
            yield KindCount(check, kind, count, first, max(ends, default=None))


def wrong_ranges(checks: Iterable[DataCheck]) -> Iterator[Wrong]:
    """Every range that is listed."""
    for check in checks:
        for wrong in check.ranges:
            written = (wrong.sector + wrong.distance) * SECTOR_BYTES // check.block_bytes
            yield Wrong(check, wrong, first_lba(check, wrong), written if wrong.kind == "misdirected" else None)


def wrong_by_position(check: DataCheck, capacity_bytes: int) -> Iterator[tuple[float, float]]:
    """(Middle in GB, wrong in per cent of the checked sectors) of each part of the drive in which any was checked.

    Worked: zeros in all of the last quarter of the drive -> 0 % in 96 parts and 100 % in 32.
    """
    width = max(-(-capacity_bytes // SECTOR_BYTES // BINS), 1)
    checked = _binned([(at // SECTOR_BYTES, length // SECTOR_BYTES) for at, length in check.parts], width)
    wrong = _binned([(part.sector, part.count) for part in check.ranges], width)
    for index, count in sorted(checked.items()):
        yield (index + 0.5) * width * SECTOR_BYTES / GB, 100 * wrong.get(index, 0) / count


def _binned(spans: Sequence[tuple[int, int]], width: int) -> dict[int, int]:
    """Sectors of the spans in each part."""
    result: dict[int, int] = {}
    for first, count in spans:
        end = first + count
        for index in range(first // width, -(-end // width)):
            inside = min(end, (index + 1) * width) - max(first, index * width)
            result[index] = result.get(index, 0) + inside
    return result
