"""The request queue on a sysfs tree made up for the test."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from assay.dut.real.notes import left_changed
from assay.dut.real.put_back import put_back
from assay.dut.real.queue import merging_off, split_factor, stat_path
from assay.engine.records import DriveIdentity
from assay.errors import DeviceFailureError

if TYPE_CHECKING:
    from pathlib import Path

BLOCK = DriveIdentity(id="X", path="/dev/sdz", kind="block", capacity_bytes=1, logical_block_bytes=512)
FILE = DriveIdentity(id="/x", path="/x", kind="file", capacity_bytes=1, logical_block_bytes=512)


def make_queue(sysfs: Path, **attributes: str) -> Path:
    queue = sysfs / "block/sdz/queue"
    queue.mkdir(parents=True)
    for name, text in attributes.items():
        (queue / name).write_text(text + "\n")
    return queue


def state(queue: Path) -> tuple[str, str]:
    return (queue / "nomerges").read_text().strip(), (queue / "iostats").read_text().strip()


def test_switches_merging_off_and_counters_on_and_back(tmp_path: Path) -> None:
    queue = make_queue(tmp_path, nomerges="0", iostats="0", max_sectors_kb="1280", scheduler="none [mq-deadline]")
    with merging_off(BLOCK, sysfs=tmp_path, notes=tmp_path / "notes") as settings:
        assert state(queue) == ("2", "1")
        assert settings == {"scheduler": "mq-deadline", "nomerges": "2", "iostats": "1", "max_sectors_kb": "1280"}
    assert state(queue) == ("0", "0")


def test_restores_the_queue_after_an_error(tmp_path: Path) -> None:
    queue = make_queue(tmp_path, nomerges="1", iostats="0")
    with pytest.raises(KeyboardInterrupt), merging_off(BLOCK, sysfs=tmp_path, notes=tmp_path / "notes"):
        raise KeyboardInterrupt
    assert state(queue) == ("1", "0")


def test_leaves_a_queue_alone_that_is_as_wanted(tmp_path: Path) -> None:
    queue = make_queue(tmp_path, nomerges="2", iostats="1")
    (queue / "nomerges").chmod(0o400)
    with merging_off(BLOCK, sysfs=tmp_path, notes=tmp_path / "notes") as settings:
        assert settings == {"nomerges": "2", "iostats": "1"}


def test_says_so_where_a_setting_cannot_be_changed(tmp_path: Path) -> None:
    queue = make_queue(tmp_path, iostats="1")
    (queue / "nomerges").mkdir()
    with merging_off(BLOCK, sysfs=tmp_path, notes=tmp_path / "notes") as settings:
        assert settings["nomerges_note"] == "left at unknown: Is a directory"
        assert "iostats_note" not in settings


def test_a_drive_that_vanished_does_not_hide_its_own_error(tmp_path: Path) -> None:
    queue = make_queue(tmp_path, nomerges="0", iostats="0")

    def vanish() -> None:
        for path in queue.iterdir():
            path.unlink()
        queue.rmdir()
        raise DeviceFailureError("/dev/x", "is gone", "plug it in again")

    with (
        pytest.raises(DeviceFailureError, match="is gone"),
        merging_off(BLOCK, sysfs=tmp_path, notes=tmp_path / "notes"),
    ):
        vanish()
    assert not queue.exists()


def killed(tmp_path: Path) -> Any:
    """A run that has set the queue and is killed before it puts anything back: give it away and it does not end."""
    run = merging_off(BLOCK, sysfs=tmp_path, notes=tmp_path / "notes")
    run.__enter__()
    return run


def test_a_killed_run_leaves_a_note_from_which_the_next_one_puts_back_the_first_values(tmp_path: Path) -> None:
    queue = make_queue(tmp_path, nomerges="0", iostats="0")
    alive = [killed(tmp_path), killed(tmp_path)]
    assert state(queue) == ("2", "1")
    with merging_off(BLOCK, sysfs=tmp_path, notes=tmp_path / "notes"):
        assert state(queue) == ("2", "1")
    assert state(queue) == ("0", "0")
    assert list((tmp_path / "notes").iterdir()) == []
    assert len(alive) == 2


def test_what_a_killed_run_left_changed_is_said_with_the_way_back_and_that_of_a_running_one_is_not(
    tmp_path: Path,
) -> None:
    queue, notes = make_queue(tmp_path, nomerges="0", iostats="1"), tmp_path / "notes"
    alive = killed(tmp_path)
    assert left_changed(notes) == []
    (note,) = notes.iterdir()
    # Another process that got the number of the one that was killed.
    note.write_text(json.dumps({**json.loads(note.read_text()), "pid_start": "1"}))
    (line,) = left_changed(notes)
    assert line.startswith(
        f"{queue}/nomerges was 0 before a run that was killed; the next run on the drive puts it back"
    )
    assert line.endswith(f"echo 0 > {queue}/nomerges")
    cache = {"path": "/dev/sdz", "kernel": "enabled", "drive": "enabled"}
    (notes / "write-cache-0.json").write_text(json.dumps(cache))
    assert "hdparm -W1 /dev/sdz" in left_changed(notes)[1]
    assert "or: assay check /dev/sdz --put-back" in line
    assert put_back(BLOCK, sysfs=tmp_path, notes=notes) == [f"{queue}/nomerges is 0 again"]
    assert (state(queue), len(list(notes.iterdir()))) == (("0", "1"), 1)
    assert put_back(BLOCK, sysfs=tmp_path, notes=notes) == []
    assert put_back(FILE, sysfs=tmp_path, notes=notes) == []
    assert len(left_changed(notes)) == 1
    assert left_changed(tmp_path / "none") == []
    assert alive is not None


def test_a_note_counts_only_where_the_queue_still_has_what_the_killed_run_set(tmp_path: Path) -> None:
    queue = make_queue(tmp_path, nomerges="0", iostats="1")
    alive = killed(tmp_path)
    (queue / "nomerges").write_text("1")
    with merging_off(BLOCK, sysfs=tmp_path, notes=tmp_path / "notes"):
        assert state(queue) == ("2", "1")
    assert state(queue) == ("1", "1")
    assert alive is not None


@pytest.mark.parametrize("text", ["", "[]", "no json", '{"nomerges": "../x"}', '{"nomerges": [1]}'])
def test_a_note_that_is_none_changes_nothing(tmp_path: Path, text: str) -> None:
    queue = make_queue(tmp_path, nomerges="2", iostats="1")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/queue-sdz.json").write_text(text)
    with merging_off(BLOCK, sysfs=tmp_path, notes=tmp_path / "notes"):
        assert state(queue) == ("2", "1")
    assert state(queue) == ("2", "1")


def test_nothing_is_changed_where_no_note_can_be_kept(tmp_path: Path) -> None:
    queue = make_queue(tmp_path, nomerges="0", iostats="1")
    (tmp_path / "notes").write_text("a file in the way")
    with merging_off(BLOCK, sysfs=tmp_path, notes=tmp_path / "notes") as settings:
        assert state(queue) == ("0", "1")
        assert settings["nomerges_note"].startswith("left at 0: ")
        assert "cannot be written" in settings["nomerges_note"]


def test_a_file_has_no_queue(tmp_path: Path) -> None:
    with merging_off(FILE, sysfs=tmp_path) as settings:
        assert settings == {}
    assert stat_path(FILE, sysfs=tmp_path) is None


def test_names_the_counters_of_a_disk(tmp_path: Path) -> None:
    queue = make_queue(tmp_path)
    assert stat_path(BLOCK, sysfs=tmp_path) is None
    (queue.parent / "stat").touch()
    assert stat_path(BLOCK, sysfs=tmp_path) == str(queue.parent / "stat")


@pytest.mark.parametrize(
    ("limit", "transfer_bytes", "expected"),
    [("256", 1 << 20, 4), ("1280", 1 << 20, 1), ("256", 512, 1), ("256", 256 * 1024 + 512, 2), ("127", 131072, 2)],
)
def test_counts_the_requests_of_a_transfer(limit: str, transfer_bytes: int, expected: int) -> None:
    assert split_factor({"max_sectors_kb": limit}, transfer_bytes) == expected


@pytest.mark.parametrize("settings", [{}, {"max_sectors_kb": "0"}, {"max_sectors_kb": "?"}])
def test_an_unknown_limit_gives_no_count(settings: dict[str, str]) -> None:
    assert split_factor(settings, 4096) is None
