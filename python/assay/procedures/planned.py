"""What tests are planned from: whole blocks, scaled times, and the sequences that several ask for alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.engine.records import SkippedTest, StepSequence
from assay.errors import ValueRangeError
from assay.spec.units import SECOND_NS
from assay.spec.workload import OUTSTANDING_MAX

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.engine.records import AccessPattern, Demand, DriveIdentity, StepSpec
    from assay.plan.procedure import Request
    from assay.spec.edition import RangeDatum


SCALED_STEP_NS_MIN = 50_000_000


def scaled_ns(seconds: float, scale: float) -> int:
    """A step's length in ns after scaling; none is shorter than 50 ms. Zero stays zero.

    Worked: 60 s at a scale of 0.5 -> 30000000000.
    """
    asked = round(seconds * SECOND_NS)
    return asked if scale == 1 or not asked else max(round(asked * scale), SCALED_STEP_NS_MIN)


def refuse_deep(name: str, demand: Demand) -> None:
    """Raise ValueRangeError where a test asks for more outstanding I/Os than the engine keeps."""
    outstanding = demand.thread_count * demand.queue_depth
    if outstanding > OUTSTANDING_MAX:
        reason = f"{outstanding} outstanding I/Os (TC x QD) are more than {OUTSTANDING_MAX}"
        raise ValueRangeError(f"demand of {name}", reason, "lower --thread-count or --queue-depth")


def whole_blocks(length: float, drive: DriveIdentity) -> int:
    """A length rounded down to the drive's blocks. Worked: 1000 bytes in blocks of 512 -> 512."""
    return int(length) // drive.logical_block_bytes * drive.logical_block_bytes


def shared_bytes(datum: RangeDatum, drive: DriveIdentity) -> int:
    """The first share of a drive that a test range covers, all of it where none is stated, in whole blocks."""
    return whole_blocks(drive.capacity_bytes * (datum.share or 1.0), drive)


def unfit(test: str, label: str, pattern: AccessPattern, drive: DriveIdentity) -> SkippedTest | None:
    """The test as left out where a transfer of its pattern is no multiple of the drive's block."""
    if all(size % drive.logical_block_bytes == 0 for size, _ in pattern.sizes):
        return None
    return SkippedTest(test=test, reason=f"{label} has transfers {sector_reason(drive)}")


def sector_reason(drive: DriveIdentity) -> str:
    """Why a drive cannot run a transfer size that is no multiple of its block."""
    return f"no multiple of the drive's {drive.logical_block_bytes}-byte logical block"


def one_round(index: int, steps: Sequence[StepSpec]) -> StepSequence:
    """Round ``index``, from 1, of a test that repeats them until steady."""
    return StepSequence(
        name=f"round {index}", stage="round", index=index, steps=tuple(steps), role="measure", on_void="leave-out"
    )


def histogram(step: StepSpec) -> StepSequence:
    """The step behind a test whose response times are counted."""
    return StepSequence(name="histogram", stage="histogram", index=0, steps=(step,), role="measure", on_void="repeat")


def numbered(what: str, first: int, count: int) -> str:
    """Name steps by their numbers. what : one of them.

    Worked: 31 samples from the first -> ``samples 1 to 31``; one from the fourth -> ``sample 4``.
    """
    return f"{what}s {first} to {first + count - 1}" if count > 1 else f"{what} {first}"


def common_settings(request: Request[Any, Any], name: str, demand: Demand) -> dict[str, Any]:
    """What every test settles, as keywords of its settings: the whole drive, and no limits of steady state."""
    return {
        "procedure": name,
        "test": name,
        "edition": request.edition.name,
        "demand": demand,
        "data": request.data,
        "range_amount_bytes": whole_drive_bytes(request.drive),
        "segment_count": None,
        "range_limit": 1.0,
        "slope_limit": 1.0,
        "write_cache_required": request.edition.write_cache.value,
    }


def whole_drive_bytes(drive: DriveIdentity) -> int:
    """The capacity in whole blocks. Worked: 1,000 bytes in blocks of 512 -> 512."""
    return whole_blocks(drive.capacity_bytes, drive)
