"""What a run needs of this host for its drive: memory of a simulated one, buffers of a real one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay._native import simulated_memory_bytes
from assay.dut.real.memory import spare_memory_bytes
from assay.dut.simulated.model import parse_simulated
from assay.errors import ValueRangeError
from assay.spec.units import gigabytes_label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.dut.simulated.model import SimulatedTarget
    from assay.engine.records import DriveIdentity
    from assay.procedures.procedure import PlannedTest
    from assay.run.plan_file import Plan


def memory_bytes(plan: Plan, drive: DriveIdentity, tests: Sequence[PlannedTest]) -> int:
    """Memory for the drive of a run beside that of the tool itself.

    Worked: a simulated page-mapped drive takes about 2.2 MB per GiB of capacity.
    """
    if drive.kind == "simulated":
        return simulated_bytes(parse_simulated(plan.drive))
    return _buffer_bytes(tests)


def simulated_bytes(target: SimulatedTarget) -> int:
    """Of a simulated drive; one whose state is taken up is there twice for a moment. Raises ValueRangeError."""
    return simulated_memory_bytes(target.drive_model.text) * (2 if target.state else 1)


def refuse_without_memory(tests: Sequence[PlannedTest]) -> None:
    """Raise ValueRangeError where this host has no room for the buffers of a real drive."""
    refuse_beyond_memory("demand", _buffer_bytes(tests), "buffers", "lower --thread-count or --queue-depth")


def refuse_beyond_memory(thing: str, needed_bytes: int, what: str, remedy: str) -> None:
    """Raise ValueRangeError, with the thing and the remedy, where so much memory cannot be had."""
    spare = spare_memory_bytes()
    if spare is not None and needed_bytes > spare[0]:
        reason = f"needs about {gigabytes_label(needed_bytes)} of {what}, {gigabytes_label(spare[0])} are {spare[1]}"
        raise ValueRangeError(thing, reason, remedy)


def _buffer_bytes(tests: Sequence[PlannedTest]) -> int:
    """Every outstanding I/O has a buffer to read into and one to write from."""
    return max(
        2 * test.settings.demand.thread_count * test.settings.demand.queue_depth * test.settings.transfer_bytes_max
        for test in tests
    )
