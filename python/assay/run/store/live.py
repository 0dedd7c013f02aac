"""``live.bin``: what a run does now, in a file of fixed size that is written and read at the same time.

It is binary because slots are overwritten in place: a text would need padding and a checksum as well, and is larger.
A slot is written at once and ends with a CRC-32: a reader drops a slot that is half written, and nobody waits.

::

    header | 3,600 lines of a second | 2,880 lines of a minute
"""

from __future__ import annotations

import os
import struct
import zlib
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, Any, NamedTuple

from assay.engine.records import DIRECTIONS
from assay.run.store import LIVE
from assay.spec.files import open_inside, write_inside
from assay.spec.units import SECOND_NS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from assay.engine.live import LiveSecond

SECOND_SLOTS, MINUTE_SLOTS = 3600, 2880
MINUTE_NS = 60 * SECOND_NS
SLOT_BYTES = 152
FILE_BYTES = SLOT_BYTES * (1 + SECOND_SLOTS + MINUTE_SLOTS)
_SLOT = struct.Struct("<3Q6I12Q")
_CRC = struct.Struct("<I")
_HEADER = struct.Struct("<8sIIIIQ")
_MAGIC, _VERSION = b"ASSAYLIV", 1
_U64_MAX = (1 << 64) - 1


class SecondKey(NamedTuple):
    """A second of the run: number of the sequence, from 1, as in names of tables; index of the step; second of it."""

    sequence: int
    step: int
    second: int


class LiveSums(NamedTuple):
    """Completions of one direction: I/Os, bytes, sum and maximum of their response times."""

    io_count: int = 0
    transfer_bytes: int = 0
    latency_ns_sum: int = 0
    latency_ns_max: int = 0

    def plus(self, other: LiveSums) -> LiveSums:
        """Both together. Worked: maxima of 300 and 200 ns -> 300 ns."""
        return LiveSums(
            self.io_count + other.io_count,
            self.transfer_bytes + other.transfer_bytes,
            self.latency_ns_sum + other.latency_ns_sum,
            max(self.latency_ns_max, other.latency_ns_max),
        )


@dataclass(frozen=True, slots=True)
class LiveLine:
    """One line: the sum over every second from ``first`` to ``last``, in the order in which they ran.

    number : from 1. wall_ns : when it was written. covered_ns : device time of its seconds.
    read, write, other : over all steps that ran side by side.
    """

    number: int
    wall_ns: int
    covered_ns: int
    first: SecondKey
    last: SecondKey
    read: LiveSums
    write: LiveSums
    other: LiveSums

    @property
    def total(self) -> LiveSums:
        """All directions together."""
        return self.read.plus(self.write).plus(self.other)

    def plus(self, later: LiveLine) -> LiveLine:
        """Both as one line, with the number of this one and the time of the later."""
        return LiveLine(
            self.number,
            later.wall_ns,
            self.covered_ns + later.covered_ns,
            self.first,
            later.last,
            self.read.plus(later.read),
            self.write.plus(later.write),
            self.other.plus(later.other),
        )


def second_line(sequence: int, second: LiveSecond) -> LiveLine:
    """A second as a line without number and time."""
    sums = [
        reduce(LiveSums.plus, (LiveSums(*point[2:]) for point in second.points if point.direction == side), LiveSums())
        for side in range(len(DIRECTIONS))
    ]
    key = SecondKey(sequence, second.step, second.second)
    return LiveLine(0, 0, second.covered_ns, key, key, *sums)


class LiveFile:
    """Writes the lines of one run; must be closed. One thread at a time uses it.

    virtual : the drive's time is not that of the clock: then a line is written at most once a second of ``clock``, and
    covers as many device seconds as passed. clock : wall time in ns.
    """

    def __init__(self, folder: Path, clock: Callable[[], int], *, virtual: bool) -> None:
        """Make the file, empty and of its full size. Raises OSError."""
        self._clock, self._virtual = clock, virtual
        header = _sealed(_HEADER.pack(_MAGIC, _VERSION, SLOT_BYTES, SECOND_SLOTS, MINUTE_SLOTS, clock()))
        write_inside(folder, LIVE, header + bytes(FILE_BYTES - SLOT_BYTES), durable=False)
        self._descriptor = os.open(folder / LIVE, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        self._number, self._minute_number, self._written_ns = 0, 0, 0
        self._line: LiveLine | None = None
        self._minute: LiveLine | None = None

    def add(self, sequence: int, seconds: Iterable[LiveSecond]) -> None:
        """Take seconds that ended, and write the lines that they fill. Raises OSError.

        Worked: of a real drive, a step of 2.5 s gives two lines; its last half second goes to the next line.
        """
        for second in seconds:
            line = second_line(sequence, second)
            self._line = line if self._line is None else self._line.plus(line)
            if not self._virtual and self._line.covered_ns >= SECOND_NS:
                self._write()
        now_ns = self._clock()
        if self._line and self._line.covered_ns >= SECOND_NS and now_ns - self._written_ns >= SECOND_NS:
            self._write()

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._descriptor)

    def _write(self) -> None:
        if self._line is None:
            return
        self._number += 1
        self._written_ns = self._clock()
        line = replace(self._line, number=self._number, wall_ns=self._written_ns)
        self._line = None
        self._put(1 + (line.number - 1) % SECOND_SLOTS, line)
        if self._minute and self._minute.wall_ns // MINUTE_NS != line.wall_ns // MINUTE_NS:
            self._minute_number += 1
            minute = replace(self._minute, number=self._minute_number)
            self._put(1 + SECOND_SLOTS + (minute.number - 1) % MINUTE_SLOTS, minute)
            self._minute = None
        self._minute = line if self._minute is None else self._minute.plus(line)

    def _put(self, slot: int, line: LiveLine) -> None:
        sums = (min(value, _U64_MAX) for side in (line.read, line.write, line.other) for value in side)
        content = _SLOT.pack(line.number, line.wall_ns, line.covered_ns, *line.first, *line.last, *sums)
        os.pwrite(self._descriptor, _sealed(content), slot * SLOT_BYTES)


class LiveReader:
    """Reads what a run writes, also while it is written; opens the file anew each time and holds nothing."""

    def __init__(self, folder: Path) -> None:
        """Of the run in a folder."""
        self._folder = folder
        self._header, self._next = b"", 1

    def lines(self) -> list[LiveLine]:
        """The lines of a second since the last call, oldest first; of the first call the last hour.

        Empty where there is no such file, or none that this version reads.
        """
        try:
            descriptor = open_inside(self._folder, LIVE)
        except OSError:
            return []
        try:
            return self._read(descriptor)
        except OSError:
            return []
        finally:
            os.close(descriptor)

    def _read(self, descriptor: int) -> list[LiveLine]:
        header = os.pread(descriptor, SLOT_BYTES, 0)
        if not _is_header(header):
            return []
        if header != self._header:
            self._header, self._next = header, 1
            return self._begin(descriptor)
        result: list[LiveLine] = []
        while (line := self._line(descriptor, self._next)) and line.number == self._next:
            result.append(line)
            self._next += 1
        # It was overtaken: the writer has come around since the last call.
        return self._begin(descriptor) if line and line.number > self._next else result

    def _line(self, descriptor: int, number: int) -> LiveLine | None:
        slot = 1 + (number - 1) % SECOND_SLOTS
        return unpacked(os.pread(descriptor, SLOT_BYTES, slot * SLOT_BYTES))

    def _begin(self, descriptor: int) -> list[LiveLine]:
        known = [line for line in _ring(descriptor, 1, SECOND_SLOTS) if line.number >= self._next]
        self._next = known[-1].number + 1 if known else self._next
        return known


def minute_lines(folder: Path) -> list[LiveLine]:
    """The lines of a minute, oldest first, at most 48 h; empty where there is no such file."""
    with suppress(OSError):
        descriptor = open_inside(folder, LIVE)
        try:
            if _is_header(os.pread(descriptor, SLOT_BYTES, 0)):
                return _ring(descriptor, 1 + SECOND_SLOTS, MINUTE_SLOTS)
        finally:
            os.close(descriptor)
    return []


def _ring(descriptor: int, first: int, count: int) -> list[LiveLine]:
    """The whole lines of a ring without a gap, up to the newest; those beyond a half-written slot are older."""
    content = os.pread(descriptor, count * SLOT_BYTES, first * SLOT_BYTES)
    parts = (content[at : at + SLOT_BYTES] for at in range(0, len(content), SLOT_BYTES))
    lines = sorted((line for line in map(unpacked, parts) if line), key=lambda line: line.number)
    return [line for line in lines if line.number > lines[-1].number - count]


def _is_header(content: bytes) -> bool:
    known = _HEADER.pack(_MAGIC, _VERSION, SLOT_BYTES, SECOND_SLOTS, MINUTE_SLOTS, 0)[:-8]
    return content.startswith(known) and _is_sealed(content)


def _sealed(content: bytes) -> bytes:
    body = content.ljust(SLOT_BYTES - _CRC.size, b"\0")
    return body + _CRC.pack(zlib.crc32(body))


def _is_sealed(content: bytes) -> bool:
    body, crc = content[: -_CRC.size], content[-_CRC.size :]
    return len(content) == SLOT_BYTES and crc == _CRC.pack(zlib.crc32(body))


def unpacked(content: bytes) -> LiveLine | None:
    """A line from its slot; None of one that is empty, or only half written."""
    if not _is_sealed(content):
        return None
    number, wall_ns, covered_ns, *rest = _SLOT.unpack_from(content)
    if not number:
        return None
    sums = [LiveSums(*rest[at : at + 4]) for at in (6, 10, 14)]
    return LiveLine(number, wall_ns, covered_ns, SecondKey(*rest[:3]), SecondKey(*rest[3:6]), *sums)


def line_facts(line: LiveLine) -> dict[str, Any]:
    """A line as JSON has it; see docs/formats/run-folder.md."""
    values = {name: getattr(line, name) for name in ("number", "wall_ns", "covered_ns")}
    return values | {name: getattr(line, name)._asdict() for name in ("first", "last", *DIRECTIONS)}
