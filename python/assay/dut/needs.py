"""What a run needs of this host for its drive: memory of a simulated one, buffers of a real one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay._native import simulated_memory_bytes
from assay.dut.real.platform import available_memory_bytes
from assay.dut.simulated.model import parse_simulated
from assay.errors import ValueRangeError
from assay.spec.units import gigabytes

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
    needed, available = _buffer_bytes(tests), available_memory_bytes()
    if available is not None and needed > available:
        reason = f"needs {gigabytes(needed):.1f} GB of buffers, {gigabytes(available):.1f} GB are available"
        raise ValueRangeError("demand", reason, "lower --thread-count or --queue-depth")


def _buffer_bytes(tests: Sequence[PlannedTest]) -> int:
    """Every outstanding I/O has a buffer to read into and one to write from."""
    return max(
        2 * test.settings.demand.thread_count * test.settings.demand.queue_depth * test.settings.transfer_bytes_max
        for test in tests
    )
