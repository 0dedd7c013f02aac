"""What the passes of the study of data integrity write: the whole drive, or pieces from which a smaller one shows."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING

from assay.engine.pattern import fill_pattern
from assay.engine.records import DataPattern, Demand, SkippedTest
from assay.procedures.integrity.run import IntegritySettings, run_integrity, written_parts
from assay.procedures.studies.plan import Study, variants_planned
from assay.procedures.studies.run import StudyPlot, StudyStep, StudyVariant
from assay.spec.units import KIB

if TYPE_CHECKING:
    from assay.engine.records import DriveIdentity
    from assay.plan.procedure import PlannedTest
    from assay.procedures.studies.plan import Ground
    from assay.procedures.studies.run import StudySettings

TRANSFER_BYTES = 128 * KIB
PIECE_BYTES = 256 * KIB
HEAD_BYTES_MIN, HEAD_BYTES_MAX = 64 << 20, 2 << 30
HEAD_SHARE = 1 / 4096
PASSES, FLUSHED = ("first pass", "second pass"), (False, True)
DEMAND = Demand(thread_count=1, queue_depth=32)


def plan_whole(ground: Ground) -> Study | SkippedTest:
    """Two passes over the whole drive; none on a simulated drive."""
    return _passes("integrity", ground, _step(ground.capacity))


def plan_quick(ground: Ground) -> Study | SkippedTest:
    """Two passes over the head of the drive and pieces of the rest; over all of a drive that is hardly larger."""
    head = head_bytes(ground.capacity)
    starts = piece_starts(ground.drive, head)
    if not starts:
        return _passes("integrity-quick", ground, _step(ground.capacity))
    pieces = replace(
        _step(len(starts) * PIECE_BYTES), label="SEQ 128KiB 0/100, pieces", segment_starts=starts, from_bytes=starts[0]
    )
    return _passes("integrity-quick", ground, _step(head), pieces)


def head_bytes(capacity_bytes: int) -> int:
    """How much from byte 0 on a quick pass writes whole: about 1/4096 of the drive.

    Worked: 1 TB -> 256 MiB; 16 GB -> 64 MiB.
    """
    wanted = int(capacity_bytes * HEAD_SHARE)
    return min(max(1 << max(wanted - 1, 1).bit_length(), HEAD_BYTES_MIN), HEAD_BYTES_MAX)


def piece_starts(drive: DriveIdentity, head: int) -> tuple[int, ...]:
    """Where the pieces of 256 KiB lie: in each stretch as long as the head, below and at powers of two, and at the end.

    A drive of X bytes that states more lays what is written beyond X over its beginning. One piece lies whole between X
    and X plus the head, wherever X is, and comes to lie in the head: so the read-back finds every such drive.
    Worked: 1 TB and a head of 256 MiB -> 3,744 pieces.
    """
    last = (drive.capacity_bytes - PIECE_BYTES) // drive.logical_block_bytes * drive.logical_block_bytes
    if last < head + PIECE_BYTES:
        return ()
    powers = [1 << exponent for exponent in range(head.bit_length(), drive.capacity_bytes.bit_length())]
    wanted = {*range(head, last, head - PIECE_BYTES), *powers, *(power - PIECE_BYTES for power in powers)}
    result: list[int] = []
    for start in sorted(wanted):
        # Without those that begin in the piece before.
        if head <= start <= last - PIECE_BYTES and (not result or start >= result[-1] + PIECE_BYTES):
            result.append(start)
    return (*result, last)


def _step(length: int) -> StudyStep:
    return StudyStep(
        role="measure",
        label="SEQ 128KiB 0/100",
        pattern=fill_pattern(TRANSFER_BYTES, DataPattern(kind="addressed")),
        demand=DEMAND,
        length_bytes=length,
        amount_bytes=length,
    )


def _passes(name: str, ground: Ground, *steps: StudyStep) -> Study | SkippedTest:
    if not ground.drive.keeps_data:
        return SkippedTest(test=f"study-{name}", reason="a simulated drive holds no data")
    return Study(
        variants=tuple(StudyVariant(label=label, purge=False, steps=steps) for label in PASSES),
        plots=(StudyPlot(kind="seconds", variable="relative"),),
        reading="stages",
    )


def plan_passes(settings: StudySettings, ground: Ground) -> PlannedTest:
    """The passes in order, each with its read-back."""
    written = sum(length for _, length in written_parts(settings.variants[0]))
    known = {field.name: getattr(settings, field.name) for field in fields(settings)}
    known |= {"data": DataPattern(kind="addressed"), "purges": False}
    passes = IntegritySettings(**known, flushed=FLUSHED, share=written / ground.capacity)
    return replace(variants_planned(passes, ground), settings=passes, run=run_integrity, purge_count=0)
