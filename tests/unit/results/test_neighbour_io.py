"""I/O of other devices on controller and uplink is a finding with its size; it never withholds a result."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from assay.engine.records import DriveRecord, DriveState, NeighbourRecord, NeighboursRecord
from assay.results.outcome import withheld_reason
from assay.results.run_checks import run_checks
from assay.results.step import completed_count, issued_bytes
from assay.spec.units import SECOND_NS
from report_run import synthetic_test

if TYPE_CHECKING:
    from assay.engine.records import StoredTest
    from assay.results.finding import Checked

ROUND = 3


def issued(test: StoredTest) -> tuple[int, int]:
    """Bytes and I/Os of the round that has neighbours."""
    (sequence,) = (one for one in test.sequences if (one.stage, one.index) == ("round", ROUND))
    moved = sum(issued_bytes(side) for step in sequence.steps for side in (step.read, step.write))
    return moved, sum(map(completed_count, sequence.steps))


def neighbour(**changes: Any) -> NeighbourRecord:
    facts = {"name": "nvme0n2", "shared": "subsystem", "by": "nvme0", "read_count": 1, "read_bytes": 0}
    return NeighbourRecord(**{**facts, "write_count": 0, "write_bytes": 0, **changes})  # type: ignore[arg-type]


def beside(*moved: NeighbourRecord, uncounted: tuple[str, ...] = (), watched: bool = True) -> StoredTest:
    """The synthetic test; its third round has these neighbours, every other none with I/O."""
    test, sequences = synthetic_test(), []
    for sequence in test.sequences:
        here = (sequence.stage, sequence.index) == ("round", ROUND)
        near = NeighboursRecord(
            span_ns=10 * SECOND_NS,
            watched_count=2,
            moved=moved if here else (),
            uncounted=uncounted if here else (),
        )
        state = DriveState(controller="live")
        record = DriveRecord(before=state, after=state, log="read", neighbours=near if watched else None)
        sequences.append(replace(sequence, drive=record))
    return replace(test, sequences=tuple(sequences))


def checked(test: StoredTest) -> Checked:
    (found,) = (one for one in run_checks(test) if one.name == "neighbours")
    assert found.check.number == "C27"
    return found


def test_neighbours_without_io_pass() -> None:
    found = checked(beside())
    assert (found.level, found.finding.words) == ("pass", "no I/O on 2 other devices")


@pytest.mark.parametrize("test", [synthetic_test(), beside(watched=False)], ids=["no record", "no neighbours in it"])
def test_a_run_of_before_is_unknown_and_not_a_pass(test: StoredTest) -> None:
    found = checked(test)
    assert (found.level, found.finding.words) == ("unknown", "nobody watched")


@pytest.mark.parametrize(("share", "expected"), [(0.005, "pass"), (0.03, "warn"), (3.0, "warn")])
def test_another_namespace_is_held_against_the_bytes_of_the_test(share: float, expected: str) -> None:
    moved, _ = issued(beside())
    test = beside(neighbour(read_bytes=round(moved * share)))
    found = checked(test)
    assert found.level == expected
    assert found.finding.measured == pytest.approx(share, rel=1e-3)
    assert found.marked == (expected == "warn")
    assert withheld_reason(test) is None


def test_its_size_rate_place_and_share_are_in_the_words() -> None:
    moved, _ = issued(beside())
    found = checked(beside(neighbour(read_bytes=moved * 3 // 100)))
    size, rate = moved * 0.03 / 1e6, moved * 0.003 / 1e6
    assert found.finding.words == (
        f"nvme0n2 {size:,.1f} MB at {rate:,.1f} MB/s on NVMe subsystem nvme0: 3 % of the bytes issued"
    )
    assert str(found.finding.where) == "round 3"


@pytest.mark.parametrize(("shared", "level"), [("subsystem", "warn"), ("disk", "warn"), ("controller", "pass")])
def test_many_small_ios_count_on_one_medium_and_not_on_a_controller(shared: str, level: str) -> None:
    _, count = issued(beside())
    found = checked(beside(neighbour(shared=shared, by="x", write_count=count // 10)))
    assert found.level == level


@pytest.mark.parametrize(("moved", "expected"), [(0.9, "pass"), (1.1, "warn")])
def test_an_uplink_that_is_known_is_what_counts(moved: float, expected: str) -> None:
    # PCIe 3.0 x4 carries 3.938 GB/s, in ten seconds 39.38 GB.
    link = {"shared": "uplink", "by": "0000:01:00.0", "link": "PCIe 8.0 GT/s x4"}
    half = round(39.38e9 / 100 * moved / 2)
    found = checked(beside(*(neighbour(name=f"nvme{at}n1", read_bytes=half, **link) for at in (1, 2))))
    assert (found.level, found.finding.measured) == (expected, pytest.approx(moved / 100, rel=1e-3))
    assert found.finding.words.endswith(f"MB/s on uplink 0000:01:00.0: {moved:.1f} % of PCIe 8.0 GT/s x4")


def test_the_busiest_of_many_are_named() -> None:
    moved, _ = issued(beside())
    rows = [neighbour(name=f"sd{letter}", read_bytes=moved * (at + 1)) for at, letter in enumerate("bcdef")]
    words = checked(beside(*rows)).finding.words
    assert [name for name in ("sdf", "sde", "sdd", "sdc", "sdb") if name in words] == ["sdf", "sde", "sdd"]
    assert "and 2 other devices on NVMe" in words


def test_a_neighbour_that_the_kernel_does_not_count_is_unknown_unless_another_warns() -> None:
    found = checked(beside(uncounted=("nvme0n3",)))
    assert (found.level, found.finding.words) == ("unknown", "the kernel counts no I/O of nvme0n3")
    assert "iostats" in found.remedy
    assert checked(beside(neighbour(read_bytes=1 << 50), uncounted=("nvme0n3",))).level == "warn"


def test_a_sequence_that_issued_nothing_has_its_size_and_no_share() -> None:
    test = beside(neighbour(read_bytes=1 << 20))
    test = replace(test, sequences=tuple(replace(one, steps=()) for one in test.sequences if one.index == ROUND))
    found = checked(test)
    assert (found.level, found.finding.measured) == ("pass", None)
    assert found.finding.words == "nvme0n2 1.0 MB at 0.1 MB/s on NVMe subsystem nvme0; the test issued none"
