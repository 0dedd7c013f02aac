"""The rule of what was read back: records that agree with themselves, and with how their test ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.archive.verify.rule import Broken
from assay.engine.records.watched import SECTOR_BYTES
from assay.errors import WrongDataError
from assay.results.data_check import NAMED_MAX, wrong_data
from assay.words.outcomes import is_cut_short

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.archive.verify.evidence import Evidence
    from assay.engine.records import DataCheck, DriveIdentity, ReadBack, StoredTest


def read_backs(evidence: Evidence) -> Iterator[Broken]:
    """A check of the written data agrees with itself, is where it is due, and withholds the results where it fails."""
    tests, drive = evidence.run.tests, evidence.run.identity
    checked = any(test.read_backs for test in tests)
    for number, test in enumerate(tests, 1):
        where = f"test {number}: {test.settings.test}"
        for record in test.read_backs:
            if fault := _contradiction(record, drive):
                yield Broken(place=f"{where}: read_back", found=fault, expected="counts and places that agree")
        for check in test.data_checks:
            if fault := sectors_fault(check, drive):
                yield Broken(place=f"{where}: data_checked", found=fault, expected="counts and places that agree")
        after = tuple(record.after for record in test.read_backs)
        if checked and not is_cut_short(test.ended) and after != (due := _due(test)):
            yield Broken(place=where, found=f"read back after {after}", expected=f"{due}")
        if (fault := _ending(test)) is not None:
            yield Broken(place=where, found=fault, expected="wrong data end the test, and nothing else ends it so")


def _contradiction(record: ReadBack, drive: DriveIdentity) -> str | None:
    named, wrong, checked = len(record.wrong), record.wrong_count, record.checked_count
    if named != min(wrong, NAMED_MAX) or not wrong <= checked <= record.known_count:
        return f"{wrong} wrong ({named} named) of {checked} of {record.known_count} blocks"
    block_count = drive.capacity_bytes // drive.logical_block_bytes
    if any(not 0 <= block.lba < block_count for block in record.wrong):
        return "a block beyond the drive"
    return None


def sectors_fault(check: DataCheck, drive: DriveIdentity) -> str | None:
    """What of a whole read-back contradicts itself or the drive; None where nothing does."""
    sums = (
        ("checked", check.checked_count, sum(length for _, length in check.parts) // SECTOR_BYTES),
        ("wrong", check.wrong_count, sum(wrong.count for wrong in check.ranges) + check.unlisted_count),
    )
    for name, stated, summed in sums:
        if stated != summed:
            return f"{stated} {name} sectors for {summed}"
    ends = [0, *(end for wrong in check.ranges for end in (wrong.sector, wrong.sector + wrong.count))]
    if ends != sorted(ends) or ends[-1] > drive.capacity_bytes // SECTOR_BYTES:
        return "ranges that overlap or lie beyond the drive"
    return None


def _due(test: StoredTest) -> tuple[str, ...]:
    """After each sequence that prepares, and at the end of the test."""
    return (*(sequence.name for sequence in test.sequences if sequence.role == "prepare"), "")


def _ending(test: StoredTest) -> str | None:
    wrong = [record for record in test.read_backs if wrong_data(record)]
    sectors = [check for check in test.data_checks if check.wrong_count]
    if sectors and not is_cut_short(test.ended):
        return f"wrong sectors after {sectors[0].after!r}, and the test ended by {test.ended}"
    if wrong and (wrong != [test.read_backs[-1]] or test.ended != WrongDataError.slug):
        return f"wrong data after {wrong[0].after or 'the test'!r}, and the test ended by {test.ended}"
    # Marks that did not last until the purge leave no purge.
    if test.ended == WrongDataError.slug and not wrong and not sectors and test.purge is not None:
        return f"ended by {test.ended} without wrong data"
    return None
