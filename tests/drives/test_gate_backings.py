"""Drives whose data lie elsewhere: a bcache, and a network block device, whose backing the kernel does not tell."""

from __future__ import annotations

import subprocess
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from assay.dut.real.gate import examined, refusals
from assay.dut.real.identity import identify
from assay.errors import DriveBusyError
from emulated import MIB, held
from stacked import assert_each_refuses, blank_after, program, run, until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records import DriveIdentity
    from emulated import FindDrive

BCACHE = Path("/sys/fs/bcache")
NBD, OTHER_NBD = "/dev/nbd0", "/dev/nbd1"
WORD = "unknown-backing"


@contextmanager
def cached(disk: DriveIdentity) -> Iterator[DriveIdentity]:
    """A bcache upon a drive, without a cache yet."""
    with blank_after(disk):
        run("make-bcache", "--bdev", disk.path)
        (BCACHE / "register").write_text(disk.path)
        name = until(lambda: next((path.name for path in Path("/sys/block").glob("bcache*")), None))
        try:
            yield identify(f"/dev/{name}", file_target=False)
        finally:
            (Path("/sys/block") / name / "bcache/stop").write_text("1")
            until(lambda: not (Path("/sys/block") / name).exists() and not refusals(disk))


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """A socket on which QEMU serves a file as a network block device."""
    image, socket = folder / "image", folder / "socket"
    with image.open("wb") as file:
        file.truncate(64 * MIB)
    command = [program("qemu-nbd"), "--format=raw", f"--socket={socket}", "--persistent", str(image)]
    with subprocess.Popen(command) as server:
        try:
            until(socket.exists)
            yield str(socket)
        finally:
            server.kill()


@contextmanager
def connected(folder: Path) -> Iterator[DriveIdentity]:
    """A network block device; no process has its node open."""
    with served(folder) as socket:
        run("nbd-client", "-unix", socket, NBD)
        try:
            until(lambda: int(Path("/sys/block/nbd0/size").read_text("utf-8")))
            yield identify(NBD, file_target=False)
        finally:
            run("nbd-client", "-disconnect", NBD)


def test_the_backing_device_of_a_bcache_is_refused_and_the_bcache_is_a_drive(
    drive: FindDrive, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = drive("Q-SCSI")
    with cached(disk) as found:
        name = found.path.removeprefix("/dev/")
        assert refusals(disk) == (f"held by {name}",)
        assert refusals(found) == ()
        rules = {"holders": f"held by {name}", "exclusive": "busy"}
        assert_each_refuses(disk, rules, monkeypatch, signatures=frozenset({"bcache"}))
        with held(found) as (opened, *_):
            opened.verify()


def test_a_network_block_device_needs_a_word_since_nobody_knows_its_backing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with connected(tmp_path) as found:
        assert refusals(found) == ()
        (reason,) = examined(found).refusals
        assert reason == f"lies on what the kernel does not tell (nbd0), to be acknowledged with --acknowledge {WORD}"
        assert examined(found, words=frozenset({WORD})).refusals == ()
        assert_each_refuses(found, {"untold": "lies on what the kernel does not tell"}, monkeypatch)
        with held(found, said=frozenset({WORD})) as (opened, *_):
            opened.verify()


def test_a_network_block_device_whose_client_has_its_node_open_is_refused_by_that(
    tmp_path: Path,
) -> None:
    image = tmp_path / "image"
    with image.open("wb") as file:
        file.truncate(64 * MIB)
    # Where it makes its socket; the guest's /run is empty.
    Path("/run/lock").mkdir(exist_ok=True)
    with subprocess.Popen([program("qemu-nbd"), "--format=raw", f"--connect={OTHER_NBD}", str(image)]) as client:
        try:
            until(lambda: int(Path("/sys/block/nbd1/size").read_text("utf-8")))
            found = identify(OTHER_NBD, file_target=False)
            with pytest.raises(DriveBusyError, match=r"open for writing by process \d+ \(qemu-nbd\)"), held(found):
                pass
        finally:
            run("qemu-nbd", "--disconnect", OTHER_NBD)
            client.kill()
