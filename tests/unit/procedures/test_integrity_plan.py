"""The study of data integrity as planned: what it covers, what it leaves out, and where it cannot run."""

import itertools
import random

import pytest
from assay.engine.records import DataCheck, DriveIdentity, WrongRange
from assay.errors import TooSmallError
from assay.procedures.editions import load_edition
from assay.procedures.integrity.plan import PIECE_BYTES, head_bytes, piece_starts
from assay.procedures.integrity.result import wrong_by_position
from assay.procedures.integrity.run import IntegritySettings, written_parts
from assay.run.plan_file import load_plan
from assay.run.planning import PlannedRun, plan_suite

TB = 1_000_204_886_016


def identity(capacity_bytes: int, kind: str = "file", block: int = 512) -> DriveIdentity:
    return DriveIdentity(
        id="x",
        path="x",
        kind=kind,  # type: ignore[arg-type]
        capacity_bytes=capacity_bytes,
        logical_block_bytes=block,
        write_cache="unknown",
    )


def planned(study: str, drive: DriveIdentity) -> PlannedRun:
    made = load_plan(None, {"drive": "sim:ideal", "studies": [study]})
    return plan_suite(load_edition("pts-c-1.0"), made, drive)


def test_both_passes_write_the_whole_drive_without_a_purge() -> None:
    (test,) = planned("integrity", identity(TB)).tests
    settings = test.settings
    assert isinstance(settings, IntegritySettings)
    assert (settings.share, settings.purges, settings.flushed, test.purge_count) == (1.0, False, (False, True), 0)
    assert [written_parts(variant) for variant in settings.variants] == [((0, TB),)] * 2
    assert test.written_bytes == 2 * TB
    assert settings.data.kind == "addressed"


def test_the_quick_variant_writes_a_stated_share_with_both_ends() -> None:
    (test,) = planned("integrity-quick", identity(TB)).tests
    settings = test.settings
    assert isinstance(settings, IntegritySettings)
    parts = written_parts(settings.variants[0])
    assert parts[0] == (0, 256 << 20)
    assert sum(parts[-1]) == TB
    assert len(parts) - 1 == len(piece_starts(identity(TB), 256 << 20))
    assert settings.share == pytest.approx(sum(length for _, length in parts) / TB)
    assert settings.share < 0.002
    starts = {start for start, _ in parts}
    assert {1 << exponent for exponent in range(29, 40)} <= starts


@pytest.mark.parametrize("capacity", [200 << 20, 8_000_000_000, TB, 16_000_900_661_248])
@pytest.mark.parametrize("block", [512, 4096])
def test_a_piece_of_every_smaller_capacity_comes_to_lie_in_the_head(capacity: int, block: int) -> None:
    capacity = capacity // block * block
    head = head_bytes(capacity)
    starts = piece_starts(identity(capacity, block=block), head)
    assert list(starts) == sorted(starts)
    assert all(after - before >= PIECE_BYTES for before, after in itertools.pairwise(starts))
    assert starts[0] >= head
    assert starts[-1] + PIECE_BYTES == capacity // block * block
    draw = random.Random(capacity)  # noqa: S311 - no secret
    for _ in range(200):
        true = draw.randrange(head, capacity - PIECE_BYTES) // block * block
        # At least a block of one piece lies between the true capacity and as much more as the head has.
        assert any(max(start, true) < min(start + PIECE_BYTES, true + head) for start in starts), true


def test_a_drive_that_is_hardly_larger_than_the_head_is_written_whole() -> None:
    (test,) = planned("integrity-quick", identity(64 << 20)).tests
    assert isinstance(test.settings, IntegritySettings)
    assert test.settings.share == 1.0


@pytest.mark.parametrize("study", ["integrity", "integrity-quick"])
def test_a_simulated_drive_holds_no_data(study: str) -> None:
    with pytest.raises(TooSmallError, match=f"study-{study}: a simulated drive holds no data"):
        planned(study, identity(TB, kind="simulated"))


def test_the_map_shows_the_share_of_each_part_that_is_wrong() -> None:
    check = DataCheck(
        after="first pass",
        block_bytes=512,
        flushed=False,
        parts=((0, 128 * 512),),
        checked_count=128,
        span_ns=1,
        counts={"zeros": 32},
        ranges=(WrongRange(sector=96, count=32, kind="zeros"),),
    )
    shares = [share for _, share in wrong_by_position(check, 128 * 512)]
    assert shares == [0.0] * 96 + [100.0] * 32
