"""ATA SECURITY ERASE UNIT and SANITIZE DEVICE against a recorded drive; no emulated one knows either."""

import pytest
from assay.dut.real.ata import Registers, command, erase_seconds, registers
from assay.dut.real.purge import purge_time
from assay.dut.real.purge.ata import ata_offers
from assay.dut.real.purge.offer import Offer, PurgeWatch
from assay.dut.real.transport import ScsiReply
from assay.engine.records import DriveIdentity
from assay.errors import DeviceFailureError, GateRefusedError, StoreError
from recorded_drive import ATA_IDENTIFY, PATH, Recorded, Reply, Sent, Watched, ata_identity, ata_registers

SUPPORTED, ENABLED, LOCKED, FROZEN, EXPIRED, ENHANCED = (1 << bit for bit in range(6))
FORM = b"assay" + bytes(505)
SET_PASSWORD = command(0xF1, data=b"\0\0" + FORM)
PREPARE = command(0xF3)
ERASE = command(0xF4, data=b"\0\0" + FORM)
ERASE_ENHANCED = command(0xF4, data=b"\2\0" + FORM)
DISABLE = command(0xF6, data=b"\0\0" + FORM)
DONE = ScsiReply()
# The status byte says that the drive aborted, and the ioctl would still succeed.
ABORTED = ata_registers(status=0x51)
FREE = ata_identity(security=SUPPORTED | ENHANCED)
WITH_PASSWORD = ata_identity(security=SUPPORTED | ENHANCED | ENABLED)

STATUS = command(0xB4, extended=True)
SANITIZES = 1 << 12 | 1 << 13 | 1 << 14 | 1 << 15


def offer(drive: Recorded, method: str) -> Offer:
    return next(offer for offer in ata_offers(PATH, drive) if offer.method == method)


def test_commands_lie_in_the_pass_through_as_the_standard_has_them() -> None:
    assert ATA_IDENTIFY.cdb.hex(" ") == "85 08 0e 00 00 00 01 00 00 00 00 00 00 00 ec 00"
    assert SET_PASSWORD.cdb.hex(" ") == "85 0a 06 00 00 00 01 00 00 00 00 00 00 00 f1 00"
    assert PREPARE.cdb.hex(" ") == "85 06 20 00 00 00 00 00 00 00 00 00 00 00 f3 00"
    scramble = command(0xB4, features=0x11, lba=0x43727970, extended=True)
    assert scramble.cdb.hex(" ") == "85 07 20 00 11 00 00 43 70 00 79 00 72 00 b4 00"


def test_registers_come_out_of_the_sense_data() -> None:
    sent = ata_registers(count=0xC001, lba=0x060504030201)
    assert registers(sent) == Registers(status=0x50, error=0, count=0xC001, lba=0x060504030201)
    assert registers(ScsiReply(sense=bytes.fromhex("70000500000000"))) is None


@pytest.mark.parametrize(("word", "expected"), [(0, None), (10, 1200), (255, 30600), (0x8032, 6000)])
def test_erase_times_count_pairs_of_minutes(word: int, expected: int | None) -> None:
    assert erase_seconds(word) == expected


@pytest.mark.parametrize(("method", "erase"), [("erase", ERASE), ("erase-enhanced", ERASE_ENHANCED)])
def test_a_security_erase_is_believed_when_the_password_is_gone(method: str, erase: Sent) -> None:
    drive = Recorded(
        (ATA_IDENTIFY, FREE),
        (ATA_IDENTIFY, FREE),
        (SET_PASSWORD, DONE),
        (ATA_IDENTIFY, WITH_PASSWORD),
        (PREPARE, DONE),
        (erase, DONE),
        (ATA_IDENTIFY, FREE),
    )
    found, watched = offer(drive, method), Watched()
    assert found.run(watched.watch()) == "IDENTIFY DEVICE says that the erase took the password away"
    assert not found.rehearsed
    (advice,) = watched.kept
    assert f"hdparm --user-master u --security-unlock assay {PATH}" in advice
    drive.assert_played()


def test_the_advice_is_on_paper_before_the_password_is_set() -> None:
    drive = Recorded((ATA_IDENTIFY, FREE), (ATA_IDENTIFY, FREE))

    def fail(_: str) -> None:
        raise StoreError("advice.txt", "cannot be written", "free some space")

    with pytest.raises(StoreError):
        offer(drive, "erase").run(PurgeWatch(keep=fail))
    drive.assert_played()


@pytest.mark.parametrize(
    ("tail", "reason"),
    [
        ([(DISABLE, DONE), (ATA_IDENTIFY, FREE)], "did not erase itself; its password was removed again"),
        ([(DISABLE, ABORTED), (ATA_IDENTIFY, WITH_PASSWORD)], "is locked; .*hdparm .*--security-disable assay"),
    ],
)
def test_an_erase_that_left_the_password_is_a_failure_and_the_password_is_taken_away(
    tail: list[tuple[Sent, Reply]], reason: str
) -> None:
    drive = Recorded(
        *[(ATA_IDENTIFY, FREE)] * 2,
        (SET_PASSWORD, DONE),
        (ATA_IDENTIFY, WITH_PASSWORD),
        (PREPARE, DONE),
        (ERASE, ABORTED),
        (ATA_IDENTIFY, WITH_PASSWORD),
        *tail,
    )
    with pytest.raises(DeviceFailureError, match=reason):
        offer(drive, "erase").run(Watched().watch())
    drive.assert_played()


def test_a_drive_that_takes_no_password_is_not_sent_an_erase() -> None:
    drive = Recorded(*[(ATA_IDENTIFY, FREE)] * 2, (SET_PASSWORD, ABORTED), (ATA_IDENTIFY, FREE))
    with pytest.raises(DeviceFailureError, match="took no password"):
        offer(drive, "erase").run(Watched().watch())
    drive.assert_played()


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        (FROZEN, "is frozen"),
        (ENABLED, "has a password set"),
        (ENABLED | LOCKED, "is locked by a password"),
        (EXPIRED, "has used up its password attempts"),
    ],
)
def test_a_frozen_or_locked_drive_is_refused_when_chosen_and_again_when_it_comes_to_it(state: int, reason: str) -> None:
    reply = ata_identity(security=SUPPORTED | state)
    obstacle = offer(Recorded((ATA_IDENTIFY, reply)), "erase").obstacle
    assert isinstance(obstacle, GateRefusedError)
    assert reason in str(obstacle)
    late = Recorded((ATA_IDENTIFY, FREE), (ATA_IDENTIFY, reply))
    with pytest.raises(GateRefusedError, match=reason):
        offer(late, "erase").run(Watched().watch())
    late.assert_played()


@pytest.mark.parametrize(
    ("method", "start"),
    [
        ("sanitize-block", command(0xB4, features=0x12, lba=0x426B4572, extended=True)),
        ("sanitize-crypto", command(0xB4, features=0x11, lba=0x43727970, extended=True)),
        ("sanitize-overwrite", command(0xB4, features=0x14, count=1, lba=0x4F57_0000_0000, extended=True)),
    ],
)
def test_a_sanitize_is_followed_by_its_status_to_the_end(method: str, start: Sent) -> None:
    drive = Recorded(
        (ATA_IDENTIFY, ata_identity(sanitizes=SANITIZES)),
        *[(STATUS, ata_registers())] * 2,
        (start, ata_registers()),
        *[(STATUS, ata_registers(count=1 << 14, lba=progress)) for progress in (0, 0x4000, 0x8000)],
        *[(STATUS, ata_registers(count=1 << 15, lba=0xFFFF))] * 2,
    )
    found, watched = offer(drive, method), Watched()
    assert found.run(watched.watch()) == "the drive's sanitize status says that it succeeded"
    assert watched.seen == [0.25, 0.5]
    assert not found.rehearsed
    drive.assert_played()


@pytest.mark.parametrize(
    ("replies", "reason"),
    [
        ([ata_registers(), ata_registers(), ata_registers()], "did not begin"),
        (
            [ata_registers(), ata_registers(), ata_registers(count=1 << 14), *[ata_registers()] * 2],
            "the sanitize failed",
        ),
        ([ScsiReply()], "cannot be read"),
        ([ABORTED], "cannot be read"),
    ],
)
def test_a_sanitize_that_its_status_does_not_confirm_is_a_failure(replies: list[ScsiReply], reason: str) -> None:
    start = command(0xB4, features=0x12, lba=0x426B4572, extended=True)
    commands = [STATUS, start, *[STATUS] * len(replies)]
    script = zip(commands, replies, strict=False)
    drive = Recorded((ATA_IDENTIFY, ata_identity(sanitizes=SANITIZES)), (STATUS, ata_registers()), *script)
    with pytest.raises(DeviceFailureError, match=reason):
        offer(drive, "sanitize-block").run(Watched().watch())
    drive.assert_played()


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        (ata_registers(count=1 << 13), "its sanitize commands are frozen"),
        (ata_registers(count=1 << 14, lba=655), r"sanitizing itself already \(1.0% done\).*vendor's tool"),
        (ata_registers(status=1, lba=1), "its last sanitize failed.*repeat it"),
    ],
)
def test_a_drive_whose_sanitize_is_frozen_stands_or_failed_is_refused_with_the_way_out(
    state: ScsiReply, reason: str
) -> None:
    drive = Recorded((ATA_IDENTIFY, ata_identity(sanitizes=SANITIZES)), *[(STATUS, state)] * 2)
    found = offer(drive, "sanitize-block")
    with pytest.raises(GateRefusedError, match=reason):
        raise found.obstacle or AssertionError
    with pytest.raises(GateRefusedError, match=reason):
        found.run(Watched().watch())
    drive.assert_played()


def test_what_a_drive_does_not_name_is_not_offered() -> None:
    assert ata_offers(PATH, Recorded((ATA_IDENTIFY, ata_identity()))) == []
    assert ata_offers(PATH, Recorded((ATA_IDENTIFY, ScsiReply(data=bytes(512))))) == []
    # The commands without the feature set that they belong to.
    assert ata_offers(PATH, Recorded((ATA_IDENTIFY, ata_identity(sanitizes=0xE000)))) == []
    plain = ata_offers(PATH, Recorded((ATA_IDENTIFY, ata_identity(security=SUPPORTED))))
    assert [offer.method for offer in plain] == ["erase"]


@pytest.mark.parametrize(("word", "stated_s", "limit_s"), [(10, 1200, 4200), (0, None, 12 * 3600)])
def test_the_time_of_an_erase_is_what_the_drive_states(word: int, stated_s: int | None, limit_s: int) -> None:
    identity = DriveIdentity(id="X", path=PATH, kind="block", capacity_bytes=4096, logical_block_bytes=512)
    drive = Recorded(*[(ATA_IDENTIFY, ata_identity(security=1, times=(word, 20)))] * 2)
    found = purge_time(identity, "erase", transport=drive, commands="ata")
    assert (found.method, found.stated_s, found.limit_s) == ("erase", stated_s, limit_s)
    assert purge_time(identity, "auto", commands="ata").method == "overwrite"
