"""The gate and file targets: needs neither root nor a device; a refused file is byte for byte as before."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import struct
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import pytest
from assay.dut.real.gate import (
    OpenDrive,
    claim,
    confirm,
    examined,
    facts,
    files,
    levels,
    open_drive,
    refusals,
    users,
)
from assay.dut.real.identity import identify
from assay.errors import (
    AssayError,
    ConfirmationError,
    DriveBusyError,
    IdentityError,
    NotADriveError,
    ReadOnlyError,
    SignatureError,
    TooSmallError,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from assay.engine.records import DriveIdentity

SIZE_BYTES = 1 << 20


@pytest.fixture
def target(tmp_path: Path) -> DriveIdentity:
    path = tmp_path / "target.img"
    with path.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, SIZE_BYTES)
    return identify(str(path), file_target=True)


UNSEEN = ("unseen-processes", "unknown-backing")


def try_open(
    drive: DriveIdentity, *, confirmation: str | None = "", needed_bytes: int = 0, shown: str | None = None
) -> OpenDrive:
    return open_drive(
        drive,
        confirmation=drive.id if confirmation == "" else confirmation,
        acknowledged_signatures=frozenset(),
        needed_bytes=needed_bytes,
        # The test's own process reads some of them, and a user without root does not see every process and loop.
        acknowledged=frozenset({f"reader:{Path('/proc/self/comm').read_text('utf-8').strip()}", *UNSEEN}),
        shown_file_id=shown,
    )


def refused(drive: DriveIdentity, error: type[AssayError], text: str, **options: object) -> None:
    before = checksum(drive.path)
    with pytest.raises(error, match=text):
        try_open(drive, **options)  # type: ignore[arg-type]
    assert checksum(drive.path) == before


def checksum(path: str) -> str:
    with open(path, "rb") as file:  # noqa: PTH123 - a path as text
        return hashlib.file_digest(file, "sha256").hexdigest()


def identity_of(path: str) -> str:
    status = os.stat(path)  # noqa: PTH116 - a path as text
    return f"{os.major(status.st_dev)}:{os.minor(status.st_dev)}:{status.st_ino}"


def raising(number: int) -> Callable[..., NoReturn]:
    def fail(*_: object) -> NoReturn:
        raise OSError(number, os.strerror(number))

    return fail


def test_opens_an_allocated_file_confirmed_by_its_real_path(target: DriveIdentity) -> None:
    assert refusals(target) == ()
    with try_open(target, needed_bytes=SIZE_BYTES) as held:
        held.verify()
        assert os.pread(held.fd, 0, 0) == b""
    assert held.fd == -1


@pytest.mark.parametrize("answer", [None, "y", "YES", "target.img"])
def test_refuses_a_file_that_was_not_confirmed(target: DriveIdentity, answer: str | None) -> None:
    refused(target, ConfirmationError, f"--yes-destroy {target.path}", confirmation=answer)


def test_refuses_a_sparse_file_and_says_how_to_allocate_it(tmp_path: Path) -> None:
    path = tmp_path / "sparse.img"
    path.write_bytes(bytes(4096))
    os.truncate(path, SIZE_BYTES)
    refused(identify(str(path), file_target=True), NotADriveError, "sparse.*fallocate")


def test_refuses_a_file_that_is_too_small(target: DriveIdentity) -> None:
    refused(target, TooSmallError, r"0\.001048576 GB, 0\.001048577 GB", needed_bytes=SIZE_BYTES + 1)


def test_refuses_a_file_with_a_signature(target: DriveIdentity) -> None:
    with open(target.path, "r+b") as file:  # noqa: PTH123 - a path as text
        file.seek(4086)
        file.write(b"SWAPSPACE2")
        file.seek(1024)
        file.write((1).to_bytes(4, "little") + (255).to_bytes(4, "little"))
    refused(target, SignatureError, "--destroy-signature swap")


def test_refuses_a_file_that_another_run_holds(target: DriveIdentity) -> None:
    with try_open(target):
        refused(target, DriveBusyError, rf"open for writing by process {os.getpid()} \(")


@pytest.mark.parametrize("kind", [fcntl.LOCK_SH, fcntl.LOCK_EX])
def test_refuses_a_file_that_somebody_has_locked(target: DriveIdentity, kind: int) -> None:
    with open(target.path, "rb") as file:  # noqa: PTH123 - a path as text
        fcntl.flock(file, kind)
        refused(target, DriveBusyError, "locked by another process")


def test_a_held_file_cannot_be_locked_by_ranges(target: DriveIdentity) -> None:
    with try_open(target), open(target.path, "rb") as file:  # noqa: PTH123
        wish = struct.pack("hhqqi0q", fcntl.F_RDLCK, os.SEEK_SET, 100, 1, 0)
        with pytest.raises(BlockingIOError):
            fcntl.fcntl(file, fcntl.F_OFD_SETLK, wish)


@pytest.mark.parametrize("number", [errno.EINVAL, errno.EOPNOTSUPP])
def test_a_file_system_without_locks_is_no_user(
    target: DriveIdentity, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    monkeypatch.setattr(fcntl, "flock", raising(number))
    try_open(target).close()


def test_refuses_where_a_lock_server_does_not_answer(target: DriveIdentity, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fcntl, "flock", raising(errno.ENOLCK))
    refused(target, DriveBusyError, "cannot be locked")


def test_refuses_a_file_that_is_swapped_to(target: DriveIdentity, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.dut.real.gate.mounts.swap_paths", lambda: [target.path])
    refused(target, DriveBusyError, "swap on")


def test_refuses_a_file_that_cannot_be_written(target: DriveIdentity, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.access", lambda *_: False)
    refused(target, ReadOnlyError, "read-only")


def test_refuses_a_file_that_was_replaced(target: DriveIdentity, tmp_path: Path) -> None:
    assert target.file_id == identity_of(target.path)
    held = try_open(target)
    os.rename(target.path, tmp_path / "moved.img")  # noqa: PTH104 - a path as text
    with held, pytest.raises(IdentityError, match="replaced"):
        held.verify()


def test_refuses_a_file_that_took_the_place_of_the_one_that_was_shown(target: DriveIdentity, tmp_path: Path) -> None:
    os.rename(target.path, tmp_path / "moved.img")  # noqa: PTH104
    with open(target.path, "wb") as file:  # noqa: PTH123
        os.posix_fallocate(file.fileno(), 0, SIZE_BYTES)
    refused(target, IdentityError, "replaced since it was named")
    # The same path was typed; what was shown with it is another file.
    refused(identify(target.path, file_target=True), IdentityError, "after it was shown", shown=target.file_id)


@pytest.mark.parametrize("place", ["/etc/fstab", "/usr/lib/os-release", "/var/lib/dpkg/status", "/boot/vmlinuz"])
def test_a_file_of_the_system_is_refused_wherever_it_is_said_to_be(target: DriveIdentity, place: str) -> None:
    level = levels.FileLevel(file=levels.File(Path(place), 1, 1))
    (reason,) = files.of_places(level)
    assert reason.startswith("belongs to the system: it lies in /")
    assert files.of_places(levels.FileLevel(file=levels.File(Path("/dev/shm/x"), 1, 1))) == []  # noqa: S108
    assert files.of_places(levels.FileLevel(file=levels.File(Path(target.path), 1, 1))) == []


def test_a_mount_point_that_could_steer_a_terminal_is_shown_with_its_escapes(
    target: DriveIdentity, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(users.FILE_USERS, "file-swap", lambda _: ["swap on /x\x1b[31m/größe"])
    assert refusals(target) == ("swap on /x\\x1b[31m/größe",)
    with pytest.raises(DriveBusyError) as caught:
        try_open(target)
    assert str(caught.value).isprintable()


def test_refuses_a_file_whose_size_changed(target: DriveIdentity) -> None:
    refused(replace(target, capacity_bytes=SIZE_BYTES * 2), IdentityError, "size changed")


@pytest.mark.parametrize(
    ("number", "error", "text"),
    [
        (errno.EINVAL, NotADriveError, "refuses uncached"),
        (errno.EROFS, ReadOnlyError, "cannot be written"),
        (errno.EPERM, ReadOnlyError, "cannot be written"),
        (errno.ENXIO, IdentityError, "is gone"),
        (errno.EBUSY, DriveBusyError, "cannot be claimed"),
    ],
)
def test_every_way_to_fail_at_opening_has_its_error(
    target: DriveIdentity, monkeypatch: pytest.MonkeyPatch, number: int, error: type[AssayError], text: str
) -> None:
    monkeypatch.setattr(claim, "_claim", raising(number))
    refused(target, error, text)


@pytest.mark.parametrize("output", [b"no json", b"[]", b'{"signatures": 3}', b'{"signatures": [{}]}'])
def test_refuses_where_the_search_for_signatures_speaks_nonsense(
    target: DriveIdentity, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, output: bytes
) -> None:
    tool = tmp_path / "wipefs"
    tool.write_bytes(b"#!/bin/sh\ncat <<'END'\n" + output + b"\nEND\n")
    tool.chmod(0o700)
    monkeypatch.setattr("assay.dut.real.gate.contents.WIPEFS", str(tool))
    refused(target, IdentityError, "contents are unknown")


def test_a_confirmation_is_quoted_for_the_shell(target: DriveIdentity) -> None:
    with pytest.raises(ConfirmationError) as caught:
        confirm.refuse_unconfirmed(facts.Request(identity=replace(target, id="it's; $(rm)")), -1)
    assert caught.value.remedy.endswith("""--yes-destroy 'it'"'"'s; $(rm)'""")


def test_what_cannot_be_searched_is_listed_with_its_reason(
    target: DriveIdentity, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay.dut.real.gate.contents.WIPEFS", "false")
    expected = "its contents are unknown (wipefs ended with exit code 1)"
    assert examined(target).refusals == (expected,)


def test_a_device_that_the_kernel_does_not_know_is_refused(target: DriveIdentity) -> None:
    assert refusals(replace(target, kind="block")) == ("the kernel does not know this device",)


def test_a_drive_that_may_not_be_opened_is_no_drive_in_use(
    target: DriveIdentity, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> NoReturn:
        raise PermissionError(errno.EACCES, "no")

    monkeypatch.setattr(claim, "_claim", fail)
    assert claim.claimed(target.path) == ()


def test_a_node_that_vanishes_is_told_as_it_is() -> None:
    assert claim.claimed("/nonexistent/assay") == ("busy: no such file or directory",)
