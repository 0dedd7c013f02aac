"""The streams of one job: what its I/Os look like, and its clones as threads of one stream or as more streams."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import gcd
from typing import TYPE_CHECKING, Literal

from pydantic import ValidationError

from assay.spec.model_faults import first_fault
from assay.spec.units import TRANSFER_BYTES_MAX
from assay.spec.workload import Content, LbaGroup, Line, Rate, Stream
from assay.workloads.fio.job_file import (
    NAME_LENGTH_MAX,
    SIDES,
    Extent,
    ValueFaultError,
    equal_sides,
    extent,
    size_bytes,
    split_shares,
    time_us,
    whole,
)
from assay.workloads.fio.keys import ASYNC_ENGINES, SYNC_ENGINES

if TYPE_CHECKING:
    from assay.workloads.fio.job_file import Job

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
_THREADS_MAX, _DEPTH_MAX = 1024, 4096

Side = dict[int, Fraction]


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


def streams_of(job: Job, streams_max: int) -> list[Stream]:
    """The streams that a job is. streams_max : how many more its stage can have. Raises PlanError as ``access_of``."""
    access = access_of(job)
    direct = job.flag("direct") or (job.has("buffered") and not job.flag("buffered"))
    if not direct:
        raise job.fault("direct", "is not 1, so that fio measures the page cache as well", "write direct=1")
    depth, clones = _queue_depth(job), job.whole("numjobs", 1, 1, _THREADS_MAX)
    increment = job.get("offset_increment", lambda text: size_bytes(text, job.kb_base), 0)
    if job.has("thinktime") and depth > 1:
        reason = "with an iodepth above 1 waits for outstanding I/Os, which a stream does not"
        raise job.fault("thinktime", reason, "write iodepth=1, or a rate instead")
    apart = clones > 1 and (access.keeps_place or increment > 0)
    if (clones if apart else 1) > streams_max:
        raise job.fault("numjobs", "makes more than 64 streams side by side", "write fewer jobs, or a stonewall")
    shape = _shape(job, access, depth, 1 if apart else clones)
    if not apart:
        return [_stream(job, job.name, shape, 0)]
    name = job.name[: NAME_LENGTH_MAX - 8]
    return [_stream(job, f"{name}.{index}", shape, index * increment) for index in range(clones)]


def _queue_depth(job: Job) -> int:
    """I/Os outstanding per clone, which the engine decides as well. Raises PlanError for an engine of another kind."""
    engine = job.text("ioengine", "psync")
    if engine not in SYNC_ENGINES | ASYNC_ENGINES:
        reason = f"is {engine[:40]!r}, which does not reach a block device"
        raise job.fault("ioengine", reason, f"choose from {', '.join(sorted(SYNC_ENGINES | ASYNC_ENGINES))}")
    depth = job.whole("iodepth", 1, 1, _DEPTH_MAX)
    return 1 if engine in SYNC_ENGINES else depth


def _shape(job: Job, access: Access, depth: int, threads: int) -> Stream:
    """The stream without its place and name."""
    mixed = access.direction == "rw" and 0 < access.read_percent < 100  # noqa: PLR2004 - per cent
    try:
        return Stream(
            name=job.name,
            operation="trim" if access.direction == "trim" else "transfer",
            lines=_lines(job, access),
            thread_count=threads,
            queue_depth=depth,
            rate=_rate(job, access, threads, mixed=mixed),
            cursor="fio" if access.keeps_place else "shared",
            data=_content(job),
            lba_groups=_lba_groups(job),
        )
    except ValidationError as error:
        reason, remedy = first_fault(error)
        raise job.fault("", f"cannot be run: {reason}", remedy or "correct it") from None


def _stream(job: Job, name: str, shape: Stream, shift_bytes: int) -> Stream:
    """The stream at its place."""
    start = job.get("offset", lambda text: extent(text, job.kb_base), Extent(size_bytes=0))
    size = job.get("size", lambda text: extent(text, job.kb_base), Extent(percent=100))
    if shift_bytes and start.percent is not None:
        raise job.fault("offset", "is a share, which offset_increment cannot be added to", "write it in bytes")
    begin = None if start.size_bytes is None else start.size_bytes + shift_bytes
    if (begin or 0) % (grid := shape.grid_bytes):
        raise job.fault("offset", f"is no multiple of {grid} bytes, the grid of its I/Os", "write a multiple")
    if size.size_bytes is not None and size.size_bytes < max(line.size_bytes for line in shape.lines):
        raise job.fault("size", "is smaller than an I/O", "write a larger size")
    try:
        return Stream.model_validate(
            shape.model_dump()
            | {"name": name, "start_bytes": begin or None, "start_percent": start.percent or None}
            | {"size_bytes": size.size_bytes, "size_percent": None if size.percent == 100 else size.percent}  # noqa: PLR2004
        )
    except ValidationError as error:
        key = "offset" if "start" in str(error.errors()[0]["loc"]) else "size"
        raise job.fault(key, f"cannot be used: {first_fault(error)[0]}", "correct size and offset") from None


def _rate(job: Job, access: Access, threads: int, *, mixed: bool) -> Rate | None:
    keys = [key for key in ("rate", "rate_iops") if job.has(key)]
    if not keys:
        return None
    key = keys[-1]
    if len(keys) > 1:
        raise job.fault(key, "conflicts with rate", "remove either")
    if mixed:
        raise job.fault(key, "limits reads and writes separately", "write separate jobs for reads and writes")
    process = job.text("rate_process", "linear")
    if process not in ("linear", "poisson"):
        raise job.fault("rate_process", f"is {process[:40]!r}", "write linear or poisson")
    base = job.kb_base
    # A stream that mixes reads and writes has no rate; of the others one side counts.
    side = SIDES[access.direction][0] if access.direction != "rw" else int(not access.read_percent)

    def read(text: str) -> int:
        part = equal_sides(text)[side] or "0"
        return size_bytes(part, base) if key == "rate" else whole(part, 0, 10**9)

    value = job.get(key, read, 0)
    if not value:
        return None
    arrivals = "poisson" if process == "poisson" else "fixed"
    name = "bytes_per_s" if key == "rate" else "ios_per_s"
    return Rate.model_validate({name: value * threads, "arrivals": arrivals})


def _content(job: Job) -> Content | None:
    percent = job.whole("buffer_compress_percentage", 0, 0, 100)
    if not percent:
        return None
    if not 5 <= percent <= 95:  # noqa: PLR2004 - what Content can hold
        raise job.fault("buffer_compress_percentage", f"is {percent}", "write 0, or 5 to 95")
    return Content(kind="compressible", stored_percent=float(100 - percent))


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
    return replace(access, align_bytes=_align_bytes(job, access))


def _lines(job: Job, access: Access) -> tuple[Line, ...]:
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


def _lba_groups(job: Job) -> tuple[LbaGroup, ...]:
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
