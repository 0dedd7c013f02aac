"""What was seen of I/Os on their way down: what the application issued, what the device received."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.dut.real.queue import DeviceCounters
    from assay.dut.real.tracefs import BlockRequest


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
    """One example. shown : whether what it stands for was seen here, None where that cannot be told.

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
