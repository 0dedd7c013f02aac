"""What the I/Os of a job look like: direction, sizes with shares, and how random they are."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import gcd
from typing import TYPE_CHECKING, Literal

from pydantic import ValidationError

from assay.spec.model_faults import first_fault
from assay.spec.units import TRANSFER_BYTES_MAX
from assay.spec.workload import LbaGroup, Line
from assay.workloads.fio.job import SIDES
from assay.workloads.fio.values import ValueFaultError, equal_sides, size_bytes, split_shares, time_us, whole

if TYPE_CHECKING:
    from assay.workloads.fio.job import Job

    Side = dict[int, Fraction]

Direction = Literal["read", "write", "trim", "rw"]

_KINDS: dict[str, tuple[Direction, bool]] = {
    "read": ("read", False),
    "write": ("write", False),
    "trim": ("trim", False),
    "rw": ("rw", False),
    "readwrite": ("rw", False),
    "randread": ("read", True),
    "randwrite": ("write", True),
    "randtrim": ("trim", True),
    "randrw": ("rw", True),
}
_SIZE_MIN = 512


@dataclass(frozen=True, slots=True)
class Access:
    """The lines of a stream. sides : sizes and shares in per cent, per direction that the job has."""

    direction: Direction
    random: bool
    random_percent: int
    read_percent: int
    sides: dict[int, Side]
    align_bytes: int

    @property
    def keeps_place(self) -> bool:
        """Whether any I/O follows the one before it."""
        return self.random_percent < 100  # noqa: PLR2004 - per cent


def access_of(job: Job) -> Access:
    """Read the keys that say where a job's I/Os go and how large they are. Raises PlanError for what cannot be done."""
    word = job.text("rw", "read")
    if word not in _KINDS:
        reason = f"is {word[:80]!r}"
        raise job.fault("rw", reason, f"choose from {', '.join(_KINDS)}")
    direction, random = _KINDS[word]
    sides = {side: _sizes(job, side) for side in SIDES[direction]}
    random_percent = _random_percent(job, direction) if random else 0
    access = Access(direction, random, random_percent, _read_percent(job, direction), sides, 0)
    align = _align_bytes(job, access)
    return Access(direction, random, random_percent, access.read_percent, sides, align)


def lines_of(job: Job, access: Access) -> tuple[Line, ...]:
    """The lines of a stream.

    Where reads and writes have sizes of their own, each line reads only or writes only, with its part of the mix.
    """
    delay_ms, burst = _pause(job)
    parts: list[tuple[Fraction, int, float]] = []
    if access.direction == "rw" and access.sides[0] != access.sides[1]:
        for side, part in ((0, access.read_percent), (1, 100 - access.read_percent)):
            result = access.sides[side].items()
            parts += [(share * part / 100, size, 100.0 - 100 * side) for size, share in result if part]
    else:
        side = SIDES[access.direction][0]
        parts = [(share, size, float(access.read_percent)) for size, share in access.sides[side].items()]
    if len(parts) > 1 and burst > 1:
        raise job.fault("thinktime_blocks", "has several sizes between two pauses", "write a single size")
    try:
        return tuple(
            Line(
                percent=float(share),
                size_bytes=size,
                read_percent=read,
                random_percent=float(access.random_percent),
                align_bytes=access.align_bytes,
                burst_io_count=burst,
                delay_ms=delay_ms,
            )
            for share, size, read in parts
        )
    except ValidationError as error:
        raise job.fault("thinktime", f"cannot be used: {first_fault(error)[0]}", "write a shorter pause") from None


def _sizes(job: Job, side: int) -> Side:
    """Sizes and their shares of one direction; bssplit goes before bs."""
    base = job.kb_base
    split: Side = job.get("bssplit", lambda text: split_shares(equal_sides(text)[side], base), {})
    sizes = split or {job.get("bs", lambda text: size_bytes(equal_sides(text)[side], base), 4096): Fraction(100)}
    key = "bssplit" if split else "bs"
    for size in sizes:
        if not _SIZE_MIN <= size <= TRANSFER_BYTES_MAX or size % _SIZE_MIN:
            reason = f"has a size of {size} bytes"
            raise job.fault(key, reason, "write multiples of 512 bytes, at most 64m")
    return sizes


def _read_percent(job: Job, direction: Direction) -> int:
    if direction != "rw":
        return 100 if direction == "read" else 0
    if job.has("rwmixwrite"):
        return 100 - job.whole("rwmixwrite", 50, 0, 100)
    return job.whole("rwmixread", 50, 0, 100)


def _random_percent(job: Job, direction: Direction) -> int:
    def read(text: str) -> int:
        parts = equal_sides(text)
        result = {whole(parts[side], 0, 100) for side in SIDES[direction]}
        if len(result) > 1:
            raise ValueFaultError("differs for reads and writes", "write separate jobs")
        return result.pop()

    return job.get("percentage_random", read, 100)


def lba_groups_of(job: Job) -> tuple[LbaGroup, ...]:
    """The zones of a job; none where it draws its addresses evenly. Raises PlanError for other distributions.

    Worked: ``zoned:60/10:40/90`` -> 60 % of the accesses to the first tenth.
    """
    word, _, zones = job.text("random_distribution", "random").partition(":")
    if word == "random":
        return ()
    if word != "zoned":
        reason = f"is {word[:40]!r}, and a stream draws its addresses evenly, or in zones of stated shares"
        raise job.fault("random_distribution", reason, "remove it, or write it as zoned")
    return tuple(_zone(job, text) for text in zones.split(":"))


def _zone(job: Job, text: str) -> LbaGroup:
    access, _, size = text.partition("/")
    try:
        return LbaGroup(access_percent=whole(access, 1, 100), range_percent=whole(size, 1, 100))
    except ValueFaultError as error:
        raise job.fault("random_distribution", f"has a zone that {error.reason}", "write zoned:60/10:40/90") from None


def _align_bytes(job: Job, access: Access) -> int:
    """The grid of the starts; 0 where all are of one size and keep to it."""
    sizes = {size for side in access.sides.values() for size in side}
    smallest = {min(side) for side in access.sides.values()}
    if access.random and len(sizes) > 1 and not job.flag("norandommap"):
        reason = "is missing, without which fio shortens I/Os of several sizes where they meet blocks it has used"
        raise job.fault("norandommap", reason, "add norandommap")
    if not access.random:
        return 0 if len(sizes) == 1 else gcd(*sizes)
    align = job.get("blockalign", lambda text: size_bytes(equal_sides(text)[0], job.kb_base), min(smallest))
    if (len(smallest) > 1 and not job.has("blockalign")) or not align or align % _SIZE_MIN:
        raise job.fault("blockalign", "is not a single multiple of 512 bytes", "write a grid such as blockalign=4k")
    if access.keeps_place and any(size % align for size in sizes):
        reason = "is a grid that sequential I/Os of these sizes leave"
        raise job.fault("blockalign", reason, "write sizes that are multiples of it")
    return 0 if sizes == {align} else align


def _pause(job: Job) -> tuple[float, int]:
    """Milliseconds of a pause, and how many I/Os lie between two."""
    pause_us = job.get("thinktime", lambda text: time_us(text, 1), 0)
    return pause_us / 1000, job.whole("thinktime_blocks", 1, 1, 1 << 30) if pause_us else 1
