"""Text of biosnoop, of bcc and of libbpf-tools: a line for each I/O, with its time of completion and its latency.

Source: ``tools/biosnoop.py`` of bcc and ``libbpf-tools/biosnoop.c``; kernel ``blk_fill_rwbs`` for the letters of T.
Commands are of any letters, blanks among them, so that the columns behind COMM are counted from the end of a line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from assay.workloads.traces.records import BYTES_MAX, FLUSH, READ, TRIM, WRITE
from assay.workloads.traces.text import OneDevice, fault, line_batches, shown

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from assay.workloads.traces.records import Batch

_HEAD = re.compile(rb"\s*TIME\(s\)\s+COMM\s.*\bSECTOR\s+BYTES\b")
_NUMBER = re.compile(rb"(\d{1,10})(?:\.(\d{1,9}))?")
_KINDS = {b"R": READ, b"W": WRITE, b"D": TRIM, b"E": TRIM}
_SECTOR_BYTES = 512
_SECOND_NS, _MILLISECOND_NS = 10**9, 10**6


@dataclass(slots=True)
class _State:
    """What earlier lines said. heads : names of the columns."""

    path: Path
    device: OneDevice
    heads: list[bytes] = field(default_factory=list)
    rows: list[tuple[int, int, int, int]] = field(default_factory=list)


def is_biosnoop(head: bytes) -> bool:
    """Whether a file begins with the heads of biosnoop."""
    return _HEAD.match(head.lstrip().split(b"\n", 1)[0]) is not None


def biosnoop_batches(path: Path, device: str | None) -> Iterator[Batch]:
    """The I/Os of a file, issued at their completion less their latency.

    device : the only disk to take; None where the file is of one. Raises UsageError with the line that is wrong.
    """
    state = _State(path, OneDevice(path, None if device is None else device.encode()))
    return line_batches(path, state.rows, partial(_line, state))


def _line(state: _State, number: int, fields: list[bytes]) -> None:
    if not state.heads:
        state.heads = fields
        return
    if len(fields) < len(state.heads):
        reason = f"has {len(fields)} columns, and its head {len(state.heads)}"
        raise fault(state.path, number, reason, "keep whole lines of biosnoop")
    named = dict(zip(state.heads[2:], fields[2 - len(state.heads) :], strict=True))
    if state.device.takes(number, named[b"DISK"]):
        state.rows.append(_io(state, number, fields[0], named))


def _io(state: _State, number: int, time: bytes, named: dict[bytes, bytes]) -> tuple[int, int, int, int]:
    done_ns = _ns(state, number, time, _SECOND_NS)
    issued_ns = done_ns - _ns(state, number, named.get(b"LAT(ms)", b"0"), _MILLISECOND_NS)
    length = _whole(state, number, named[b"BYTES"])
    if not length:
        # A flush is of no place; the kernel writes -1 or 0 there.
        return issued_ns, FLUSH, 0, 0
    letters = named[b"T"]
    # A write may flush before it.
    operation = _KINDS.get(letters.removeprefix(b"F")[:1])
    if operation is None:
        raise fault(state.path, number, f"has the operation {shown(letters)}", "keep lines of R, W, D and F")
    return issued_ns, operation, _whole(state, number, named[b"SECTOR"]) * _SECTOR_BYTES, length


def _ns(state: _State, number: int, text: bytes, unit_ns: int) -> int:
    """A decimal number in ns. Worked: ``0.74`` ms -> 740000."""
    match = _NUMBER.fullmatch(text)
    if match is None:
        raise fault(state.path, number, f"has the time {shown(text)}", "write a number with at most nine decimals")
    return int(match[1]) * unit_ns + int((match[2] or b"").ljust(9, b"0")) * unit_ns // 10**9


def _whole(state: _State, number: int, text: bytes) -> int:
    if not text.isdigit() or int(text) > BYTES_MAX // (2 * _SECTOR_BYTES):
        raise fault(state.path, number, f"has {shown(text)}", "write a whole number that a drive can have")
    return int(text)
