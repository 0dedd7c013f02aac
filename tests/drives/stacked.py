"""What is built upon the emulated drives, and how the gate's rules are tried on it."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pytest
from assay.dut.real.gate import claim, doubts, entry, users
from assay.dut.real.identity import disks, identify
from assay.dut.real.sysfs import read_text
from assay.errors import AssayError
from emulated import MIB, held, is_emulated, stands_on_emulated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from assay.engine.records import DriveIdentity

T = TypeVar("T")
TOOLS = "/usr/sbin:/usr/bin:/sbin:/bin"
COMMAND_SECONDS = 500
SECTORS = 8192
"""Length of the parts that mapped devices have of a drive."""
_RULES: tuple[dict[str, Any], ...] = (users.USERS, users.FILE_USERS, users.PROCESSES, doubts.DOUBTS, entry.WISHES)
_SINGLE: dict[str, tuple[Any, str, Any]] = {
    "exclusive": (claim, "EXCLUSIVE", 0),
    "range-lock": (claim, "lock_ranges", lambda *_: None),
    "read-only": (entry, "_read_only", lambda _: ()),
}


def run(*command: str) -> str:
    """Run a program of the system; its output. Skips the test where it is not installed."""
    done = subprocess.run(
        [program(command[0]), *command[1:]],
        check=False,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=COMMAND_SECONDS,
        env={"LC_ALL": "C", "PATH": TOOLS},
    )
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout.strip()


def program(name: str) -> str:
    """The path of a program. Skips the test where it is not installed."""
    path = shutil.which(name, path=TOOLS)
    if path is None:
        pytest.skip(f"SKIPPED: needs {name}, see tools/debian-packages")
    return path


def until(ask: Callable[[], T | None]) -> T:
    """Wait until something is so; what was answered then. Fails after a time in which nothing comes any more."""
    end = time.monotonic() + COMMAND_SECONDS
    while not (answer := ask()):
        assert time.monotonic() < end
        time.sleep(0.05)
    return answer


def usb_disk() -> DriveIdentity:
    """The disk behind a USB bridge, which Linux asks for no serial number."""
    (found,) = until(lambda: [one for one in disks() if one.interface == "USB"])
    assert is_emulated(found)
    return found


def dmsetup(*arguments: str) -> None:
    """Ask device mapper, without udev, which the guest has not."""
    run("dmsetup", "--noudevsync", "--noudevrules", *arguments)


@contextmanager
def mapped(name: str, table: str) -> Iterator[DriveIdentity]:
    """A mapped device of a table."""
    dmsetup("create", name, "--table", table)
    try:
        yield identify(mapped_node(name), file_target=False)
    finally:
        dmsetup("remove", name)


def mapped_node(name: str) -> str:
    """The kernel's own node of a mapped device; without udev there may be no other."""
    named = (path.parents[1].name for path in Path("/sys/block").glob("dm-*/dm/name") if read_text(path) == name)
    return f"/dev/{next(named)}"


def load_table(name: str, table: str) -> None:
    """Give a mapped device another table, whoever has it open."""
    dmsetup("load", name, "--table", table)
    dmsetup("resume", name)


@contextmanager
def blank_after(*drives: DriveIdentity) -> Iterator[None]:
    """Leave no signature of what was made upon these drives."""
    try:
        yield
    finally:
        for drive in drives:
            blank(drive)


def blank(drive: DriveIdentity) -> None:
    """Write zeros where signatures lie. Fails where somebody holds the drive."""
    assert stands_on_emulated(drive)
    descriptor = os.open(drive.path, os.O_WRONLY | os.O_EXCL)
    try:
        for place in (0, drive.capacity_bytes - MIB):
            os.pwrite(descriptor, bytes(MIB), place)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def take_away(rule: str, patch: pytest.MonkeyPatch) -> None:
    """Remove a rule from the gate."""
    if rule in _SINGLE:
        patch.setattr(*_SINGLE[rule])
        return
    (table,) = (table for table in _RULES if rule in table)
    patch.delitem(table, rule)


def assert_each_refuses(
    found: DriveIdentity, rules: Mapping[str, str], patch: pytest.MonkeyPatch, signatures: frozenset[str] = frozenset()
) -> None:
    """Each rule alone refuses a drive, with these words; without all of them it is let in."""
    for rule, words in rules.items():
        with patch.context() as alone:
            for other in rules.keys() - {rule}:
                take_away(other, alone)
            with pytest.raises(AssayError, match=words), held(found, signatures=signatures):
                pass
    with patch.context() as without:
        for rule in rules:
            take_away(rule, without)
        with held(found, signatures=signatures) as (opened, *_):
            opened.verify()


@contextmanager
def opened_by_another(path: str, *, writes: bool = True) -> Iterator[int]:
    """A process with a node open; its number. It has the name ``sh``."""
    script = f'exec 3{"<>" if writes else "<"}"$0" && echo open && read _'
    with subprocess.Popen(
        ["/bin/sh", "-c", script, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    ) as process:
        try:
            assert process.stdout
            assert process.stdout.readline() == b"open\n"
            yield process.pid
        finally:
            process.kill()
