"""SCSI SANITIZE and FORMAT UNIT against a recorded drive; no emulated one knows either."""

import struct

import pytest
from assay.dut.real.purge.offer import Offer
from assay.dut.real.purge.scsi import scsi_offers
from assay.dut.real.transport import ScsiCommand, ScsiReply
from assay.errors import DeviceFailureError, DriveBusyError
from recorded_drive import PATH, REQUEST_SENSE, Recorded, Reply, Sent, Watched, scsi_sense

OK, CHECK_CONDITION = ScsiReply(), 2
NOT_READY, MEDIUM_ERROR, UNIT_ATTENTION = 2, 3, 6
SANITIZING, FORMATTING = 0x041B, 0x0404
QUESTIONS = ["a30c02480002", "a30c02480003", "a30c02480001", "a30c01040000"]
CAPACITY = ScsiCommand(cdb=bytes.fromhex("9e10") + bytes(8) + bytes.fromhex("000000200000"), data_bytes=32)


def asked(*supported: int) -> list[tuple[Sent, Reply]]:
    """REPORT SUPPORTED OPERATION CODES for the four commands; ``supported`` are places in that order."""
    commands = [ScsiCommand(cdb=bytes.fromhex(text + "000000200000"), data_bytes=32) for text in QUESTIONS]
    replies = [ScsiReply(data=bytes([0, 3 if place in supported else 1]).ljust(32, b"\0")) for place in range(4)]
    return [*zip(commands, replies, strict=True), *([sense()] if supported else [])]


def sense(key: int = 0, code: int = 0, progress: int | None = None) -> tuple[Sent, Reply]:
    return (REQUEST_SENSE, ScsiReply(data=scsi_sense(key, code, progress)))


def capacity(block_bytes: int = 512, protection: int = 0) -> tuple[Sent, Reply]:
    return (CAPACITY, ScsiReply(data=struct.pack(">QIB", 999, block_bytes, protection).ljust(32, b"\0")))


def offer(drive: Recorded, method: str) -> Offer:
    return next(offer for offer in scsi_offers(PATH, drive) if offer.method == method)


@pytest.mark.parametrize(
    ("method", "place", "cdb", "length"),
    [
        ("sanitize-block", 0, "48820000000000000000", 0),
        ("sanitize-crypto", 1, "48830000000000000000", 0),
        ("sanitize-overwrite", 2, "48810000000000020400", 516),
    ],
)
def test_a_sanitize_is_followed_by_request_sense_to_the_end(method: str, place: int, cdb: str, length: int) -> None:
    form = (bytes.fromhex("01000200") + bytes(512))[:length]
    drive = Recorded(
        *asked(place),
        *([capacity()] if length else []),
        (ScsiCommand(cdb=bytes.fromhex(cdb), data=form), OK),
        sense(NOT_READY, SANITIZING, 0x4000),
        sense(UNIT_ATTENTION, 0x2900),
        sense(NOT_READY, SANITIZING, 0xC000),
        sense(),
    )
    found, watched = offer(drive, method), Watched()
    assert "to its end" in found.run(watched.watch())
    assert watched.seen == [0.25, 0.25, 0.75]
    assert (found.rehearsed, found.deviation is None) == (False, method != "sanitize-overwrite")
    drive.assert_played()


@pytest.mark.parametrize(("protection", "cdb", "form"), [(0, "0410", "0002"), (1, "0490", "0002"), (5, "04d0", "0102")])
def test_a_format_keeps_geometry_and_protection(protection: int, cdb: str, form: str) -> None:
    drive = Recorded(
        *asked(3),
        capacity(protection=protection),
        (ScsiCommand(cdb=bytes.fromhex(cdb) + bytes(4), data=bytes.fromhex(form) + bytes(2)), OK),
        sense(NOT_READY, FORMATTING, 0x8000),
        sense(),
        capacity(protection=protection),
    )
    watched = Watched()
    assert "1000 blocks of 512 bytes" in offer(drive, "format").run(watched.watch())
    assert watched.seen == [0.5]
    drive.assert_played()


def test_a_format_that_changes_the_block_size_is_a_failure() -> None:
    command = (ScsiCommand(cdb=bytes.fromhex("041000000000"), data=bytes.fromhex("00020000")), OK)
    drive = Recorded(*asked(3), capacity(), command, sense(), capacity(4096))
    with pytest.raises(DeviceFailureError, match="another geometry"):
        offer(drive, "format").run(Watched().watch())


def test_a_sanitize_that_ends_in_an_error_is_a_failure() -> None:
    drive = Recorded(
        *asked(0),
        (ScsiCommand(cdb=bytes.fromhex("48820000000000000000")), OK),
        sense(NOT_READY, SANITIZING, 0x4000),
        sense(MEDIUM_ERROR, 0x3103),
    )
    with pytest.raises(DeviceFailureError, match=r"the sanitize failed \(sense key 3h, code 3103h\)"):
        offer(drive, "sanitize-block").run(Watched().watch())


@pytest.mark.parametrize(
    "reply",
    [ScsiReply(status=CHECK_CONDITION, sense=scsi_sense(5, 0x2000)), ScsiReply(transport_status=3)],
)
def test_a_refused_command_is_a_failure(reply: ScsiReply) -> None:
    drive = Recorded(*asked(0), (ScsiCommand(cdb=bytes.fromhex("48820000000000000000")), reply))
    with pytest.raises(DeviceFailureError, match="refused the sanitize"):
        offer(drive, "sanitize-block").run(Watched().watch())


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        (sense(NOT_READY, SANITIZING, 0x4000), r"itself already \(25.0% done\)"),
        (sense(NOT_READY, FORMATTING, 0x4000), r"itself already \(25.0% done\)"),
        (sense(MEDIUM_ERROR, 0x3103), "its last sanitize or format failed"),
    ],
)
def test_a_drive_whose_sanitize_stands_or_failed_is_refused_with_the_way_out(
    state: tuple[Sent, Reply], reason: str
) -> None:
    obstacle = offer(Recorded(*asked(0)[:-1], state), "sanitize-block").obstacle
    with pytest.raises(DriveBusyError, match=reason + r".*sg_sanitize --fail.*vendor's tool"):
        raise obstacle or AssertionError


def test_what_a_drive_does_not_report_is_not_offered() -> None:
    assert scsi_offers(PATH, Recorded(*asked())) == []
    silent = [(command, ScsiReply(status=CHECK_CONDITION, data=bytes(32))) for command, _ in asked()]
    assert scsi_offers(PATH, Recorded(*silent)) == []
