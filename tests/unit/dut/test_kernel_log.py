"""Lines of the kernel's log: whose they are, which of them make a step void, and to which step they belong."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from assay.dut.real import kernel_log
from assay.dut.real.kernel_log import KernelLog, log_names, parse_record
from assay.dut.real.watch import EVENTS_MAX, DriveWatch, gravest, read_state
from assay.engine.records import DriveEvent, DriveIdentity
from assay.results.events import disturbs
from assay.results.stall import void_reason
from assay.words.text import text_or_none
from report_run import GOLDEN, judged_rounds, synthetic_rounds, synthetic_settings
from test_device_identity import make_disk

if TYPE_CHECKING:
    from pathlib import Path

NVME = "pci0000:00/0000:00:01.0/0000:01:00.0/nvme/nvme0"
SATA = "pci0000:00/0000:00:1f.2/ata3/host2/target2:0:0/2:0:0:0/block"
TIMEOUT = b"4,812,35712804225,-;nvme nvme0: I/O 3 QID 1 timeout, aborting\n SUBSYSTEM=nvme\n DEVICE=c240:0\n"


def drive(name: str) -> DriveIdentity:
    return DriveIdentity(id="x", path=f"/dev/{name}", kind="block", capacity_bytes=1 << 30, logical_block_bytes=512)


def settle(sysfs: Path, place: Path, subsystem: str, number: str = "") -> None:
    """Make a folder a device of a subsystem."""
    (place / "uevent").touch()
    (sysfs / "subsystems" / subsystem).mkdir(parents=True, exist_ok=True)
    (place / "subsystem").symlink_to(sysfs / "subsystems" / subsystem)
    if number:
        (place / "dev").write_text(number + "\n")


@pytest.fixture
def nvme(tmp_path: Path) -> Path:
    """A sysfs with an NVMe drive in the slot of a port."""
    make_disk(tmp_path, "nvme0n1", NVME, queue__write_cache="write back", queue__scheduler="[none] kyber")
    controller = tmp_path / "devices" / NVME
    settle(tmp_path, controller / "nvme0n1", "block", "259:0")
    settle(tmp_path, controller, "nvme", "240:0")
    settle(tmp_path, controller.parents[1], "pci")
    settle(tmp_path, controller.parents[2], "pci")
    (controller / "state").write_text("live\n")
    (controller / "nvme0n1/device").symlink_to(controller)
    return tmp_path


@pytest.fixture
def sata(tmp_path: Path) -> Path:
    """A sysfs with a SATA drive at port 3 of a controller with others."""
    make_disk(tmp_path, "sdb", SATA)
    disk = tmp_path / "devices" / SATA / "sdb"
    for place, subsystem, number in (
        (disk, "block", "8:16"),
        (disk.parents[1], "scsi", ""),
        (disk.parents[2], "scsi", ""),
        (disk.parents[3], "scsi", ""),
        (disk.parents[4], "ata", ""),
        (disk.parents[5], "pci", ""),
    ):
        settle(tmp_path, place, subsystem, number)
    return tmp_path


def test_an_nvme_drive_goes_by_its_numbers_its_function_and_its_port(nvme: Path) -> None:
    names = log_names(drive("nvme0n1"), sysfs=nvme)
    assert {"b259:0", "c240:0", "+nvme:nvme0", "+pci:0000:01:00.0", "+pci:0000:00:01.0"} <= names.devices


def test_a_sata_drive_goes_by_its_port_but_not_by_the_controller_of_all_ports(sata: Path) -> None:
    names = log_names(drive("sdb"), sysfs=sata)
    assert {"b8:16", "+scsi:2:0:0:0", "+ata:ata3"} <= names.devices
    assert not any("0000:00:1f.2" in name for name in names.devices)


@pytest.mark.parametrize(
    ("line", "about"),
    [
        ("nvme nvme0: I/O 3 QID 1 timeout, aborting", True),
        ("nvme0n1: I/O Cmd(0x2) @ LBA 2048", True),
        ("I/O error, dev nvme0n1, sector 2048 op 0x0:(READ)", True),
        ("nvme nvme01: I/O 3 QID 1 timeout", False),
        ("I/O error, dev nvme0n10, sector 0", False),
        ("pcieport 0000:00:01.0: AER: Uncorrected (Fatal) error received", True),
        ("pcieport 0000:00:01.1: AER: Corrected error received", False),
        ("EXT4-fs (nvme0n1p1): mounted filesystem", False),
    ],
)
def test_a_line_without_a_device_is_known_by_whole_names(nvme: Path, line: str, about: bool) -> None:
    found = parse_record(f"3,1,2,-;{line}\n".encode(), log_names(drive("nvme0n1"), sysfs=nvme))
    assert (found is not None) == about


@pytest.mark.parametrize(
    ("line", "about"),
    [
        ("ata3: hard resetting link", True),
        ("ata3.00: exception Emask 0x0 SAct 0x0", True),
        ("sd 2:0:0:0: [sdb] tag#1 timing out command", True),
        ("ata30: hard resetting link", False),
        ("ata3.15: hard resetting link", True),
        ("ata4.00: exception Emask 0x0", False),
        ("sd 2:0:0:01: Power-on or device reset occurred", False),
        ("sd 12:0:0:0: Power-on or device reset occurred", False),
    ],
)
def test_lines_of_a_sata_port_are_told_from_those_of_its_neighbours(sata: Path, line: str, about: bool) -> None:
    found = parse_record(f"3,1,2,-;{line}\n".encode(), log_names(drive("sdb"), sysfs=sata))
    assert (found is not None) == about


def test_a_device_that_is_named_counts_more_than_the_text(nvme: Path) -> None:
    names = log_names(drive("nvme0n1"), sysfs=nvme)
    assert parse_record(TIMEOUT, names) == DriveEvent(
        level=4, device="c240:0", text="nvme nvme0: I/O 3 QID 1 timeout, aborting"
    )
    assert parse_record(TIMEOUT.replace(b"DEVICE=c240:0", b"DEVICE=c240:1"), names) is None


@pytest.mark.parametrize("raw", [b"", b"garbage", b";x", b"x,1,2,-;nvme0\n", b"\xff\xfe,1;nvme0"])
def test_what_is_no_record_is_no_event(nvme: Path, raw: bytes) -> None:
    assert parse_record(raw, log_names(drive("nvme0n1"), sysfs=nvme)) is None


def test_text_of_the_kernel_is_printable_and_short(nvme: Path) -> None:
    found = parse_record(b"4,1,2,-;nvme0: \x1b[2J" + b"x" * 900, log_names(drive("nvme0n1"), sysfs=nvme))
    assert found is not None
    assert (len(found.text), found.text[:13]) == (200, "nvme0: \\x1b[2")


@pytest.mark.parametrize(
    ("level", "text", "void"),
    [
        (4, "nvme nvme0: I/O 3 QID 1 timeout, aborting", True),
        (6, "nvme nvme0: 2/0/0 default/read/poll queues", True),
        (6, "ata3: SATA link up 6.0 Gbps (SStatus 133 SControl 300)", True),
        (6, "ata3: hard resetting link", True),
        (5, "sd 2:0:0:0: Power-on or device reset occurred", True),
        (3, "Buffer I/O error on dev sdb, logical block 0", True),
        (2, "anything that is critical", True),
        (4, "a warning that nobody has thought of", True),
        (6, "nvme nvme0: allocated 64 MiB host memory buffer.", False),
        (4, "nvme nvme0: missing or invalid SUBNQN field.", False),
        (5, "sd 2:0:0:0: [sdb] Write cache: enabled, read cache: enabled, doesn't support DPO or FUA", False),
        (6, "ata3.00: configured for UDMA/133", False),
        (6, "nvme0n1: p1 p2", False),
    ],
)
def test_resets_timeouts_and_errors_make_void_and_harmless_notices_do_not(level: int, text: str, void: bool) -> None:
    assert disturbs(DriveEvent(level=level, device="", text=text)) == void


def script(monkeypatch: pytest.MonkeyPatch, said: list[bytes | type[OSError]]) -> None:
    """Let the kernel's log say this, record by record, and nothing more."""

    def read(_: int, __: int) -> bytes:
        record = said.pop(0) if said else BlockingIOError
        if isinstance(record, bytes):
            return record
        raise record

    monkeypatch.setattr(kernel_log.os, "read", read)


def test_lines_that_came_too_fast_are_counted_and_the_rest_is_read(nvme: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (nvme / "kmsg").touch()
    with KernelLog(log_names(drive("nvme0n1"), sysfs=nvme), path=nvme / "kmsg") as log:
        script(monkeypatch, [TIMEOUT, BrokenPipeError, b"6,1,2,-;another drive\n", TIMEOUT])
        assert [event.device for event in log.news()] == ["c240:0", "c240:0"]
    assert (log.readable, log.lost_count) == (True, 1)


def test_a_log_that_cannot_be_read_is_unknown_and_not_silent(nvme: Path) -> None:
    (step,) = synthetic_rounds(synthetic_settings(), GOLDEN)[0].cells[:1]
    with DriveWatch(drive("nvme0n1"), sysfs=nvme, kmsg=nvme / "none") as watch:
        watch.begin()
        assert watch.finished([step]) == [step]
    assert watch.record is not None
    assert watch.record.log == "unknown"


def test_an_event_belongs_to_every_step_that_ran_since_the_last_look(
    nvme: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (nvme / "kmsg").touch()
    cells = synthetic_rounds(synthetic_settings(), GOLDEN)[0].cells[:5]
    said: list[bytes | type[OSError]] = []
    with DriveWatch(drive("nvme0n1"), lambda: "enabled", sysfs=nvme, kmsg=nvme / "kmsg") as watch:
        script(monkeypatch, said)
        watch.begin()
        watch.look(1)
        said.append(TIMEOUT)
        watch.look(2)
        watch.look(3)
        marked = watch.finished(cells)
    assert [len(step.drive_events) for step in marked] == [0, 1, 1, 0, 0]
    assert watch.record is not None
    assert (watch.record.log, watch.record.after.controller) == ("read", "live")
    assert (watch.record.after.write_cache, watch.record.after.write_cache_drive) == ("enabled", "enabled")


def test_a_drive_that_failed_is_not_asked_for_its_write_cache(nvme: Path) -> None:
    asked: list[str] = []

    def ask() -> str:
        asked.append("asked")
        return "enabled"

    step = replace(synthetic_rounds(synthetic_settings(), GOLDEN)[0].cells[0], ended="hung")
    with DriveWatch(drive("nvme0n1"), ask, sysfs=nvme, kmsg=nvme / "none") as watch:  # type: ignore[arg-type]
        watch.begin()
        watch.finished([step])
    assert asked == ["asked"], "before the sequence, and never again"


def test_the_gravest_are_kept_in_order_and_repeats_are_counted() -> None:
    notice = DriveEvent(level=6, device="", text="notice")
    many = [replace(notice, text=f"notice {number}") for number in range(40)]
    error = DriveEvent(level=3, device="", text="error")
    kept = gravest([*many[:30], error, error, error, *many[30:]])
    assert len(kept) == EVENTS_MAX
    assert kept[-1] == replace(error, count=3)
    assert gravest([notice, notice]) == (replace(notice, count=2),)


def test_bus_errors_are_summed_over_the_drive_and_its_port(nvme: Path) -> None:
    function = nvme / "devices" / NVME.removesuffix("/nvme/nvme0")
    (function / "aer_dev_correctable").write_text("RxErr 1\nBadTLP 2\nTOTAL_ERR_COR 3\n")
    (function.parent / "aer_dev_correctable").write_text("RxErr 1\nTOTAL_ERR_COR 1\n")
    (function / "aer_dev_fatal").write_text("TOTAL_ERR_FATAL 0\n")
    assert read_state(drive("nvme0n1"), sysfs=nvme).bus_errors == {"correctable": 4, "fatal": 0}


def test_a_reset_voids_its_round_whatever_the_stall_limit_and_the_window_begins_anew() -> None:
    settings = synthetic_settings(void_limit=3, stall_limit_ns=0)
    rounds = list(synthetic_rounds(settings, (3145.0,) * 25))
    reset = DriveEvent(level=6, device="c240:0", text="nvme nvme0: 2/0/0 default/read/poll queues")
    harmless = DriveEvent(level=6, device="c240:0", text="nvme nvme0: allocated 64 MiB host memory buffer.")
    for index, event in ((2, reset), (3, harmless)):
        first, *rest = rounds[index - 1].cells
        rounds[index - 1] = replace(rounds[index - 1], cells=(replace(first, drive_events=(event,)), *rest))
    judged = judged_rounds(settings, lambda index: rounds[index - 1].cells)
    assert [one.index for one in judged if one.void] == [2]
    assert "2/0/0 default/read/poll queues" in (text_or_none(judged[1].void) or "")
    assert judged[-1].ended == "steady"
    assert judged[-1].window is not None
    assert judged[-1].window.rounds == (3, 4, 5, 6, 7)
    assert void_reason(rounds[2].cells, settings) is None


def test_what_happens_between_two_programs_befalls_the_second_but_a_purge_is_forgotten(
    nvme: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (nvme / "kmsg").touch()
    cells = synthetic_rounds(synthetic_settings(), GOLDEN)[0].cells[:2]
    said: list[bytes | type[OSError]] = [TIMEOUT]
    with DriveWatch(drive("nvme0n1"), sysfs=nvme, kmsg=nvme / "kmsg") as watch:
        script(monkeypatch, said)
        watch.forget()
        watch.begin()
        first = watch.finished(cells)
        said += [BrokenPipeError, TIMEOUT]
        watch.begin()
        second = watch.finished(cells)
        lost = watch.record and watch.record.lost_count
        watch.begin()
        watch.finished(cells)
    assert [[len(step.drive_events) for step in steps] for steps in (first, second)] == [[0, 0], [1, 0]]
    assert (lost, watch.record and watch.record.lost_count) == (1, 0)
