"""A synthetic stored run for the tests of the report room.

Nothing here was measured: rates follow a made-up formula so that every page has something to lay out. Only
the tracking variable is the constructed check vector whose determination data were printed in 2012.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from assay.engine.pattern import cell_pattern, leading_range
from assay.engine.records import (
    Cell,
    DataPattern,
    Demand,
    DirectionRecord,
    DriveIdentity,
    Platform,
    PurgeRecord,
    Round,
    StepRecord,
    StepSequence,
    StepSpec,
    StopRule,
    StoredRun,
    StoredSequence,
    StoredTest,
)
from assay.plan.until import RoundOutcome
from assay.procedures.editions import load_edition
from assay.procedures.families.loop.plan import LoopSettings
from assay.procedures.families.loop.result import measurement_window
from assay.procedures.families.loop.run import loop_range, loop_rounds, preconditioning, round_sequence
from assay.procedures.families.saturation.until import until_saturated
from assay.spec.steady import WINDOW_ROUNDS
from assay.spec.units import KIB, SECOND_NS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from assay.plan.until import Judging
    from assay.procedures.families.saturation.result import SaturationSettings

SPAN_NS = 100 * SECOND_NS
GOLDEN = (3445.45, 3011.86, 3147.05, 2903.05, 3227.82)
FALLING = (9000.0, 7000.0, 5500.0, 4300.0, 3300.0, 2500.0, 1900.0)
START_NS = 1_781_000_000 * SECOND_NS
REPORT_NS = START_NS + 86_400 * SECOND_NS
TRACKED = Cell(read_pct=0, transfer_bytes=4 * KIB)
HOSTILE = ("<script>alert(1)</script>", "=1+1", "</script>", "../../x\x00\u202e\udcff")


def synthetic_rate(cell: Cell, tracked: float, drift: float) -> float:
    """Make up the IOPS of a cell: a mix of a read rate and of a write rate that follows ``tracked``."""
    kib = cell.transfer_bytes / KIB
    if cell == TRACKED or not tracked:
        return tracked
    read = min(29_800.0, 240_000.0 / kib)
    write = tracked * (0.36 if kib < 4 else 4 / kib) * drift
    share = cell.read_pct / 100
    return 1 / (share / read + (1 - share) / write)


def synthetic_direction(count: int, transfer_bytes: int, *, errors: int = 0) -> DirectionRecord:
    """Make a direction record of ``count`` I/Os of 2.5 ms each."""
    return DirectionRecord(
        window_io_count=count,
        window_bytes=count * transfer_bytes,
        tail_io_count=0,
        tail_bytes=0,
        latency_io_count=count,
        latency_ns_sum=count * 2_500_000,
        latency_ns_min=90_000 if count else None,
        latency_ns_max=41_000_000 if count else None,
        errors={5: errors} if errors else {},
    )


def balanced(record: StepRecord) -> StepRecord:
    """Lay what the outstanding time differs from the sum of the response times to the ends of the window."""
    spent = sum(side.latency_ns_sum + side.failed_ns for side in (record.read, record.write))
    over = record.outstanding_ns - spent
    return replace(record, carried_in_ns=max(over, 0), carried_out_ns=max(-over, 0))


def synthetic_step(cell: Cell, rate: float, *, errors: int = 0) -> StepRecord:
    """Make a step record of a cell at a rate."""
    count = round(rate * SPAN_NS / SECOND_NS)
    reads = count * cell.read_pct // 100
    step = StepRecord(
        label=f"synthetic {cell}",
        span_ns=SPAN_NS,
        start_ns=0,
        start_wall_ns=START_NS,
        read=synthetic_direction(reads, cell.transfer_bytes, errors=errors),
        write=synthetic_direction(count - reads, cell.transfer_bytes),
        outstanding_ns=SPAN_NS * 8 - 12_345_678,
        submission_gap_ns_max=3_000_000,
        first_submission_ns=0,
        last_submission_ns=SPAN_NS,
        cpu_ns=None,
        counters_before=None,
        counters_after=None,
        ended="stop-rule",
    )
    return balanced(step)


def synthetic_settings(edition: str = "pts-c-1.0", **changes: Any) -> LoopSettings:
    """Make loop settings as an edition gives them, on a drive of 256 GB."""
    data = load_edition(edition).iops
    settings = LoopSettings(
        procedure="iops",
        test="iops",
        access="random",
        variable="iops",
        edition=edition,
        demand=data.demand.value.to_demand(),
        data=DataPattern(),
        read_pcts=data.read_pct.value,
        sizes_bytes=tuple(int(kib * KIB) for kib in data.block_kib.value),
        step_ns=SPAN_NS,
        round_limit=data.round_limit.value,
        tracking=tuple(cell.to_cell() for cell in data.tracking.value),
        range_limit=data.range_limit.value,
        slope_limit=data.slope_limit.value,
        preconditioning_bytes=512 * 10**9,
        preconditioning_transfer_bytes=128 * KIB,
        preconditioning_share=data.preconditioning_share.value,
        preconditioning_demand=data.demand.value.to_demand(),
        range_amount_bytes=16 * KIB**3,
        segment_count=data.test_range.value.segment_count,
        write_cache_required="enabled",
    )
    return replace(settings, **changes)


def synthetic_rounds(settings: LoopSettings, tracked: Sequence[float], *, errors: int = 0) -> tuple[Round, ...]:
    """Make rounds 1, 2, ... whose tracking variable RND 4KiB 0/100 has the given rates."""
    rounds = []
    for index, rate in enumerate(tracked, start=1):
        drift = 1 + 0.03 * (-1) ** index
        cells = tuple(
            synthetic_step(cell, synthetic_rate(cell, rate, drift), errors=errors if cell == TRACKED else 0)
            for cell in settings.cells
        )
        rounds.append(Round(index=index, cells=cells))
    return tuple(rounds)


def synthetic_test(
    edition: str = "pts-c-1.0",
    tracked: Sequence[float] = GOLDEN,
    *,
    ended: str | None = "steady",
    errors: int = 0,
    **changes: Any,
) -> StoredTest:
    """Make a stored IOPS test with synthetic rounds; ``changes`` go into its settings."""
    settings = synthetic_settings(edition, **changes)
    rounds = synthetic_rounds(settings, tracked, errors=errors)
    may_judge = not errors and all(tracked)
    judged = measurement_window(rounds, settings) if len(rounds) >= WINDOW_ROUNDS and may_judge else None
    return StoredTest(
        settings=settings,
        started_wall_ns=START_NS,
        ended_wall_ns=START_NS + 20_000 * SECOND_NS if ended else None,
        purge=PurgeRecord(method="simulated purge", proof="every mapping is gone", deviation=None, span_ns=10**9),
        sequences=(synthetic_fill(settings), *round_programs(rounds, settings)),
        # A round with an error, or without a completion in its tracking cell, never enters a verdict.
        verdict=judged,
        window_stage="round" if judged else "",
        window_indexes=judged.rounds if judged else (),
        ended=ended,
    )


def asked_sequence(stage: str, index: int, count: int = 1, asked: StepSpec | None = None) -> StepSequence:
    """Make a sequence of equal steps: RND 4 KiB writes for 100 s."""
    spec = asked or StepSpec(
        label="RND 4KiB 0/100",
        pattern=cell_pattern("random", 4 * KIB, 0.0, DataPattern()),
        demand=Demand(thread_count=1, queue_depth=8),
        active_range=leading_range(16 * KIB**3),
        stop=StopRule(time_ns=SPAN_NS),
    )
    return StepSequence(
        name=f"{stage} {index}",
        stage=stage,
        index=index,
        steps=(spec,) * count,
        role="measure",
        on_void="leave-out",
    )


def followed(judging: Judging, run: Callable[[StepSequence], Sequence[StepRecord]]) -> list[RoundOutcome]:
    """Give what a generator of rounds or samples asks for; its verdicts."""
    found: list[RoundOutcome] = []
    records: Sequence[StepRecord] | None = None
    while True:
        try:
            action = next(judging) if records is None else judging.send(records)
        except StopIteration:
            return found
        records = run(action) if isinstance(action, StepSequence) else None
        if isinstance(action, RoundOutcome):
            found.append(action)


def judged_rounds(settings: LoopSettings, run_round: Callable[[int], Sequence[StepRecord]]) -> list[RoundOutcome]:
    """Run rounds until steady; ``run_round`` gives the cells of one, from 1."""
    judging = loop_rounds(settings, lambda index: asked_sequence("round", index, len(settings.cells)))
    return followed(judging, lambda one: run_round(one.index))


def judged_samples(
    settings: SaturationSettings, run_samples: Callable[[int], Sequence[StepRecord]]
) -> list[RoundOutcome]:
    """Run samples until they end; ``run_samples`` gives so many of them."""
    judging = until_saturated(settings, lambda index, _, count: asked_sequence("sample", index, count))
    return followed(judging, lambda one: run_samples(len(one.steps)))


def stored_sequence(sequence: StepSequence, steps: Sequence[StepRecord], **facts: Any) -> StoredSequence:
    """Make what is stored of a sequence that did this."""
    shared = {one.name: getattr(sequence, one.name) for one in fields(sequence) if one.name not in {"steps", "replay"}}
    return StoredSequence(**(shared | {"steps": tuple(steps), "asked": sequence.steps} | facts))


def stored_steps(
    stage: str, index: int, *steps: StepRecord, asked: StepSpec | None = None, **facts: Any
) -> StoredSequence:
    """Make what is stored of steps of which all were asked the same: RND 4 KiB writes for 100 s."""
    return stored_sequence(asked_sequence(stage, index, len(steps), asked), steps, **facts)


def asked_otherwise(test: StoredTest, change: Callable[[StepSpec], StepSpec]) -> StoredTest:
    """The same test, whose every step was asked something else."""
    sequences = tuple(replace(one, asked=tuple(map(change, one.asked))) for one in test.sequences)
    return replace(test, sequences=sequences)


def synthetic_fill(settings: LoopSettings | None = None) -> StoredSequence:
    """Make the sequence of a preconditioning that writes 512 GB, twice the drive."""
    step = synthetic_step(Cell(read_pct=0, transfer_bytes=128 * KIB), 512 * 10**9 / (128 * KIB) / 100)
    return stored_sequence(preconditioning(settings or synthetic_settings(), synthetic_drive()), [step])


def round_programs(rounds: Sequence[Round], settings: LoopSettings | None = None) -> tuple[StoredSequence, ...]:
    """Make the sequences that ran these rounds."""
    chosen = settings or synthetic_settings()
    active_range = loop_range(chosen, synthetic_drive(), 1)
    return tuple(stored_sequence(round_sequence(chosen, active_range, one.index), one.cells) for one in rounds)


def synthetic_drive() -> DriveIdentity:
    """Make the identity of a drive that never existed."""
    return DriveIdentity(
        id="sim:synthetic",
        path="sim:synthetic",
        kind="simulated",
        capacity_bytes=256 * 10**9,
        logical_block_bytes=512,
        model_number="Synthetic MLC",
        serial="0000-0000-FFFF",
        firmware="S1.0",
        interface="simulated link, 600 MB/s",
        media="simulated MLC NAND",
        write_cache="enabled",
    )


def synthetic_run(
    test: StoredTest | None = None,
    *,
    deviations: tuple[str, ...] = (),
    description: dict[str, str] | None = None,
    **identity: Any,
) -> StoredRun:
    """Make a stored run of one test on a drive that never existed; ``identity`` replaces facts of it."""
    platform = Platform(
        system="Synthetic test bench",
        motherboard=None,
        cpu="Synthetic CPU, 8 cores",
        memory_bytes=32 * 10**9,
        operating_system="Synthetic Linux 12",
        kernel="6.1.0",
        clock_source="tsc",
        tool="Assay",
        tool_version="0.1.0",
    )
    stored = test or synthetic_test()
    return StoredRun(
        run_id="20260609-synthetic",
        edition=load_edition(stored.settings.edition).model_dump(mode="json", by_alias=True, exclude_none=True),
        identity=replace(synthetic_drive(), **identity),
        platform=platform,
        description={"objective": "Lay out synthetic rounds", "sponsor": "Nobody"} | (description or {}),
        plan={"suite": "basic"},
        deviations=deviations,
        started_wall_ns=START_NS,
        report_date_ns=REPORT_NS,
        tests=(stored,),
    )
