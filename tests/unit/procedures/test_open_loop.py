"""Rates that are kept up or not, and what a plan may say of arrivals."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from assay.engine.records import Demand, DriveIdentity, StepRecord, StopRule, StoredTest
from assay.errors import PlanError, UsageError, ValueRangeError
from assay.plan.options import parse_arrival
from assay.plan.procedure import PlannedTest
from assay.procedures.editions import load_edition
from assay.procedures.families.loop.plan import LoopSettings
from assay.procedures.families.loop.result import loop_result, offered_rates
from assay.procedures.iops import IOPS
from assay.procedures.lat import LAT
from assay.report.annex import disclosure
from assay.results.step import arrival_label
from assay.run.plan_file import load_plan
from assay.run.planning import plan_suite
from assay.spec.units import SECOND_NS
from assay.summary.pages.model import Table
from assay.summary.pages.test_record import Source, TestRecord, record_of
from report_run import TRACKED, asked_otherwise, balanced, synthetic_run, synthetic_test

RATE = 4000
OPEN = Demand(thread_count=1, queue_depth=256, arrivals_per_s=float(RATE))


def paced(step: StepRecord, completed: int, outstanding: float, offered: int) -> StepRecord:
    """A step of writes at another count of completions, with so many outstanding on average; others as they are."""
    if step.read.window_io_count:
        return step
    size = step.write.window_bytes // step.write.window_io_count
    write = replace(step.write, window_io_count=completed, window_bytes=size * completed)
    outstanding_ns = round(outstanding * step.span_ns)
    return balanced(replace(step, write=write, outstanding_ns=outstanding_ns, offered_io_count=offered))


def open_test(missing: int, outstanding: float, demand: Demand = OPEN) -> StoredTest:
    """Every step of the test is offered 400,000 I/Os in 100 s, and so many do not complete in it."""
    test = synthetic_test(demand=demand)
    sequences = tuple(
        replace(
            sequence,
            steps=tuple(paced(one, RATE * 100 - missing, outstanding, RATE * 100 + 1) for one in sequence.steps),
        )
        if sequence.stage == "round"
        else sequence
        for sequence in test.sequences
    )
    return replace(test, sequences=sequences, verdict=None)


@pytest.mark.parametrize(
    ("missing", "outstanding", "grade"),
    [
        (0, 8, "pass"),
        (4_000, 8, "pass"),
        (4_001, 8, "warn"),
        (20_000, 8, "warn"),
        (20_001, 8, "invalid"),
        # As many as are outstanding all the time: they are in flight when the step ends.
        (30_000, 25_000, None),
        (37_500, 25_000, "invalid"),
    ],
)
def test_a_rate_is_judged_by_the_share_of_the_offered_that_came_back(
    missing: int, outstanding: float, grade: str | None
) -> None:
    test = open_test(missing, outstanding, replace(OPEN, queue_depth=25_000))
    rate = offered_rates(test, loop_result(test))[TRACKED]
    # The one that is due when the step ends is not counted.
    assert rate.offered_per_s == RATE
    assert rate.achieved_per_s == RATE - missing / 100
    assert rate.share == float(1 - Fraction(missing, RATE * 100))
    assert rate.level == (grade or "unknown")


def shortened(step: StepRecord) -> StepRecord:
    """The step in a window of 5 ms, in which as many I/Os were outstanding."""
    held_ns = step.outstanding_ns * (SECOND_NS // 200) // step.span_ns
    return balanced(replace(step, span_ns=SECOND_NS // 200, outstanding_ns=held_ns))


def test_a_shortage_of_fewer_than_ten_does_not_tell() -> None:
    test = open_test(0, 1)
    sequences = tuple(
        replace(sequence, steps=tuple(paced(shortened(one), 19, 1, 20) for one in sequence.steps))
        if sequence.stage == "round"
        else sequence
        for sequence in test.sequences
    )
    scarce = replace(
        test, sequences=sequences, settings=replace(test.settings_as(LoopSettings), step_ns=SECOND_NS // 200)
    )
    scarce = asked_otherwise(scarce, lambda spec: replace(spec, stop=StopRule(time_ns=SECOND_NS // 200)))
    rate = offered_rates(scarce, loop_result(scarce))[TRACKED]
    assert (rate.share, rate.level) == (0.95, "unknown")


def test_poisson_arrivals_are_held_against_those_that_came() -> None:
    test = open_test(4_000, 8, replace(OPEN, arrival_process="poisson"))
    assert offered_rates(test, loop_result(test))[TRACKED].offered_per_s == RATE + 0.01


def test_a_closed_loop_has_no_rates() -> None:
    test = synthetic_test()
    assert offered_rates(test, loop_result(test)) == {}
    assert arrival_label(test.settings.demand) is None
    assert not [table for table in loop_record(test).tables() if "open_loop" in table.key]


def test_an_open_loop_is_not_asked_to_hold_its_queue_depth() -> None:
    test_record = loop_record(open_test(0, 1.0))
    _, integrity, *_ = disclosure.pages(test_record.run, [test_record], [])
    (table,) = [block for column in integrity.columns for block in column if isinstance(block, Table)]
    printed = dict(zip(table.columns, table.rows[0], strict=True))
    assert printed["Steps that held TC x QD within 0.5 %"] == "n/a: open loop"
    depths = next(
        block
        for block in disclosure.test_blocks(test_record)
        if isinstance(block, Table) and "effective queue depth" in block.caption
    )
    assert all("!" not in text for row in depths.rows for text in row[1:])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("fixed:5000", ("fixed", 5000.0)),
        ("poisson:0.5", ("poisson", 0.5)),
        ("fixed:1000000000", ("fixed", 1e9)),
    ],
)
def test_arrivals_are_read(text: str, found: tuple[str, float]) -> None:
    assert parse_arrival(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "5000",
        "gauss:5000",
        "fixed:",
        "fixed:-1",
        "fixed:0.001",
        "poisson:1000000001",
        "fixed:5k",
        "Fixed:1",
        " fixed:1",
    ],
)
def test_arrivals_that_make_no_sense_are_refused_under_the_name_of_the_option(text: str) -> None:
    with pytest.raises(ValueRangeError, match=r"^--arrival: .* is not fixed:RATE or poisson:RATE"):
        load_plan(None, {"drive": "sim:x", "tests": ("lat",)}, {"arrival": text})


def test_write_saturation_takes_no_rate(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--test iops,tp,lat"):
        load_plan(None, {"drive": "sim:x"}, {"arrival": "fixed:5000"})
    path = tmp_path / "plan.toml"
    path.write_text('drive = "sim:x"\n[wsat]\narrival = "fixed:1"\n')
    with pytest.raises(PlanError, match=r":3:1 wsat\.arrival"):
        load_plan(path, {})


def planned(name: str, **choices: object) -> PlannedTest:
    drive = DriveIdentity(
        id="x",
        path="sim:x",
        kind="simulated",
        capacity_bytes=32 * 10**9,
        logical_block_bytes=512,
        write_cache="enabled",
    )
    plan = load_plan(None, {"drive": "sim:x", "tests": (name,)}, dict(choices))
    return plan_suite(load_edition(plan.edition_name), plan, drive).tests[0]


@pytest.mark.parametrize("name", ["lat", "iops", "tp"])
def test_a_rate_is_a_deviation_and_leaves_preconditioning_alone(name: str) -> None:
    plain, open_loop = planned(name), planned(name, arrival="poisson:5000")
    demand, filling = plain.settings.demands
    outstanding = demand.thread_count * demand.queue_depth
    assert not plain.deviations
    assert open_loop.deviations == (
        f"open loop: poisson arrivals, 5000 I/Os per second over all threads, at most {outstanding} outstanding",
    )
    assert open_loop.settings.demands == (
        replace(demand, arrivals_per_s=5000.0, arrival_process="poisson"),
        filling,
    )


def test_latency_takes_a_demand_from_the_command_line_only_with_a_rate() -> None:
    assert planned("lat", queue_depth=32).settings.demand == Demand(thread_count=1, queue_depth=1)
    found = planned("lat", queue_depth=32, arrival="fixed:10")
    assert found.settings.demand == Demand(thread_count=1, queue_depth=32, arrivals_per_s=10.0)
    assert "latency at TC 1 x QD 32" in found.deviations


def test_a_plan_file_can_state_a_rate_for_one_test(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text('drive = "sim:x"\n[lat]\narrival = "fixed:250.5"\n')
    plan = load_plan(path, {})
    assert plan.options(LAT).demand(Demand(thread_count=1, queue_depth=1)).arrivals_per_s == 250.5
    assert plan.options(IOPS).demand(Demand(thread_count=1, queue_depth=8)).arrivals_per_s is None


def loop_record(test: StoredTest) -> TestRecord:
    edition = load_edition("pts-c-1.0")
    return record_of(IOPS.report(Source(run=synthetic_run(test), test=test, edition=edition, prefix="iops-1")))
