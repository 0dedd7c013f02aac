"""What a stalled drive does to rounds and samples: void, kept, left out of every verdict, and said so."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from assay.dut.dut import find_drive
from assay.engine.records import BY_GATE, DriveEvent, Round, StepRecord, StoredTest
from assay.plan.until import RoundOutcome
from assay.procedures.families.loop.plan import LoopSettings
from assay.procedures.families.loop.result import loop_result, measurement_window
from assay.procedures.families.saturation.result import saturation_window
from assay.report import render
from assay.results.stall import stalls, void_reason
from assay.run.plan_file import load_plan
from assay.run.planning import VOID_LIMIT, plan_run
from assay.spec.units import SECOND_NS
from assay.words.text import text_or_none
from report_run import (
    GOLDEN,
    judged_rounds,
    judged_samples,
    round_programs,
    synthetic_rounds,
    synthetic_run,
    synthetic_settings,
    synthetic_test,
)
from result_rows import table_rows
from saturation_run import saturation_settings, saturation_step

POLICY = {"stall_limit_ns": 2 * SECOND_NS, "void_limit": VOID_LIMIT}
LONG = (3145.0,) * 25
OPTIONS = {"scale": 0.01, "stall_limit_seconds": 7.5, "on_stall": "stop"}


def stalled(step: StepRecord, seconds: float = 5.04) -> StepRecord:
    return replace(step, stall_ns_max=round(seconds * SECOND_NS))


def rounds_with_stalls(settings: LoopSettings, *numbers: int) -> list[Round]:
    return [
        replace(one, cells=(*one.cells[:-1], stalled(one.cells[-1]))) if one.index in numbers else one
        for one in synthetic_rounds(settings, LONG)
    ]


def drive(settings: LoopSettings, *numbers: int) -> list[RoundOutcome]:
    rounds = rounds_with_stalls(settings, *numbers)
    return judged_rounds(settings, lambda index: rounds[index - 1].cells)


def test_the_reason_names_the_longest_silence_and_its_cell() -> None:
    settings = synthetic_settings(**POLICY)
    cells = list(synthetic_rounds(settings, GOLDEN)[0].cells)
    cells[3], cells[7] = stalled(cells[3], 2.5), stalled(cells[7])
    assert text_or_none(void_reason(cells, settings)) == f"no I/O completed for 5.0 s in {cells[7].label}"


@pytest.mark.parametrize(("seconds", "limit", "void"), [(2.0, 2, 0), (2.1, 2, 1), (60.0, 0, 0), (9.0, 10, 0)])
def test_only_a_silence_beyond_the_limit_is_void(seconds: float, limit: int, void: int) -> None:
    settings = synthetic_settings(stall_limit_ns=limit * SECOND_NS)
    cells = [stalled(synthetic_rounds(settings, GOLDEN)[0].cells[0], seconds)]
    assert (void_reason(cells, settings) is not None) == bool(void)


def test_virtual_time_is_never_void() -> None:
    settings = synthetic_settings(**POLICY)
    assert void_reason(synthetic_rounds(settings, GOLDEN)[0].cells, settings) is None


def test_the_window_begins_anew_behind_a_void_round() -> None:
    judged = drive(synthetic_settings(**POLICY), 3)
    assert [bool(one.void) for one in judged] == [index == 3 for index in range(1, 9)]
    assert [one.window is not None for one in judged] == [False] * 7 + [True]
    last = judged[-1]
    assert last.window is not None
    assert (last.window.rounds, last.ended) == ((4, 5, 6, 7, 8), "steady")


def test_more_void_rounds_than_the_limit_end_the_test() -> None:
    judged = drive(synthetic_settings(**POLICY), 1, 3, 5, 7)
    assert (len(judged), judged[-1].ended, judged[-1].window) == (7, "stalled", None)


def test_the_first_void_round_ends_the_test_where_the_policy_is_to_stop() -> None:
    judged = drive(synthetic_settings(stall_limit_ns=2 * SECOND_NS, void_limit=0), 2)
    assert [one.ended for one in judged] == [None, "stalled"]


def test_void_rounds_count_among_those_of_the_limit() -> None:
    judged = drive(synthetic_settings(round_limit=6, **POLICY), 4)
    assert (len(judged), judged[-1].ended) == (6, "round-limit")


def test_rounds_before_and_after_a_gap_are_never_one_window() -> None:
    settings = synthetic_settings(**POLICY)
    rounds = synthetic_rounds(settings, LONG)
    assert measurement_window(rounds[:5], settings) is not None
    assert measurement_window([*rounds[:3], *rounds[4:6]], settings) is None


def samples(count: int, *void: int) -> list[StepRecord]:
    flat = [saturation_step(5000.0)] * count
    return [stalled(step) if number in void else step for number, step in enumerate(flat, 1)]


def test_five_verdict_samples_must_follow_a_void_sample() -> None:
    settings = saturation_settings(samples_per_verdict=2, **POLICY)
    assert saturation_window(samples(10), settings) is not None
    for count, expected in ((14, None), (15, None), (16, (4, 5, 6, 7, 8)), (18, (5, 6, 7, 8, 9))):
        window = saturation_window(samples(count, 7), settings)
        assert (window and window.rounds) == expected


@pytest.mark.parametrize(
    ("void", "count", "ended"), [((), 10, "steady"), ((3,), 12, "steady"), ((1, 2, 5, 6), 6, "stalled")]
)
def test_saturation_goes_on_behind_a_void_sample(void: tuple[int, ...], count: int, ended: str) -> None:
    settings = saturation_settings(samples_per_verdict=2, stop="steady", **POLICY)
    everything, done = samples(100, *void), []

    def run(number: int) -> list[StepRecord]:
        steps = everything[len(done) : len(done) + number]
        done.extend(steps)
        return steps

    assert [one.ended for one in judged_samples(settings, run)][-1] == ended
    assert len(done) == count


def stored(*void: int, until: int) -> StoredTest:
    plain = synthetic_test(tracked=GOLDEN, **POLICY)
    rounds = rounds_with_stalls(plain.settings_as(LoopSettings), *void)[:until]
    kept = [one for one in rounds if one.index not in void]
    window = measurement_window(kept, plain.settings_as(LoopSettings))
    sequences = (plain.sequences[0], *round_programs(rounds))
    return replace(plain, sequences=sequences, verdict=window, window_indexes=window.rounds if window else ())


def test_a_report_shows_void_rounds_and_takes_its_numbers_from_the_rounds_behind(tmp_path: Path) -> None:
    test = stored(2, until=7)
    result = loop_result(test)
    assert (result.rounds, result.window and result.window.rounds) == ((1, 3, 4, 5, 6, 7), (3, 4, 5, 6, 7))
    assert result.matrix
    assert [(stall.name, stall.void) for stall in stalls(test)] == [("round 2", True)]
    files = {path.name: path for path in render(synthetic_run(test), tmp_path, formats=("html", "json"))}
    page = files["report.html"].read_text("utf-8")
    assert "ROUND 2 VOID: the drive stalled for 5.0 s" in page
    assert "void: enters no verdict and no result" in page
    steps = table_rows(json.loads(files["results.json"].read_text("utf-8"))["tests"][0], "steps")
    assert {step["number"] for step in steps if step["void"]} == {2}
    assert "no I/O completed for 5.0 s" in next(step["void"] for step in steps if step["void"])


def test_a_test_given_up_for_its_stalls_prints_no_result() -> None:
    test = replace(stored(1, 3, 5, 7, until=7), ended="device-failure")
    result = loop_result(test)
    assert (result.window, result.matrix, text_or_none(result.withheld)) == (
        None,
        {},
        "the test did not run to its end",
    )


def test_the_plan_sets_limit_and_policy_of_settings_base() -> None:
    tests = {"tests": ("wsat", "iops", "hir", "xsr"), "edition": "pts-e-1.1"}
    plan = load_plan(None, {"drive": "sim:client-2011?capacity=1GB", **OPTIONS, **tests})
    settings = [test.settings for test in plan_run(plan, find_drive(plan)).tests]
    assert {(one.stall_limit_ns, one.void_limit) for one in settings} == {(7_500_000_000, 0)}


@pytest.mark.parametrize(
    ("device", "words"),
    [("nvme0", "the kernel's log says timeout, aborting"), (BY_GATE, "timeout, aborting")],
)
def test_what_the_gate_saw_is_not_said_of_the_kernel_log(device: str, words: str) -> None:
    event = DriveEvent(level=2, device=device, text="timeout, aborting")
    settings = synthetic_settings(**POLICY)
    step = replace(synthetic_rounds(settings, GOLDEN)[0].cells[0], drive_events=(event,))
    assert text_or_none(void_reason([step], settings)) == f"{words} in {step.label}"
