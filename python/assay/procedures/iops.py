"""IOPS.

Question:      How many random I/Os per second does the drive do at steady state, over sizes and mixes?
Clauses:       PTS-C 1.0 clause 8; PTS-E 1.0, 1.1 and PTS 2.0 clause 7.
Purge:         yes, before preconditioning.
Precondition:  2X user capacity, SEQ 128 KiB writes (workload independent); the loop itself (dependent).
Loop:          for read share in 100, 95, 65, 50, 35, 5, 0: for size in 1024 ... 0.5 KiB: one minute RND.
Tracking:      RND 4KiB 0/100; in 2.0 also RND 64KiB 65/35 and RND 1024KiB 100/0, all at once.
Steady state:  five rounds, excursion within 20 %, slope within 10 % of the average; at most 25 rounds.
Result:        average over the five rounds per cell.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.errors import TooSmallError
from assay.pattern import fill_pattern, leading_range, random_pattern, segmented_range
from assay.records import LoopSettings, StepSpec, StopRule
from assay.units import GIB, KIB, MIB, SECOND_NS, duration_label, gigabytes
from assay.window import cell_label

if TYPE_CHECKING:
    from assay.plan import Plan
    from assay.profile import Profile, RangeDatum
    from assay.records import ActiveRange, DriveIdentity

SCALED_STEP_NS_MIN = 50_000_000
SCALED_SEGMENT_BYTES = 8 * MIB


def iops_settings(profile: Profile, plan: Plan, drive: DriveIdentity) -> tuple[LoopSettings, tuple[str, ...]]:
    """What the test will do on this drive, and how that departs from the specification.

    Returns the settings and one line per deviation.
    Raises TooSmallError where the test ActiveRange does not fit the drive.
    Worked: ``pts-c-1.0`` on 32 GB -> 56 cells of 60 s on 2,048 segments of 8 MiB after 64 GB of preconditioning.
    """
    edition = profile.iops
    sizes = tuple(int(kib * KIB) for kib in edition.block_kib.value)
    runnable = tuple(size for size in sizes if size % drive.logical_block_bytes == 0)
    step_ns = round(edition.step_seconds.value * SECOND_NS)
    amount_bytes, segments = _test_range(edition.test_range.value, plan.scale, drive)
    settings = LoopSettings(
        test="iops",
        profile=profile.name,
        demand=plan.iops_demand(edition.demand.value.to_demand()),
        data=plan.data.to_pattern(),
        read_pcts=edition.read_pct.value,
        sizes_bytes=runnable,
        step_ns=step_ns if plan.scale == 1 else max(round(step_ns * plan.scale), SCALED_STEP_NS_MIN),
        round_limit=plan.iops.round_limit or edition.round_limit.value,
        tracking=tuple(cell.to_cell() for cell in edition.tracking.value),
        range_limit=edition.range_limit.value,
        slope_limit=edition.slope_limit.value,
        preconditioning_bytes=round(edition.preconditioning_multiple.value * drive.capacity_bytes),
        preconditioning_transfer_bytes=int(edition.preconditioning_block_kib.value * KIB),
        preconditioning_share=edition.preconditioning_share.value,
        range_amount_bytes=amount_bytes,
        segment_count=segments,
        write_cache_required=profile.write_cache.value,
        not_applicable={size: _sector_reason(drive) for size in sizes if size not in runnable},
    )
    return settings, tuple(_deviations(settings, profile, drive))


def preconditioning_program(settings: LoopSettings, drive: DriveIdentity) -> list[StepSpec]:
    """Workload-independent preconditioning: sequential writes over the range, the tail included."""
    covered = _whole_blocks(drive.capacity_bytes * settings.preconditioning_share, drive)
    return [
        StepSpec(
            label="WIPC SEQ 128KiB 0/100",
            pattern=fill_pattern(settings.preconditioning_transfer_bytes, settings.data),
            demand=settings.demand,
            active_range=leading_range(covered),
            stop=StopRule(amount_bytes=settings.preconditioning_bytes),
        )
    ]


def iops_range(settings: LoopSettings, drive: DriveIdentity, seed: int) -> ActiveRange:
    """The test ActiveRange: random segments, or the leading part of the drive."""
    if settings.segment_count is None:
        return leading_range(settings.range_amount_bytes)
    segment_bytes = settings.range_amount_bytes // settings.segment_count
    return segmented_range(drive.capacity_bytes, settings.segment_count, segment_bytes, seed)


def round_program(settings: LoopSettings, active_range: ActiveRange) -> list[StepSpec]:
    """One round: every cell in the order of the specification, reads first, large blocks first."""
    return [
        StepSpec(
            label=cell_label(cell),
            pattern=random_pattern(cell.transfer_bytes, cell.read_pct / 100, settings.data),
            demand=settings.demand,
            active_range=active_range,
            stop=StopRule(time_ns=settings.step_ns),
        )
        for cell in settings.cells
    ]


def _test_range(datum: RangeDatum, scale: float, drive: DriveIdentity) -> tuple[int, int | None]:
    """Amount in bytes and number of segments (None where contiguous)."""
    if datum.amount_gib is None or datum.segment_count is None:
        return _whole_blocks(drive.capacity_bytes * (datum.share or 1.0), drive), None
    amount, count = round(datum.amount_gib * GIB), datum.segment_count
    if scale < 1:
        count = max(min(count, drive.capacity_bytes // 2 // SCALED_SEGMENT_BYTES), 1)
        amount = count * SCALED_SEGMENT_BYTES
    gaps = (count - 1) * MIB
    if amount + gaps > drive.capacity_bytes:
        raise TooSmallError(
            drive.path,
            f"has {gigabytes(drive.capacity_bytes):.2f} GB, the test range and its gaps need "
            f"{gigabytes(amount + gaps):.2f} GB",
            "use a larger drive, or a scaled run with --scale",
        )
    return amount, count


def _whole_blocks(length: float, drive: DriveIdentity) -> int:
    return int(length) // drive.logical_block_bytes * drive.logical_block_bytes


def _sector_reason(drive: DriveIdentity) -> str:
    return f"smaller than the drive's {drive.logical_block_bytes}-byte logical block"


def _deviations(settings: LoopSettings, profile: Profile, drive: DriveIdentity) -> list[str]:
    edition = profile.iops
    asked_ns = round(edition.step_seconds.value * SECOND_NS)
    lines = []
    if settings.step_ns != asked_ns:
        lines.append(f"cells of {duration_label(settings.step_ns)} instead of {duration_label(asked_ns)}")
    asked_segments = edition.test_range.value.segment_count
    if settings.segment_count != asked_segments:
        lines.append(
            f"test range of {settings.range_amount_bytes / GIB:g} GiB in {settings.segment_count} segments "
            f"instead of {edition.test_range.value.amount_gib:g} GiB in {asked_segments}"
        )
    if settings.round_limit != edition.round_limit.value:
        lines.append(f"at most {settings.round_limit} rounds instead of {edition.round_limit.value}")
    if settings.data.kind != profile.data_pattern.value:
        lines.append(f"data pattern {settings.data.kind} instead of {profile.data_pattern.value}")
    if drive.write_cache != profile.write_cache.value:
        lines.append(f"write cache {drive.write_cache}, the edition asks for {profile.write_cache.value}")
    if drive.kind == "file":
        lines.append("a file on a file system instead of a block device")
    return lines
