"""What is watched beside a sequence: neighbours, reads back, and the check of written data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from assay.engine.records.drive import CacheState

Shared = Literal["subsystem", "target", "disk", "controller", "uplink"]
"""From near to far: an NVMe subsystem (another namespace), a SCSI target (another LUN), a disk that both lie on, a PCI
function or SCSI host, a PCIe port above both.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class NeighbourRecord:
    """I/O of another block device during one sequence, as the kernel counted it.

    name : of the device, as the kernel has it. shared, by : what it shares with the drive, and the name of that.
    link : PCIe link that both use, as negotiated; None where the kernel tells none.
    """

    name: str
    shared: Shared
    by: str
    link: str | None = None
    read_count: int
    read_bytes: int
    write_count: int
    write_bytes: int

    @property
    def moved_bytes(self) -> int:
        """Read and written. Worked: 4,096 read and 8,192 written -> 12,288."""
        return self.read_bytes + self.write_bytes

    @property
    def io_count(self) -> int:
        """Reads and writes."""
        return self.read_count + self.write_count


@dataclass(frozen=True, slots=True, kw_only=True)
class NeighboursRecord:
    """The devices that share something with the drive, during one sequence.

    span_ns : between the two readings of their counters, at least 0. watched_count : devices whose counters were read.
    moved : those with any I/O. uncounted : names of those whose I/O the kernel did not count.
    """

    span_ns: int
    watched_count: int
    moved: tuple[NeighbourRecord, ...] = ()
    uncounted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class HostRecord:
    """How far this host let the tester run during one sequence; unknown facts are None.

    span_ns : the time watched. late_ns_p999, late_ns_max : how late a thread that asks to run every millisecond did.
    stalled_ns : sum of the stalls of at least 10 ms. stalls : start on the device's clock and length of each, the first
    thousand. gauge_cpu_ns : CPU time that watching cost.
    cpu_count : processors of the host. steal_ns : time that its hypervisor took from all of them.
    run_ns, wait_ns : CPU time of the tester's threads, and the time that they were ready and had to wait for it.
    switches_involuntary : times that a thread of the tester was taken off its processor.
    began_ns : on the device's clock. wakes : of the threads that ask to run every millisecond, on the processors of the
    stimulus, as (lower border of the lateness in ns, count), a border being an eighth of an octave from the next.
    waits : of the stimulus threads for a processor, read in turn, two per millisecond, as wakes are; none of 0.
    watched_ns : between those readings, over all threads.
    late_ns_by_second : (second from ``began_ns`` on, largest lateness or wait in it), where it was 0.25 ms or more.
    stimulus_cpu_count : processors that the stimulus is kept on, or all. stimulus_steal_ns : taken from those.
    other_busy_ns : CPU time of all that is neither this process nor serves the target, interrupts left out.
    server_run_ns, server_wait_ns : of the threads that serve the target; None where it has none.
    throttled_ns : that a control group above this process held it back. pressure_ns : in which some task waited for a
    processor.
    """

    span_ns: int
    late_ns_p999: int
    late_ns_max: int
    stalled_ns: int
    stalls: tuple[tuple[int, int], ...] = ()
    gauge_cpu_ns: int
    cpu_count: int
    steal_ns: int | None = None
    run_ns: int | None = None
    wait_ns: int | None = None
    switches_involuntary: int | None = None
    began_ns: int | None = None
    wakes: tuple[tuple[int, int], ...] = ()
    waits: tuple[tuple[int, int], ...] = ()
    watched_ns: int = 0
    late_ns_by_second: tuple[tuple[int, int], ...] = ()
    stimulus_cpu_count: int | None = None
    stimulus_steal_ns: int | None = None
    other_busy_ns: int | None = None
    server_run_ns: int | None = None
    server_wait_ns: int | None = None
    throttled_ns: int | None = None
    pressure_ns: int | None = None


BY_GATE = "gate"
"""The device of an event that the gate saw, and not the kernel: a user that arrived, a stack that changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DriveEvent:
    """Something that the kernel said of a drive, its controller or its port while a step ran.

    Of a simulated drive with faults, what it would have said; the device is then ``sim``. Of what the gate saw,
    ``BY_GATE``.

    level : of the kernel's log, 0 (emergency) to 7 (debug). device : that it named, empty where only the text tells.
    text : at most 200 characters, printable. count : how often in a row the same was said.
    """

    level: int
    device: str
    text: str
    count: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class DriveState:
    """What could be told of a drive at one moment without a word to its flash; unknown facts are None or left out.

    write_cache : as the kernel sees it; write_cache_drive : as the drive says. queue : settings of the block layer by
    sysfs name. link : as negotiated. controller : the NVMe controller's state, ``live`` where all is well, or that of
    the SCSI device, ``running``. temperature_c : degrees Celsius. bus_errors : cumulative, of the PCIe functions that
    it hangs on, by kind. swap_in_pages : of the host, cumulative.
    """

    write_cache: CacheState = "unknown"
    write_cache_drive: CacheState = "unknown"
    queue: dict[str, str] = field(default_factory=dict)
    link: str | None = None
    controller: str | None = None
    temperature_c: float | None = None
    bus_errors: dict[str, int] = field(default_factory=dict)
    swap_in_pages: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DriveRecord:
    """A real drive, or a simulated one with faults, before and after one sequence.

    log : whether the kernel's log was read in between, so that the absence of events means something.
    lost_count : log lines that the kernel overwrote before they were read.
    neighbours : devices that share something with the drive; None where nobody watched them.
    """

    before: DriveState
    after: DriveState
    log: Literal["read", "unknown"]
    lost_count: int = 0
    neighbours: NeighboursRecord | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """A process that came to read the drive while it was tested. wall_ns : when it was first seen. process : number."""

    wall_ns: int
    process: int
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LooksRecord:
    """How often it was looked for other users of the drive during one test.

    look_count : at the stack, mounts, holders and the like; process_look_count : at the descriptors of all processes.
    span_ns_max, process_span_ns_max : the longest of each. arrivals : who came to read.
    """

    look_count: int
    process_look_count: int
    span_ns_max: int
    process_span_ns_max: int
    arrivals: tuple[Arrival, ...] = ()


SECTOR_BYTES = 512
"""What has an address of its own, whatever the logical block."""

WrongKind = Literal["zeros", "stale", "other-run", "misdirected", "corrupt", "unread"]
"""What a sector holds instead of what was written last: zeros; an earlier write of this run, or one of another run, to
this address; what was written to another address; no data of this tool, or damaged; or it cannot be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongRange:
    """Wrong sectors in a row. sector, count : of 512 bytes. distance : from each to the address that its data are of,
    in sectors; 0 unless they are misdirected.
    """  # noqa: D205 - one sentence

    sector: int
    count: int
    kind: WrongKind
    distance: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class DataCheck:
    """A whole read-back.

    after : name of the sequence before. block_bytes : logical block of the drive. flushed : the drive made its cache
    durable in between. parts : (first byte, length) of what was read.
    checked_count : sectors of 512 bytes read and compared, in ``span_ns``. counts : wrong ones by kind, none of zero.
    ranges : where they lie, in rising order, 4,096 at most. unlisted_count : wrong ones in none of the ranges.
    """

    after: str
    block_bytes: int
    flushed: bool
    parts: tuple[tuple[int, int], ...]
    checked_count: int
    span_ns: int
    counts: dict[WrongKind, int] = field(default_factory=dict)
    ranges: tuple[WrongRange, ...] = ()
    unlisted_count: int = 0

    @property
    def wrong_count(self) -> int:
        """Wrong sectors of all kinds."""
        return sum(self.counts.values())


Returned = Literal["zeros", "stale", "elsewhere", "another", "other"]
"""What a block holds instead of what was written last: zeros, what was written before, what was written to another
sampled block, the data of any other write of the run, or none of these."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongBlock:
    """A logical block that holds something else than was written last. lba : in logical blocks. returned : what."""

    lba: int
    returned: Returned


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadBack:
    """Blocks that were read back between two sequences of a test, or at its end.

    after : name of the sequence before; empty at the end of the test, where all known blocks are read.
    checked_count : blocks read and compared, in ``span_ns`` of at most about ``limit_ns``.
    known_count : blocks whose content is known. given_count : that hold data which repeat or come from a file, and are
    not compared. unknown_count : of which nobody can tell, as after a trim.
    wrong_count : of the checked blocks. wrong : the first 64 of them. unread : a block that could not be read.
    """

    after: str
    checked_count: int
    known_count: int
    given_count: int
    unknown_count: int
    wrong_count: int
    span_ns: int
    limit_ns: int
    wrong: tuple[WrongBlock, ...] = ()
    unread_lba: int | None = None
