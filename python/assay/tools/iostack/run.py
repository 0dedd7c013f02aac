"""Runs the examples on a folder or on a raw drive."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from assay.dut.real.direct import Extent, create_file, set_direct
from assay.dut.real.gate import examined, open_drive
from assay.dut.real.gate.mounts import mount_of
from assay.dut.real.identity import identify
from assay.dut.real.sysfs import Disk, disk_at, disk_of
from assay.dut.real.tracefs import SECTOR_BYTES, TraceUnavailableError, block_trace
from assay.dut.simulated.model import is_simulated
from assay.errors import DeviceFailureError, NotADriveError, StoreError, UsageError
from assay.spec.units import KIB, MIB, MILLISECOND_NS
from assay.tools.iostack.examples import EXAMPLES, Ground
from assay.tools.iostack.watch import AREA_BYTES, Application, Area, StackExample, StackTrace, Watch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from assay.dut.real.tracefs import BlockTrace

NEEDED_BYTES = 64 * MIB
BACKGROUND_NS = 200 * MILLISECOND_NS
_SETTINGS = ("scheduler", "nomerges", "read_ahead_kb", "max_sectors_kb", "max_segments", "iostats", "rotational")


def trace_folder(path: Path, *, tool: str, show: Callable[[StackExample], None] = lambda _: None) -> StackTrace:
    """Run all examples in files of their own on the file system of a folder; they are removed at the end.

    path : a folder that can be written, or a file, whose folder is then meant and which is not touched.
    tool : name and version of this sequence. show : called with each example as it ends.
    Raises UsageError where it is no folder or cannot be written, NotADriveError where no block device holds it,
    StoreError where less than 64 MiB are free.
    """
    folder = _folder(path)
    disk = disk_of(folder.stat().st_dev)
    mount = mount_of(folder)
    file_system = mount.kind if mount else ""
    if disk is None or not (disk.folder / "stat").exists():
        kind = file_system or "a file system"
        raise NotADriveError(str(path), f"is on {kind}, which is not on a single block device", "name another folder")
    if shutil.disk_usage(folder).free < NEEDED_BYTES:
        reason = f"has less than {NEEDED_BYTES // MIB} MiB free"
        raise StoreError(str(folder), reason, "free some space or name another folder")
    with ExitStack() as stack:
        own = Path(stack.enter_context(_own_folder(folder)))
        fd = create_file(own / "area")
        stack.callback(os.close, fd)
        return _traced(str(folder), disk, file_system, Area(fd), own, tool=tool, show=show)


def trace_drive(
    path: str,
    *,
    confirmation: str | None,
    signatures: frozenset[str] = frozenset(),
    acknowledged: frozenset[str] = frozenset(),
    tool: str,
    show: Callable[[StackExample], None] = lambda _: None,
) -> StackTrace:
    """Run the examples that need no files on the first 16 MiB of a raw drive, whose data is lost.

    confirmation : the drive's identity. signatures : types that may be destroyed. acknowledged : words of doubts.
    tool, show : as for a folder.
    Raises UsageError for what is no block device, GateRefusedError and its kinds, DeviceFailureError.
    """
    disk = None if is_simulated(path) else disk_at(path)
    if disk is None:
        raise UsageError(
            path, "has no stack of the kernel above it", "name a block device, or a folder without --drive"
        )
    drive = examined(identify(path, file_target=False), signatures, words=acknowledged)
    with open_drive(
        drive,
        confirmation=confirmation,
        acknowledged_signatures=signatures,
        acknowledged=acknowledged,
        needed_bytes=AREA_BYTES,
    ) as held:
        try:
            return _traced(drive.id, disk, "", Area(held.fd), None, tool=tool, show=show)
        except OSError as error:
            reason = f"failed an I/O: {error.strerror}"
            raise DeviceFailureError(path, reason, "look at the kernel log") from error
        finally:
            set_direct(held.fd, direct=True)
            held.verify()


def _folder(path: Path) -> Path:
    result = path if path.is_dir() else path.parent
    if not path.exists():
        raise UsageError(str(path), "does not exist", "name a folder, or a file in it")
    if not os.access(result, os.W_OK | os.X_OK):
        raise UsageError(str(result), "cannot be written", "name a writable folder")
    return result.resolve()


@contextmanager
def _own_folder(folder: Path) -> Iterator[str]:
    try:
        made = tempfile.mkdtemp(prefix=".assay-trace-", dir=folder)
    except OSError as error:
        raise UsageError(str(folder), f"cannot be written ({error.strerror})", "name another folder") from None
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _traced(
    target: str,
    disk: Disk,
    file_system: str,
    area: Area,
    folder: Path | None,
    *,
    tool: str,
    show: Callable[[StackExample], None],
) -> StackTrace:
    whole, base_bytes = _whole_disk(disk)
    span_bytes = (disk.number("size") or 0) * SECTOR_BYTES
    started = time.time_ns()
    _fill(area)
    filled = (
        Area(area.fd, (Extent(file_bytes=0, device_bytes=0, length_bytes=span_bytes),))
        if folder is None
        else area.located()
    )
    with ExitStack() as stack:
        trace, untraced = _begun(stack, whole)
        watch = Watch(disk, trace, base_bytes, span_bytes)
        background = watch.idle(BACKGROUND_NS)
        used_by_others = background.read_count + background.write_count > 0
        ground = Ground(watch=watch, area=filled, folder=folder, limit_bytes=_limit_bytes(whole))
        examples = []
        for name, example in EXAMPLES:
            result = _tried(name, example, ground)
            examples.append(result if not used_by_others else _unsure(result, watched=trace is not None))
            show(examples[-1])
    return StackTrace(
        target=target,
        device=disk.name,
        file_system=file_system,
        settings={name: text for name in _SETTINGS if (text := whole.text(f"queue/{name}")) is not None},
        untraced=untraced,
        background=background,
        background_ns=BACKGROUND_NS,
        started_wall_ns=started,
        tool=tool,
        examples=tuple(examples),
    )


def _tried(name: str, example: Callable[[Ground], StackExample], ground: Ground) -> StackExample:
    """A file system that cannot do what one example needs still shows the others."""
    try:
        return example(ground)
    except OSError as error:
        if ground.folder is None:
            raise
        return StackExample(name=name, phases=(), shown=None, reason=f"not possible here: {error.strerror}")


def _unsure(example: StackExample, *, watched: bool) -> StackExample:
    """Counters tell nothing of an example where others use the device, requests do; those of metadata have no place."""
    if not example.phases or (watched and example.name != "metadata"):
        return example
    return replace(example, shown=None, reason="others use the device, too")


def _begun(stack: ExitStack, whole: Disk) -> tuple[BlockTrace | None, str]:
    """Watch the requests, or say why they cannot be watched."""
    major, _, minor = (whole.number_text or "").partition(":")
    try:
        return stack.enter_context(block_trace(os.makedev(int(major), int(minor)))), ""
    except TraceUnavailableError as error:
        return None, str(error)


def _whole_disk(disk: Disk) -> tuple[Disk, int]:
    """The disk that a partition is part of, and where it begins on it."""
    if not (disk.folder / "partition").exists():
        return disk, 0
    parent = disk.folder.parent
    return Disk(parent.name, parent), (disk.number("start") or 0) * SECTOR_BYTES


def _fill(area: Area) -> None:
    filler = Application()
    for nth in range(AREA_BYTES // MIB):
        filler.write(area, nth * MIB, MIB)
    os.fsync(area.fd)


def _limit_bytes(whole: Disk) -> int | None:
    limit_kib = whole.number("queue/max_sectors_kb")
    return limit_kib * KIB if limit_kib else None
