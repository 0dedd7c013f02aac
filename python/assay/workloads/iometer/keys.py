"""The keys of Iometer configuration files, each with the parts of its value: one table that reader and writer share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

from assay.workloads.iometer.lines import INT_MAX, SECTORS_MAX
from assay.workloads.iometer.model import Cycling, QueueCycling, Record, StepKind, TestType

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from assay.workloads.iometer.lines import Line, Lines

WORKERS_MAX, TARGETS_MAX = 128, 2048
NAME_MAX, TARGET_NAME_MAX = 127, 79
ENABLED = {"ENABLED": True, "DISABLED": False}


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a value: a text, a number or a word.

    what : its name in faults, empty for a text. words : those that it may be, the first of a meaning as it is written.
    least, most : of a number. none : the word for None in place of a number.
    """

    what: str = ""
    words: Mapping[str, Any] | None = None
    least: int = 0
    most: int = INT_MAX
    none: str = ""

    def read(self, lines: Lines, text: str, line: Line) -> Any:
        """What a text means. Raises PlanError where it is no such part."""
        if not self.what:
            return text
        if self.none and text.upper() == self.none:
            return None
        if self.words is None:
            return lines.number(text, line, self.what, least=self.least, most=self.most)
        return lines.word(text, line, self.what, self.words)

    def written(self, value: Any) -> str:
        """The text of a value."""
        if value is None:
            return self.none
        return str(value) if self.words is None else next(word for word in self.words if self.words[word] == value)


@dataclass(frozen=True, slots=True)
class SetupKey:
    """A key of the test set-up. field : of ``Setup``. names : of several parts between blanks, for faults.

    made : the value of a field from its parts.
    """

    field: str
    parts: tuple[Part, ...]
    names: str = ""
    made: Callable[..., Any] = lambda value: value

    def read(self, lines: Lines, line: Line) -> Any:
        """The value of the field. Raises PlanError."""
        texts = line.text.replace(",", " ").split() if self.names else [line.text]
        if len(texts) != len(self.parts):
            raise lines.fault(
                line.number, f"has {len(texts)} values where there should be {len(self.parts)}", self.names
            )
        return self.made(*(part.read(lines, text, line) for part, text in zip(self.parts, texts, strict=True)))

    def written(self, value: Any) -> list[str]:
        """The lines of a value: the names of several parts above, all in columns."""
        if not self.names:
            return [f"\t{self.parts[0].written(value)}"]
        texts = [part.written(each) for part, each in zip(self.parts, value, strict=True)]
        return [f"'\t{_in_columns(part.what for part in self.parts)}", f"\t{_in_columns(texts)}"]


def _in_columns(texts: Iterable[str]) -> str:
    return " ".join(text.ljust(10) for text in texts).rstrip()


def numbered(words: Iterable[Any]) -> dict[str, Any]:
    """Words and the numbers that older files have for them. Worked: LINEAR, EXPONENTIAL also as 0 and 1."""
    words = list(words)
    return {word: word for word in words} | {str(number): word for number, word in enumerate(words)}


_WORKERS = Part("the number of workers (or NUMBER_OF_CPUS)", most=WORKERS_MAX, none="NUMBER_OF_CPUS")
_CYCLING = (Part("start", least=1), Part("step"), Part("step type", numbered(get_args(StepKind))))
_START_STEP = ("start step type", Cycling)
_QUEUE_CYCLING = (_CYCLING[0], Part("end", least=1), *_CYCLING[1:])

OLD_WORKERS = "Default Workers to Spawn"
END_SETUP = "END test setup"
SETUP: dict[str, SetupKey] = {
    "Test Description": SetupKey("description", (Part(),)),
    "Run Time": SetupKey(
        "run_time",
        (Part("hours"), Part("minutes"), Part("seconds")),
        "hours minutes seconds",
        lambda *times: times,
    ),
    "Ramp Up Time*": SetupKey("ramp_up_s", (Part("Ramp Up Time"),)),
    "Default Disk Workers to Spawn": SetupKey("disk_workers", (_WORKERS,)),
    "Default Network Workers to Spawn": SetupKey("network_workers", (_WORKERS,)),
    OLD_WORKERS: SetupKey("disk_workers", (_WORKERS,)),
    "Record Results": SetupKey("record", (Part("Record Results", numbered(get_args(Record))),)),
    "Worker Cycling": SetupKey("worker_cycling", _CYCLING, *_START_STEP),
    "Disk Cycling": SetupKey("disk_cycling", _CYCLING, *_START_STEP),
    "Queue Depth Cycling": SetupKey("queue_cycling", _QUEUE_CYCLING, "start end step type", QueueCycling),
    "Test Type": SetupKey("test_type", (Part("Test Type", numbered(get_args(TestType))),)),
}
"""The keys of the test set-up in the order of files."""

END_DISPLAY = "END results display"
END_SPECS = "END access specifications"
SPEC = "Access specification name,default assignment"
ROWS = "size,% of size,% reads,% random,delay,burst,align,reply"
ROW = tuple(Part(name, most=100) if name.startswith("%") else Part(name) for name in ROWS.split(","))
ASSIGNMENTS = numbered(("NONE", "ALL", "DISK", "NET"))

END_MANAGERS = "END manager list"
MANAGER, END_MANAGER = "Manager ID, manager name", "End manager"
ADDRESS = "Manager network address"
WORKER, END_WORKER = "Worker", "End worker"
TYPE = "Worker type"
SETTINGS, END_SETTINGS = "Default target settings for worker", "End default target settings for worker"
ASSIGNED, END_ASSIGNED = "Assigned access specs", "End assigned access specs"
TARGETS, END_TARGETS = "Target assignments", "End target assignments"
TARGET, END_TARGET = "Target", "End target"
TARGET_TYPE, TARGET_MANAGER = "Target type", "Target manager ID, manager name"
KINDS = {kind: kind for kind in ("DISK", "NETWORK,TCP", "NETWORK,VI")}

IOS = "Number of outstanding IOs,test connection rate,transactions per connection"
IOS_SEEDED = f"{IOS},use fixed seed,fixed seed value"
RANGE = "Disk maximum size,starting sector"
RANGE_PATTERN = f"{RANGE},Data pattern"
INTERFACE = "Local network interface"
VI = "VI outstanding IOs"
_ENABLED = ENABLED | {"1": True, "0": False}
_IOS: dict[str, Part] = {
    "outstanding": Part("Number of outstanding IOs"),
    "test_connection_rate": Part("test connection rate", _ENABLED),
    "transactions_per_connection": Part("transactions per connection"),
}
_SEED = {"is_seeded": Part("use fixed seed", _ENABLED), "seed": Part("fixed seed value", most=SECTORS_MAX)}
_RANGE = {
    "maximum_sectors": Part("Disk maximum size", most=SECTORS_MAX),
    "starting_sector": Part("starting sector", most=SECTORS_MAX),
}
TARGET_SETTINGS: dict[str, dict[str, Part]] = {
    IOS_SEEDED: _IOS | _SEED,
    IOS: _IOS,
    RANGE_PATTERN: _RANGE | {"data_pattern": Part("Data pattern", most=2)},
    RANGE: _RANGE,
    INTERFACE: {"network_interface": Part()},
    VI: {"vi_outstanding": Part(VI)},
}
"""The keys of a worker's target settings: fields of ``TargetSettings`` and ``_SEED`` with the parts of their values."""
