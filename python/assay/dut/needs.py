"""What a run needs of this host: memory for a simulated drive, what the stimulus threads of a real one take."""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from assay._native import simulated_memory_bytes
from assay.dut.real.memory import spare_memory_bytes
from assay.dut.real.preflight import ThreadNeeds, refuse_little_memory
from assay.dut.simulated.model import parse_simulated
from assay.engine.records import Demand, StepSpec, TestSettings
from assay.errors import UsageError, ValueRangeError
from assay.plan.fills import FILL_DEMAND
from assay.spec.units import KIB, gigabytes_label

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from _typeshed import DataclassInstance

    from assay.dut.simulated.model import SimulatedTarget
    from assay.engine.records import AccessPattern, DriveIdentity
    from assay.plan.procedure import PlannedTest
    from assay.plan.record import PlanRecord

OVERWRITE_BYTES = 128 * KIB
OVERWRITE_DEMAND = Demand(thread_count=1, queue_depth=32)
_PRECONDITIONING = "preconditioning_demand"


@runtime_checkable
class _Step(Protocol):
    """What steps of all kinds of settings have."""

    @property
    def label(self) -> str:
        """As printed."""

    @property
    def pattern(self) -> AccessPattern:
        """Its accesses."""

    @property
    def demand(self) -> Demand:
        """What it keeps outstanding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Steps that run side by side, or one alone.

    name : of the first step, as printed. demands : of each. data_count : data patterns of the sequence, at least 1.
    trims : a step sends trims beside reads and writes.
    """

    name: str
    demands: tuple[Demand, ...]
    data_count: int = 1
    trims: bool = False

    def depths(self, thread_count: int) -> list[int]:
        """I/Os that each of so many stimulus threads keeps outstanding: threads are dealt out one step after the other.

        Worked: TC 1 x QD 4 beside TC 2 x QD 8 on two threads -> ``[12, 8]``.
        """
        depths, place = [0] * thread_count, 0
        for demand in self.demands:
            for thread in range(place, place + demand.thread_count):
                depths[thread % thread_count] += demand.queue_depth
            place += demand.thread_count
        return depths


def memory_bytes(plan: PlanRecord, drive: DriveIdentity, tests: Sequence[PlannedTest]) -> int:
    """Memory for the drive of a run beside that of the tool itself.

    Worked: a simulated page-mapped drive takes about 2.2 MB per GiB of capacity.
    """
    if drive.kind == "simulated":
        return simulated_bytes(parse_simulated(plan.drive))
    return sum(thread.buffer_bytes for thread in thread_needs(tests, plan.io_path))


def simulated_bytes(target: SimulatedTarget) -> int:
    """Of a simulated drive; one whose state is taken up is there twice for a moment. Raises ValueRangeError."""
    return simulated_memory_bytes(target.drive_model.text) * (2 if target.state else 1)


def refuse_without_memory(tests: Sequence[PlannedTest], io_path: str = "auto") -> None:
    """Raise HostLimitError where this host has no memory for the buffers of a real drive and for the tool itself."""
    refuse_little_memory(thread_needs(tests, io_path), len(tests))


def refuse_beyond_memory(thing: str, needed_bytes: int, what: str, remedy: str) -> None:
    """Raise ValueRangeError, with the thing and the remedy, where so much memory cannot be had."""
    spare = spare_memory_bytes()
    if spare is not None and needed_bytes > spare[0]:
        reason = f"needs about {gigabytes_label(needed_bytes)} of {what}, {gigabytes_label(spare[0])} are {spare[1]}"
        raise ValueRangeError(thing, reason, remedy)


def thread_needs(tests: Sequence[PlannedTest], io_path: str = "auto") -> list[ThreadNeeds]:
    """What each stimulus thread of a run takes at most: as many threads as the largest TC.

    io_path : as in the plan. Every outstanding I/O has a buffer to read into and one per data pattern to write from,
    all of the largest transfer of the run.
    Worked: TC 2 x QD 16 of 128 KiB -> two threads of depth 16 and 4 MiB.
    """
    thread_count = max(demand.thread_count for test in tests for demand in test.settings.demands)
    groups = [group for test in tests for group in planned_groups(test)]
    if any(test.purge_count for test in tests):
        groups.append(Group(name="overwrite", demands=(overwrite_demand(io_path),)))
    transfer_bytes = max(OVERWRITE_BYTES, *(_transfer_bytes_max(test.settings) for test in tests))
    threads = zip(*(_sizes(group, thread_count, transfer_bytes) for group in groups), strict=True)
    return [
        ThreadNeeds(depth=depth, buffer_bytes=size, file_count=files)
        for thread in threads
        for depth, size, files in [map(max, zip(*thread, strict=True))]
    ]


def overwrite_demand(io_path: str) -> Demand:
    """What a purge by overwrite asks of the drive: as deep as the I/O path serves."""
    return Demand(thread_count=1, queue_depth=1) if io_path == "synchronous" else OVERWRITE_DEMAND


def deepest_beyond_one(tests: Sequence[PlannedTest]) -> tuple[str, str, int] | None:
    """The first test, its first step that keeps several I/Os outstanding in one thread, and how many; None: no step."""
    thread_count = max(demand.thread_count for test in tests for demand in test.settings.demands)
    for test in tests:
        for group in planned_groups(test):
            if (depth := max(group.depths(thread_count))) > 1:
                return test.settings.test_label, group.name, depth
    return None


def refuse_depth(tests: Sequence[PlannedTest]) -> None:
    """Raise UsageError where a step has several I/Os outstanding, which one system call each cannot carry."""
    if result := deepest_beyond_one(tests):
        test, step, depth = result
        reason = f"is limited to queue depth 1, and step {step!r} of {test} has queue depth {depth}"
        raise UsageError("--io-path synchronous", reason, "choose --io-path auto, or steps of queue depth 1")


def planned_groups(test: PlannedTest) -> Iterator[Group]:
    """Everything that the settings of a test say of its demands, in the order of its settings."""
    asked = set(test.settings.demands)
    for group in _groups(test.settings, test.outline.what):
        # A preconditioning of nothing has a demand, and a test of streams one of its own that it does not use.
        unused = group.name == "preconditioning" and not test.written_first_bytes
        if not unused and asked.intersection(group.demands):
            yield group
    if getattr(test.settings, "fill_bytes", 0):
        yield Group(name="fill", demands=(FILL_DEMAND,))


def _groups(part: DataclassInstance, name: str) -> Iterator[Group]:
    """Of one part of the settings. name : of what has no label."""
    for field in fields(part):
        value = getattr(part, field.name)
        if isinstance(value, Demand):
            yield Group(name="preconditioning" if field.name == _PRECONDITIONING else name, demands=(value,))
        elif isinstance(value, TestSettings):
            yield from _groups(value, field.name)
        elif isinstance(value, StepSpec):
            yield Group(name=value.label, demands=(value.demand,))
        elif isinstance(value, tuple):
            yield from _groups_of_many(value, name)


def _groups_of_many(values: tuple[object, ...], name: str) -> Iterator[Group]:
    steps = [value for value in values if isinstance(value, _Step)]
    data_count = len({repr(step.pattern.data) for step in steps})
    if steps and all(isinstance(step, StepSpec) for step in steps):
        trims = any(step.pattern.operation == "trim" for step in steps)
        demands = tuple(step.demand for step in steps)
        yield Group(name=steps[0].label, demands=demands, data_count=data_count, trims=trims)
        return
    for one in values:
        if isinstance(one, Demand):
            yield Group(name=f"TC {one.thread_count} x QD {one.queue_depth}", demands=(one,))
        elif isinstance(one, _Step):
            yield Group(name=one.label, demands=(one.demand,), data_count=data_count)
        elif is_dataclass(one) and not isinstance(one, type):
            yield from _groups(one, getattr(one, "label", name))


def _sizes(group: Group, thread_count: int, transfer_bytes: int) -> list[tuple[int, int, int]]:
    """Depth, bytes of buffers and files of each thread; kernels before 6.12 end each trim by an event, a file."""
    parts = (group.data_count + 1) * transfer_bytes
    return [(depth, depth * parts, (depth + 1) * group.trims) for depth in group.depths(thread_count)]


def _transfer_bytes_max(settings: TestSettings) -> int:
    """The largest transfer of a test, that of its preconditioning or fill included."""
    stated: list[int] = [
        getattr(settings, field.name) for field in fields(settings) if field.name.endswith("transfer_bytes")
    ]
    return max(settings.transfer_bytes_max, *stated, 0)
