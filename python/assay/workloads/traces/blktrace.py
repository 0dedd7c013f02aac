"""Binary traces of blktrace: one file per CPU, or all in one.

Source: Linux ``include/uapi/linux/blktrace_api.h``; version 7 has records of 48 bytes, version 8 of 64, each with
``pdu_len`` bytes behind it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, NamedTuple

from assay.errors import UsageError
from assay.spec.lazy import LazyModule
from assay.workloads.traces.records import BYTES_MAX, FLUSH, READ, TRIM, WRITE, Batch
from assay.workloads.traces.text import opened, several_devices

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray
else:
    np = LazyModule("numpy")

Event = Literal["issue", "queue"]
"""D, what the driver was given after merging and splitting, or Q, what was asked for before."""

_MAGIC = 0x65617400
_FIELDS_7 = [("magic", "u4"), ("sequence", "u4"), ("time_ns", "u8"), ("sector", "u8"), ("bytes", "u4")]
_FIELDS_7 += [("action", "u4"), ("pid", "u4"), ("device", "u4"), ("cpu", "u4"), ("error", "u2"), ("pdu_len", "u2")]
_FIELDS_8 = [*_FIELDS_7[:5], ("pid", "u4"), ("action", "u8"), *_FIELDS_7[7:], ("pad", "V12")]
_LAYOUTS = {7: _FIELDS_7, 8: _FIELDS_8}
_ACTIONS = {"queue": 1, "issue": 7}
_ACTION_MASK = 0xFF
_WRITE_BIT, _FLUSH_BIT, _NOTIFY_BIT, _DISCARD_BIT = (1 << (16 + bit) for bit in (1, 2, 10, 13))
_PASSTHROUGH_BIT = 1 << (16 + 9)
_SECTOR_BYTES = 512
_CPU_FILE = re.compile(r"(.+\.blktrace)\.(\d{1,5})")
_CHUNK_BYTES = 1 << 20
_LOOK_MIN, _LOOK_MAX = 16, 1 << 12


class _Form(NamedTuple):
    """How the records of a file are laid out."""

    version: int
    record: np.dtype[np.void]


def is_blktrace(head: bytes) -> bool:
    """Whether a file begins with a record of blktrace, of any byte order and version."""
    return any(int.from_bytes(head[:4], order) >> 8 == _MAGIC >> 8 for order in ("little", "big"))


def cpu_files(path: Path) -> list[Path]:
    """The files of all CPUs that one of them belongs to, in the order of the CPUs; any other file alone."""
    match = _CPU_FILE.fullmatch(path.name)
    if match is None:
        return [path]
    files = ((_CPU_FILE.fullmatch(file.name), file) for file in path.parent.iterdir())
    return [file for _, file in sorted((int(m[2]), file) for m, file in files if m and m[1] == match[1])]


def blktrace_batches(paths: list[Path], event: Event, device: tuple[int, int] | None) -> Iterator[Batch]:
    """The chosen events of all files, one file after the other.

    device : major and minor number; None where the trace has one. Raises UsageError with the byte that is wrong.
    """
    seen: set[int] = set()
    for path in paths:
        for records in _records(path):
            yield from _batches(path, records, event, device, seen)


def _batches(
    path: Path, records: NDArray[np.void], event: Event, device: tuple[int, int] | None, seen: set[int]
) -> Iterator[Batch]:
    action = records["action"]
    wanted = (action & _ACTION_MASK) == _ACTIONS[event]
    wanted &= (action & (_NOTIFY_BIT | _PASSTHROUGH_BIT)) == 0
    wanted &= (records["bytes"] > 0) | ((action & _FLUSH_BIT) != 0)
    if device is not None:
        wanted &= records["device"] == (device[0] << 20 | device[1])
    records = records[wanted]
    if not len(records):
        return
    seen |= set(np.unique(records["device"]).tolist())
    if len(seen) > 1:
        raise several_devices(path, None, [f"{number >> 20},{number & 0xFFFFF}" for number in sorted(seen)])
    yield _batch(path, records)


def _batch(path: Path, records: NDArray[np.void]) -> Batch:
    action = records["action"]
    size = records["bytes"].astype(np.int64)
    operation = np.where(action & _WRITE_BIT, WRITE, READ).astype(np.uint8)
    operation[(action & _DISCARD_BIT) != 0] = TRIM
    operation[size == 0] = FLUSH
    largest = (BYTES_MAX - (1 << 32)) // _SECTOR_BYTES
    # A flush is of no place; the kernel writes -1 or 0 there.
    sector = np.where(size == 0, 0, records["sector"])
    if (sector > largest).any() or (records["time_ns"] > BYTES_MAX).any():
        raise UsageError(str(path), "has a sector or a time that no drive has", "the file is damaged; trace again")
    return Batch(records["time_ns"].astype(np.int64), operation, sector.astype(np.int64) * _SECTOR_BYTES, size)


def _records(path: Path) -> Iterator[NDArray[np.void]]:
    """All records of a file, some thousand at a time; a record that a chunk cuts waits for the next one."""
    with opened(path) as file:
        rest, at = file.read(4), 0
        if not rest:
            return
        form = _form(path, rest)
        while more := file.read(_CHUNK_BYTES):
            content = rest + more
            records, used = _parsed(path, content, at, form)
            if len(records):
                yield records
            rest = content[used:]
            at += used
    if rest:
        raise UsageError(f"{path} at byte {at}", "ends within a record", "the file is cut short; copy it anew")


def _form(path: Path, head: bytes) -> _Form:
    for order in ("<", ">"):
        magic = int(np.frombuffer(head.ljust(4, b"\0"), f"{order}u4")[0])
        if magic & ~0xFF == _MAGIC:
            version = magic & 0xFF
            if version not in _LAYOUTS:
                raise UsageError(f"{path} at byte 0", f"is of version {version}", "Assay reads versions 7 and 8")
            fields = [(name, kind if kind[0] == "V" else order + kind) for name, kind in _LAYOUTS[version]]
            return _Form(version, np.dtype(fields))
    raise UsageError(f"{path} at byte 0", "begins with no record of blktrace", "name a file that blktrace wrote")


def _parsed(path: Path, content: bytes, at: int, form: _Form) -> tuple[NDArray[np.void], int]:
    """The records that are whole, and how many bytes they take with what is behind each."""
    size, used, look = form.record.itemsize, 0, _LOOK_MAX
    parts: list[NDArray[np.void]] = []
    while (count := min(look, (len(content) - used) // size)) > 0:
        piece = np.frombuffer(content, form.record, count, used)
        last, extra = _until_data(piece)
        _check_magic(path, piece[:last], at + used, form)
        end = used + last * size + extra
        if end > len(content):
            # The last one is not whole.
            parts.append(piece[: last - 1])
            used += (last - 1) * size
            break
        parts.append(piece[:last])
        used = end
        look = min(max(2 * last, _LOOK_MIN), _LOOK_MAX)
    return (np.concatenate(parts) if parts else np.empty(0, form.record)), used


def _until_data(piece: NDArray[np.void]) -> tuple[int, int]:
    """How many records there are up to the first with bytes behind it, and how many bytes."""
    lengths = piece["pdu_len"]
    first = int(np.argmax(lengths != 0))
    return (first + 1, int(lengths[first])) if lengths[first] else (len(piece), 0)


def _check_magic(path: Path, piece: NDArray[np.void], at: int, form: _Form) -> None:
    wrong = piece["magic"] != _MAGIC | form.version
    if wrong.any():
        place = at + int(np.argmax(wrong)) * form.record.itemsize
        raise UsageError(f"{path} at byte {place}", "has no record of blktrace", "the file is damaged; copy it anew")
