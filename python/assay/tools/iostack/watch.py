"""I/Os of a program and of the drive at the same time, and what they were."""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from assay.dut.real.direct import aligned_buffer, drop_cache, extents, set_direct
from assay.dut.real.queue import DeviceCounters, device_counters, in_flight
from assay.spec.units import MIB, MILLISECOND_NS

if TYPE_CHECKING:
    import mmap
    from collections.abc import Callable, Sequence

    from assay.dut.real.direct import Extent
    from assay.dut.real.sysfs import Disk
    from assay.dut.real.tracefs import BlockRequest, BlockTrace


@dataclass(frozen=True, slots=True, kw_only=True)
class IssuedIo:
    """One I/O of the application.

    at_ns : monotonic clock. offset_bytes : in the file or device. place_bytes : of its first byte on the device, None
    where that is not known. stream : the thread that issued it.
    """

    at_ns: int
    write: bool
    offset_bytes: int
    length_bytes: int
    place_bytes: int | None
    stream: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class StackPhase:
    """A part of an example with its own counts.

    name : of the part. issued : reads and writes of the application. other_count : its other calls, such as files
    created. began_ns : monotonic clock. counted : by the kernel meanwhile. requests : one by one, None where they could
    not be watched.
    """

    name: str
    issued: tuple[IssuedIo, ...]
    other_count: int
    began_ns: int
    counted: DeviceCounters
    requests: tuple[BlockRequest, ...] | None

    @property
    def issued_bytes(self) -> int:
        """Bytes that the application read and wrote."""
        return sum(one.length_bytes for one in self.issued)


@dataclass(frozen=True, slots=True, kw_only=True)
class StackExample:
    """One example. shown : whether what it stands for was seen here, None where that is unknown.

    reason : why it could not be run, or not be judged; else empty.
    facts : figures of its own, such as the pieces of a file.
    """

    name: str
    phases: tuple[StackPhase, ...]
    shown: bool | None
    reason: str = ""
    facts: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StackTrace:
    """All examples on one target.

    target : folder or drive. device : the kernel's name of the disk or partition. file_system : its type, empty for a
    raw drive. settings : of the device's queue. untraced : why requests could not be watched, else empty.
    background : what the device completed in ``background_ns`` while nothing was issued.
    """

    target: str
    device: str
    file_system: str
    settings: dict[str, str]
    untraced: str
    background: DeviceCounters
    background_ns: int
    started_wall_ns: int
    tool: str
    examples: tuple[StackExample, ...]


def in_order_share(requests: Sequence[BlockRequest]) -> float | None:
    """Share of requests that begin where the one before ended; None below two. Worked: at 0, 9, 1, 10, 11 -> 0.25."""
    if len(requests) < 2:  # noqa: PLR2004 - an order needs two
        return None
    joined = sum(one.start_bytes + one.length_bytes == after.start_bytes for one, after in pairwise(requests))
    return joined / (len(requests) - 1)


AREA_BYTES = 16 * MIB
"""Every example but those of a file system's own keeps to one piece of so many bytes."""

SETTLE_NS = 50 * MILLISECOND_NS
"""After a phase: read-ahead still under way comes in, write-behind does not yet go out."""
_DRAIN_NS_MAX = 2000 * MILLISECOND_NS


@dataclass(frozen=True, slots=True)
class Area:
    """An open file, or the beginning of a drive. Its first ``AREA_BYTES`` hold data and are free to be overwritten."""

    fd: int
    places: tuple[Extent, ...] | None = None

    def place(self, offset_bytes: int) -> int | None:
        """Where a byte lies on the disk or partition."""
        for one in self.places or ():
            if one.file_bytes <= offset_bytes < one.file_bytes + one.length_bytes:
                return one.device_bytes + offset_bytes - one.file_bytes
        return None

    def holds(self, device_bytes: int) -> bool:
        """Whether a byte of the disk or partition belongs to it."""
        return any(0 <= device_bytes - one.device_bytes < one.length_bytes for one in self.places or ())

    def located(self) -> Area:
        """The area with its addresses as they are now."""
        return replace(self, places=extents(self.fd))

    def fresh(self, *, direct: bool) -> None:
        """Forget what is cached of it, and go by the page cache or past it."""
        drop_cache(self.fd)
        set_direct(self.fd, direct=direct)


@dataclass
class Application:
    """Issues I/Os and writes down each one before it is made. stream : number of the thread."""

    issued: list[IssuedIo] = field(default_factory=list)
    other_count: int = 0
    stream: int = 0

    def read(self, area: Area, offset_bytes: int, length_bytes: int) -> None:
        """Read a piece. Raises OSError where it comes short."""
        buffer = _buffer(length_bytes)
        self._note(area, offset_bytes, length_bytes, write=False)
        self._whole(os.preadv(area.fd, [buffer], offset_bytes), length_bytes)

    def write(self, area: Area, offset_bytes: int, length_bytes: int) -> None:
        """Write a piece of what is no zeros. Raises OSError where it comes short."""
        buffer = _buffer(length_bytes)
        buffer[:8] = os.urandom(8)
        self._note(area, offset_bytes, length_bytes, write=True)
        self._whole(os.pwritev(area.fd, [buffer], offset_bytes), length_bytes)

    def _note(self, area: Area, offset_bytes: int, length_bytes: int, *, write: bool) -> None:
        one = IssuedIo(
            at_ns=time.monotonic_ns(),
            write=write,
            offset_bytes=offset_bytes,
            length_bytes=length_bytes,
            place_bytes=area.place(offset_bytes),
            stream=self.stream,
        )
        self.issued.append(one)

    @staticmethod
    def _whole(done: int, asked: int) -> None:
        if done != asked:
            raise OSError(5, f"{done} of {asked} bytes were moved")


_LOCAL = threading.local()


def _buffer(length_bytes: int) -> mmap.mmap:
    """The buffer of this thread and length, filled once: making it anew would cost more than the I/O."""
    kept: dict[int, mmap.mmap] = _LOCAL.__dict__.setdefault("buffers", {})
    if length_bytes not in kept:
        kept[length_bytes] = aligned_buffer(length_bytes)
        kept[length_bytes][:] = os.urandom(length_bytes)
    return kept[length_bytes]


@dataclass(frozen=True, slots=True)
class Watch:
    """Both ends of the stack. disk : whose counters are read. base_bytes, span_bytes : its part of the whole disk."""

    disk: Disk
    trace: BlockTrace | None
    base_bytes: int
    span_bytes: int

    def phase(self, name: str, act: Callable[[Application], None]) -> StackPhase:
        """Let an application act, wait for what it set in motion, and say what came of it."""
        application = Application()
        if self.trace:
            self.trace.clear()
        before, began = device_counters(self.disk), time.monotonic_ns()
        act(application)
        self._settle()
        counted = device_counters(self.disk).since(before)
        return StackPhase(
            name=name,
            issued=tuple(sorted(application.issued, key=lambda one: one.at_ns)),
            other_count=application.other_count,
            began_ns=began,
            counted=counted,
            requests=self._requests(self.trace) if self.trace else None,
        )

    def _settle(self) -> None:
        """Wait for what an application set in motion; a slow host takes longer over what is read ahead."""
        time.sleep(SETTLE_NS / 1e9)
        until_ns = time.monotonic_ns() + _DRAIN_NS_MAX
        while in_flight(self.disk) and time.monotonic_ns() < until_ns:
            time.sleep(SETTLE_NS / 1e9)

    def idle(self, span_ns: int) -> DeviceCounters:
        """I/Os that the device completes while nothing is issued."""
        before = device_counters(self.disk)
        time.sleep(span_ns / 1e9)
        return device_counters(self.disk).since(before)

    def _requests(self, trace: BlockTrace) -> tuple[BlockRequest, ...]:
        """Requests of the partition with addresses on it; a flush has none and belongs to all."""
        requests = trace.requests()
        inside = range(self.base_bytes, self.base_bytes + self.span_bytes)
        return tuple(
            replace(request, start_bytes=request.start_bytes - self.base_bytes) if request.length_bytes else request
            for request in requests
            if not request.length_bytes or request.start_bytes in inside
        )
