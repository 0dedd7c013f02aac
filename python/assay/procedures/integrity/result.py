"""What each pass of the study of data integrity found, from the stored read-backs alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.engine.records.data_check import SECTOR_BYTES
from assay.procedures.studies.result import study_result
from assay.results.data_check import fake_capacity, first_lba
from assay.spec.units import GB

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.engine.records import DataCheck, StoredTest, WrongKind
    from assay.procedures.studies.result import StudyResult
    from assay.results.data_check import FakeCapacity

BINS = 128
"""Equal parts of the drive of which the map shows how much is wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KindCount:
    """Wrong sectors of one kind in a pass. first_lba, last_lba : None where none of its ranges is listed."""

    kind: WrongKind
    count: int
    first_lba: int | None
    last_lba: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PassResult:
    """One read-back. label : of its pass. first_lba : of its wrong sectors, None where none is wrong."""

    label: str
    check: DataCheck
    kinds: tuple[KindCount, ...]
    first_lba: int | None
    fake: FakeCapacity | None

    @property
    def true_bytes(self) -> int | None:
        """The true capacity at most, None where it is as stated."""
        return self.fake.capacity_bytes if self.fake else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Integrity:
    """The read-backs that ran, in order, and the rates of the passes."""

    study: StudyResult
    passes: tuple[PassResult, ...]

    @property
    def wrong_count(self) -> int:
        """Wrong sectors of all passes."""
        return sum(result.check.wrong_count for result in self.passes)

    @property
    def checked_count(self) -> int:
        """Sectors read and compared in all passes."""
        return sum(result.check.checked_count for result in self.passes)

    @property
    def first_lba(self) -> int | None:
        """The first wrong LBA of the first pass that has any."""
        return next((result.first_lba for result in self.passes if result.first_lba is not None), None)

    @property
    def true_gb(self) -> float | None:
        """The smallest true capacity that a pass shows; None where it is as stated."""
        known = [result.true_bytes for result in self.passes if result.true_bytes]
        return min(known) / GB if known else None


def integrity_result(test: StoredTest) -> Integrity:
    """Everything that the pages print, from what is stored.

    Worked: 8 sectors of zeros from LBA 100 on, of 2,048 -> a count of 8, LBA 100 to 107.
    """
    return Integrity(study=study_result(test), passes=tuple(map(_pass, test.data_checks)))


def _pass(check: DataCheck) -> PassResult:
    return PassResult(
        label=check.after,
        check=check,
        kinds=tuple(_kind(check, kind) for kind in check.counts),
        first_lba=first_lba(check, check.ranges[0]) if check.ranges else None,
        fake=fake_capacity(check),
    )


def _kind(check: DataCheck, kind: WrongKind) -> KindCount:
    ranges = [wrong for wrong in check.ranges if wrong.kind == kind]
    last = max(((wrong.sector + wrong.count - 1) * SECTOR_BYTES // check.block_bytes for wrong in ranges), default=None)
    first = min((first_lba(check, wrong) for wrong in ranges), default=None)
    return KindCount(kind=kind, count=check.counts[kind], first_lba=first, last_lba=last)


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
