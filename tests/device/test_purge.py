"""Purge on a loop device: discard is proved by markers, and what is less than a purge says so."""

from __future__ import annotations

import mmap
import os
import threading
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import pytest
from assay.dut.real.gate import OpenDrive, open_drive
from assay.dut.real.identity import identify
from assay.dut.real.purge import Offer, PurgeWatch, choose_purge, discard, marks, purge_drive
from assay.dut.real.purge.offer import watch_command
from assay.errors import DeviceFailureError, IdentityError, UsageError
from conftest import HANG_S, allocate

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from assay.dut.real.purge.offer import Shown
    from assay.dut.real.transport import CommandSet, NvmeCommand, NvmeReply, ScsiCommand, ScsiReply
    from assay.engine.records import PurgeMethod, PurgeRecord
    from conftest import LoopDrive

MIB = 1 << 20
SIZE_BYTES = 16 * MIB
OVERWRITE_SPAN_NS = 12345


def opened(path: str, *, file_target: bool = False) -> OpenDrive:
    drive = identify(path, file_target=file_target)
    return open_drive(drive, confirmation=drive.id, acknowledged_signatures=frozenset(), needed_bytes=0)


def fill(drive: OpenDrive, size_bytes: int) -> int:
    with mmap.mmap(-1, size_bytes) as buffer:
        buffer[:] = b"\xa5" * size_bytes
        assert os.pwritev(drive.fd, [buffer], 0) == size_bytes
    return OVERWRITE_SPAN_NS


def purged(
    drive: OpenDrive, overwrite: Callable[[Shown], int], *, wanted: PurgeMethod | Literal["auto"] = "auto"
) -> PurgeRecord:
    return purge_drive(drive, choose_purge(drive, overwrite, wanted=wanted))


def never(_show: object) -> int:
    pytest.fail("overwritten although the discard worked")


@pytest.mark.parametrize("size_bytes", [4096, 12288, MIB, SIZE_BYTES, SIZE_BYTES + 512])
def test_discards_the_whole_drive_and_proves_it(loop_drive: LoopDrive, tmp_path: Path, size_bytes: int) -> None:
    node = loop_drive(size_bytes)
    with opened(node) as drive:
        fill(drive, size_bytes)
        record = purged(drive, never)
    blocks = min(64, size_bytes // 4096)
    assert record.method == "discard"
    assert record.deviation == "purge by discard, not by a sanitize or format command"
    assert record.proof.startswith(f"{blocks} marked blocks were read before and after the discard: {blocks} as zeros")
    assert record.span_ns > 0
    assert not any((tmp_path / "loop0.img").read_bytes())


def test_a_discard_without_effect_is_found_out_and_the_drive_overwritten(
    loop_drive: LoopDrive, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(loop_drive(SIZE_BYTES)) as drive:
        monkeypatch.setattr("fcntl.ioctl", keep_discard_away(monkeypatch))
        record = purged(drive, lambda _: fill(drive, SIZE_BYTES))
    assert record.method == "overwrite"
    assert record.span_ns > 0
    assert record.deviation == "no purge available: the drive was overwritten once"
    assert "none as written" in record.proof


def test_a_discard_that_was_asked_for_by_name_is_not_replaced_by_an_overwrite(
    loop_drive: LoopDrive, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(loop_drive(SIZE_BYTES)) as drive:
        monkeypatch.setattr("fcntl.ioctl", keep_discard_away(monkeypatch))
        with pytest.raises(DeviceFailureError, match="64 of 64 marked blocks outlived the discard"):
            purged(drive, never, wanted="discard")


def test_a_command_that_a_loop_device_does_not_know_is_refused_with_what_it_offers(loop_drive: LoopDrive) -> None:
    refusal = pytest.raises(UsageError, match=r"--purge format: is not offered by .*; it offers discard, overwrite")
    with opened(loop_drive(SIZE_BYTES)) as drive, refusal:
        choose_purge(drive, never, wanted="format")


def keep_discard_away(monkeypatch: pytest.MonkeyPatch) -> Callable[..., bytes]:
    real = discard.fcntl.ioctl
    monkeypatch.setattr(discard, "_BLKDISCARD", 0)
    return lambda fd, request, argument: argument if request == 0 else real(fd, request, argument)


def test_a_refused_discard_ends_in_an_overwrite(loop_drive: LoopDrive, monkeypatch: pytest.MonkeyPatch) -> None:
    # No driver knows request 0; the kernel answers ENOTTY.
    monkeypatch.setattr(discard, "_BLKDISCARD", 0)
    with opened(loop_drive(SIZE_BYTES)) as drive:
        assert purged(drive, lambda _: fill(drive, SIZE_BYTES)).method == "overwrite"


@pytest.mark.parametrize("covered_bytes", [4096, SIZE_BYTES - 4096])
def test_an_overwrite_that_misses_a_part_is_a_failed_purge(loop_drive: LoopDrive, covered_bytes: int) -> None:
    with opened(loop_drive(SIZE_BYTES)) as drive, pytest.raises(DeviceFailureError, match="outlived the overwrite"):
        purged(drive, lambda _: fill(drive, covered_bytes), wanted="overwrite")


def test_a_file_is_overwritten_and_keeps_its_blocks(tmp_path: Path) -> None:
    image = allocate(tmp_path / "target.img", MIB)
    with opened(str(image), file_target=True) as drive:
        record = purged(drive, lambda _: fill(drive, MIB))
    assert record.method == "overwrite"
    assert image.stat().st_blocks * 512 >= MIB
    assert image.read_bytes() == b"\xa5" * MIB


def test_nothing_is_written_to_a_drive_that_is_no_longer_the_same(tmp_path: Path) -> None:
    image = allocate(tmp_path / "target.img", MIB)
    with opened(str(image), file_target=True) as drive:
        image.rename(tmp_path / "moved.img")
        allocate(image, MIB)
        with pytest.raises(IdentityError, match="replaced"):
            purged(drive, lambda _: fill(drive, MIB))
    assert not any((tmp_path / "moved.img").read_bytes())


@pytest.mark.parametrize("capacity_bytes", [4096, 4608, 64 * 4096, 10**9, 2**40 + 512])
def test_samples_reach_from_the_first_to_the_very_last_block(capacity_bytes: int) -> None:
    places = marks.places(capacity_bytes)
    assert places == sorted(set(places))
    assert places[-1] + 4096 == capacity_bytes
    assert len(places) == 1 or places[0] == 0
    assert all(place % 512 == 0 for place in places)
    assert all(one + 4096 <= two for one, two in pairwise(places))


def an_offer(run: Callable[[PurgeWatch], str], **facts: Any) -> Offer:
    return Offer(method="sanitize-block", label="NVMe Sanitize (block erase)", run=run, rehearsed=False, **facts)


def test_a_command_that_says_it_is_done_and_did_nothing_is_a_failed_purge(tmp_path: Path) -> None:
    image = allocate(tmp_path / "target.img", MIB)
    with opened(str(image), file_target=True) as drive, pytest.raises(DeviceFailureError) as failed:
        purge_drive(drive, (an_offer(lambda _: "the log says that it succeeded"),))
    assert "64 of 64 marked blocks outlived the NVMe Sanitize (block erase)" in str(failed.value)


def test_a_command_that_ran_on_recorded_replies_only_says_so_in_its_proof(tmp_path: Path) -> None:
    image = allocate(tmp_path / "target.img", MIB)
    with opened(str(image), file_target=True) as drive:
        record = purge_drive(drive, (an_offer(lambda _: str(fill(drive, MIB))),))
    assert record.deviation is None
    assert record.proof.endswith("this command was rehearsed on recorded replies only, not run on hardware")


def test_a_capacity_that_changed_under_the_purge_is_a_failure_and_nothing_else_is_tried(tmp_path: Path) -> None:
    image = allocate(tmp_path / "target.img", MIB)

    def shrink(_: PurgeWatch) -> str:
        os.truncate(image, MIB // 2)
        return ""

    with opened(str(image), file_target=True) as drive:
        offers = (an_offer(shrink), *choose_purge(drive, never))
        with pytest.raises(DeviceFailureError, match=f"after the purge: its size changed to {MIB // 2} bytes"):
            purge_drive(drive, offers)


def test_an_interruption_is_raised_when_the_drive_is_done_with_its_command() -> None:
    begun, done = threading.Event(), threading.Event()

    def erase() -> None:
        begun.set()
        assert done.wait(HANG_S)

    def show(_: float | None, __: int) -> None:
        if begun.wait(HANG_S) and not done.is_set():
            done.set()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        watch_command(erase, PurgeWatch(show=show))
    assert done.is_set()


def test_an_error_of_a_command_is_raised_where_it_is_waited_for() -> None:
    def fail() -> None:
        raise OSError(5, "I/O error")

    with pytest.raises(OSError, match="I/O error"):
        watch_command(fail, PurgeWatch())


def test_of_its_own_accord_a_sata_or_scsi_drive_is_asked_nothing_and_by_name_everything(loop_drive: LoopDrive) -> None:
    class Mute:
        """A drive whose every command ends the test."""

        def namespace(self) -> int:
            """Never asked."""
            raise AssertionError

        def nvme_admin(self, command: NvmeCommand) -> NvmeReply:
            """Never sent."""
            raise AssertionError(command)

        def scsi(self, command: ScsiCommand) -> ScsiReply:
            """Never sent by itself."""
            raise AssertionError(command)

    with opened(loop_drive(SIZE_BYTES)) as drive:
        kinds: tuple[CommandSet, ...] = ("ata", "scsi")
        for commands in kinds:
            offers = choose_purge(drive, never, transport=Mute(), commands=commands)
            assert [offer.method for offer in offers] == ["discard", "overwrite"]
            with pytest.raises(AssertionError):
                choose_purge(drive, never, wanted="sanitize-block", transport=Mute(), commands=commands)
