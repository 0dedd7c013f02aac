"""
The native half of Assay.
"""

from _typeshed import SupportsGetItem
from os import PathLike
from typing import Any, SupportsFloat, SupportsIndex, final

__all__ = ["NativeReadBack", "NativeSectors", "NativeStallGauge", "NativeStalls", "NativeStimulus", "addressed_tags", "check_addressed", "check_faults", "clock_reads", "drive_model_fault", "drive_parameters", "fill_rate", "hands_to_workers", "open_descriptors", "place_segments", "simulated_memory_bytes", "toml_positions", "written_data"]

@final
class NativeReadBack:
    """
    What a read-back found; the fields are those of `assay.engine.records.ReadBack` that it knows.
    """
    @property
    def checked_count(self, /) -> int: ...
    @property
    def failed(self, /) -> tuple[int, int] | None:
        """
        Place in bytes of a block that could not be read, and the errno.
        """
    @property
    def given_count(self, /) -> int: ...
    @property
    def known_count(self, /) -> int: ...
    @property
    def span_ns(self, /) -> int: ...
    @property
    def unknown_count(self, /) -> int: ...
    @property
    def wrong(self, /) -> list[tuple[int, str]]:
        """
        Place in bytes, and what it holds: `zeros`, `stale`, `elsewhere`, `another` or `other`.
        """
    @property
    def wrong_count(self, /) -> int: ...

@final
class NativeSectors:
    """
    What a check of addressed data found; sectors have 512 bytes.
    """
    @property
    def checked_count(self, /) -> int: ...
    @property
    def counts(self, /) -> list[tuple[str, int]]:
        """
        Wrong sectors by kind: `zeros`, `stale`, `other-run`, `misdirected`, `corrupt` or `unread`.
        """
    @property
    def ranges(self, /) -> list[tuple[int, int, str, int]]:
        """
        First sector, count, kind, and the distance to the address that the data are of, in sectors.
        """
    @property
    def span_ns(self, /) -> int: ...
    @property
    def unlisted_count(self, /) -> int:
        """
        Wrong sectors that are in none of the ranges.
        """

@final
class NativeStallGauge:
    """
    Threads that are woken once per millisecond and see how late they were, from their making to `finish`: one on each of
    `cpus`, or one that is left free where the list is empty.
    """
    def __new__(cls, /, cpus: SupportsGetItem[int, SupportsIndex]) -> NativeStallGauge: ...
    def finish(self, /) -> NativeStalls | None:
        """
        End it and tell what it saw; None where that was done before.
        """

@final
class NativeStalls:
    """
    What a gauge saw; the fields are those of `assay.engine.records.HostRecord` that it knows.
    """
    @property
    def began_ns(self, /) -> int: ...
    @property
    def gauge_cpu_ns(self, /) -> int: ...
    @property
    def late_ns_by_second(self, /) -> list[tuple[int, int]]: ...
    @property
    def late_ns_max(self, /) -> int: ...
    @property
    def late_ns_p999(self, /) -> int: ...
    @property
    def span_ns(self, /) -> int: ...
    @property
    def stalled_ns(self, /) -> int: ...
    @property
    def stalls(self, /) -> list[tuple[int, int]]: ...
    @property
    def waits(self, /) -> list[tuple[int, int]]: ...
    @property
    def wakes(self, /) -> list[tuple[int, int]]: ...
    @property
    def watched_ns(self, /) -> int: ...

@final
class NativeStimulus:
    """
    The stimulus of one drive, alive for the whole run.
    """
    def close(self, /) -> None:
        """
        End the workers and let go of the drive.
        """
    def disclosure(self, /) -> tuple[str, int, bool, bool, str] | None:
        """
        (path, errno that refused to register buffers, completions deferred, stamps of the counter, how trims reach the drive)
        of the last sequence.

        The errno is 0 where they are registered. None on a simulated drive.
        """
    def fault_events(self, /) -> tuple[list[tuple[int, int, str]], int]:
        """
        What faults did since this was last asked: (time in ns on the drive's clock, level of the kernel's log, text) each,
        and how many more there were.
        """
    @staticmethod
    def faulty(model: str, seed: SupportsIndex, epoch_wall_ns: SupportsIndex, faults: str) -> NativeStimulus:
        """
        The same with faults: a JSON list of `assay_ftl::faults::Fault`, whose draws follow from the drive model's seed.
        """
    def forget_written(self, /, from_bytes: SupportsIndex, to_bytes: SupportsIndex) -> None:
        """
        Something else than this stimulus changed what lies between two places, in bytes.
        """
    @staticmethod
    def from_state(model: str, seed: SupportsIndex, epoch_wall_ns: SupportsIndex, path: str | PathLike[str]) -> NativeStimulus:
        """
        Drive a simulated drive from the state that a file holds; see `keep_state`.
        """
    def keep_state(self, /, path: str | PathLike[str]) -> None:
        """
        Keep the state of simulated flash in a file.
        """
    @staticmethod
    def null(seed: SupportsIndex, answer_ns: SupportsIndex | None, thread_count: SupportsIndex, cpus: SupportsGetItem[int, SupportsIndex]) -> NativeStimulus:
        """
        Drive nothing: I/Os go to the kernel and come back at once, or after a constant time in ns.

        The threads are spread over `cpus` as those of `real` are.
        """
    def present_bytes(self, /) -> int | None:
        """
        What faults have left of a simulated drive's capacity, in bytes; None where it is gone.
        """
    def purge_simulated(self, /) -> int | None:
        """
        Purge a simulated drive; the virtual time it took, in ns. None on a real drive.
        """
    def read_back(self, /, count: SupportsIndex | None, turn: SupportsIndex, limit_ns: SupportsIndex) -> NativeReadBack | None:
        """
        Read blocks back that were written last, `count` of them or all, for `limit_ns` at most; `turn` chooses others each time.

        Their content is made again and compared whole. None on a drive without data: simulated, or none at all.
        """
    @staticmethod
    def real(descriptor: SupportsIndex, capacity_bytes: SupportsIndex, logical_block_bytes: SupportsIndex, thread_count: SupportsIndex, seed: SupportsIndex, data_origin: SupportsIndex, written_range_bytes: SupportsIndex, transfer_bytes_max: SupportsIndex, counters_path: str | PathLike[str] | None, path: str, ring_beyond: bool, cpus: SupportsGetItem[int, SupportsIndex]) -> NativeStimulus:
        """
        Drive a real device through a descriptor that the gate opened; it is duplicated, not taken.

        The threads are spread over `cpus`, again and again where there are more of them; an empty list leaves them free.
        `ring_beyond`: what system calls cannot carry goes over a ring. About 1,000 blocks of each `written_range_bytes` are
        remembered for `read_back`.
        """
    @staticmethod
    def ring_locked_bytes(path: str, slot_count: SupportsIndex) -> int:
        """
        What a ring for so many I/Os at a time takes of locked memory, at most, in bytes.
        """
    def run(self, /, sequence: str, error_limit: SupportsIndex, io_time_limit_ns: SupportsIndex, watch: Any | None, capture: tuple[str | PathLike[str], bool] | None, replay: str | PathLike[str] | None, seconds: Any | None) -> tuple[str, tuple[int, int] | None]:
        """
        Run the steps without a gap and return one record per step that was begun, as JSON.

        `sequence` is the JSON text `{"ranges": [...], "steps": [...], "order": [0, 0, 1], "labels": [...]}`: steps that differ, each with the index
        of its range, and the order in which they are run.
        `watch(step_index, io_count, latency_ns_sum, elapsed_ns)` is called at most twice a second. Ctrl-C ends the sequence:
        the last record then says `interrupted`. `capture` is a file for every completion and whether places and sizes are
        kept; its rows, and the completions that were lost, are returned beside the records. `replay` is the file of the I/Os
        that a step of the operation `replay` issues. An I/O that is outstanding for
        longer than `io_time_limit_ns` ends the sequence as `hung`. `seconds` is called with the seconds that have ended since,
        in order: (step, second, covered ns, points); a point is (step, place of the direction, I/Os, bytes, latency sum, maximum).
        """
    @staticmethod
    def simulated(model: str, seed: SupportsIndex, epoch_wall_ns: SupportsIndex) -> NativeStimulus:
        """
        Drive a fresh simulated drive; `model` is a JSON text as for `drive_model_fault`.
        """
    def state_hash(self, /) -> str:
        """
        SHA-256 of the state of simulated flash, in hexadecimal digits.
        """
    def switch_write_cache_simulated(self, /, enabled: bool) -> None:
        """
        Switch the volatile write cache of simulated flash.
        """
    def trim_simulated(self, /, from_bytes: SupportsIndex, to_bytes: SupportsIndex) -> None:
        """
        Free what lies between two places of simulated flash, in bytes, as a trim command does.
        """
    @staticmethod
    def try_host(path: str, shares: SupportsGetItem[int, tuple[SupportsIndex, SupportsIndex, SupportsIndex]], spare_file_count: SupportsIndex, spare_thread_count: SupportsIndex) -> tuple[str, int] | None:
        """
        Take for a moment everything that the workers of a run take of this host; nothing is written anywhere.

        `shares` has the I/Os outstanding, the bytes of buffers and the open files of each worker. Returns the resource that was
        refused (`thread`, `file`, `memory` or `ring`) and the errno; None where all is there.
        """
    def written(self, /) -> list[tuple[int, int]]:
        """
        Of each worker, the origin of its data and its writes so far; none of a drive that holds no data.
        """

def addressed_tags(content: bytes) -> list[tuple[int, int, int, int] | None]:
    """
    What each 512 bytes of addressed data say: sector, number of the write, worker and run; None of what is damaged or other.
    """

def check_addressed(descriptor: SupportsIndex, logical_block_bytes: SupportsIndex, parts: SupportsGetItem[int, tuple[SupportsIndex, SupportsIndex]], data_origin: SupportsIndex, since: SupportsGetItem[int, SupportsIndex], until: SupportsGetItem[int, SupportsIndex], thread_count: SupportsIndex, look: Any) -> NativeSectors:
    """
    Read parts of a drive (first byte, length) that addressed data were written to, and compare all of them.

    `since`, `until`: of each worker, its first write that counts and the first that has not been. `look` takes the bytes
    that are done, 50 times a second. The GIL is released. Raises `DeviceFailureError` where no read returns for a minute.
    """

def check_faults(faults: str, capacity_bytes: SupportsIndex, logical_block_bytes: SupportsIndex) -> None:
    """
    Refuse faults that a drive of this capacity cannot have; `faults` is a JSON list of `assay_ftl::faults::Fault`.

    Raises `ValueRangeError` with the number of the fault, from 1, and its key.
    """

def clock_reads(count: SupportsIndex) -> tuple[float, int]:
    """
    Read the clock of response times again and again: (nanoseconds per reading, readings that ran back).
    """

def drive_model_fault(model: str) -> tuple[str, str] | None:
    """
    What is wrong with a drive model: the place of the parameter and the reason, or None.

    `model` is the JSON text `{"kind": "flash", "parameters": {"capacity_bytes": 32000000000, ...}}`.
    """

def drive_parameters(kind: str) -> list[tuple[str, str, str | None]]:
    """
    Name, meaning and default, as JSON, of every parameter of a kind of drive, `flash` or `disk`; the default is None where
    a drive model must state it.
    """

def fill_rate(data: str, transfer_bytes: SupportsIndex, seconds: SupportsFloat | SupportsIndex) -> float:
    """
    Bytes per second that one thread makes for writes of `transfer_bytes` each, into 32 buffers in turn, for `seconds`.
    `data` is the JSON text `{"kind": "random", "stored_share": 1, "pool_bytes": 0, "path": ""}`.
    Raises `ValueRangeError` where the kind of data is unknown or a transfer is of no bytes or above 64 MiB.
    """

def hands_to_workers(descriptor: SupportsIndex, logical_block_bytes: SupportsIndex) -> bool:
    """
    Whether the device behind an open descriptor hands the I/Os of a ring to worker threads of the kernel; the first block
    is read a few times to see. Raises `DeviceFailureError` where it cannot be read.
    """

def open_descriptors(proc: str | PathLike[str], local_mounts: set[SupportsIndex], foreign_mounts: set[SupportsIndex], files: set[tuple[SupportsIndex, SupportsIndex]]) -> tuple[list[tuple[int, int, int, str, int, int]], list[int]]:
    """
    Every descriptor of all processes below `proc` that is of a `block` or `character` device or of one of `files`, and
    the processes that have others which cannot be looked at. The GIL is released.

    Mounts are identifiers of `mountinfo`: `local_mounts` answer from this host alone, `foreign_mounts` are left out.
    """

def place_segments(capacity_bytes: SupportsIndex, count: SupportsIndex, segment_bytes: SupportsIndex, seed: SupportsIndex) -> list[int]:
    """
    First byte of each of `count` segments placed at random; see `assay_core::active_range`.

    Raises `TooSmallError` where segments and the 1 MiB gaps between them do not fit into the capacity.
    """

def simulated_memory_bytes(model: str) -> int:
    """
    Bytes of memory that a simulated drive takes, about. `model` is as for `drive_model_fault`.

    Raises `ValueRangeError` where a parameter is outside its range or the capacity too small for the dies.
    """

def toml_positions(text: str, name: str) -> dict[str, tuple[int, int]]:
    """
    Line and column, both from 1, of every key of a TOML text, by its dotted path with list indexes.

    Raises `PlanError` naming line and column where the text is not TOML.
    Worked: `toml_positions("a = 1\\n[[b]]\\nc = 2", "p")` is `{"a": (1, 1), "b": (2, 3), "b.0.c": (3, 1)}`
    with `"b.0"` at its table's header.
    """

def written_data(data: str, origin: SupportsIndex, transfer_bytes: SupportsIndex, first: SupportsIndex, count: SupportsIndex, place_bytes: SupportsIndex = 0) -> bytes:
    """
    What `count` writes of `transfer_bytes` each hold, one behind the other, from the thread's write `first` on.

    `origin` is the run's data origin; thread n of a run has `origin ^ (n << 48)`. `place_bytes` is where the first of them
    goes, which addressed data say. Raises `ValueRangeError` where the kind of
    data is unknown or the answer would be above 1 GiB.
    """
