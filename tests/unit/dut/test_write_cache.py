"""The write cache is set in kernel and drive, and comes back on every way out."""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING

import pytest
from assay.dut.real.notes import Note
from assay.dut.real.transport import NvmeReply, ScsiReply
from assay.dut.real.write_cache import CacheView, WriteCache, is_cache_noted, put_cache_back, write_cache_held
from assay.engine.records import DriveIdentity
from assay.errors import DeviceFailureError
from recorded_drive import controller_data

if TYPE_CHECKING:
    from pathlib import Path

    from assay.dut.real.transport import CommandSet, NvmeCommand, ScsiCommand
    from assay.engine.records import CacheState

IDENTITY = DriveIdentity(id="S1", path="/dev/x0", kind="block", capacity_bytes=4096, logical_block_bytes=512)


class Cached:
    """A drive with a write cache that can be told, by NVMe feature or by SCSI mode page; sysfs does not follow it."""

    def __init__(self, *, enabled: bool = True, stubborn: bool = False, present: bool = True) -> None:
        self.enabled, self.stubborn, self.present = enabled, stubborn, present
        self.asked: list[int] | None = None

    def namespace(self) -> int:
        """Number of the held namespace."""
        return 1

    def nvme_admin(self, command: NvmeCommand) -> NvmeReply:
        """Identify the controller; feature 06h set and read."""
        if self.asked is not None:
            self.asked.append(command.opcode)
            raise OSError
        if command.opcode == 0x06:
            return controller_data(cache=self.present)
        assert command.words[0] == 0x06
        if command.opcode == 0x09 and not self.stubborn:
            self.enabled = bool(command.words[1] & 1)
        return NvmeReply(result=int(self.enabled))

    def scsi(self, command: ScsiCommand) -> ScsiReply:
        """MODE SENSE of the caching page, or IDENTIFY DEVICE and SET FEATURES inside the pass-through."""
        if command.cdb[0] == 0x1A:
            return ScsiReply(data=bytes([23, 0, 0, 0, 8, 18, self.enabled << 2]).ljust(32, b"\0"))
        if command.cdb[14] == 0xEF and not self.stubborn:
            self.enabled = {0x02: True, 0x82: False}[command.cdb[4]]
        words = [0] * 256
        words[82], words[85] = 1 << 5, self.enabled << 5
        return ScsiReply(data=struct.pack("<256H", *words))


def kernel(tmp_path: Path, text: str = "write back") -> Path:
    """A queue in sysfs; gives its attribute."""
    attribute = tmp_path / "block/x0/queue/write_cache"
    attribute.parent.mkdir(parents=True, exist_ok=True)
    attribute.write_text(f"{text}\n")
    return attribute


def cache_of(tmp_path: Path, drive: Cached, commands: CommandSet | None = "nvme") -> WriteCache:
    return WriteCache(IDENTITY, drive, commands, sysfs=tmp_path)


@pytest.mark.parametrize(
    ("kernel_state", "drive_state", "expected"),
    [
        ("enabled", "enabled", "enabled"),
        ("disabled", "disabled", "disabled"),
        ("enabled", "disabled", "unknown"),
        ("disabled", "enabled", "unknown"),
        ("enabled", "unknown", "enabled"),
    ],
)
def test_kernel_and_drive_must_agree(kernel_state: CacheState, drive_state: CacheState, expected: CacheState) -> None:
    assert CacheView(kernel=kernel_state, drive=drive_state).state == expected


def test_both_sides_are_set_and_both_come_back(tmp_path: Path) -> None:
    attribute, drive = kernel(tmp_path), Cached()
    notes = tmp_path / "notes"
    with write_cache_held(IDENTITY, cache_of(tmp_path, drive), "disabled", notes=notes) as held:
        assert (attribute.read_text(), drive.enabled) == ("write through", False)
        assert held.state == "disabled"
        assert held.facts["write_cache"] == "write through"
        assert held.facts["write_cache_drive"] == "disabled"
        assert len(list(notes.iterdir())) == 1
    assert (attribute.read_text(), drive.enabled) == ("write back", True)
    assert list(notes.iterdir()) == []


def test_a_crash_leaves_a_note_from_which_the_next_run_puts_back_the_first_state(tmp_path: Path) -> None:
    attribute, drive = kernel(tmp_path), Cached()
    notes = tmp_path / "notes"
    crashed = write_cache_held(IDENTITY, cache_of(tmp_path, drive), "disabled", notes=notes)
    crashed.__enter__()
    assert not drive.enabled
    with write_cache_held(IDENTITY, cache_of(tmp_path, drive), "disabled", notes=notes):
        assert not drive.enabled
    assert (attribute.read_text(), drive.enabled, list(notes.iterdir())) == ("write back", True, [])
    crashed.__exit__(None, None, None)
    assert (attribute.read_text(), drive.enabled) == ("write back", True)


def test_what_a_crash_left_is_put_back_at_once_on_request(tmp_path: Path) -> None:
    attribute, drive, notes = kernel(tmp_path), Cached(), tmp_path / "notes"
    crashed = write_cache_held(IDENTITY, cache_of(tmp_path, drive), "disabled", notes=notes)
    crashed.__enter__()
    assert is_cache_noted(IDENTITY, notes=notes)
    said = put_cache_back(IDENTITY, cache_of(tmp_path, drive), notes=notes)
    assert said == ["the write cache of /dev/x0 is enabled again"]
    assert (attribute.read_text(), drive.enabled, list(notes.iterdir())) == ("write back", True, [])
    assert put_cache_back(IDENTITY, cache_of(tmp_path, drive), notes=notes) == []
    assert not is_cache_noted(IDENTITY, notes=notes)
    crashed.__exit__(None, None, None)


def test_a_drive_that_ends_in_an_error_has_its_cache_put_back(tmp_path: Path) -> None:
    attribute, drive = kernel(tmp_path, "write through"), Cached(enabled=False)
    cache = cache_of(tmp_path, drive)

    def fail() -> None:
        assert drive.enabled
        raise KeyError

    with pytest.raises(KeyError), write_cache_held(IDENTITY, cache, "enabled", notes=tmp_path / "notes"):
        fail()
    assert (attribute.read_text(), drive.enabled) == ("write through", False)


@pytest.mark.parametrize("commands", ["nvme", "ata"])
def test_a_drive_that_does_not_obey_is_left_as_it_was_and_the_report_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, commands: CommandSet
) -> None:
    monkeypatch.setattr("assay.dut.real.write_cache._FOLLOW_SECONDS", 0)
    attribute, drive = kernel(tmp_path), Cached(stubborn=True)
    with write_cache_held(IDENTITY, cache_of(tmp_path, drive, commands), "disabled", notes=tmp_path) as held:
        assert held.state == "enabled"
        assert held.facts["write_cache_note"] == "the drive did not take disabled"
    assert attribute.read_text().strip() == "write back"


def test_sata_follows_set_features(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.dut.real.write_cache._FOLLOW_SECONDS", 0)
    attribute, drive = kernel(tmp_path), Cached()
    cache = cache_of(tmp_path, drive, "ata")
    assert cache.set("disabled") == CacheView(kernel="disabled", drive="disabled")
    assert cache.set("enabled") == CacheView(kernel="enabled", drive="enabled")
    assert attribute.read_text() == "write back"


def test_a_drive_without_a_cache_has_it_disabled_and_a_file_is_not_asked(tmp_path: Path) -> None:
    kernel(tmp_path, "write through")
    assert cache_of(tmp_path, Cached(present=False)).look() == CacheView(kernel="disabled", drive="disabled")
    notes = tmp_path / "notes"
    with write_cache_held(IDENTITY, cache_of(tmp_path, Cached(), None), "enabled", notes=notes) as held:
        assert (held.state, held.facts["write_cache_drive"]) == ("disabled", "unknown")
    assert not notes.exists()


def test_a_cache_that_a_purge_has_switched_is_switched_back_or_ends_the_run(tmp_path: Path) -> None:
    attribute, drive = kernel(tmp_path), Cached()
    with write_cache_held(IDENTITY, cache_of(tmp_path, drive), "disabled", notes=tmp_path / "notes") as held:
        drive.enabled = True
        held.check()
        assert (attribute.read_text(), drive.enabled) == ("write through", False)
        drive.enabled = drive.stubborn = True
        with pytest.raises(DeviceFailureError, match="its write cache was disabled and cannot be made so again"):
            held.check()
        drive.stubborn = False


def test_a_drive_that_died_is_asked_once_and_its_note_stays(tmp_path: Path) -> None:
    kernel(tmp_path)
    drive, notes = Cached(), tmp_path / "notes"
    with write_cache_held(IDENTITY, cache_of(tmp_path, drive), "disabled", notes=notes):
        drive.asked = []
    assert drive.asked == [0x06]
    (note,) = notes.iterdir()
    assert json.loads(note.read_text())["drive"] == "enabled"


def test_nothing_is_changed_where_no_note_of_it_can_be_kept(tmp_path: Path) -> None:
    kernel(tmp_path)
    drive, blocked = Cached(), tmp_path / "notes"
    blocked.write_text("a file where a folder is wanted")
    with (
        pytest.raises(DeviceFailureError, match="--write-cache as-is"),
        write_cache_held(IDENTITY, cache_of(tmp_path, drive), "disabled", notes=blocked),
    ):
        pass
    assert drive.enabled


def test_a_study_switches_the_cache_within_a_run_and_it_comes_back(tmp_path: Path) -> None:
    drive, attribute, notes = Cached(), kernel(tmp_path), tmp_path / "notes"
    with write_cache_held(IDENTITY, cache_of(tmp_path, drive), "enabled", notes=notes) as held:
        assert not notes.exists()
        held.switch("disabled")
        assert (drive.enabled, attribute.read_text().strip()) == (False, "write through")
        # A crash from here on would leave a note of what it was.
        assert len(list(notes.iterdir())) == 1
        held.switch("enabled")
        assert drive.enabled
        held.switch("disabled")
    assert drive.enabled
    assert attribute.read_text().strip() == "write back"
    assert not list(notes.iterdir())


def test_a_cache_that_does_not_follow_a_study_ends_it(tmp_path: Path) -> None:
    kernel(tmp_path)
    cache = cache_of(tmp_path, Cached(stubborn=True))
    with write_cache_held(IDENTITY, cache, "enabled", notes=tmp_path / "notes") as held:
        with pytest.raises(DeviceFailureError, match="cannot be disabled"):
            held.switch("disabled")
        with pytest.raises(DeviceFailureError, match="unknown"):
            held.switch("unknown")


def test_a_folder_of_notes_that_belongs_to_another_user_holds_none_of_ours(tmp_path: Path) -> None:
    class Closed(type(tmp_path)):  # type: ignore[misc]
        def stat(self, **_: object) -> None:
            raise PermissionError(13, "Permission denied")

    assert not Note(Closed(tmp_path / "write-cache.json")).exists()
