"""One rule each: the order of levels, one row per check, and limits that do not grow with the error that they find."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from assay.engine.records import DriveRecord, DriveState, HostRecord
from assay.procedures.checks import checks_table
from assay.procedures.families.loop.plan import LoopSettings
from assay.procedures.families.loop.result import loop_result
from assay.results.audit import drive_wait_ns, sequence_gap, step_gaps, submission_gaps, typical_latency_ns
from assay.results.finding import LEVELS, Check, Finding, ask, at_least, at_most, facts, outside_results, within
from assay.results.host import host_findings
from assay.results.outcome import withheld_reason, withholding
from assay.results.run_checks import RUN_CHECKS, run_checks
from assay.results.stall import void_places
from assay.results.stimulus_audit import AUDIT
from assay.results.stimulus_steps import asked_steps
from assay.results.stimulus_time import lead_ins
from assay.spec.units import MILLISECOND_NS, SECOND_NS
from assay.summary.pages.header import banner
from assay.words.coded import Place, coded
from assay.words.text import text, text_or_none
from report_run import synthetic_direction, synthetic_test

if TYPE_CHECKING:
    from collections.abc import Callable

    from assay.engine.records import StepRecord, StoredTest
    from assay.results.stimulus_steps import AskedStep

PACKAGE = Path(__file__).parents[3] / "python/assay"
QUIET = HostRecord(span_ns=60 * SECOND_NS, late_ns_p999=0, late_ns_max=0, stalled_ns=0, gauge_cpu_ns=0, cpu_count=4)
STALL_NS = (10**7, 10**8, 10**9, 10**10)


def test_a_level_is_one_of_five_words_that_stand_in_one_file() -> None:
    assert LEVELS == ("n/a", "pass", "unknown", "warn", "invalid")
    words = {"pass", "warn", "invalid"}
    found = []
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Subscript) and ast.unparse(node.value) == "Literal":
                texts = {one.value for one in ast.walk(node.slice) if isinstance(one, ast.Constant)}
                found += [path.name] if words <= texts else []
    assert found == ["finding.py"]


def test_one_file_compares_issued_with_counted_bytes() -> None:
    texts = {path.relative_to(PACKAGE).as_posix(): path.read_text("utf-8") for path in PACKAGE.rglob("*.py")}
    judging = [name for name in texts if name.startswith(("results/", "report/", "pages/", "procedures/", "host/"))]
    assert [name for name in judging if "counters_before" in texts[name]] == ["results/audit.py"]


def test_no_two_checks_of_a_test_have_one_name() -> None:
    names = [check.name for check in (*RUN_CHECKS, *AUDIT)]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(("measured", "level"), [(60.0, "pass"), (60.1, "warn"), (80.0, "warn"), (80.1, "invalid")])
def test_a_figure_passes_up_to_its_limit_and_is_invalid_beyond_another(measured: float, level: str) -> None:
    assert at_most(measured, 60, 80) == level
    assert at_least(-measured, -60, -80) == level
    assert at_most(measured, 60) == ("pass" if level == "pass" else "warn")


WORDS = coded("reason", reason="small")


def check(*found: Finding) -> Check[None]:
    return Check(
        name="x", title="Write cache", passes="none", answer=lambda _: found, absent="simulated", remedy="look"
    )


def test_the_worst_finding_stands_for_a_check_and_the_others_are_counted() -> None:
    one = ask(check(within(1, 2, WORDS), within(-3, 2, WORDS), within(2.5, 2, WORDS)), None)
    assert (one.level, one.marked, one.judged, one.finding.measured) == ("warn", 2, 3, -3)
    grave = ask(check(within(9, 2, WORDS), Finding(level="invalid", reason=WORDS, measured=1, limit=2)), None)
    assert (grave.level, text_or_none(grave.alone)) == ("invalid", "write cache: small")


def test_what_cannot_be_told_stands_for_a_check_only_where_nothing_can() -> None:
    unknown = Finding(level="unknown", reason=coded("log-unreadable"))
    assert (ask(check(unknown), None).level, ask(check(unknown), None).judged) == ("unknown", 0)
    assert ask(check(unknown, within(1, 2, WORDS)), None).level == "pass"
    nothing = ask(check(), None)
    assert (nothing.level, nothing.finding.words, nothing.remedy) == ("n/a", "simulated drive", "")


def test_a_check_reads_the_same_on_a_page_and_in_a_file() -> None:
    one = ask(check(within(3, 2, WORDS, where=Place("round", 1)), within(0, 2, WORDS)), None)
    assert checks_table("", [one]).rows == (("", "Write cache", "none", "WARN", "1 of 2", "", "", "round 1", "small"),)
    found = facts(one)
    assert {name: found[name] for name in ("level", "measured", "limit", "where", "remedy", "marked")} == {
        "level": "warn", "measured": 3, "limit": 2, "where": "round 1", "remedy": "look", "marked": 1,
    }  # fmt: skip


def test_what_is_invalid_outside_of_results_only_warns() -> None:
    levels = [outside_results(Finding(level=level)).level for level in LEVELS]
    assert levels == ["n/a", "pass", "unknown", "warn", "warn"]


def with_first(test: StoredTest, **changes: Any) -> StoredTest:
    """The test with changes in the first step of its last sequence, which is a round of its window."""
    *others, last = test.sequences
    first, *rest = last.steps
    return replace(test, sequences=(*others, replace(last, steps=(replace(first, **changes), *rest))))


def failed(test: StoredTest) -> StoredTest:
    """An I/O failed while the drive was prepared."""
    first, *others = test.sequences
    step, *rest = first.steps
    step = replace(step, read=replace(step.read, errors={5: 1}))
    return replace(test, sequences=(replace(first, steps=(step, *rest)), *others))


def stalled(test: StoredTest) -> StoredTest:
    *others, last = test.sequences
    host = replace(QUIET, late_ns_max=5 * SECOND_NS, stalled_ns=5 * SECOND_NS)
    return replace(test, sequences=(*others, replace(last, host=host)))


def uncached(test: StoredTest) -> StoredTest:
    *others, last = test.sequences
    before, after = DriveState(write_cache="enabled"), DriveState(write_cache="disabled")
    return replace(test, sequences=(*others, replace(last, drive=DriveRecord(before=before, after=after, log="read"))))


BROKEN: dict[str, tuple[Callable[[StoredTest], StoredTest], str]] = {
    "failed-ios": (failed, "1 I/O error in the test"),
    "ended": (lambda test: replace(test, ended="interrupted"), "the test did not run to its end"),
    "balance": (lambda test: with_first(test, outstanding_ns=1), "contradict each other"),
    "host": (stalled, "the host stalled for 5,000 ms in round 5; the test system disturbed this, not the drive"),
    "completions": (lambda test: replace(test, ended="no-completions"), "no I/O of a tracking variable completed"),
    "write-cache": (uncached, "write cache: enabled, disabled in round 5"),
}


@pytest.mark.parametrize("name", list(BROKEN))
def test_the_first_invalid_check_withholds_and_the_banner_says_so_unless_it_says_how_the_test_ended(name: str) -> None:
    breaking, words = BROKEN[name]
    test = breaking(replace(synthetic_test(), ended="steady"))
    (found,) = [one for one in run_checks(test) if one.level == "invalid"]
    assert [one.name for one in withholding(test)] == [found.name] == [name]
    reason = text_or_none(withheld_reason(test))
    assert words in (reason or "")
    result = loop_result(test)
    assert (result.withheld, result.matrix) == (withheld_reason(test), {})
    said = banner(test, result.findings) or ""
    assert said.startswith("INTERRUPTED") if name == "ended" else f"NO HEADLINE: {reason}" in said
    assert ("NO HEADLINE" in said) == (name != "ended")


def test_a_banner_says_the_end_the_result_what_is_void_and_one_reason_in_this_order() -> None:
    test = with_first(stalled(uncached(replace(synthetic_test(), ended="interrupted"))), stall_ns_max=5 * SECOND_NS)
    test = replace(
        test,
        settings=replace(test.settings_as(LoopSettings), stall_limit_ns=2 * SECOND_NS),
        window_indexes=(1, 2, 3, 4, 5),
    )
    ((place, happened),) = void_places(test)
    found = Finding(level="warn", reason=coded("steady-missed", extent=coded("extent", rounds=4)))
    parts = (banner(test, [found]) or "").split(" - ")
    assert parts[:3] == ["INTERRUPTED", found.words, f"{str(place).upper()} VOID: {text(happened)}"]
    assert [part.partition(":")[0] for part in parts[3:]] == ["NO HEADLINE"]
    assert "the host stalled" in parts[3]


def slow(gap_ns: int, *, known: bool = True) -> tuple[AskedStep, ...]:
    """A step of a round in which the tester stood still for a time: fewer I/Os, of which some take that long."""
    test = synthetic_test()
    first, step = test.sequences[-1].steps[:2]
    count = step.read.window_io_count * (step.span_ns - gap_ns) // step.span_ns
    read = replace(step.read, window_io_count=count, latency_ns_max=gap_ns, latency_ns_sum=10**4 * gap_ns)
    caught = replace(
        step,
        read=read,
        stall_ns_max=0 if known else None,
        submission_gap_ns_max=gap_ns,
        lead_in_ns=gap_ns,
        first_submission_ns=(first.last_submission_ns or 0) + gap_ns,
    )
    sequence = replace(test.sequences[-1], steps=(replace(first, stall_ns_max=0), caught))
    return tuple(asked_steps(replace(test, sequences=(sequence,))))[1:]


@pytest.mark.parametrize("find", [submission_gaps, step_gaps, lead_ins], ids=lambda find: find.__name__)
def test_a_limit_does_not_grow_with_the_stall_that_it_is_to_find(find: Callable[..., Any]) -> None:
    found = [one for gap_ns in STALL_NS for one in find(slow(gap_ns))]
    # The count of I/Os falls with the stall and is a whole number.
    assert len(found) == len(STALL_NS)
    assert max(one.limit for one in found) <= found[0].limit * 1.001
    assert [one.level for one in found][::3] == ["pass", "warn"]


def test_a_gap_on_a_drive_whose_silences_nobody_measured_cannot_be_told() -> None:
    found = [one.level for gap_ns in (1, SECOND_NS) for one in submission_gaps(slow(gap_ns, known=False))]
    assert found == ["pass", "unknown"]


def eight_outstanding(count: int) -> StepRecord:
    """Ten seconds with eight I/Os outstanding, and a silence of two."""
    step = synthetic_test().sequences[-1].steps[0]
    read, write = synthetic_direction(count, 4096), synthetic_direction(0, 4096)
    span_ns = 10 * SECOND_NS
    return replace(
        step, span_ns=span_ns, outstanding_ns=8 * span_ns, read=read, write=write, stall_ns_max=2 * SECOND_NS
    )


def test_the_drive_s_part_of_a_gap_is_its_silence_and_three_typical_response_times() -> None:
    assert typical_latency_ns(eight_outstanding(4_000)) == 20 * MILLISECOND_NS
    assert typical_latency_ns(eight_outstanding(4_000), 5 * SECOND_NS) == 10 * MILLISECOND_NS
    assert drive_wait_ns(eight_outstanding(80_000)) == 2_003 * MILLISECOND_NS
    assert drive_wait_ns(eight_outstanding(80_000), 60 * SECOND_NS) == 2 * SECOND_NS


def test_a_slow_drive_may_take_long_to_empty_a_deep_queue() -> None:
    """1,024 outstanding at 100 IOPS are in after about ten seconds, however short the window was."""
    *_, one, other = synthetic_test().sequences
    step = replace(eight_outstanding(10), span_ns=SECOND_NS // 10, outstanding_ns=1_024 * SECOND_NS // 10)
    last = replace(step, stall_ns_max=0, last_submission_ns=0)
    begun = replace(other.steps[0], first_submission_ns=10 * SECOND_NS)
    found = sequence_gap(replace(one, steps=(last,)), replace(other, steps=(begun, *other.steps[1:])))
    assert found is not None
    assert (found.level, found.measured) == ("pass", 0)


@pytest.mark.parametrize(("gap_s", "level"), [(2.9, "pass"), (3.1, "warn"), (8.0, "invalid")])
def test_a_gap_between_programs_is_held_without_the_drive_s_part(gap_s: float, level: str) -> None:
    *_, one, other = synthetic_test().sequences
    gap_ns = round(gap_s * SECOND_NS)
    empty = replace(one.steps[-1], stall_ns_max=2 * SECOND_NS, last_submission_ns=0, outstanding_ns=0)
    begun = replace(other.steps[0], first_submission_ns=gap_ns)
    found = sequence_gap(replace(one, steps=(empty,)), replace(other, steps=(begun, *other.steps[1:])))
    assert found is not None
    assert (found.level, found.measured) == (level, gap_ns - 2 * SECOND_NS)


def test_stalls_are_a_share_of_the_time_in_which_the_host_ran() -> None:
    # An amount of 59 s of work took 60 s with the stalls: they are no reason to allow more of them.
    levels = []
    for stalled_ns in (580, 590, 591, 595):
        span_ns = 59 * SECOND_NS + stalled_ns * MILLISECOND_NS
        host = replace(QUIET, span_ns=span_ns, late_ns_max=40 * 10**6, stalled_ns=stalled_ns * MILLISECOND_NS)
        levels.append(host_findings(host)[0].level)
    assert levels == ["warn", "warn", "invalid", "invalid"]


@pytest.mark.parametrize(
    ("ppm", "expected"), [(0, "pass"), (150, "pass"), (400, "warn"), (2_000, "invalid"), (50_000, "invalid")]
)
def test_clocks_that_run_apart_ever_faster_are_never_taken_for_one_that_is_set(ppm: int, expected: str) -> None:
    test = synthetic_test()
    now, sequences = 0, []
    for sequence in test.sequences:
        steps = []
        for step in sequence.steps:
            steps.append(replace(step, start_ns=now, start_wall_ns=now + now * ppm // 10**6))
            now += step.span_ns
        sequences.append(replace(sequence, steps=tuple(steps)))
    (found,) = [one for one in run_checks(replace(test, sequences=tuple(sequences))) if one.name == "clocks"]
    assert (found.level, found.finding.words) == (expected, f"{ppm} ppm apart")
