"""Text traces in blocks of whole lines, with the number of the first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from assay.errors import StoreError, UsageError
from assay.spec.files import open_named
from assay.spec.text_file import without_mark
from assay.workloads.traces.records import BATCH_ROWS, Batch, batch_of_lists

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path
    from typing import IO

LINE_BYTES_MAX = 1 << 16
BLOCK_BYTES = 1 << 20


class Block(NamedTuple):
    """Whole lines. line : number of the first, from 1."""

    line: int
    content: bytes


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


def line_batches(
    path: Path, rows: list[tuple[int, int, int, int]], take: Callable[[int, list[bytes]], None]
) -> Iterator[Batch]:
    """The I/Os of a file as batches. take : adds those of a line, by its number and its fields, to ``rows``.

    Raises as ``blocks``.
    """
    for block in blocks(path):
        for number, raw in enumerate(block.content.split(b"\n")[:-1], block.line):
            if fields := raw.split():
                take(number, fields)
            if len(rows) >= BATCH_ROWS:
                yield batch_of_lists(rows)
                rows.clear()
    if rows:
        yield batch_of_lists(rows)


@dataclass(slots=True)
class OneDevice:
    """The one drive or file whose lines are taken: the one that is asked for, else the only one that the trace has."""

    path: Path
    asked: bytes | None
    seen: bytes | None = None

    def takes(self, number: int, name: bytes) -> bool:
        """Whether a line of this name is taken. Raises UsageError for a second name where none is asked for."""
        if self.asked is not None:
            return name == self.asked
        if self.seen not in {None, name}:
            raise several_devices(
                self.path, number, [one.decode("utf-8", "replace") for one in (name, self.seen or b"")]
            )
        self.seen = name
        return True


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
