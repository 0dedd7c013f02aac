"""Text traces in blocks of whole lines, and the forms that have a line for each I/O: biosnoop and logs of fio.

Sources: ``tools/biosnoop.py`` of bcc and ``libbpf-tools/biosnoop.c``, kernel ``blk_fill_rwbs`` for the letters of T;
fio 3.42 ``iolog.c``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, NamedTuple

from assay.errors import StoreError, UsageError
from assay.spec.files import open_named
from assay.spec.toml_file import without_mark
from assay.workloads.traces.records import BATCH_ROWS, BYTES_MAX, FLUSH, READ, TRIM, WRITE, Batch, batch_of_lists

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path
    from typing import IO


LINE_BYTES_MAX = 1 << 16
BLOCK_BYTES = 1 << 20
HEADS = {b"fio version 2 iolog": 2, b"fio version 3 iolog": 3}
"""First lines of the logs of fio, with their version."""
_BIOSNOOP_HEAD = re.compile(rb"\s*TIME\(s\)\s+COMM\s.*\bDISK\s.*\bT\s+SECTOR\s+BYTES\b")
_DECIMAL = re.compile(rb"(\d{1,10})(?:\.(\d{1,9}))?")
_BIOSNOOP_KINDS = {b"R": READ, b"W": WRITE, b"D": TRIM, b"E": TRIM}
_SECTOR_BYTES = 512
_SECOND_NS, _MILLISECOND_NS = 10**9, 10**6
_LOG_OPERATIONS = {b"read": READ, b"write": WRITE, b"trim": TRIM, b"sync": FLUSH, b"datasync": FLUSH}
_FILE_ACTIONS = {b"add", b"open", b"close"}
_NUMBER_LENGTH_MAX = 19

Wait = Literal["us_since_previous", "ms_since_start"]


class Block(NamedTuple):
    """Whole lines. line : number of the first, from 1."""

    line: int
    content: bytes

    @property
    def last_line(self) -> int:
        """The number of the last line."""
        return self.line + self.content.count(b"\n") - 1


def opened(path: Path) -> IO[bytes]:
    """Open a trace. Raises StoreError where it cannot be read."""
    try:
        return open_named(path)
    except OSError as error:
        raise StoreError(str(path), error.strerror or "cannot be read", "name a readable trace") from None


def beginning(path: Path, count: int = LINE_BYTES_MAX) -> bytes:
    """The first bytes of a trace. Raises StoreError where it cannot be read."""
    with opened(path) as file:
        return without_mark(_read(path, file, count))


def blocks(path: Path) -> Iterator[Block]:
    """The lines of a file. Raises UsageError for a line of more than 64 KiB, StoreError where it cannot be read."""
    line, rest = 1, b""
    with opened(path) as file:
        while more := _read(path, file, BLOCK_BYTES):
            more = without_mark(more) if line == 1 and not rest else more
            content, newline, rest = (rest + more).rpartition(b"\n")
            if newline:
                yield Block(line, content + newline)
                line += content.count(b"\n") + 1
            if len(rest) > LINE_BYTES_MAX:
                raise fault(
                    path, line, f"is longer than {LINE_BYTES_MAX} bytes", "name a text file with a line per I/O"
                )
    if rest:
        yield Block(line, rest + b"\n")


def fault(path: Path, line: int, reason: str, remedy: str) -> UsageError:
    """A fault of one line."""
    return UsageError(f"{path}:{line}", reason, remedy)


def several_devices(path: Path, line: int | None, names: Iterable[str]) -> UsageError:
    """The fault of a trace of several devices where none is named. names : two of them at least."""
    listed = sorted(names)
    named = " and ".join(shown(name) for name in listed[:2])
    where = str(path) if line is None else f"{path}:{line}"
    remedy = f"choose a device with --device {listed[0]}, or device in the plan"
    return UsageError(where, f"has I/Os of several devices, {named}", remedy)


def shown(field: bytes | str) -> str:
    """A field as errors show it, short and printable."""
    text = field.decode("utf-8", "replace") if isinstance(field, bytes) else field
    return repr(text[:40])


def _read(path: Path, file: IO[bytes], count: int) -> bytes:
    try:
        return file.read(count)
    except OSError as error:
        raise StoreError(str(path), f"cannot be read: {error.strerror}", "check the disk that it lies on") from None


Row = tuple[int, int, int, int]
"""Time, operation, offset and length of an I/O."""


class _LineTrace:
    """A text trace with a line for each I/O while it is read.

    device : the drive or file whose lines are taken; None takes the only one that the trace has. number : of the line.
    rows : I/Os of the batch that is made.
    """

    def __init__(self, path: Path, device: str | None) -> None:
        self.path, self.device = path, None if device is None else device.encode()
        self.seen: bytes | None = None
        self.number = 0
        self.rows: list[Row] = []

    def take(self, fields: list[bytes]) -> None:
        """Add the I/O of a line to ``rows``. Raises UsageError."""
        raise NotImplementedError

    def batches(self) -> Iterator[Batch]:
        """The I/Os of the file as batches. Raises as ``blocks``."""
        for block in blocks(self.path):
            for self.number, raw in enumerate(block.content.split(b"\n")[:-1], block.line):
                if fields := raw.split():
                    self.take(fields)
                if len(self.rows) >= BATCH_ROWS:
                    yield batch_of_lists(self.rows)
                    self.rows.clear()
        if self.rows:
            yield batch_of_lists(self.rows)

    def is_of_device(self, name: bytes) -> bool:
        """Whether a line of this name is taken. Raises UsageError for a second name where none is asked for."""
        if self.device is not None:
            return name == self.device
        if self.seen not in {None, name}:
            names = [each.decode("utf-8", "replace") for each in (name, self.seen or b"")]
            raise several_devices(self.path, self.number, names)
        self.seen = name
        return True

    def fault(self, reason: str, remedy: str) -> UsageError:
        """A fault of the line that is read."""
        return fault(self.path, self.number, reason, remedy)


def is_biosnoop(head: bytes) -> bool:
    """Whether a file begins with the heads of biosnoop."""
    return _BIOSNOOP_HEAD.match(head.lstrip().split(b"\n", 1)[0]) is not None


def biosnoop_batches(path: Path, device: str | None) -> Iterator[Batch]:
    """The I/Os of a file of biosnoop, issued at their completion less their latency.

    device : the only disk to take; None where the file is of one. Raises UsageError with the line that is wrong.
    """
    return _Biosnoop(path, device).batches()


class _Biosnoop(_LineTrace):
    """Commands are of any letters, blanks among them: the columns behind COMM are counted from the end of a line."""

    def __init__(self, path: Path, device: str | None) -> None:
        super().__init__(path, device)
        self.heads: list[bytes] = []

    def take(self, fields: list[bytes]) -> None:
        if not self.heads:
            self.heads = fields
            return
        if len(fields) < len(self.heads):
            reason = f"has {len(fields)} columns, and its head {len(self.heads)}"
            raise self.fault(reason, "keep whole lines of biosnoop")
        named = dict(zip(self.heads[2:], fields[2 - len(self.heads) :], strict=True))
        if self.is_of_device(named[b"DISK"]):
            self.rows.append(self._io(fields[0], named))

    def _io(self, time: bytes, named: dict[bytes, bytes]) -> Row:
        done_ns = self._ns(time, _SECOND_NS)
        issued_ns = done_ns - self._ns(named.get(b"LAT(ms)", b"0"), _MILLISECOND_NS)
        length = self._whole(named[b"BYTES"])
        if not length:
            # A flush is of no place; the kernel writes -1 or 0 there.
            return issued_ns, FLUSH, 0, 0
        letters = named[b"T"]
        # A write may flush before it.
        operation = _BIOSNOOP_KINDS.get(letters.removeprefix(b"F")[:1])
        if operation is None:
            raise self.fault(f"has the operation {shown(letters)}", "keep lines of R, W, D and F")
        return issued_ns, operation, self._whole(named[b"SECTOR"]) * _SECTOR_BYTES, length

    def _ns(self, text: bytes, unit_ns: int) -> int:
        """A decimal number in ns. Worked: ``0.74`` ms -> 740000."""
        match = _DECIMAL.fullmatch(text)
        if match is None:
            raise self.fault(f"has the time {shown(text)}", "write a number with at most nine decimals")
        return int(match[1]) * unit_ns + int((match[2] or b"").ljust(9, b"0")) * unit_ns // 10**9

    def _whole(self, text: bytes) -> int:
        if not text.isdigit() or int(text) > BYTES_MAX // (2 * _SECTOR_BYTES):
            raise self.fault(f"has {shown(text)}", "write a whole number that a drive can have")
        return int(text)


def iolog_batches(path: Path, version: int, wait: Wait | None, device: str | None = None) -> Iterator[Batch]:
    """The I/Os of a log of fio, as they stand there.

    wait : how the waits of version 2 count; fio's manual says microseconds since the one before, its code compares
    milliseconds with the time since its start. device : the only file to take; None where all are of one.
    Raises UsageError with the line that is wrong.
    """
    return _Log(path, device, version, wait).batches()


class _Log(_LineTrace):
    """time_ns : of the next I/O of version 2."""

    def __init__(self, path: Path, device: str | None, version: int, wait: Wait | None) -> None:
        super().__init__(path, device)
        self.version, self.wait, self.time_ns = version, wait, 0

    def take(self, fields: list[bytes]) -> None:
        if self.number == 1:
            # The head.
            return
        if self.version == 3:  # noqa: PLR2004 - with the time first
            self.time_ns = self._number(fields[0], "a time in microseconds", BYTES_MAX // 1000) * 1000
            fields = fields[1:]
        if len(fields) == 2 and fields[1] in _FILE_ACTIONS:  # noqa: PLR2004 - name and action
            self.is_of_device(fields[0])
        elif len(fields) != 4:  # noqa: PLR2004 - name, action, offset, length
            raise self.fault("is no line of such a log", "write FILE ACTION, or FILE ACTION OFFSET LENGTH")
        elif fields[1] == b"wait":
            self._pass(self._number(fields[2], "a time", BYTES_MAX))
        else:
            self._add(fields)

    def _add(self, fields: list[bytes]) -> None:
        operation = _LOG_OPERATIONS.get(fields[1])
        if operation is None:
            expected = b", ".join([*_LOG_OPERATIONS, *_FILE_ACTIONS, b"wait"]).decode()
            raise self.fault(f"has the action {shown(fields[1])}", f"choose from {expected}")
        if not self.is_of_device(fields[0]):
            return
        offset = length = 0
        # A flush is of no place, whatever stands there.
        if operation != FLUSH:
            offset = self._number(fields[2], "an offset in bytes", BYTES_MAX)
            length = self._number(fields[3], "a length in bytes", BYTES_MAX - offset)
        self.rows.append((self.time_ns, operation, offset, length))

    def _pass(self, wait: int) -> None:
        """Let the time of a wait pass. Raises UsageError where it is not known what it counts."""
        if self.version == 3:  # noqa: PLR2004 - it has times
            raise self.fault("waits, and lines of version 3 have times", "remove it")
        if self.wait is None:
            reason = "waits, and fio's manual and its code count that in different ways"
            raise self.fault(reason, "name it: --wait us_since_previous or --wait ms_since_start")
        if wait > BYTES_MAX // 10**6:
            raise self.fault(f"waits for {wait}", "write a time that can pass")
        if self.wait == "us_since_previous":
            self.time_ns += wait * 1000
        else:
            self.time_ns = max(self.time_ns, wait * 1_000_000)
        if self.time_ns > BYTES_MAX:
            raise self.fault("waits beyond what times can count", "write a time that can pass")

    def _number(self, text: bytes, expected: str, high: int) -> int:
        if not text.isdigit() or len(text) > _NUMBER_LENGTH_MAX or int(text) > high:
            raise self.fault(f"has {shown(text)}", f"write {expected}, at most {high}")
        return int(text)
