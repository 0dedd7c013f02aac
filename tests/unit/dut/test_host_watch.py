"""What the host does to a sequence is judged, stored and blamed on it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from assay.dut.real.host import read_host_counters, thread_deltas
from assay.dut.real.host_watch import HostWatch
from assay.engine.records import HostRecord, MeasurementWindow, SteadyVerdict
from assay.procedures.families.loop.result import loop_result
from assay.results.audit import sequence_audits
from assay.results.host import host_findings
from assay.results.outcome import withheld_reason
from assay.summary.pages.header import banner
from assay.words.text import text_or_none
from report_run import synthetic_test

if TYPE_CHECKING:
    from pathlib import Path

    from assay.engine.records import StoredTest

MINUTE = 60 * 10**9
MS = 10**6


def host(**changes: object) -> HostRecord:
    quiet = HostRecord(
        span_ns=MINUTE,
        late_ns_p999=70_000,
        late_ns_max=900_000,
        stalled_ns=0,
        gauge_cpu_ns=300 * MS,
        cpu_count=4,
        steal_ns=0,
        run_ns=MINUTE,
        wait_ns=0,
        switches_involuntary=3,
    )
    return replace(quiet, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("level", "words", "changes"),
    [
        ("pass", None, {}),
        ("warn", "stalled for 12 ms", {"late_ns_max": 12 * MS, "stalled_ns": 12 * MS}),
        ("invalid", "stalled for 1,502 ms", {"late_ns_max": 1502 * MS, "stalled_ns": 1502 * MS}),
        ("invalid", "stalled for 40 ms", {"late_ns_max": 40 * MS, "stalled_ns": 601 * MS}),
        ("pass", None, {"steal_ns": 4 * MINUTE // 200}),
        ("warn", "took 1.0%", {"steal_ns": 4 * MINUTE // 100}),
        ("invalid", "took 8.6%", {"steal_ns": 4 * MINUTE * 86 // 1000}),
        ("pass", None, {"wait_ns": None, "steal_ns": None}),
    ],
)
def test_a_host_is_judged_by_its_stalls_and_stolen_time(level: str, words: str, changes: dict[str, int]) -> None:
    found = host_findings(host(**changes))[0]
    assert found.level == level
    assert (words in found.words) if words else not found.words


def test_the_gravest_reason_is_the_first_and_the_one_that_withholds() -> None:
    both = host(late_ns_max=12 * MS, stalled_ns=12 * MS, steal_ns=4 * MINUTE * 86 // 1000)
    found = host_findings(both)
    assert [one.level for one in found] == ["invalid", "warn"]
    assert [one.words.partition(" took")[0].partition(" for")[0] for one in found] == [
        "the hypervisor",
        "the host stalled",
    ]


def test_nobody_watched_is_not_a_pass() -> None:
    assert [one.level for one in host_findings(None)] == ["unknown"]


def stalled_in(index: int) -> StoredTest:
    """A test of seven rounds whose window is the last five, with a stall of 1.5 s in one round."""
    test = synthetic_test()
    stalled = host(late_ns_max=1500 * MS, stalled_ns=1500 * MS)
    sequences = tuple(
        replace(sequence, host=stalled if sequence.stage == "round" and sequence.index == index else host())
        for sequence in test.sequences
    )
    return replace(test, sequences=sequences, ended="steady")


def test_a_stall_in_the_window_withholds_the_result_and_is_blamed_on_the_host() -> None:
    test = stalled_in(synthetic_test().rounds[-1].index)
    reason = text_or_none(withheld_reason(test))
    assert reason is not None
    assert "the host stalled for 1,500 ms in round" in reason
    assert "not the drive" in reason
    result = loop_result(test)
    assert result.matrix == {}
    assert "NO HEADLINE: the host stalled" in (banner(test, result.findings) or "")


@pytest.mark.parametrize(("quiet", "said"), [(0, "HOST DISTURBED 5 of 5 rounds"), (1, "")])
def test_a_host_that_disturbed_every_round_of_the_window_is_on_the_banner(quiet: int, said: str) -> None:
    test = synthetic_test()
    late = [one for one in test.sequences if one.stage == "round"][quiet:]
    sequences = tuple(
        replace(one, host=host(late_ns_max=12 * MS) if any(one is other for other in late) else host())
        for one in test.sequences
    )
    indexes = tuple(one.index for one in test.sequences if one.stage == "round")[:5]
    watched = replace(test, sequences=sequences, window_stage="round", window_indexes=indexes, ended="steady")
    assert (banner(watched, ()) or "") == said


def test_a_stall_before_the_window_is_only_told() -> None:
    test = stalled_in(1)
    rounds = tuple(range(2, 7))
    verdict = SteadyVerdict(
        rounds=rounds,
        values=(1.0,) * 5,
        average=1.0,
        excursion_allowed=1.0,
        excursion_measured=0.0,
        slope_allowed=1.0,
        slope_measured=0.0,
        slope=0.0,
        intercept=1.0,
        steady=True,
    )
    window_of = MeasurementWindow(rounds=rounds, verdicts={"x": verdict}, reached=True)
    test = replace(test, verdict=window_of, window_indexes=rounds)
    assert withheld_reason(test) is None
    levels = [audit.host[0].level for audit in sequence_audits(test) if audit.name == "round 1"]
    assert levels == ["invalid"]


def test_steal_and_waits_are_read_from_proc(tmp_path: Path) -> None:
    (tmp_path / "stat").write_text("cpu  10 0 10 10 0 0 0 3 0 0\n")
    task = tmp_path / "self/task/77"
    task.mkdir(parents=True)
    (task / "schedstat").write_text("1000 50 3\n")
    found = read_host_counters(proc=tmp_path)
    assert (found.steal_ns, found.threads) == (30_000_000, {77: (1000, 50)})
    (tmp_path / "stat").write_text("garbage\n")
    (task / "schedstat").write_text("garbage\n")
    assert read_host_counters(proc=tmp_path).steal_ns is None
    assert thread_deltas(found.threads, read_host_counters(proc=tmp_path).threads) is None


def test_a_thread_that_began_meanwhile_counts_from_nothing() -> None:
    assert thread_deltas({1: (10, 5), 9: (7, 7)}, {1: (30, 6), 2: (4, 4)}) == (24, 5)


def test_watching_costs_little_and_sees_the_time_pass() -> None:
    with HostWatch() as watch:
        total = sum(range(100_000))
    assert total == 4_999_950_000
    record = watch.record
    assert record is not None
    assert 0 < record.span_ns < 30 * 10**9
    assert record.late_ns_max >= record.late_ns_p999
    assert record.gauge_cpu_ns < record.span_ns
