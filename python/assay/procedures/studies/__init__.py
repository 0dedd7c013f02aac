"""Studies: questions beside the specification's tests. Each is its words and a list of variants on a drive."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from inspect import getdoc
from typing import TYPE_CHECKING, Any

from assay.engine.records import DataPattern, Demand, SkippedTest
from assay.procedures.planned import sector_reason
from assay.procedures.studies.plan import (
    LARGE,
    SAMPLE_SECONDS,
    SMALL,
    STABILITY_MINUTES,
    Ground,
    Study,
    at_total,
    over_places,
    over_time,
    prepared,
    purged,
    study,
)
from assay.procedures.studies.run import StudyPlot, StudyVariant
from assay.procedures.xsr.plan import plan_groups
from assay.procedures.xsr.run import CrossStimulusSettings
from assay.spec.lazy import later
from assay.spec.units import GIB, KIB, MIB, MINUTE_NS, duration_label, gigabytes_label, kib_label

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from assay.plan.procedure import PlannedTest, Procedure, Request
    from assay.procedures.studies.run import StudyStep
    from assay.procedures.xsr.plan import Group
    from assay.spec.datum import Strict


def _study(name: str, **more: Any) -> Callable[[Any], Procedure[Any, Any]]:
    """The study that a function plans; its docstring is the header."""
    return lambda plan: study(name, header=getdoc(plan) or "", plan=plan, **more)


@_study("data-pattern")
def data_pattern(ground: Ground) -> Study:
    """Data Pattern.

    Question:      What does it change when the data written are not random?
    Source:        Calypso Blind Survey 2010, level II: a non-random file as stimulus.
    Preparation:   Purge and sequential writes of the same data over the drive, for every variant.
    Loop:          SEQ 1024KiB writes for {10}, then RND 4KiB writes for {120}, with data of each kind.
    Variants:      random data, data compressible to 50, 25 and 10 %, and the bytes of a file that the plan names.
    Result:        MB/s and IOPS over time; settled values over those of random data.
    """
    contents = {"random": DataPattern()}
    for share in (0.5, 0.25, 0.1):
        contents[f"compressible to {share * 100:g} %"] = DataPattern(kind="compressible", stored_share=share)
    if path := ground.request.options.data_file:
        contents["file"] = DataPattern(kind="file", path=path)
    length, of = ground.share(1.0), {label: replace(ground, data=data) for label, data in contents.items()}
    large = partial(Ground.cell, access="sequential", size=LARGE, read_pct=0, length=length, samples=10)
    return Study(
        variants=[purged(label, one.fill(length), large(one), one.writes(length, 120)) for label, one in of.items()],
        plots=(
            StudyPlot(kind="time", variable="iops", only="RND 4KiB 0/100"),
            StudyPlot(kind="time", variable="throughput", only="SEQ 1024KiB 0/100"),
        ),
        reading="stages",
        settled_share=0.2,
        not_run=() if path else (("file", "the plan names no file of data in its table [study]"),),
    )


@_study("write-cache")
def write_cache(ground: Ground) -> Study | SkippedTest:
    """Write Cache.

    Question:      What does the volatile write cache of the drive do for writes?
    Preparation:   Purge and sequential writes over the drive, for every variant.
    Loop:          SEQ 1024KiB writes for {5}, RND 4KiB writes for {30}, and with one outstanding for {5}.
    Variants:      write cache on and off, also while the drive is prepared; it is set back afterwards.
    Result:        IOPS and response time over time; settled values over those with the cache on.
    """
    if "write-cache" not in ground.drive.controls:
        return SkippedTest(test="study-write-cache", reason="the write cache of this drive cannot be set")
    length = ground.share(1.0)
    alone = ground.cell("random", SMALL, 0, length, samples=5)
    alone = replace(alone, label=f"{alone.label} one outstanding", demand=Demand(thread_count=1, queue_depth=1))
    large = ground.cell("sequential", LARGE, 0, length, samples=5)
    steps = (ground.fill(length), large, ground.writes(length, 30), alone)
    return Study(
        variants=(
            purged("write cache on", *steps, write_cache="enabled"),
            purged("write cache off", *steps, write_cache="disabled"),
        ),
        plots=(
            StudyPlot(kind="time", variable="iops", only="RND 4KiB 0/100"),
            StudyPlot(kind="time", variable="response", only=alone.label),
        ),
        reading="stages",
        settled_share=0.5,
    )


def _mixes(
    ground: Ground,
    mixes: Sequence[int],
    cells: Callable[[StudyStep], Iterable[StudyStep]],
    short: int = 0,
    samples: int = 1,
) -> Iterator[StudyVariant]:
    """A variant per mix of RND 4 KiB accesses on the same drive, saturated before the first. cells : made of accesses.

    short : bytes of the drive that are left out. samples : of each of the cells.
    """
    length = ground.share(1.0)
    for index, mix in enumerate(mixes):
        before = () if index else ground.saturated(length)
        cell = ground.cell("random", SMALL, mix, length - short, samples=samples)
        # A minute of the same accesses first: what the drive still has to write from before is none of theirs.
        own = prepared(replace(cell, samples=1))
        label = {0: "writes", 100: "reads"}.get(mix, f"{mix}/{100 - mix}")
        yield StudyVariant(label=label, purge=not index, steps=(*before, own, *cells(cell)))


@_study("oio")
def oio(ground: Ground) -> Study:
    """OIO Throttling.

    Question:      How do IOPS and response time depend on the number of outstanding I/Os?
    Preparation:   Purge, sequential writes over the drive and {120} of RND 4KiB writes, once.
    Loop:          RND 4KiB accesses at 1, 2, 4 to 256 outstanding I/Os, {1} each: writes, 65/35, reads.
    Threads:       up to 32 outstanding I/Os are those of a single thread, more those of threads of 32 each.
    Result:        IOPS and average response time over total OIO; how far the effective OIO is from TC x QD.
    """
    return Study(
        variants=_mixes(ground, (0, 65, 100), lambda cell: (at_total(cell, 2**power) for power in range(9))),
        plots=over_places("Total OIO", "log", "iops", "response"),
        reading="grid",
    )


_OVER_RANGE = (*over_time("iops"), *over_places("Active range (% of the drive)", "linear", "iops"))


@_study("over-provisioning")
def over_provisioning(ground: Ground) -> Study:
    """Over-Provisioning.

    Question:      How much faster do random writes become when part of the drive is left unused?
    Preparation:   Purge and sequential writes over the same range only, for every variant.
    Loop:          RND 4KiB writes for {120} over 100, 80, 50, 25, 10 and 5 % of the drive.
    Spare area:    what lies beyond the range stays purged.
    Result:        IOPS over time; settled IOPS over active range and over those of the whole drive.
    """
    lengths = {share * 100: ground.share(share) for share in (1.0, 0.8, 0.5, 0.25, 0.1, 0.05)}
    return Study(
        variants=[
            purged(f"AR {pct:g} %", ground.fill(length), ground.writes(length, 120), place=pct)
            for pct, length in lengths.items()
        ],
        plots=_OVER_RANGE,
        reading="stages",
        settled_share=0.2,
    )


_RANGES_GIB = (16, 8)


def _listed(amounts: Sequence[float]) -> str:
    return " and ".join(f"{amount:.3g} GiB" for amount in amounts)


@_study("active-range", words={"amounts": _listed(_RANGES_GIB)})
def active_range(ground: Ground) -> Study:
    """Active Range.

    Question:      What do random writes to few LBAs of a full drive do?
    Source:        Calypso Blind Survey 2010, level II: limited active range (LBA hot zones); amounts of PTS-C 1.0
                   and 1.1.
    Preparation:   Purge and sequential writes over the whole drive, for every variant.
    Loop:          RND 4KiB writes for {120} over the whole drive, and over {amounts} in segments.
    Segments:      2,048 over the drive. A scaled run takes 50 and 25 % of the drive in segments of 8 MiB.
    Result:        IOPS over time; settled IOPS over active range and over those of the whole drive.
    """
    # Worked: 120 GB have all three variants, 12 GB lack that of 16 GiB.
    counts = {amount * GIB: 2048 for amount in _RANGES_GIB}
    if ground.request.scale != 1:
        segments = [max(int(ground.capacity * share) // (8 * MIB), 1) for share in (0.5, 0.25)]
        counts = {count * 8 * MIB: count for count in segments}
    ranges = [(f"AR {_listed([amount / GIB])}", amount, count) for amount, count in counts.items()]
    fitting = [one for one in ranges if one[1] + one[2] * MIB <= ground.capacity]
    reason = f"does not fit {gigabytes_label(ground.capacity)} with its gaps; use a larger drive, or --scale"
    whole = ground.share(1.0)
    return Study(
        variants=[
            purged(
                label,
                ground.fill(whole),
                replace(ground.writes(amount, 120), segment_count=count),
                place=amount / ground.capacity * 100,
            )
            for label, amount, count in (("AR 100 %", whole, None), *fitting)
        ],
        plots=_OVER_RANGE,
        reading="stages",
        settled_share=0.2,
        words={"amounts": _listed([amount / GIB for amount in counts])},
        not_run=tuple((one[0], reason) for one in ranges if one not in fitting),
    )


@_study("workload-dependency")
def workload_dependency(ground: Ground) -> Study:
    """Workload Dependency.

    Question:      How much slower are sequential writes after random ones, and how soon do they recover?
    Source:        Spanjer, "What's up with these numbers" (2009): sequential, random, sequential; 172.5 to 16.8 MB/s is
                   printed as a drop of 90 %.
    Preparation:   Purge and sequential writes over the same range, for every variant.
    Loop:          A pass of SEQ 128KiB writes, {60} of RND 4KiB writes, three passes of SEQ 128KiB writes.
    Variants:      the whole drive, and 80 % of it, the rest being spare area.
    Result:        MB/s over time; the first pass afterwards in per cent of the pass before, and the recovery time.
    """
    return Study(
        variants=(ground.changing("AR 100 %", 1.0), ground.changing("AR 80 %", 0.8)),
        plots=over_time("throughput", "response"),
        reading="change",
    )


@_study("stability", words={"whole": duration_label(STABILITY_MINUTES * MINUTE_NS)})
def stability(ground: Ground) -> Study:
    """Performance Stability.

    Question:      How steady is the performance of a saturated drive from second to second?
    Source:        Spanjer, "What's up with these numbers" (2009): performance stability, performance over time.
    Preparation:   Purge, sequential writes over the drive and {120} of RND 4KiB writes, once; before the SEQ 1024KiB
                   writes, sequential writes over the drive once more.
    Loop:          {whole} each of RND 4KiB writes, RND 4KiB 65/35 and SEQ 1024KiB writes, second by second.
    Scaled:        a scaled run keeps at least 20 seconds of each.
    Result:        IOPS and maximum response time of every second. Score: share of the seconds whose IOPS lie within
                   10 % of their median; also the coefficient of variation and the worst second.
    """
    length, writes = ground.share(1.0), ground.whole("random", SMALL, 0)
    sequential = (prepared(ground.passes(length, 1)), ground.whole("sequential", LARGE, 0))
    return Study(
        variants=(
            purged("RND 4KiB writes", *ground.saturated(length), writes),
            StudyVariant(label="RND 4KiB 65/35", purge=False, steps=(ground.whole("random", SMALL, 65),)),
            StudyVariant(label="SEQ 1024KiB writes", purge=False, steps=sequential),
        ),
        plots=(StudyPlot(kind="seconds", variable="relative"), StudyPlot(kind="seconds", variable="largest")),
        reading="stability",
        words={"whole": duration_label(writes.span_ns)},
    )


_SIZES_KIB = (1024.0, 128.0, 64.0, 32.0, 16.0, 8.0, 4.0, 0.5)
_SHUFFLED_KIB = (8.0, 0.5, 128.0, 4.0, 1024.0, 16.0, 64.0, 32.0)


@_study("cell-order")
def cell_order(ground: Ground) -> Study:
    """Order of Cells.

    Question:      Does the order of block sizes in a test loop change the figures?
    Preparation:   Purge, sequential writes over the drive and four rounds of the loop, for every variant.
    Loop:          RND writes of 1024 to 0.5KiB, {1} each: descending, ascending, and in a fixed shuffled order.
    Descending:    the order of the specification.
    Result:        IOPS per block size and order.
    """
    length, block = ground.share(1.0), ground.drive.logical_block_bytes
    cells = {
        size: replace(ground.cell("random", int(size * KIB), 0, length), place=size)
        for size in _SIZES_KIB
        if int(size * KIB) % block == 0
    }
    orders = {"descending": _SIZES_KIB, "ascending": _SIZES_KIB[::-1], "shuffled": _SHUFFLED_KIB}
    rows = {label: [cells[size] for size in order if size in cells] for label, order in orders.items()}
    return Study(
        variants=[
            purged(label, ground.fill(length), *[prepared(one) for one in row] * 4, *row) for label, row in rows.items()
        ],
        plots=over_places("Block size (KiB)", "log", "iops", "response"),
        reading="grid",
        not_run=tuple(
            (f"{kib_label(int(size * KIB))}KiB", sector_reason(ground.drive))
            for size in _SIZES_KIB
            if size not in cells
        ),
    )


@_study("alignment")
def alignment(ground: Ground) -> Study:
    """Alignment.

    Question:      What do 4KiB accesses cost that miss the internal alignment of the drive?
    Preparation:   Purge, sequential writes over the drive and {120} of RND 4KiB writes, once.
    Loop:          RND 4KiB accesses for {5} each, begun 0, 512, 1024, 2048 and 4096 bytes off a grid of 4KiB.
    Variants:      writes, then reads, on the same drive; offsets inside the drive's block are left out.
    Result:        IOPS and average response time over the offset.
    """
    offsets = {offset: offset % ground.drive.logical_block_bytes == 0 for offset in (0, 512, 1024, 2048, 4096)}

    def shifted(cell: StudyStep) -> Iterator[StudyStep]:
        for offset in (offset for offset, fits in offsets.items() if fits):
            yield replace(cell, label=f"{cell.label} offset {offset}", from_bytes=offset, place=float(offset))

    return Study(
        # The same length at every offset, so that only the beginning differs.
        variants=_mixes(ground, (0, 100), shifted, short=MIB, samples=5),
        plots=over_places("Offset (bytes)", "linear", "iops", "response"),
        reading="grid",
        not_run=tuple(
            (f"offset {offset}", sector_reason(ground.drive)) for offset, fits in offsets.items() if not fits
        ),
    )


@_study("trim")
def trim(ground: Ground) -> Study | SkippedTest:
    """Trim.

    Question:      What does it help when the host tells the drive what it no longer needs?
    Preparation:   Purge, sequential writes over the drive and {120} of RND 4KiB writes, for every variant.
    Loop:          RND 4KiB writes to the first half of the drive for {60}, the second half trimmed before or not.
    Result:        IOPS and average response time over time; settled values over those without trim.
    """
    if "trim" not in ground.drive.controls:
        return SkippedTest(test="study-trim", reason="this drive takes no trim (discard)")
    length, half = ground.share(1.0), ground.share(0.5)
    before, writes = ground.saturated(length), ground.writes(half, 60)
    given_back = replace(writes, role="trim", label="trim", from_bytes=half, length_bytes=length - half, samples=1)
    return Study(
        variants=(
            purged("without trim", *before, writes),
            purged("second half trimmed", *before, given_back, writes),
        ),
        plots=over_time("iops", "response"),
        reading="stages",
        settled_share=0.2,
    )


@_study("demand-map")
def demand_map(ground: Ground) -> Study:
    """Demand Intensity Map.

    Question:      Which thread count and queue depth does this drive need?
    Preparation:   Purge, sequential writes over the drive and {120} of RND 4KiB writes, once.
    Loop:          RND 4KiB accesses in cells of {1}, TC and QD 1 to 32, in order of decreasing total OIO.
    Variants:      writes, then reads, on the same drive; of an equal total OIO the higher TC comes first.
    Result:        IOPS and average response time per cell. Proposed: the lowest total OIO that reaches 95 % of the
                   highest IOPS; at equal OIO the lowest response time.
    """
    # 36 cells of each variant, from TC 32 x QD 32 to TC 1 x QD 1.
    depths = [2**power for power in range(6)]
    demands = sorted(((threads * depth, threads) for threads in depths for depth in depths), reverse=True)

    def cells(cell: StudyStep) -> Iterator[StudyStep]:
        for total, threads in demands:
            demand = Demand(thread_count=threads, queue_depth=total // threads)
            label = f"{cell.label} TC {threads} QD {demand.queue_depth}"
            yield replace(cell, label=label, demand=demand, place=float(total), series=f"TC {threads}")

    (plot,) = over_places("Total OIO", "log", "iops")
    return Study(
        variants=_mixes(ground, (0, 100), cells),
        plots=(replace(plot, only="writes"), replace(plot, only="reads")),
        reading="demand",
    )


_SEQUENTIAL: Group = ("sequential", LARGE, 8)
_RANDOM: Group = ("random", 8 * KIB, 6)


def _plan_orders(request: Request[Strict, Any]) -> list[PlannedTest | SkippedTest]:
    """Cross Stimulus Recovery in Both Orders.

    Question:      How does a drive take the change between sequential and random writes, in either order?
    Source:        Calypso Blind Survey 2010, level II: cross stimulus recovery RND-SEQ-RND and SEQ-RND-SEQ. The
                   survey's durations are open; they are those of XSR in PTS-E 1.1.
    Preparation:   Purge only, for either order.
    Loop:          SEQ 1024KiB writes for 8 hours and RND 8KiB writes for 6 hours: SEQ-RND-SEQ, then RND-SEQ-RND.
    Runs:          in 1 min samples, each order a separate run as in cross stimulus recovery.
    Result:        as cross stimulus recovery, for each order.
    """
    # Worked: two runs, of 22 and of 20 hours.
    orders = {
        "seq-rnd-seq": (_SEQUENTIAL, _RANDOM, _SEQUENTIAL),
        "rnd-seq-rnd": (_RANDOM, _SEQUENTIAL, _RANDOM),
    }
    ground = Ground.of(request)
    return [
        plan_groups(
            "xsr-reverse",
            f"study-xsr-{order}",
            groups,
            demand=ground.demand,
            range_amount_bytes=ground.share(1.0),
            sample_seconds=SAMPLE_SECONDS,
            recovered_share=0.95,
            request=request,
        )
        for order, groups in orders.items()
    ]


_XSR_SHOWN = later("assay.procedures.xsr.record", "xsr_shown")
XSR_REVERSE = replace(
    _study("xsr-reverse", report=_XSR_SHOWN, settings=CrossStimulusSettings)(_plan_orders), plan=_plan_orders
)
