"""Logs of I/Os that fio writes, ``fio version 2 iolog`` and ``fio version 3 iolog``.

Source: fio 3.42 ``iolog.c``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Literal

from assay.workloads.traces.records import BYTES_MAX, FLUSH, READ, TRIM, WRITE
from assay.workloads.traces.text import OneDevice, fault, line_batches, shown

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from assay.workloads.traces.records import Batch

Wait = Literal["us_since_previous", "ms_since_start"]

HEADS = {b"fio version 2 iolog": 2, b"fio version 3 iolog": 3}
_OPERATIONS = {b"read": READ, b"write": WRITE, b"trim": TRIM, b"sync": FLUSH, b"datasync": FLUSH}
_FILE_ACTIONS = {b"add", b"open", b"close"}
_NUMBER_LENGTH_MAX = 19


@dataclass(slots=True)
class _State:
    """What earlier lines said. time_ns : of the next I/O of version 2."""

    path: Path
    version: int
    wait: Wait | None
    device: OneDevice
    time_ns: int = 0
    rows: list[tuple[int, int, int, int]] = field(default_factory=list)


def iolog_batches(path: Path, version: int, wait: Wait | None, device: str | None = None) -> Iterator[Batch]:
    """The I/Os of a log, as they stand there.

    wait : how the waits of version 2 count; fio's manual says microseconds since the one before, its code compares
    milliseconds with the time since its start. device : the only file to take; None where all are of one.
    Raises UsageError with the line that is wrong.
    """
    state = _State(path, version, wait, OneDevice(path, None if device is None else device.encode()))
    return line_batches(path, state.rows, partial(_line, state))


def _line(state: _State, number: int, fields: list[bytes]) -> None:
    if number == 1:
        # The head.
        return
    if state.version == 3:  # noqa: PLR2004 - with the time first
        state.time_ns = _number(state, number, fields[0], "a time in microseconds", BYTES_MAX // 1000) * 1000
        fields = fields[1:]
    if len(fields) == 2 and fields[1] in _FILE_ACTIONS:  # noqa: PLR2004 - name and action
        state.device.takes(number, fields[0])
        return
    if len(fields) != 4:  # noqa: PLR2004 - name, action, offset, length
        raise fault(state.path, number, "is no line of such a log", "write FILE ACTION, or FILE ACTION OFFSET LENGTH")
    if fields[1] == b"wait":
        _wait(state, number, _number(state, number, fields[2], "a time", BYTES_MAX))
        return
    _add(state, number, fields)


def _add(state: _State, number: int, fields: list[bytes]) -> None:
    operation = _OPERATIONS.get(fields[1])
    if operation is None:
        expected = b", ".join([*_OPERATIONS, *_FILE_ACTIONS, b"wait"]).decode()
        raise fault(state.path, number, f"has the action {shown(fields[1])}", f"choose from {expected}")
    if not state.device.takes(number, fields[0]):
        return
    offset = length = 0
    # A flush is of no place, whatever stands there.
    if operation != FLUSH:
        offset = _number(state, number, fields[2], "an offset in bytes", BYTES_MAX)
        length = _number(state, number, fields[3], "a length in bytes", BYTES_MAX - offset)
    state.rows.append((state.time_ns, operation, offset, length))


def _wait(state: _State, number: int, value: int) -> None:
    if state.version == 3:  # noqa: PLR2004 - it has times
        raise fault(state.path, number, "waits, and lines of version 3 have times", "remove it")
    if state.wait is None:
        reason = "waits, and fio's manual and its code count that in different ways"
        raise fault(state.path, number, reason, "name it: --wait us_since_previous or --wait ms_since_start")
    if value > BYTES_MAX // 10**6:
        raise fault(state.path, number, f"waits for {value}", "write a time that can pass")
    if state.wait == "us_since_previous":
        state.time_ns += value * 1000
    else:
        state.time_ns = max(state.time_ns, value * 1_000_000)
    if state.time_ns > BYTES_MAX:
        raise fault(state.path, number, "waits beyond what times can count", "write a time that can pass")


def _number(state: _State, line: int, text: bytes, expected: str, high: int) -> int:
    if not text.isdigit() or len(text) > _NUMBER_LENGTH_MAX or int(text) > high:
        raise fault(state.path, line, f"has {shown(text)}", f"write {expected}, at most {high}")
    return int(text)
