"""What changes beside and between the sequences of a test is graded and shown; what is invalid withholds results."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from assay.engine.records import (
    DriveCondition,
    DriveEvent,
    DriveRecord,
    DriveState,
    NeighboursRecord,
    StoredSequence,
    StoredTest,
)
from assay.procedures.families.loop.result import loop_result
from assay.report import build_report
from assay.results.outcome import withheld_reason
from assay.results.run_checks import run_checks
from assay.results.stimulus_audit import stimulus_audit
from assay.spec.units import SECOND_NS
from assay.summary.findings import checks_of
from assay.summary.pages.header import banner
from assay.summary.pages.model import Table
from assay.words.text import text_or_none
from report_run import synthetic_run, synthetic_test

if TYPE_CHECKING:
    from collections.abc import Callable

STATE = DriveState(
    write_cache="enabled",
    write_cache_drive="enabled",
    queue={"scheduler": "none", "nomerges": "2"},
    link="PCIe 8.0 GT/s x4",
    controller="live",
    temperature_c=41.0,
    bus_errors={"correctable": 3, "nonfatal": 0, "fatal": 0},
    swap_in_pages=7,
)
WINDOW = 5
"""The synthetic test has five rounds, and all are its results."""


def watched(states: Callable[[StoredSequence], tuple[DriveState, DriveState]], **changes: Any) -> StoredTest:
    """The synthetic test, back to back in time, with the drive's state before and after each sequence."""
    test, sequences, now = synthetic_test(), [], 0
    for sequence in test.sequences:
        steps = []
        for step in sequence.steps:
            end_ns = now + step.span_ns
            times = {"start_ns": now, "first_submission_ns": now, "last_submission_ns": end_ns}
            steps.append(replace(step, start_wall_ns=step.start_wall_ns + now, **times))
            now = end_ns
        before, after = states(sequence)
        near = NeighboursRecord(span_ns=SECOND_NS, watched_count=0)
        record = DriveRecord(before=before, after=after, log="read", neighbours=near)
        sequences.append(replace(sequence, steps=tuple(steps), drive=record))
    return replace(test, sequences=tuple(sequences), **changes)


def quiet(_: StoredSequence) -> tuple[DriveState, DriveState]:
    return STATE, STATE


def changed_in(phase: str, index: int, **changes: object) -> Callable[[StoredSequence], tuple[DriveState, DriveState]]:
    """The state changes in one sequence and is the former again before the next."""
    other = replace(STATE, **changes)  # type: ignore[arg-type]
    return lambda sequence: (STATE, other if (sequence.stage, sequence.index) == (phase, index) else STATE)


def level(test: StoredTest, number: str) -> tuple[str, str]:
    (found,) = [one for one in run_checks(test) if one.check.number == number]
    return found.level, found.finding.words


def test_a_quiet_test_passes_every_check() -> None:
    test = watched(quiet)
    assert {one.name: one.level for one in run_checks(test) if one.level != "pass"} == {
        "data-held": "n/a",
        "host": "unknown",
        "host-part": "n/a",
        "other-users": "n/a",
    }
    assert withheld_reason(test) is None


def test_a_test_that_nobody_watched_is_unknown_and_not_a_pass() -> None:
    levels = {one.check.number: one.level for one in run_checks(synthetic_test())}
    numbers = ("C5", "C10", "C12", "C13", "C15", "C16", "C26", "C27")
    assert {number: levels[number] for number in numbers} == dict.fromkeys(numbers, "unknown")
    assert withheld_reason(synthetic_test()) is None


@pytest.mark.parametrize(
    ("number", "changes", "words"),
    [
        ("C12", {"write_cache": "disabled", "write_cache_drive": "disabled"}, "enabled, disabled in round 3"),
        ("C12", {"write_cache_drive": "disabled"}, "enabled to the kernel and disabled in the drive in round 3"),
        ("C13", {"queue": {"scheduler": "kyber", "nomerges": "2"}}, "scheduler changed in round 3"),
        ("C15", {"link": "PCIe 2.5 GT/s x4"}, "PCIe 2.5 GT/s x4 in round 3"),
        ("C10", {"controller": "dead"}, "controller dead after round 3"),
        (
            "C10",
            {"bus_errors": {"correctable": 3, "nonfatal": 2, "fatal": 0}},
            "2 nonfatal errors of the bus in round 3",
        ),
    ],
)
def test_a_change_in_the_window_withholds_every_result(number: str, changes: dict[str, Any], words: str) -> None:
    test = watched(changed_in("round", 3, **changes))
    found, evidence = level(test, number)
    assert found == "invalid"
    assert words in evidence
    reason = text_or_none(withheld_reason(test))
    assert words in (reason or "")
    result = loop_result(test)
    assert result.matrix == {}
    assert f"NO HEADLINE: {reason}" in (banner(test, result.findings) or "")


@pytest.mark.parametrize(
    ("number", "changes"),
    [
        ("C12", {"write_cache": "disabled"}),
        ("C15", {"link": "PCIe 2.5 GT/s x4"}),
        ("C13", {"queue": {"nomerges": "0"}}),
    ],
)
def test_a_change_before_the_window_only_warns(number: str, changes: dict[str, Any]) -> None:
    test = watched(changed_in("precondition", 0, **changes))
    assert level(test, number)[0] == "warn"
    assert withheld_reason(test) is None


@pytest.mark.parametrize(
    ("number", "changes"),
    [
        ("C10", {"bus_errors": {"correctable": 4, "nonfatal": 0, "fatal": 0}}),
        ("C26", {"swap_in_pages": 8}),
    ],
)
def test_what_does_no_proven_harm_only_warns(number: str, changes: dict[str, Any]) -> None:
    assert level(watched(changed_in("round", 3, **changes)), number)[0] == "warn"


def test_a_slot_that_is_slower_than_the_drive_is_told() -> None:
    slow = replace(STATE, link="PCIe 8.0 GT/s x2 of PCIe 16.0 GT/s x4")
    assert level(watched(lambda _: (slow, slow)), "C15")[0] == "warn"


def test_an_event_warns_as_what_it_befell_is_void_already() -> None:
    test = watched(quiet)
    reset = DriveEvent(level=6, device="c240:0", text="nvme nvme0: 2/0/0 default/read/poll queues")
    first, *rest = test.sequences
    steps = (replace(first.steps[0], drive_events=(reset,)), *first.steps[1:])
    found, evidence = level(replace(test, sequences=(replace(first, steps=steps), *rest)), "C10")
    assert (found, "preconditioning" in evidence, "poll queues" in evidence) == ("warn", True, True)


def test_a_log_that_could_not_be_read_is_unknown() -> None:
    test = watched(quiet)
    sequences = tuple(
        replace(one, drive=replace(one.drive, log="unknown")) for one in test.sequences if one.drive is not None
    )
    assert level(replace(test, sequences=sequences), "C10") == ("unknown", "the kernel's log could not be read")


def test_temperature_is_a_range_and_a_minute_at_the_warning_is_invalid() -> None:
    test = watched(changed_in("round", 2, temperature_c=58.0))
    assert level(test, "C16") == ("pass", "41 to 58 degrees Celsius")
    conditions = tuple(DriveCondition(health={"warning_temperature_minutes": count}) for count in (4, 6))
    hot = replace(test, conditions=conditions)
    assert level(hot, "C16") == ("invalid", "2 minutes at or above its warning temperature")
    assert text_or_none(withheld_reason(hot)) == "temperature: 2 minutes at or above its warning temperature"


@pytest.mark.parametrize(
    ("share", "expected"), [(1.004, "pass"), (1.006, "warn"), (0.994, "warn"), (1.021, "invalid"), (0.979, "invalid")]
)
def test_a_round_is_held_against_its_planned_length(share: float, expected: str) -> None:
    test = watched(quiet)
    *others, last = test.sequences
    steps = tuple(replace(step, span_ns=round(step.span_ns * share)) for step in last.steps)
    assert level(replace(test, sequences=(*others, replace(last, steps=steps))), "C22")[0] == expected


@pytest.mark.parametrize(("gap_s", "expected"), [(0.9, "pass"), (1.1, "warn"), (5.1, "invalid")])
def test_a_gap_before_a_round_is_graded(gap_s: float, expected: str) -> None:
    test = watched(quiet)
    *others, last = test.sequences
    first, *rest = last.steps
    assert first.first_submission_ns is not None
    late = replace(first, first_submission_ns=first.first_submission_ns + round(gap_s * SECOND_NS))
    found, evidence = level(replace(test, sequences=(*others, replace(last, steps=(late, *rest)))), "C23")
    assert (found, "before round 5" in evidence) == (expected, True)


def with_wall(test: StoredTest, change: Callable[[int], int]) -> StoredTest:
    """The test with what a wall clock shows at each instant of the other clock."""
    sequences = tuple(
        replace(
            sequence,
            steps=tuple(
                replace(step, start_wall_ns=step.start_wall_ns + change(step.start_ns)) for step in sequence.steps
            ),
        )
        for sequence in test.sequences
    )
    return replace(test, sequences=sequences)


@pytest.mark.parametrize(("ppm", "expected"), [(150, "pass"), (-400, "warn"), (900, "warn")])
def test_a_wall_clock_that_drifts_is_graded(ppm: int, expected: str) -> None:
    found, evidence = level(with_wall(watched(quiet), lambda now: now * ppm // 10**6), "C25")
    assert (found, evidence) == (expected, f"{abs(ppm)} ppm apart")


@pytest.mark.parametrize("jump_s", [-3600, 86_400, 1])
def test_a_wall_clock_that_was_set_is_noted_and_harms_nothing(jump_s: int) -> None:
    middle = watched(quiet).sequences[2].steps[3].start_ns
    test = with_wall(watched(quiet), lambda now: jump_s * SECOND_NS if now >= middle else 0)
    assert level(test, "C25") == ("warn", f"0 ppm apart, the wall clock was set by {jump_s:+,.1f} s")
    assert withheld_reason(test) is None
    assert loop_result(test).matrix == loop_result(watched(quiet)).matrix != {}


def test_the_report_shows_every_check_and_what_a_test_made_of_the_drive() -> None:
    conditions = (
        DriveCondition(link="PCIe 8.0 GT/s x4", temperature_c=31.0, health={"media_errors": 0, "host_read_bytes": 1}),
        DriveCondition(link="PCIe 8.0 GT/s x4", temperature_c=45.0, health={"media_errors": 2, "host_read_bytes": 9}),
    )
    test = watched(changed_in("round", 3, write_cache="disabled"), conditions=conditions)
    run = synthetic_run(test, kind="block", path="/dev/nvme0n1")
    report = build_report(run)
    tables = [one for one in report.appendix if isinstance(one, Table) and one.caption.startswith("IOPS: ")]
    listed = [row for one in tables if one.columns[:2] == ("No.", "Check") for row in one.rows]
    shown = {row[0]: (row[3], row[8]) for row in listed}
    assert shown["C12"] == (
        "INVALID",
        "enabled, disabled to the kernel and enabled in the drive in round 3, enabled in round 4",
    )
    assert len(listed) == len(run_checks(test)) + len(stimulus_audit(synthetic_run(test), test))
    page = next(page for page in report.disclosure if page.subtitle == "Disclosure - Checks")
    (printed,) = (block for block in page.columns[0] if isinstance(block, Table))
    assert [row[1] for row in printed.rows] == [row[1] for row in listed if row[3] not in {"pass", "n/a"}]
    passed, absent = (sum(row[3] == level for row in listed) for level in ("pass", "n/a"))
    assert printed.notes[0] == f"IOPS: {passed} passed, {absent} do not apply."
    every = next(page for page in report.disclosure if page.subtitle == "Disclosure - Checks, Each by Test")
    (each,) = (block for block in every.columns[0] if isinstance(block, Table))
    assert [row[0] for row in each.rows] == list(dict.fromkeys(check.check.title for check in checks_of(run, test)))
    assert {row[2] for row in each.rows} >= {"pass", "n/a", "INVALID"}
    tables = [block for block in report.pages[0].blocks if isinstance(block, Table)]
    (condition,) = (one for one in tables if one.caption.startswith("Condition of the drive"))
    assert condition.rows == (("IOPS", "temperature 31 °C / 45 °C; media errors 0 / 2"),)


def test_a_simulated_drive_has_no_such_checks_and_no_condition_to_show() -> None:
    report = build_report(synthetic_run())
    tables = [one for one in report.appendix if isinstance(one, Table) and one.caption.startswith("IOPS: ")]
    rows = {row[0]: (row[3], row[8]) for one in tables if one.columns[:2] == ("No.", "Check") for row in one.rows}
    watched_for = ("C5", "C10", "C12", "C13", "C15", "C16", "C26", "C27")
    assert {rows[number] for number in watched_for} == {("n/a", "simulated drive")}
    assert not any(isinstance(one, Table) and one.caption.startswith("Condition") for one in report.pages[0].blocks)
