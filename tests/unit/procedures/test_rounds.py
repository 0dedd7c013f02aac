"""The driver that runs rounds until steady."""

from dataclasses import replace

import pytest
from assay.engine.records import StepRecord
from assay.plan.until import RoundOutcome
from assay.procedures.families.grid.run import grid_rounds
from assay.procedures.families.loop.plan import LoopSettings
from assay.procedures.families.loop.result import tracked_cells
from assay.procedures.families.saturation.result import SaturationStop
from assay.results.stall import silent_cell
from demand_run import demand_round, demand_settings, demand_step
from report_run import (
    FALLING,
    GOLDEN,
    asked_sequence,
    followed,
    judged_rounds,
    judged_samples,
    synthetic_rounds,
    synthetic_settings,
)
from saturation_run import saturation_settings, saturation_step


def drive(settings: LoopSettings, tracked: tuple[float, ...]) -> list[RoundOutcome]:
    rounds = synthetic_rounds(settings, tracked)
    return judged_rounds(settings, lambda index: rounds[index - 1].cells)


def test_five_steady_rounds_are_enough() -> None:
    judged = drive(synthetic_settings(), GOLDEN)
    assert [bool(item.window) for item in judged] == [False] * 4 + [True]
    assert judged[-1].window is not None
    assert judged[-1].window.reached


def test_a_steady_drive_runs_at_least_the_rounds_that_a_published_window_needs() -> None:
    settings = synthetic_settings(round_least=7)
    rounds = synthetic_rounds(settings, [1000.0] * 7)
    judged = judged_rounds(settings, lambda index: rounds[index - 1].cells)
    assert [item.ended for item in judged] == [None] * 6 + ["steady"]
    assert judged[-1].window is not None
    assert judged[-1].window.rounds == (3, 4, 5, 6, 7)


def test_a_falling_drive_runs_to_the_round_limit() -> None:
    judged = drive(synthetic_settings(round_limit=7), FALLING)
    assert len(judged) == 7
    assert judged[-1].window is not None
    assert not judged[-1].window.reached
    assert judged[-1].window.rounds == (3, 4, 5, 6, 7)


def test_a_round_with_an_error_ends_the_test_without_a_verdict() -> None:
    settings = synthetic_settings()
    failing = synthetic_rounds(settings, GOLDEN, errors=1)
    judged = judged_rounds(settings, lambda index: failing[index - 1].cells)
    assert [(item.ended, item.window) for item in judged] == [("incomplete", None)]


def test_a_round_that_was_cut_short_ends_the_test() -> None:
    settings = synthetic_settings()
    cells: list[StepRecord] = list(synthetic_rounds(settings, GOLDEN)[0].cells[:3])
    cells[-1] = replace(cells[-1], ended="interrupted")
    assert [item.ended for item in judged_rounds(settings, lambda _: cells)] == ["incomplete"]


def test_a_round_without_a_completion_in_a_tracking_cell_is_the_last_and_no_value() -> None:
    settings = synthetic_settings()
    judged = drive(settings, (3000.0, 3000.0, 3000.0, 3000.0, 0.0, 3000.0))
    assert [item.ended for item in judged[-2:]] == [None, "no-completions"]
    assert [item.silent and item.silent.label for item in judged[-2:]] == [None, "RND 4KiB 0/100"]
    assert len(judged) == 5
    assert judged[-1].window is None


def silent_label(cells: tuple[StepRecord, ...], settings: LoopSettings) -> str | None:
    found = silent_cell(tracked_cells(cells, settings))
    return found.label if found else None


def test_a_tracked_latency_counts_i_os_that_complete_behind_their_cell() -> None:
    settings = synthetic_settings(variable="latency")
    (cells,) = (round_.cells for round_ in synthetic_rounds(settings, (0.0,)))
    late = tuple(
        replace(
            cell, write=replace(cell.write, tail_io_count=1, tail_bytes=4096, latency_io_count=1, latency_ns_sum=10**9)
        )
        for cell in cells
    )
    assert silent_label(cells, settings) == "RND 4KiB 0/100"
    assert silent_label(late, settings) is None
    assert silent_label(late, synthetic_settings()) == "RND 4KiB 0/100"


def test_a_grid_of_demands_ends_where_its_tracking_cell_completes_nothing() -> None:
    settings = demand_settings("dirth", dirth={"thread_counts": [2, 1], "queue_depths": [2, 1]})
    cells = [demand_step(0.0), *[demand_step(100.0)] * 3]
    judging = grid_rounds(settings, lambda index: asked_sequence("round", index))
    (judged,) = followed(judging, lambda one: demand_round(one.index, settings, cells).cells)
    assert judged.ended == "no-completions"
    assert judged.silent
    assert judged.silent.label == "RND 8KiB 65/35 TC2-QD2"


@pytest.mark.parametrize(
    ("stop", "ended"), [("first", "no-completions"), ("steady", "no-completions"), ("time", "time")]
)
def test_empty_samples_up_to_one_of_the_five_point_rule_end_what_the_rule_can_end(
    stop: SaturationStop, ended: str
) -> None:
    settings = saturation_settings(stop=stop, samples_per_verdict=2, time_ns=4 * 60 * 10**9)

    *_, last = judged_samples(settings, lambda count: [saturation_step(0.0)] * count)
    assert last.ended == ended


def test_a_single_empty_sample_ends_nothing_for_a_deep_queue_fills_before_it_drains() -> None:
    settings = saturation_settings(stop="first", samples_per_verdict=2, first_verdict_sample=1, time_ns=5 * 60 * 10**9)
    rates = iter([0.0, 1000.0, 0.0, 1000.0, 1000.0])
    *_, last = judged_samples(settings, lambda count: [saturation_step(next(rates)) for _ in range(count)])
    assert last.ended == "time"
