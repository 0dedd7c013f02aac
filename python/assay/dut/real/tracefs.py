"""Watching the requests that a block device receives, in a tracing instance made for it.

An instance has its own buffer and its own events, so nobody else's tracing is changed; it is removed at the end.
"""

from __future__ import annotations

import os
import re
import secrets
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from assay.spec.units import SECOND_NS

if TYPE_CHECKING:
    from collections.abc import Iterator

PLACES = (Path("/sys/kernel/tracing"), Path("/sys/kernel/debug/tracing"))
SECTOR_BYTES = 512
_EVENT = "events/block/block_rq_issue"
_BUFFER_KIB = "4096"
_MINOR_BITS = 20
_ISSUE = re.compile(r"\s(\d+)\.(\d+): block_rq_issue: \d+,\d+ (\S+) (\d+) \(.*?\) (\d+) \+ (\d+) ")
_MICRO_DIGITS = 6


class TraceUnavailableError(Exception):
    """Requests cannot be watched here; its text says why and what would help."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockRequest:
    """One request as the driver of the device got it.

    at_ns : monotonic clock, whole microseconds. start_bytes : place on the whole disk. length_bytes : 0 for a flush.
    kind : the kernel's letters: ``R`` read, ``W`` write, ``F`` flush, ``A`` read-ahead, ``M`` metadata.
    """

    at_ns: int
    kind: str
    start_bytes: int
    length_bytes: int

    @property
    def write(self) -> bool:
        """Whether it writes data."""
        return "W" in self.kind and self.length_bytes > 0

    @property
    def read(self) -> bool:
        """Whether it reads data."""
        return "R" in self.kind and self.length_bytes > 0


class BlockTrace:
    """The requests to one device since the trace began."""

    def __init__(self, instance: Path) -> None:
        self._instance = instance

    def requests(self) -> tuple[BlockRequest, ...]:
        """All requests so far, in order of time."""
        lines = (self._instance / "trace").read_text("ascii", "replace").splitlines()
        return tuple(sorted((one for line in lines if (one := parse_request(line))), key=lambda line: line.at_ns))

    def clear(self) -> None:
        """Forget them."""
        (self._instance / "trace").write_text("", "ascii")


def parse_request(line: str) -> BlockRequest | None:
    """Read one line of a trace, None where it is no issued request.

    Worked: ``... 12.000034: block_rq_issue: 7,0 WS 4096 () 2048 + 8 none,0,0 [a]`` -> 12000034000 ns, place 1 MiB.
    """
    result = _ISSUE.search(line)
    if result is None:
        return None
    seconds, fraction, kind, bytes_, sector, count = result.groups()
    length = int(bytes_) or (int(count) * SECTOR_BYTES if kind.startswith(("R", "W")) else 0)
    at_ns = int(seconds) * SECOND_NS + int(fraction.ljust(_MICRO_DIGITS, "0")) * 1000
    return BlockRequest(at_ns=at_ns, kind=kind, start_bytes=int(sector) * SECTOR_BYTES, length_bytes=length)


@contextmanager
def block_trace(device_number: int, places: tuple[Path, ...] = PLACES) -> Iterator[BlockTrace]:
    """Watch the requests to a whole disk while the block runs.

    device_number : ``st_rdev`` of its node. places : where the kernel's tracing may be mounted.
    Raises TraceUnavailableError without tracing mounted, without the right to it, or without its block events.
    """
    instance = _made(places)
    try:
        try:
            _start(instance, device_number)
        except OSError as error:
            raise TraceUnavailableError(f"block events cannot be watched: {error.strerror}") from None
        yield BlockTrace(instance)
    finally:
        with suppress(OSError):
            (instance / _EVENT / "enable").write_text("0", "ascii")
        with suppress(OSError):
            instance.rmdir()


def _made(places: tuple[Path, ...]) -> Path:
    # Without root even to look is denied, which is_dir would raise.
    mounted = [place for place in places if os.access(place / "instances", os.W_OK)]
    if not mounted:
        reason = "tracing is not mounted: mount -t tracefs tracefs /sys/kernel/tracing"
        raise TraceUnavailableError(reason if os.geteuid() == 0 else "tracing is for root only")
    instance = mounted[0] / "instances" / f"assay-{os.getpid()}-{secrets.token_hex(3)}"
    try:
        instance.mkdir()
    except OSError as error:
        raise TraceUnavailableError(f"{instance.parent}: {error.strerror}") from None
    return instance


def _start(instance: Path, device_number: int) -> None:
    device = os.major(device_number) << _MINOR_BITS | os.minor(device_number)
    (instance / "trace_clock").write_text("mono", "ascii")
    (instance / "buffer_size_kb").write_text(_BUFFER_KIB, "ascii")
    (instance / _EVENT / "filter").write_text(f"dev == {device}", "ascii")
    (instance / _EVENT / "enable").write_text("1", "ascii")
