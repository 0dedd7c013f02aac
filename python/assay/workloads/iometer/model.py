"""What an Iometer configuration file (``.icf``) says, whole, each part with the line that it stands in.

```
IcfFile ── version, Setup, Display
        ├─ AccessSpec ── AccessRow        which I/Os
        └─ Manager ── Worker ── TargetSettings, names of specifications, Target
```
Lines count from 1 and are 0 for what was not read from a file; two models are equal whatever their lines.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields
from typing import Literal, NamedTuple

Assignment = Literal["NONE", "ALL", "DISK", "NET"]
StepKind = Literal["LINEAR", "EXPONENTIAL"]
Record = Literal["ALL", "NO_TARGETS", "NO_WORKERS", "NO_MANAGERS", "NONE"]
TestType = Literal[
    "NORMAL",
    "CYCLE_TARGETS",
    "CYCLE_WORKERS",
    "INCREMENT_TARGETS_PARALLEL",
    "INCREMENT_TARGETS_SERIAL",
    "CYCLE_WORKERS_AND_TARGETS",
    "CYCLE_OUTSTANDING_IOS",
    "CYCLE_OUTSTANDING_IOS_AND_TARGETS",
]

IDLE = "idle"
"""The specification without I/Os, which is built in and never saved."""
SPEC_NAME_MAX = 127
_FIRST_YEAR = 1900
_CUT = re.compile(r"[,|]|[^\x00-\x7f]")


@dataclass(frozen=True, slots=True)
class Version:
    """A release of Iometer: a date up to 2008, three numbers of a version since. text : as it stands in the file."""

    text: str
    numbers: tuple[int, int, int]

    @property
    def is_dated(self) -> bool:
        """Whether it is named by a date."""
        return self.numbers[0] > _FIRST_YEAR

    def is_before(self, date: tuple[int, int, int]) -> bool:
        """Whether it is older than a date; a version by numbers is newer than every date."""
        return self.is_dated and self.numbers < date


VERSION_2006 = Version("2006.07.27", (2006, 7, 27))
VERSION_1_1 = Version("1.1.0", (1, 1, 0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """What was read otherwise than it is written, or has no effect."""

    line: int
    text: str


class Cycling(NamedTuple):
    """How a count goes up from run to run: by ``step`` each, or to ``step`` times as much."""

    start: int = 1
    step: int = 1
    kind: StepKind = "LINEAR"


class QueueCycling(NamedTuple):
    """How the outstanding I/Os go up from run to run, as long as they are at most ``end``."""

    start: int = 1
    end: int = 32
    step: int = 2
    kind: StepKind = "EXPONENTIAL"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """The test set-up.

    run_time : hours, minutes, seconds; all 0 is until somebody stops it. disk_workers, network_workers : for each
    manager; None is as many as CPUs. lines : of each key, by the name of its field.
    """

    description: str = ""
    run_time: tuple[int, int, int] = (0, 0, 0)
    ramp_up_s: int = 0
    disk_workers: int | None = None
    network_workers: int | None = 0
    record: Record = "ALL"
    worker_cycling: Cycling = field(default=Cycling())
    disk_cycling: Cycling = field(default=Cycling())
    queue_cycling: QueueCycling = field(default=QueueCycling())
    test_type: TestType = "NORMAL"
    lines: dict[str, int] = field(default_factory=dict, compare=False)
    line: int = field(default=0, compare=False)

    def line_of(self, name: str) -> int:
        """The line of a field's value, else that of the section."""
        return self.lines.get(name, self.line)

    @property
    def run_time_s(self) -> int:
        """Worked: 0 h 2 min 30 s is 150."""
        hours, minutes, seconds = self.run_time
        return (hours * 60 + minutes) * 60 + seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Display:
    """The results display, which says nothing of I/Os. texts : its lines as they stand in the file, without blanks."""

    texts: tuple[str, ...]
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessRow:
    """One kind of access. percent : of the bursts. align_bytes : 0 is a sector. reply_bytes : 0 is none."""

    size_bytes: int
    percent: int
    read_percent: int
    random_percent: int
    delay_ms: int = 0
    burst: int = 1
    align_bytes: int = 0
    reply_bytes: int = 0
    line: int = field(default=0, compare=False)

    @property
    def numbers(self) -> tuple[int, ...]:
        """Its eight numbers in the order of files. Worked: 4 KiB random reads -> 4096, 100, 100, 100, 0, 1, 0, 0."""
        return tuple(getattr(self, name) for name in ROW_FIELDS)


ROW_FIELDS = tuple(each.name for each in fields(AccessRow) if each.compare)
"""The fields of a row in the order of files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessSpec:
    """An access specification: kinds of access whose shares sum to 100 %. assignment : to which new workers."""

    name: str
    assignment: Assignment = "NONE"
    rows: tuple[AccessRow, ...]
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetSettings:
    """What a worker does with each of its targets.

    outstanding : I/Os per target. fixed_seed : None draws one. maximum_sectors : 0 is to the end. data_pattern : 0 to 2
    since 1.1.0, None where the file says nothing of it.
    """

    outstanding: int = 1
    test_connection_rate: bool = False
    transactions_per_connection: int = 1
    fixed_seed: int | None = None
    maximum_sectors: int = 0
    starting_sector: int = 0
    data_pattern: int | None = None
    network_interface: str | None = None
    vi_outstanding: int | None = None
    lines: dict[str, int] = field(default_factory=dict, compare=False)
    line: int = field(default=0, compare=False)

    def line_of(self, name: str) -> int:
        """The line of a field's value, else that of the settings."""
        return self.lines.get(name, self.line)

    @property
    def is_seeded(self) -> bool:
        """Whether the seed is fixed, as files state it beside the seed."""
        return self.fixed_seed is not None

    @property
    def seed(self) -> int:
        """The seed as files state it, 0 where none is fixed."""
        return self.fixed_seed or 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Assigned:
    """The name of a specification that a worker runs."""

    name: str
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A disk or a network address that a worker drives. manager : ID and name of the host of a network address."""

    name: str
    kind: str = "DISK"
    manager: str | None = None
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """A thread. kind : ``DISK``, ``NETWORK,TCP`` or ``NETWORK,VI``. assigned : run in turn."""

    name: str
    kind: str = "DISK"
    settings: TargetSettings = TargetSettings()
    assigned: tuple[Assigned, ...] = ()
    targets: tuple[Target, ...] = ()
    line: int = field(default=0, compare=False)

    @property
    def is_disk(self) -> bool:
        """Whether it drives disks."""
        return self.kind == "DISK"


@dataclass(frozen=True, slots=True, kw_only=True)
class Manager:
    """A host with its workers."""

    number: int
    name: str
    address: str = ""
    workers: tuple[Worker, ...] = ()
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class IcfFile:
    """A whole file. version, setup, display, managers : None where the file has no such part. source : its path."""

    version: Version | None = VERSION_2006
    setup: Setup | None = None
    display: Display | None = None
    specs: tuple[AccessSpec, ...] = ()
    managers: tuple[Manager, ...] | None = None
    notes: tuple[Note, ...] = field(default=(), compare=False)
    source: str = field(default="", compare=False)


def spec_name(text: str) -> str:
    """The name of a specification as Iometer reads it: up to a comma, a bar or a letter beyond ASCII.

    Worked: ``4 KiB reads, all`` is ``4 KiB reads``.
    """
    return _CUT.split(text, maxsplit=1)[0].strip()
