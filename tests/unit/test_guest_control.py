"""What a guest asks of its machine becomes commands of QEMU's monitor, and what QEMU refuses comes back as text."""

import contextlib
import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

import pytest
from guest.control import Control
from guest.drives import EmulatedDrive, drive_options

DRIVES = (
    EmulatedDrive(name="one", serial="S1"),
    EmulatedDrive(name="two", serial="a,b=c", namespace_count=2, bad_sector=8),
    EmulatedDrive(name="disk", serial="S3", bus="scsi"),
)


def connected(path: Path) -> TextIO:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(path))
        # Lives until the stream is closed.
        return connection.makefile("rw", encoding="utf-8")


def answer(monitor: TextIO, seen: list[dict[str, Any]]) -> None:
    """A monitor that removes at once, tells of it before it answers, and knows no drive to resize."""
    monitor.write('{"QMP": {}}\n')
    monitor.flush()
    for line in monitor:
        command = json.loads(line)
        seen.append(command)
        if command["execute"] == "device_del":
            gone = {"event": "DEVICE_DELETED", "data": {"device": command["arguments"]["id"]}}
            monitor.write(json.dumps(gone) + "\n")
        refused = command["execute"] == "block_resize"
        monitor.write(json.dumps({"error": {"desc": "no such node"}} if refused else {"return": {}}) + "\n")
        monitor.flush()


@contextlib.contextmanager
def machine(tmp_path: Path, said: list[str]) -> Iterator[tuple[TextIO, list[dict[str, Any]]]]:
    """The guest's end of the channel, and the commands that the monitor has got."""
    seen: list[dict[str, Any]] = []
    with Control(DRIVES, tmp_path, said.append):
        monitor, requests = connected(tmp_path / "qmp"), connected(tmp_path / "requests")
        thread = threading.Thread(target=answer, args=(monitor, seen))
        thread.start()
        yield requests, seen
        requests.close()
        thread.join(10)
        assert not thread.is_alive()


def ask(requests: TextIO, **request: object) -> dict[str, str]:
    requests.write(json.dumps(request) + "\n")
    requests.flush()
    found: dict[str, str] = json.loads(requests.readline())
    return found


def test_a_drive_is_removed_and_comes_back_as_it_was(tmp_path: Path) -> None:
    said: list[str] = []
    with machine(tmp_path, said) as (requests, seen):
        assert ask(requests, verb="remove", drive="one") == {}
        assert ask(requests, verb="insert", drive="one") == {}
        assert ask(requests, verb="say", text="hello") == {}
    added = {"driver": "nvme", "bus": "slot-one", "id": "one", "serial": "S1", "drive": "one-1"}
    assert [command["execute"] for command in seen] == ["qmp_capabilities", "device_del", "device_add"]
    assert (seen[1]["arguments"], seen[2]["arguments"]) == ({"id": "one"}, added)
    assert said == ["hello"]


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        ({"verb": "resize", "drive": "disk", "capacity_bytes": 1}, "refused block_resize: no such node"),
        ({"verb": "remove", "drive": "none"}, "'none'"),
        ({"verb": "explode"}, "'explode'"),
        ({"verb": "remove"}, "missing 1 required"),
    ],
)
def test_what_cannot_be_done_is_told_and_the_channel_lives_on(
    tmp_path: Path, request_: dict[str, object], error: str
) -> None:
    with machine(tmp_path, []) as (requests, _):
        assert error in ask(requests, **request_)["error"]
        assert ask(requests, verb="say", text="still here") == {}


def test_a_machine_that_never_comes_leaves_nothing_waiting(tmp_path: Path) -> None:
    before = threading.active_count()
    with Control(DRIVES, tmp_path, print):
        assert threading.active_count() == before + 1
    assert threading.active_count() == before


def test_each_namespace_has_an_image_and_serials_are_not_taken_apart(tmp_path: Path) -> None:
    options = drive_options(DRIVES, tmp_path)
    devices = [json.loads(option) for option in options if option.startswith('{"driver"')]
    assert {image.name for image in tmp_path.iterdir()} == {"one-1.img", "two-1.img", "two-2.img", "disk-1.img"}
    assert [device["serial"] for device in devices if "serial" in device] == ["S1", "a,b=c", "S3"]
    faults = [device["file"]["inject-error"] for device in devices if "inject-error" in device.get("file", {})]
    assert [fault[0]["sector"] for fault in faults] == [8, 8]
