"""The streams of one job: its clones as threads of one stream, or as streams where each keeps a place of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import ValidationError

from assay.spec.model_faults import first_fault
from assay.spec.workload import Content, Rate, Stream
from assay.workloads.fio.access import access_of, lba_groups_of, lines_of
from assay.workloads.fio.job import SIDES
from assay.workloads.fio.keys import ASYNC_ENGINES, SYNC_ENGINES
from assay.workloads.fio.syntax import NAME_LENGTH_MAX
from assay.workloads.fio.values import Extent, equal_sides, extent, size_bytes, whole

if TYPE_CHECKING:
    from assay.workloads.fio.access import Access
    from assay.workloads.fio.job import Job

_THREADS_MAX, _DEPTH_MAX = 1024, 4096


def streams_of(job: Job, streams_max: int) -> list[Stream]:
    """The streams that a job is. streams_max : how many more its stage can have. Raises PlanError as ``access_of``."""
    access = access_of(job)
    check_cache(job)
    depth, clones = queue_depth(job), job.whole("numjobs", 1, 1, _THREADS_MAX)
    increment = job.get("offset_increment", lambda text: size_bytes(text, job.kb_base), 0)
    if job.has("thinktime") and depth > 1:
        reason = "with an iodepth above 1 waits for outstanding I/Os, which a stream does not"
        raise job.fault("thinktime", reason, "write iodepth=1, or a rate instead")
    apart = clones > 1 and (access.keeps_place or increment > 0)
    if (clones if apart else 1) > streams_max:
        raise job.fault("numjobs", "makes more than 64 streams side by side", "write fewer jobs, or a stonewall")
    shape = _shape(job, access, depth, 1 if apart else clones)
    if not apart:
        return [_stream(job, job.section.name, shape, 0)]
    name = job.section.name[: NAME_LENGTH_MAX - 8]
    return [_stream(job, f"{name}.{index}", shape, index * increment) for index in range(clones)]


def check_cache(job: Job) -> None:
    """Refuse a job that goes through the system's page cache."""
    direct = job.flag("direct") or (job.has("buffered") and not job.flag("buffered"))
    if not direct:
        raise job.fault("direct", "is not 1, so that fio measures the page cache as well", "write direct=1")


def queue_depth(job: Job) -> int:
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
            name=job.section.name,
            operation="trim" if access.direction == "trim" else "transfer",
            lines=lines_of(job, access),
            thread_count=threads,
            queue_depth=depth,
            rate=_rate(job, access, threads, mixed=mixed),
            cursor="fio" if access.keeps_place else "shared",
            data=_content(job),
            lba_groups=lba_groups_of(job),
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
    if (begin or 0) % (grid := _grid(shape)):
        raise job.fault("offset", f"is no multiple of {grid} bytes, the grid of its I/Os", "write a multiple")
    _check_fits(job, size, shape)
    try:
        return Stream.model_validate(
            shape.model_dump()
            | {"name": name, "start_bytes": begin or None, "start_percent": start.percent or None}
            | {"size_bytes": size.size_bytes, "size_percent": None if size.percent == 100 else size.percent}  # noqa: PLR2004
        )
    except ValidationError as error:
        key = "offset" if "start" in str(error.errors()[0]["loc"]) else "size"
        raise job.fault(key, f"cannot be used: {first_fault(error)[0]}", "correct size and offset") from None


def _check_fits(job: Job, size: Extent, shape: Stream) -> None:
    if size.size_bytes is not None and size.size_bytes < max(line.size_bytes for line in shape.lines):
        raise job.fault("size", "is smaller than an I/O", "write a larger size")


def _grid(stream: Stream) -> int:
    return min(line.align_bytes or line.size_bytes for line in stream.lines)


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
    base, side = job.kb_base, _only_side(access)
    value = job.get(
        key,
        lambda text: (
            size_bytes(equal_sides(text)[side] or "0", base)
            if key == "rate"
            else whole(equal_sides(text)[side] or "0", 0, 10**9)
        ),
        0,
    )
    if not value:
        return None
    arrivals = "poisson" if process == "poisson" else "fixed"
    name = "bytes_per_s" if key == "rate" else "ios_per_s"
    return Rate.model_validate({name: value * threads, "arrivals": arrivals})


def _only_side(access: Access) -> int:
    """Reads 0, writes 1, trims 2, of a stream that has one of them."""
    if access.direction == "rw":
        return 0 if access.read_percent else 1
    return SIDES[access.direction][0]


def _content(job: Job) -> Content | None:
    percent = job.whole("buffer_compress_percentage", 0, 0, 100)
    if not percent:
        return None
    if not 5 <= percent <= 95:  # noqa: PLR2004 - what Content can hold
        raise job.fault("buffer_compress_percentage", f"is {percent}", "write 0, or 5 to 95")
    return Content(kind="compressible", stored_percent=float(100 - percent))
