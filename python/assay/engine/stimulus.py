"""One sequence of steps is exactly one native call."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, Self

from pydantic_core import to_json

from assay import _native
from assay._native import NativeStimulus
from assay.engine.codec import decode_text
from assay.engine.live import live_seconds
from assay.engine.records import Placement, StepRecord
from assay.errors import StoreError
from assay.spec.units import SECOND_NS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from assay._native import NativeReadBack
    from assay.engine.live import LiveSecond
    from assay.engine.records import ActiveRange, DataPattern, Demand, IoPath, StepSpec

ERROR_LIMIT = 100
"""Failed I/Os after which a sequence ends."""
IO_TIME_LIMIT_NS = 35 * SECOND_NS
"""An I/O that takes longer ends the sequence; the kernel's own limit for NVMe is 30 s and is to act first."""
_RECORDS: type[tuple[StepRecord, ...]] = tuple[StepRecord, ...]
_PATHS = {
    "interrupt": "ring, completions by interrupt",
    "synchronous": "a system call per I/O",
    "polled": "ring, completions polled for by the stimulus thread",
    "kernel-thread": "ring, submissions polled for by a thread of the kernel",
    "passthrough": "NVMe commands over a ring, past the block layer",
}

_FREE = Placement()
_PASSTHROUGH = {
    "transfer buffers": "mapped for every command",
    "kernel counters": "unknown: the kernel does not count I/Os on this path",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Capture:
    """Where every completion of a sequence is kept: a Parquet file, see docs/formats/run-folder.md.

    addresses : keep place and size of each, too.
    """

    path: Path
    addresses: bool = False


class SimulatedModel(Protocol):
    """What a simulated drive is made of."""

    @property
    def text(self) -> str:
        """The text that the native module reads."""


class Stimulus:
    """The stimulus of one drive; owns its threads and must be closed. Use it as a context manager."""

    def __init__(self, native: NativeStimulus, io_time_limit_ns: int = IO_TIME_LIMIT_NS) -> None:
        self._native, self._io_time_limit_ns = native, io_time_limit_ns
        self._threads = ""
        self.cpus: tuple[int, ...] = ()
        self._depth_max: int | None = None

    def served(self, demand: Demand) -> Demand:
        """The demand, or what the path of the I/Os serves of it.

        Worked: ``synchronous`` alone serves one I/O at a time per thread: TC 1 x QD 32 -> TC 1 x QD 1.
        """
        if self._depth_max is None:
            return demand
        return replace(demand, queue_depth=min(demand.queue_depth, self._depth_max))

    @classmethod
    def simulated(
        cls, drive_model: SimulatedModel, *, seed: int, epoch_wall_ns: int, io_time_limit_ns: int = IO_TIME_LIMIT_NS
    ) -> Self:
        """Drive a fresh simulated drive.

        drive model : a ``device.simulated.DriveModel``.
        seed : of the address streams, 0 to 2**64 - 1.
        epoch_wall_ns : the wall-clock time at which its virtual clock is zero.
        io_time_limit_ns : an oldest I/O in flight that takes longer ends its sequence; above 0.
        """
        return cls(NativeStimulus.simulated(drive_model.text, seed, epoch_wall_ns), io_time_limit_ns)

    @classmethod
    def faulty(
        cls,
        drive_model: SimulatedModel,
        *,
        seed: int,
        epoch_wall_ns: int,
        faults: str,
        io_time_limit_ns: int = IO_TIME_LIMIT_NS,
    ) -> Self:
        """Drive a fresh simulated drive that fails where and when its faults say.

        faults : a JSON list, see ``device.injected_faults``. Their draws follow from the drive model's seed.
        io_time_limit_ns : an oldest I/O in flight that takes longer ends its sequence; above 0.
        Raises ValueRangeError for faults that the drive cannot have.
        """
        return cls(NativeStimulus.faulty(drive_model.text, seed, epoch_wall_ns, faults), io_time_limit_ns)

    @classmethod
    def from_state(
        cls,
        drive_model: SimulatedModel,
        *,
        seed: int,
        epoch_wall_ns: int,
        path: Path,
        io_time_limit_ns: int = IO_TIME_LIMIT_NS,
    ) -> Self:
        """Drive simulated flash as it was when ``keep_state`` wrote the file; its clock goes on from there.

        Raises ValueRangeError where the file is no state, or one of another drive model, capacity or seed.
        """
        return cls(NativeStimulus.from_state(drive_model.text, seed, epoch_wall_ns, path), io_time_limit_ns)

    @classmethod
    def null(
        cls, *, seed: int, answer_ns: int | None = None, thread_count: int = 1, cpus: tuple[int, ...] = ()
    ) -> Self:
        """Drive nothing: I/Os go to the kernel and come back without data; what is measured is this host's own part.

        answer_ns : constant time that each takes, as the kernel's timers keep it; None means at once.
        thread_count : the largest TC of the run, at least 1. cpus : of the threads in turn; none leaves them free.
        """
        stimulus = cls(NativeStimulus.null(seed, answer_ns, thread_count, list(cpus)))
        stimulus.cpus = cpus
        return stimulus

    @classmethod
    def real(  # one keyword per fact of the drive
        cls,
        descriptor: int,
        *,
        capacity_bytes: int,
        logical_block_bytes: int,
        thread_count: int,
        seed: int,
        data_origin: int,
        written_range_bytes: int | None = None,
        counters_path: str | None,
        transfer_bytes_max: int = 0,
        path: IoPath = "interrupt",
        ring_beyond: bool = True,
        placement: Placement = _FREE,
        io_time_limit_ns: int = IO_TIME_LIMIT_NS,
    ) -> Self:
        """Drive a device or file through the gate's descriptor.

        thread_count : the largest TC of the run. data_origin : makes the written data unlike any other run's.
        written_range_bytes : the run writes to so much, of which about 1,000 blocks are remembered; None when unsure.
        counters_path : the disk's ``stat`` file in sysfs, None for a file.
        transfer_bytes_max : largest transfer of the run, so that buffers are made once; 0 when unsure.
        path : the way that I/Os take; ``synchronous`` is for sequences with one I/O at a time per thread; with
        ``ring_beyond`` others go over a ring, else they are refused. ``polled`` takes a drive with queues for polling
        (one read of its first block tells), ``kernel-thread`` two idle processors per thread on a host of at least
        four, ``passthrough`` a descriptor of ``gate.open_passthrough``; it has no counters.
        placement : CPUs of the threads.
        io_time_limit_ns : an oldest I/O in flight that takes longer ends its sequence; above 0.
        Raises ValueRangeError where the drive or the host cannot serve the path, HostLimitError where the host has too
        few files or threads or a thread cannot be kept on its CPU, DeviceFailureError where the drive cannot be opened.
        """
        stimulus = cls(
            NativeStimulus.real(
                descriptor,
                capacity_bytes,
                logical_block_bytes,
                thread_count,
                seed,
                data_origin,
                written_range_bytes or capacity_bytes,
                transfer_bytes_max,
                None if path == "passthrough" else counters_path,
                path,
                ring_beyond,
                list(placement.cpus),
            ),
            io_time_limit_ns,
        )
        stimulus._threads = placement.text
        stimulus.cpus = placement.cpus
        stimulus._depth_max = None if ring_beyond or path != "synchronous" else 1
        return stimulus

    def run(
        self,
        steps: Sequence[StepSpec],
        watch: Callable[[int, int, int, int], None] | None = None,
        capture: Capture | None = None,
        replay: Path | None = None,
        seconds: Callable[[list[LiveSecond]], None] | None = None,
    ) -> list[StepRecord]:
        """Run a sequence without a gap between its steps.

        watch : called at most twice a second with step index, completed I/Os, sum of their latencies in ns, elapsed ns.
        capture : where every completion is kept.
        replay : Parquet file of the I/Os that a step of the operation ``replay`` issues: ``due_ns``, ``operation``,
        ``offset_bytes``, ``length_bytes``.
        seconds : called with the seconds that have ended since, in order; at most five times a second and at the end.
        Returns one record per step that was begun; the last says why it ended early, if it did.
        Raises ValueRangeError before any I/O where a step is impossible, HostLimitError where the host does not give
        what it takes, DeviceFailureError where the device could not be made ready, StoreError where a capture could
        not be written or has lost completions, or a replay not be read.
        """
        asked = None if capture is None else (capture.path, capture.addresses)
        text = program_text(steps)
        published = (lambda rows: seconds(live_seconds(rows))) if seconds else None
        records, captured = self._native.run(text, ERROR_LIMIT, self._io_time_limit_ns, watch, asked, replay, published)
        if capture is not None and captured and captured[1]:
            reason = f"{captured[1]} of {sum(captured)} completions could not be kept in time"
            raise StoreError(str(capture.path), reason, "write to a faster disk, or run without --capture")
        return list(decode_text(_RECORDS, records.encode(), name="records of a sequence"))

    def read_back(self, count: int | None, turn: int, limit_ns: int) -> NativeReadBack | None:
        """Read blocks that were written last and compare them; None on a drive that holds no data.

        count : of the known blocks, None for all. turn : chooses others each time, from 0. limit_ns : no read begins
        after that.
        """
        return self._native.read_back(count, turn, limit_ns)

    def written(self) -> list[tuple[int, int]]:
        """Of each worker, the origin of its data and its writes so far; none of a drive that holds no data."""
        return self._native.written()

    def forget_written(self, from_bytes: int, to_bytes: int) -> None:
        """Something else than this stimulus changed what lies between two places: it is not read back."""
        self._native.forget_written(from_bytes, to_bytes)

    def purge_simulated(self) -> int | None:
        """Purge a simulated drive; the virtual time it took in ns, None on a real drive."""
        return self._native.purge_simulated()

    def trim_simulated(self, from_bytes: int, to_bytes: int) -> None:
        """Tell simulated flash that what lies between two places is no longer needed; whole map units there are freed.

        Raises ValueRangeError for other drives.
        """
        self._native.trim_simulated(from_bytes, to_bytes)

    def switch_write_cache_simulated(self, *, enabled: bool) -> None:
        """Switch the volatile write cache of simulated flash: without one a write is done once it is in the flash.

        Raises ValueRangeError for other drives.
        """
        self._native.switch_write_cache_simulated(enabled)

    def keep_state(self, path: Path) -> None:
        """Keep the state of simulated flash in a file, in the place of the one that was there.

        Raises ValueRangeError for other drives, and where the file cannot be written.
        """
        self._native.keep_state(path)

    def state_hash(self) -> str:
        """SHA-256 of everything that later completions of simulated flash depend on, in hexadecimal digits.

        Raises ValueRangeError for other drives.
        """
        return self._native.state_hash()

    def present_bytes(self) -> int | None:
        """What faults have left of a simulated drive's capacity; None where it is gone.

        Raises ValueRangeError for a drive without faults.
        """
        return self._native.present_bytes()

    def fault_events(self) -> tuple[list[tuple[int, int, str]], int]:
        """What faults did since this was last asked, and how many more events there were than could be kept.

        Each event is (time in ns on the drive's clock, level of the kernel's log, text).
        Raises ValueRangeError for a drive without faults.
        """
        return self._native.fault_events()

    def disclosure(self) -> dict[str, str]:
        """How the I/Os were carried out, for the report; empty on a simulated drive."""
        how = self._native.disclosure()
        if how is None:
            return {}
        path, errno, deferred, counter_clock, trims = how
        refused = f"not registered: {os.strerror(errno)} (memory lock limit, or too many)" if errno else None
        clock = "time stamp counter, calibrated" if counter_clock else "monotonic clock of the kernel"
        always = {"I/O path": _PATHS[path], "clock": clock, "threads": self._threads, "trims": trims}
        if path == "synchronous":
            return always
        completions = {"completions": "run by the stimulus thread" if deferred else "run by the kernel at any time"}
        if path == "passthrough":
            return {**always, **completions, **_PASSTHROUGH}
        return {**always, **completions, "transfer buffers": refused or "registered"}

    def close(self) -> None:
        """End the threads and let go of the drive."""
        self._native.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def fill_rate(data: DataPattern, transfer_bytes: int, seconds: float) -> float:
    """Bytes per second that one thread makes for writes of ``transfer_bytes`` each, into 32 buffers in turn.

    Raises ValueRangeError where the kind of data is unknown or a transfer is of no bytes or above 64 MiB.
    """
    return _native.fill_rate(to_json(data).decode(), transfer_bytes, seconds)


def written_data(
    data: DataPattern, origin: int, transfer_bytes: int, first: int, count: int, *, from_bytes: int = 0
) -> bytes:
    """What ``count`` writes of ``transfer_bytes`` each hold, one behind the other, from the thread's ``first`` on.

    origin : the run's data origin; thread n of a run has ``origin ^ (n << 48)``. from_bytes : where the first write
    goes, which addressed data name.
    Raises ValueRangeError where the kind of data is unknown or the answer would be above 1 GiB.
    """
    return _native.written_data(to_json(data).decode(), origin, transfer_bytes, first, count, from_bytes)


def program_text(steps: Sequence[StepSpec]) -> str:
    """The steps as the native module reads them: ranges and steps that are equal stand in it once.

    Worked: 1,320 equal samples are one step and 1,320 times its index.
    """
    ranges: dict[ActiveRange, int] = {}
    distinct: dict[tuple[object, ...], int] = {}
    order = []
    for spec in steps:
        used = ranges.setdefault(spec.active_range, len(ranges))
        asked = (spec.pattern, spec.demand, used, spec.stop, spec.beside)
        order.append(distinct.setdefault(asked, len(distinct)))
    names = ("pattern", "demand", "active_range", "stop", "beside")
    parts = [dict(zip(names, step, strict=True)) for step in distinct]
    return to_json(
        {"ranges": list(ranges), "steps": parts, "order": order, "labels": [spec.label for spec in steps]}
    ).decode()
