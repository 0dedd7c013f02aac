"""Mistakes that earlier tools made with numbers, each excluded by a test named after what is right.

Sources: public issue threads and code of earlier PTS tools; the values are those that made them fail.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from assay.dut.dut import Answers
from assay.engine.records import Cell, DriveIdentity
from assay.errors import DeviceFailureError
from assay.procedures.editions import load_edition
from assay.procedures.families.loop.plan import LoopSettings
from assay.procedures.families.loop.run import loop_range, preconditioning, round_sequence
from assay.results.step import iops, max_latency_ns, mean_latency_ns
from assay.run.plan_file import load_plan
from assay.run.planning import plan_suite
from assay.run.run import run_plan
from assay.run.store.read import read_run
from assay.spec.steady import steady_state
from report_run import synthetic_direction, synthetic_step

if TYPE_CHECKING:
    from pathlib import Path

ROUNDS = (1, 2, 3, 4, 5)
MIXED = Cell(read_pct=65, transfer_bytes=4096)


def drive(block: int = 512, physical: int | None = None) -> DriveIdentity:
    return DriveIdentity(
        id="x",
        path="sim:x",
        kind="simulated",
        capacity_bytes=32 * 10**9,
        logical_block_bytes=block,
        physical_block_bytes=physical,
        write_cache="enabled",
    )


def settings(name: str, identity: DriveIdentity, edition: str = "pts-c-1.0", **keys: Any) -> list[LoopSettings]:
    plan = load_plan(None, {"drive": "sim:x", "edition": edition, "tests": [name], **keys})
    planned = plan_suite(load_edition(edition), plan, identity)
    return [test.settings for test in planned.tests if isinstance(test.settings, LoopSettings)]


def test_a_drift_of_a_few_microseconds_is_not_rounded_to_steady() -> None:
    assert not steady_state(ROUNDS, (0.0200, 0.0209, 0.0218, 0.0227, 0.0236)).steady


def test_a_value_exactly_on_the_allowed_excursion_is_steady() -> None:
    verdict = steady_state(ROUNDS, (90, 110, 100, 90, 110))
    assert (verdict.excursion_measured, verdict.excursion_allowed) == (20, 20)
    assert verdict.steady


def test_the_excursion_is_largest_minus_smallest_and_not_the_distance_from_the_mean() -> None:
    # Every value lies within 15 % of the average, but they span 28 %.
    assert not steady_state(ROUNDS, (86, 114, 100, 114, 86)).steady


def test_a_mixed_cell_is_the_sum_and_not_the_share_weighted_mean() -> None:
    step = replace(
        synthetic_step(MIXED, 0),
        span_ns=10**9,
        read=synthetic_direction(50_000, 4096),
        write=synthetic_direction(50_000, 4096),
    )
    assert iops(step) == 100_000


def test_latency_of_a_mixed_cell_is_weighted_by_completions_and_its_maximum_is_the_largest() -> None:
    read = replace(synthetic_direction(65, 4096), latency_ns_sum=65 * 100_000, latency_ns_max=1_000_000)
    write = replace(synthetic_direction(35, 4096), latency_ns_sum=35 * 400_000, latency_ns_max=20_000_000)
    step = replace(synthetic_step(MIXED, 0), read=read, write=write)
    assert mean_latency_ns(step) == pytest.approx(205_000)
    assert max_latency_ns(step) == 20_000_000


def test_the_tracking_cell_stays_4_kib_where_smaller_sizes_fall_away() -> None:
    (found,) = settings("iops", drive(4096))
    assert found.tracking == (Cell(read_pct=0, transfer_bytes=4096),)
    assert 512 not in found.sizes_bytes
    assert "4096-byte logical block" in found.not_applicable[512]


def test_a_512_byte_cell_goes_by_the_logical_block_and_not_the_physical_one() -> None:
    (found,) = settings("iops", drive(512, physical=4096))
    assert 512 in found.sizes_bytes


def test_every_round_is_a_full_loop_in_the_order_of_the_specification() -> None:
    (found,) = settings("iops", drive())
    labels = [step.label for step in round_sequence(found, loop_range(found, drive(), 1), 1).steps]
    assert labels[:3] == ["RND 1024KiB 100/0", "RND 128KiB 100/0", "RND 64KiB 100/0"]
    assert labels[7:9] == ["RND 0.5KiB 100/0", "RND 1024KiB 95/5"]
    assert labels[-1] == "RND 0.5KiB 0/100"
    assert len(labels) == 56


def test_latency_accesses_are_random_and_throughput_accesses_sequential() -> None:
    for name, share in (("lat", 1.0), ("tp", 0.0)):
        for found in settings(name, drive(), "pts-e-2.0"):
            sequence = round_sequence(found, loop_range(found, drive(), 1), 1).steps
            assert {step.pattern.random_share for step in sequence} == {share}


def test_throughput_is_preconditioned_and_judged_for_each_size_by_itself() -> None:
    found = settings("tp", drive(), "pts-e-1.1")
    assert [one.sizes_bytes for one in found] == [(128 * 1024,), (1024 * 1024,)]
    assert [[cell.transfer_bytes for cell in one.tracking] for one in found] == [[128 * 1024], [1024 * 1024]]
    assert all(one.preconditioning_bytes == 2 * 32 * 10**9 for one in found)


def test_many_threads_precondition_the_drive_twice_and_not_twice_each() -> None:
    (found,) = settings("iops", drive(), iops={"thread_count": 16})
    (step,) = preconditioning(found, drive()).steps
    assert step.stop.amount_bytes == 2 * 32 * 10**9
    assert step.pattern.cursor == "shared"
    assert step.demand.thread_count == 16


def test_edition_2_0_asks_three_cells_at_once_and_1_x_one() -> None:
    assert len(settings("iops", drive(), "pts-e-2.0")[0].tracking) == 3
    assert len(settings("iops", drive(), "pts-e-1.1")[0].tracking) == 1


def test_write_saturation_starts_on_a_fresh_drive_without_preconditioning(tmp_path: Path) -> None:
    plan = load_plan(None, {"drive": "sim:client-2011?capacity=1GB", "tests": ["wsat"], "seed": 1, "scale": 0.01})
    run_plan(plan, out=tmp_path / "run", answers=Answers(), show=lambda _: None)
    (test,) = read_run(tmp_path / "run").tests
    assert test.preconditioning == ()
    assert test.sequences[0].stage == "sample"


def test_a_purge_that_fails_ends_the_run_before_anything_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: object) -> None:
        raise DeviceFailureError("sim:x", "purge failed", "check the drive")

    monkeypatch.setattr("assay.engine.stimulus.Stimulus.purge_simulated", failing)
    plan = load_plan(None, {"drive": "sim:client-2011?capacity=1GB", "tests": ["iops"], "seed": 1, "scale": 0.01})
    with pytest.raises(DeviceFailureError, match="purge failed"):
        run_plan(plan, out=tmp_path / "run", answers=Answers(), show=lambda _: None)
    (test,) = read_run(tmp_path / "run").tests
    assert (test.sequences, test.ended) == ((), "device-failure")
