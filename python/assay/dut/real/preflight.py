"""Drives of this host and why each may not be tested; what a run looks at before its first byte."""

from __future__ import annotations

import errno
import os
import resource
import tempfile
import time
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from assay._native import NativeStimulus
from assay.dut.real.gate import examined
from assay.dut.real.host_limits import (
    forbidden_ring,
    open_file_count,
    own_thread_count,
    raise_open_files,
    thread_limits,
)
from assay.dut.real.identity import disks
from assay.dut.real.memory import memory_bounds
from assay.errors import HostLimitError, errno_label
from assay.spec.units import KIB, gigabytes_label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.dut.real.memory import MemoryBound
    from assay.engine.records import DriveIdentity


FILES_BESIDE = 64
"""Open files of a run beside those of its stimulus threads: a run and its report were seen to have 11."""
THREADS_BESIDE = 24
"""Threads of a run beside its stimulus, those of the typesetter included; a library has one per processor, too."""
TEMPORARY_BYTES = 16 << 20
"""Of temporary files, of which the report of six tests was seen to take 3.2 MB."""
TOOL_BYTES, TEST_BYTES = 500_000_000, 100_000_000
"""Memory of a run and its report beside buffers, and for each of its tests: 0.56 GB were seen of one, 0.98 of six."""
_ADDRESS_BYTES = 1_400_000_000
# Of each thread: its stack, and where its buffers begin at a huge page. Heaps are those of the C library.
_STACK_BYTES, _HEAP_BYTES, _HEAPS_PER_PROCESSOR = 4 << 20, 64 << 20, 8
_STEP_BYTES = 64 << 20
_GONE_SECONDS = 5
_LOWER = "lower --thread-count"
_SYNCHRONOUS = "; or choose --io-path synchronous, which needs no ring"
# The kernel counts a ring that is gone for a moment longer: that of the trial, one in use, and one that replaces it.
_RINGS_COUNTED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadNeeds:
    """What one stimulus thread takes.

    depth : I/Os outstanding. buffer_bytes : of its transfer buffers. file_count : open files beside those of the drive.
    """

    depth: int
    buffer_bytes: int
    file_count: int = 0


def refuse_little_memory(threads: Sequence[ThreadNeeds], test_count: int = 1) -> None:
    """Raise HostLimitError where this host has no memory for the buffers of a real drive and for the tool itself."""
    tool = TOOL_BYTES + test_count * TEST_BYTES
    for bound in sorted(memory_bounds()):
        needed = tool + _buffer_bytes(threads) + (_address_bytes(threads) if bound.is_of_addresses else 0)
        if needed > bound.spare_bytes:
            raise _little_memory(bound, needed, _buffer_bytes(threads))


def host_limit(threads: Sequence[ThreadNeeds], *, counted: bool) -> HostLimitError | None:
    """The limit of this host that such stimulus threads meet; None where they have what they need."""
    try:
        refuse_little_memory(threads)
        refuse_full_temporary()
        try_host(threads, "auto", counted=counted, shallow=all(thread.depth == 1 for thread in threads))
    except HostLimitError as error:
        return error
    return None


LARGEST_DEMAND = (ThreadNeeds(depth=32, buffer_bytes=2 * 32 * 128 * KIB),) * 32
"""Of the editions: TC 32 x QD 32, here of 128 KiB."""
LEAST_DEMAND = (ThreadNeeds(depth=1, buffer_bytes=2 * 128 * KIB),)


def try_host(threads: Sequence[ThreadNeeds], io_path: str, *, counted: bool, shallow: bool) -> None:
    """Take what the stimulus threads of a run take, for a moment.

    threads : what each takes. io_path : as in the plan. counted : the drive has counters, which each thread opens.
    shallow : no step keeps several I/Os outstanding in one thread, so that system calls carry all of them.
    Raises HostLimitError naming the limit, the amount and the remedy.
    """
    path = "interrupt" if io_path == "auto" else io_path
    file_count = 1 + (counted and path != "passthrough")
    shares = [(thread.depth, thread.buffer_bytes, file_count + thread.file_count) for thread in threads]
    files = FILES_BESIDE + sum(count + (path != "synchronous") for _, _, count in shares)
    raise_open_files()
    spare_files = max(FILES_BESIDE - open_file_count() - 1, 0)
    own = own_thread_count()
    spare_threads = max(_threads_beside() - own, 0)
    lack = NativeStimulus.try_host(path, shares, spare_files, spare_threads)
    if lack is None:
        return
    resource_name, code = lack
    if resource_name == "file":
        raise _few_files(files, code)
    if resource_name == "thread":
        raise _few_threads(len(shares), own, code)
    if resource_name == "memory":
        raise _refused_memory(threads, code)
    raise _no_ring(threads, path, code, shallow=shallow)


def refuse_full_temporary() -> None:
    """Raise HostLimitError where the folder of temporary files, which reports are typeset in, cannot hold them."""
    try:
        folder = tempfile.gettempdir()
        with tempfile.TemporaryFile(dir=folder) as file:
            os.posix_fallocate(file.fileno(), 0, TEMPORARY_BYTES)
    except OSError as error:
        reason = f"{TEMPORARY_BYTES >> 20} MiB cannot be written there ({errno_label(error.errno or 0)})"
        thing = f"temporary files ({os.environ.get('TMPDIR') or '/tmp'})"  # noqa: S108 - the name that is looked up first
        raise HostLimitError(thing, reason, "free space there, or set TMPDIR to a folder with space") from None


def _buffer_bytes(threads: Sequence[ThreadNeeds]) -> int:
    return sum(thread.buffer_bytes for thread in threads)


def _address_bytes(threads: Sequence[ThreadNeeds]) -> int:
    """Addresses that are mapped and never touched: stacks and heaps of threads, and libraries."""
    heaps = min(len(threads), _HEAPS_PER_PROCESSOR * (os.cpu_count() or 1))
    return _ADDRESS_BYTES + len(threads) * _STACK_BYTES + heaps * _HEAP_BYTES


def _little_memory(bound: MemoryBound, needed: int, buffers: int) -> HostLimitError:
    spare, lower = gigabytes_label(bound.spare_bytes), "lower --thread-count or --queue-depth"
    taken = f"{gigabytes_label(needed)}, {gigabytes_label(buffers)} of it for buffers"
    reason = f"the run takes {taken}; {spare} are {bound.words}"
    if bound.limit_bytes is None:
        return HostLimitError(bound.name, reason, f"{bound.remedy}, or {lower}")
    # What is used now differs a little from time to time.
    whole = ceil((bound.limit_bytes - bound.spare_bytes + needed) / _STEP_BYTES) * _STEP_BYTES
    return HostLimitError(bound.name, reason, f"{bound.remedy.format(bytes=whole, kib=whole // KIB)}, or {lower}")


def _threads_beside() -> int:
    return THREADS_BESIDE + 2 * (os.cpu_count() or 1)


def _few_files(needed: int, code: int) -> HostLimitError:
    if code == errno.ENFILE:
        return HostLimitError(
            "open files of the host (fs.file-max)",
            f"the run takes {needed:,} more than are left",
            f"raise it with sysctl fs.file-max, or {_LOWER}",
        )
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return HostLimitError(
        "open files (RLIMIT_NOFILE)",
        f"the run takes {needed:,}, the hard limit is {limit:,}",
        f"raise it with ulimit -n {needed}, or {_LOWER}",
    )


def _few_threads(count: int, own: int, code: int) -> HostLimitError:
    """The error for the limit that leaves the least. own : threads of this process before the trial."""
    _await_threads(own)
    limits, more = thread_limits(), count + _threads_beside()
    tightest = min(limits, key=lambda limit: limit.spare, default=None)
    if tightest is None or tightest.spare + own >= more:
        reason = f"the run takes {more:,}, and the host starts no more ({errno_label(code)})"
        return HostLimitError("threads", reason, f"{_LOWER}, or end other programs")
    others = tightest.used - own
    reason = f"the run takes {more:,} beside {others:,} of other programs, the limit is {tightest.limit:,}"
    return HostLimitError(tightest.name, reason, f"{tightest.remedy.format(needed=others + more)}, or {_LOWER}")


def _await_threads(count: int) -> None:
    """Return once the threads of the trial are gone, which the kernel counts for a moment longer."""
    deadline = time.monotonic() + _GONE_SECONDS
    while own_thread_count() > count and time.monotonic() < deadline:
        time.sleep(0.001)


def _refused_memory(threads: Sequence[ThreadNeeds], code: int) -> HostLimitError:
    """The addresses of buffers were refused: what is in memory was looked at before."""
    needed = _buffer_bytes(threads)
    reason = f"the buffers of the run take {needed / 1e9:.2f} GB, which the host refuses ({errno_label(code)})"
    return HostLimitError(
        "memory", reason, f"{_LOWER} or --queue-depth, or see vm.overcommit_memory and vm.max_map_count"
    )


def _no_ring(threads: Sequence[ThreadNeeds], path: str, code: int, *, shallow: bool) -> HostLimitError:
    if code in {errno.EPERM, errno.EACCES, errno.ENOSYS}:
        return forbidden_ring(code, remedy_beside=_SYNCHRONOUS if shallow else "")
    limit, _ = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    if code == errno.ENOMEM and limit != resource.RLIM_INFINITY:
        needed = _RINGS_COUNTED * sum(NativeStimulus.ring_locked_bytes(path, thread.depth) for thread in threads)
        beside = "" if limit < needed else ", and other programs of this user take of it"
        reason = f"the rings of the run take up to {needed // KIB:,} KiB, the limit is {limit // KIB:,} KiB{beside}"
        remedy = f"raise it with ulimit -l {needed // KIB}, or {_LOWER}"
        return HostLimitError("locked memory (RLIMIT_MEMLOCK)", reason, remedy)
    return HostLimitError("io_uring", f"a ring cannot be made ({errno_label(code)})", "choose another --io-path")


def list_drives() -> list[DriveIdentity]:
    """List the whole disks of this host, each with the reasons why the gate would refuse it now.

    Returns every disk with a capacity in the order of /sys/block; RAM disks and loop devices that are not set up are
    left out. Nothing is written and nothing is opened for writing.
    """
    return [examined(disk) for disk in disks()]
