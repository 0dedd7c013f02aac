"""Study active-range.

Question:      What do hot zones do: random writes to few LBAs of a drive that is full?
Source:        Calypso Blind Survey 2010, level II: limited active range (LBA hot zones); amounts of PTS-C 1.0 and 1.1.
Purge:         before every variant.
Precondition:  sequential writes over the whole drive.
Loop:          RND 4 KiB writes for 2 hours; variants: the whole drive, 16 GiB and 8 GiB in 2,048 segments over it. A
               scaled run takes 50 and 25 % of the drive in segments of 8 MiB instead.
Result:        IOPS over time; settled IOPS over active range and over those of the whole drive.
"""

from __future__ import annotations

from dataclasses import replace

from assay.procedures.studies.define import study
from assay.procedures.studies.ground import Ground, Study
from assay.procedures.studies.settings import StudyPlot, StudyVariant
from assay.spec.units import GIB, MIB, gigabytes_label

SEGMENTS = 2048
AMOUNTS_GIB = (16, 8)
SCALED_SHARES = (0.5, 0.25)
SCALED_SEGMENT_BYTES = 8 * MIB


def plan_active_range(ground: Ground) -> Study:
    """Variants by amount of the active range. Worked: 120 GB have all three, 12 GB lack that of 16 GiB."""
    amounts = _amounts(ground)
    fitting = [(label, amount, count) for label, amount, count in amounts if _fits(amount, count, ground)]
    left_out = [label for label, amount, count in amounts if not _fits(amount, count, ground)]
    reason = f"does not fit {gigabytes_label(ground.capacity)} with its gaps; use a larger drive, or --scale"
    return Study(
        variants=(_variant("AR 100 %", ground.share(1.0), None, ground), *(_variant(*one, ground) for one in fitting)),
        plots=(
            StudyPlot(kind="time", variable="iops"),
            StudyPlot(kind="places", variable="iops", x_title="Active range (% of the drive)"),
        ),
        reading="stages",
        settled_share=0.2,
        words={"amounts": _listed([label for label, *_ in amounts])},
        not_run=tuple((label, reason) for label in left_out),
    )


def _amounts(ground: Ground) -> list[tuple[str, int, int]]:
    if ground.request.scale == 1:
        return [(f"AR {gib} GiB", gib * GIB, SEGMENTS) for gib in AMOUNTS_GIB]
    counts = [max(int(ground.capacity * share) // SCALED_SEGMENT_BYTES, 1) for share in SCALED_SHARES]
    return [
        (f"AR {count * SCALED_SEGMENT_BYTES / GIB:.3g} GiB", count * SCALED_SEGMENT_BYTES, count) for count in counts
    ]


def _listed(labels: list[str]) -> str:
    return " and ".join(label.removeprefix("AR ") for label in labels)


def _fits(amount: int, count: int, ground: Ground) -> bool:
    return amount + count * MIB <= ground.capacity


def _variant(label: str, amount: int, count: int | None, ground: Ground) -> StudyVariant:
    writes = replace(ground.writes(amount, 120), segment_count=count)
    steps = (ground.fill(ground.share(1.0)), writes)
    return StudyVariant(label=label, purge=True, steps=steps, place=amount / ground.capacity * 100)


ACTIVE_RANGE = study(
    "active-range",
    header=__doc__,
    title="Active Range",
    question="What do random writes to few LBAs of a full drive do?",
    outline="RND 4KiB writes for {120} over the whole drive, and over {amounts} in segments.",
    preparation="Purge and sequential writes over the whole drive, for every variant.",
    words={"amounts": _listed([f"AR {gib} GiB" for gib in AMOUNTS_GIB])},
    plan=plan_active_range,
)
