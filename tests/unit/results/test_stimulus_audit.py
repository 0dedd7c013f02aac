"""The stimulus audit: each check passes on a clean run, and a single figure that is wrong marks it and no other."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from assay.engine.records import (
    AccessPattern,
    DataPattern,
    Demand,
    DriveCondition,
    HistogramTable,
    KernelCounters,
    PurgeRecord,
    SeriesTable,
    StepRecord,
    StoredTest,
    TraceSummary,
)
from assay.errors import StoreError
from assay.procedures.checks import test_tables as checks_tables
from assay.procedures.families.saturation.result import SaturationSettings
from assay.procedures.families.saturation.run import pattern_step
from assay.report import build_report, records_of_tests
from assay.results.histogram import bucket_of
from assay.results.outcome import withheld_reason
from assay.results.run_checks import run_checks
from assay.results.stimulus_audit import stimulus_audit
from assay.results.stimulus_checks import draw_sigmas
from assay.results.stimulus_steps import asked_steps
from assay.results.stimulus_time import larger_lead_ins, short_windows
from assay.run.store.traces import grid_bytes, trace_summary
from assay.spec.units import KIB, MILLISECOND_NS, SECOND_NS
from assay.summary.pages.header import banner
from assay.summary.pages.model import Table
from assay.summary.verdict import NO_RULE, annex_caveats, framed
from assay.words.coded import Place
from assay.words.text import text_or_none
from report_run import balanced, stored_steps, synthetic_direction, synthetic_run, synthetic_test

if TYPE_CHECKING:
    from pathlib import Path

    from assay.results.finding import Checked

CAPACITY = 256 * 10**9
RANGE = 1 << 30
DEMAND = Demand(thread_count=2, queue_depth=4)
READS, WRITES, SIZE = 26_000, 14_000, 4 * KIB
LATENCY_NS = 8 * 10 * SECOND_NS // 40_000
ALWAYS_UNKNOWN = {"smart-units", "successors"}


def counters(requests: int, size: int = SIZE, **merges: int) -> KernelCounters:
    """What a drive counted of reads; writes in proportion of the mix."""
    writes = requests * WRITES // READS
    return KernelCounters(
        read_io_count=requests,
        read_bytes=requests * size,
        read_merge_count=merges.get("read", 0),
        write_io_count=writes,
        write_bytes=writes * size,
        write_merge_count=merges.get("write", 0),
    )


def step(number: int, **changes: Any) -> StepRecord:
    """Ten seconds of RND 4KiB 65/35 at TC 2 x QD 4, the ``number``-th of its sequence, without a flaw."""
    reads, writes = synthetic_direction(READS, SIZE), synthetic_direction(WRITES, SIZE)
    start = number * 10 * SECOND_NS
    whole = StepRecord(
        label="synthetic",
        span_ns=10 * SECOND_NS,
        start_ns=start,
        start_wall_ns=start,
        read=replace(reads, latency_ns_sum=READS * LATENCY_NS, latency_ns_max=5 * MILLISECOND_NS),
        write=replace(writes, latency_ns_sum=WRITES * LATENCY_NS, latency_ns_max=5 * MILLISECOND_NS),
        outstanding_ns=8 * 10 * SECOND_NS,
        submission_gap_ns_max=5 * MILLISECOND_NS,
        first_submission_ns=start + 1000,
        last_submission_ns=start + 10 * SECOND_NS - 1000,
        cpu_ns=None,
        counters_before=counters(READS * number),
        counters_after=counters(READS * (number + 1)),
        ended="stop-rule",
        misaligned_io_count=0,
        thread_io_count_min=19_900,
        thread_io_count_max=20_100,
        stall_ns_max=0,
    )
    return balanced(replace(whole, **changes))


def histograms(counts: tuple[int, int] = (READS, WRITES)) -> HistogramTable:
    """Of each direction the smallest and the largest response time once, and the mean of all the others."""
    buckets = [bucket_of(90_000), bucket_of(LATENCY_NS), bucket_of(5 * MILLISECOND_NS)]
    return HistogramTable(
        step=np.repeat(np.array([0, 1], np.uint32), 6),
        direction=np.array([0, 0, 0, 1, 1, 1] * 2, np.int8),
        bucket=np.array(buckets * 4, np.uint32),
        count=np.array([part for count in (*counts, READS, WRITES) for part in (1, count - 2, 1)], np.uint64),
    )


def series() -> SeriesTable:
    return SeriesTable(step=np.array([0, 1], np.uint64), io_count=np.array([40_000, 40_000], np.uint64))


def trace(**changes: Any) -> TraceSummary:
    # 80,000 aligned draws of 262,144 blocks leave exp(-0.30518) of them alone.
    touched = round((1 - np.exp(-80_000 / 262_144)) * 262_144) * SIZE
    sizes = (((SIZE, READS + WRITES),),) * 2
    clean = TraceSummary(io_counts=(40_000, 40_000), sizes=sizes, touched_bytes=touched, grid_bytes=SIZE)
    return replace(clean, **changes)


def stored(
    first: dict[str, Any] | None = None,
    second: dict[str, Any] | None = None,
    *,
    sizes: Any = ((SIZE, 1.0),),
    **sequence: Any,
) -> StoredTest:
    """A test of one sequence of two steps, with changes in either of them or in the sequence."""
    settings = SaturationSettings(
        procedure="wsat",
        test="wsat",
        edition="pts-c-1.0",
        demand=DEMAND,
        data=DataPattern(),
        range_amount_bytes=RANGE,
        segment_count=None,
        range_limit=0.2,
        slope_limit=0.1,
        write_cache_required="enabled",
        pattern=AccessPattern(sizes=sizes, read_share=0.65, random_share=1.0),
        label="RND 4KiB 65/35",
        sample_ns=10 * SECOND_NS,
        samples_per_verdict=1,
        stop="time",
        time_ns=20 * SECOND_NS,
        amount_bytes=1,
    )
    asked = pattern_step("step", settings.pattern, DEMAND, RANGE, 10 * SECOND_NS)
    one = stored_steps(
        "sample",
        1,
        step(0, **(first or {})),
        step(1, **({"lead_in_ns": MILLISECOND_NS} | (second or {}))),
        asked=asked,
        **({"histograms": histograms(), "trace": trace(), "series": series()} | sequence),
    )
    two = stored_steps("sample", 2, step(2), step(3), asked=asked)
    base = synthetic_test()
    return replace(base, settings=settings, sequences=(one, two), verdict=None)


def audit(test: StoredTest, **changes: Any) -> tuple[Checked, ...]:
    """What was issued, and of the checks of the run those that rest on it."""
    ran = [one for one in run_checks(test) if one.name in {"failed-ios", "balance", "sequence-gap"}]
    return (*ran, *stimulus_audit(replace(synthetic_run(test), **changes), test))


def outcomes(test: StoredTest) -> dict[str, str]:
    return {row.name: row.level for row in audit(test)}


def check(marked: set[str], test: StoredTest) -> None:
    """Exactly these checks are marked, and those that cannot be told are those of a clean run."""
    found = outcomes(test)
    assert {name for name, level in found.items() if level in {"warn", "invalid"}} == marked
    assert {name for name, level in found.items() if level == "n/a"} == ALWAYS_UNKNOWN


def test_a_clean_run_passes_every_check() -> None:
    check(set(), stored())


def test_one_io_that_the_drive_did_not_count_is_a_mark_of_bytes_and_of_ios() -> None:
    lost = counters(2 * READS)
    lost = replace(lost, read_io_count=lost.read_io_count - 1, read_bytes=lost.read_bytes - SIZE)
    test = stored(second={"counters_after": lost})
    check({"counted-bytes", "counted-ios"}, test)
    rows = {row.name: row for row in audit(test)}
    assert (rows["counted-ios"].finding.measured, rows["counted-bytes"].finding.measured) == (-1, -SIZE)
    assert (rows["counted-ios"].marked, rows["counted-ios"].judged, str(rows["counted-ios"].finding.where)) == (
        1,
        4,
        "sample 1",
    )


def test_one_merge_is_a_mark_of_merges_alone() -> None:
    merged = counters(2 * READS, write=1)
    check({"merges"}, stored(second={"counters_after": replace(merged, write_io_count=merged.write_io_count - 1)}))


def test_split_transfers_are_a_mark_with_their_factor() -> None:
    split = counters(2 * READS)
    test = stored(second={"counters_after": replace(split, read_io_count=2 * split.read_io_count)})
    check({"counted-ios"}, test)
    (row,) = (row for row in audit(test) if row.name == "counted-ios")
    assert "2 per I/O" in row.finding.words


def test_ios_of_somebody_else_inside_a_step_are_a_mark() -> None:
    nine = counters(READS)
    nine = replace(nine, read_io_count=nine.read_io_count + 9, read_bytes=nine.read_bytes + 9 * SIZE)
    check({"counted-at-boundaries"}, stored(first={"counters_after": nine}, second={"counters_before": nine}))


def test_a_swapped_mix_is_a_mark() -> None:
    swapped = {"read": step(0).write, "write": step(0).read}
    test = stored(first=swapped)
    assert {"read-share", "histogram-counts"} <= {name for name, found in outcomes(test).items() if found == "warn"}


def test_a_small_bias_in_every_step_is_a_mark_only_of_all_steps_together() -> None:
    # 26,381 of 40,000 lies 4.0 standard deviations off, four such steps together 8.0.
    biased = {
        "read": replace(step(0).read, window_io_count=READS + 381, window_bytes=(READS + 381) * SIZE),
        "write": replace(step(0).write, window_io_count=WRITES - 381, window_bytes=(WRITES - 381) * SIZE),
    }
    test = stored()
    sequences = tuple(
        replace(sequence, steps=tuple(replace(one, **biased) for one in sequence.steps)) for sequence in test.sequences
    )
    (row,) = (row for row in audit(replace(test, sequences=sequences)) if row.name == "read-share")
    assert (row.level, row.marked, str(row.finding.where)) == ("warn", 1, "all mixed steps together")
    assert row.finding.measured == pytest.approx(4 * 381 / (4 * 40_000 * 0.65 * 0.35) ** 0.5)


def test_a_draw_of_few_is_judged_by_its_exact_chance() -> None:
    # P(X >= 60 | 100, 0.5) = 0.02844; the normal law gives that beyond 1.904.
    assert draw_sigmas(60, 100, 0.5) == pytest.approx(1.904, abs=1e-3)
    assert draw_sigmas(40, 100, 0.5) == pytest.approx(-1.904, abs=1e-3)
    # The normal approximation would call five of fourteen at 5 % 5.3 standard deviations.
    assert draw_sigmas(5, 14, 0.05) == pytest.approx(3.33, abs=0.01)
    assert draw_sigmas(6_600, 10_000, 0.65) == pytest.approx(2.0966, abs=1e-4)


def test_a_missing_response_time_a_failed_io_and_a_missing_capture_are_marks_of_their_own() -> None:
    check({"histogram-counts"}, stored(histograms=histograms((READS - 1, WRITES))))
    check({"failed-ios"}, stored(first={"read": replace(step(0).read, errors={5: 1})}))
    check({"captured-ios"}, stored(trace=trace(io_counts=(40_000, 39_999))))


def test_ios_that_stay_on_half_of_the_range_are_a_mark() -> None:
    half = round((1 - np.exp(-80_000 / 131_072)) * 131_072) * SIZE
    check({"lba-coverage"}, stored(trace=trace(touched_bytes=half)))


def test_a_transfer_of_another_size_is_a_mark_by_bytes_and_by_capture() -> None:
    short = replace(step(0).read, window_bytes=READS * SIZE - 512)
    assert outcomes(stored(first={"read": short}))["transfer-sizes"] == "warn"
    mix = ((SIZE, 0.9), (2 * SIZE, 0.1))
    whole = {"window_bytes": round(READS * SIZE * 1.1)}
    steps = {
        "read": replace(step(0).read, **whole),
        "write": replace(step(0).write, window_bytes=round(WRITES * SIZE * 1.1)),
    }
    for sizes, expected in (
        (((SIZE, 36_010), (2 * SIZE, 3_990)), "pass"),
        (((SIZE, 35_500), (2 * SIZE, 4_500)), "warn"),
        (((SIZE, 36_000), (2 * SIZE, 3_999), (512, 1)), "warn"),
    ):
        test = stored(steps, steps, sizes=mix, trace=trace(sizes=(sizes, sizes)))
        rows = {row.name: row for row in audit(replace(test, sequences=test.sequences[:1]))}
        assert rows["transfer-sizes"].level == expected
    assert "1 of other sizes" in rows["transfer-sizes"].finding.words


def audited(name: str, test: StoredTest) -> Checked:
    (row,) = (row for row in audit(test) if row.name == name)
    return row


def with_first(test: StoredTest, first: StepRecord) -> StoredTest:
    """The test with another record in the place of its first, which is left as it is."""
    sequence, *others = test.sequences
    return replace(test, sequences=(replace(sequence, steps=(first, *sequence.steps[1:])), *others))


def test_a_queue_depth_off_by_more_than_half_a_percent_is_a_mark() -> None:
    assert audited("queue-depth", stored(first={"outstanding_ns": round(7.965 * 10 * SECOND_NS)})).level == "pass"
    assert audited("queue-depth", stored(first={"outstanding_ns": round(7.955 * 10 * SECOND_NS)})).level == "warn"


def test_times_that_contradict_each_other_are_a_mark_and_withhold_the_results() -> None:
    test = replace(stored(), ended="time")
    first = test.sequences[0].steps[0]
    slow = replace(first.read, latency_ns_sum=first.read.latency_ns_sum + 1)
    forged = with_first(test, replace(first, read=slow))
    check({"balance"}, forged)
    assert audited("balance", forged).finding.measured == -1
    assert withheld_reason(test) is None
    assert "contradict" in (text_or_none(withheld_reason(forged)) or "")


def test_little_s_law_is_judged_where_few_ios_cross_the_ends_and_unknown_where_many_do() -> None:
    held = 8 * 10 * SECOND_NS
    slow = replace(step(0).read, latency_ns_sum=READS * LATENCY_NS * 101 // 100)
    first = replace(step(0), read=slow, carried_in_ns=0, carried_out_ns=held * 4 // 1000)
    row = audited("littles-law", with_first(stored(), first))
    assert (row.level, row.judged) == ("warn", 4)
    crossed = replace(first, carried_out_ns=held * 6 // 1000)
    row = audited("littles-law", with_first(stored(), crossed))
    assert (row.level, row.judged) == ("pass", 3)
    test = stored()
    alone = replace(test, sequences=(replace(test.sequences[0], steps=(crossed,)),))
    row = audited("littles-law", alone)
    assert (row.level, row.judged) == ("unknown", 0)
    assert "0.60% of the time cross the ends" in row.finding.words


def test_seconds_that_do_not_add_up_to_the_window_are_a_mark() -> None:
    places = np.array((0, 0, 1), np.uint64)
    whole, short = (np.array((39_999, last, 40_000), np.uint64) for last in (1, 0))
    assert audited("series-counts", stored(series=SeriesTable(step=places, io_count=whole))).level == "pass"
    assert audited("series-counts", stored(series=SeriesTable(step=places, io_count=short))).finding.measured == -1


def test_a_long_lead_in_is_a_mark_and_says_where_its_largest_response_time_is_larger() -> None:
    late = replace(step(1).read, lead_in_latency_ns_max=7 * MILLISECOND_NS)
    fits = {"lead_in_ns": 500 * MILLISECOND_NS, "read": late}
    test = stored(second=fits)
    row = audited("lead-in", test)
    assert (row.level, row.finding.limit) == ("pass", 500 * MILLISECOND_NS)
    said = "lead-in I/Os took longer than window I/Os: at most 7.000 ms before sample 1"
    assert said in (text_or_none(larger_lead_ins(tuple(asked_steps(test)))) or "")
    assert any(said in "".join(note) for note in checks_tables(records_of_tests(synthetic_run(test))[0])[0].notes)
    assert larger_lead_ins(tuple(asked_steps(stored()))) is None
    assert audited("lead-in", stored(second=fits | {"lead_in_ns": 501 * MILLISECOND_NS})).level == "warn"


def test_a_window_with_fewer_completions_than_ios_outstanding_is_short() -> None:
    test = stored(first={"read": synthetic_direction(7, SIZE), "write": synthetic_direction(0, SIZE)})
    assert short_windows(tuple(asked_steps(test))) == {Place("sample 1, step", 1): 7}
    said = "1 window shorter than the queue"
    moved = replace(NO_RULE, unstable_count=3)
    assert annex_caveats(framed(test, moved, None)) == ("3 other cells moved", said)
    assert annex_caveats(framed(stored(), NO_RULE, None)) == ()
    assert said in (banner(test, ()) or "")


def test_gaps_beyond_the_drive_s_part_are_marks_of_the_host() -> None:
    # Three response times of 2 ms in the mean, less what the gap adds to eight I/Os, and 100 ms.
    check(set(), stored(first={"submission_gap_ns_max": 105 * MILLISECOND_NS}))
    check({"submission-gap"}, stored(first={"submission_gap_ns_max": 107 * MILLISECOND_NS}))
    check({"step-gap"}, stored(second={"first_submission_ns": 10 * SECOND_NS + 107 * MILLISECOND_NS}))
    check({"sequence-gap"}, stored(second={"last_submission_ns": 18 * SECOND_NS}))


def test_a_starved_thread_is_a_mark() -> None:
    check({"thread-shares"}, stored(first={"thread_io_count_min": 9_000}))


def test_what_was_not_kept_is_not_judged() -> None:
    bare = {"counters_before": None, "counters_after": None, "thread_io_count_min": None}
    test = stored(bare, bare, histograms=None, trace=None)
    found = outcomes(replace(test, sequences=test.sequences[:1]))
    assert {name for name, outcome in found.items() if outcome == "n/a"} == {
        "histogram-counts", "counted-bytes", "counted-ios", "merges", "counted-at-boundaries", "smart-units",
        "successors", "captured-ios", "lba-coverage", "sequence-gap", "thread-shares",
    }  # fmt: skip


def test_the_health_log_is_held_against_the_whole_run_to_its_unit() -> None:
    test = stored()
    written, read = 4 * WRITES * SIZE, 4 * READS * SIZE

    def outcome(written_bytes: int, read_bytes: int, method: str = "discard") -> str:
        purged = replace(test, purge=PurgeRecord(method=method, proof="", deviation=None, span_ns=1))
        conditions = (
            DriveCondition(health={"host_written_bytes": 10**9, "host_read_bytes": 0}),
            DriveCondition(health={"host_written_bytes": 10**9 + written_bytes, "host_read_bytes": read_bytes}),
        )
        (row,) = (row for row in audit(purged, conditions=conditions) if row.name == "smart-units")
        assert row.judged == 2
        return row.level

    assert outcome(written + 500_000, read - 500_000) == "pass"
    assert outcome(written - 6_000_000, read) == "warn"
    assert outcome(written + 6_000_000, read) == "warn"
    assert outcome(written, read - 1_100_000) == "warn"
    assert outcome(written, 2 * read) == "pass"
    assert outcome(written + CAPACITY, read, "overwrite") == "pass"
    assert outcome(written, read, "overwrite") == "warn"


def test_the_page_and_the_results_name_the_mark(monkeypatch: pytest.MonkeyPatch) -> None:
    # A sample of a write saturation is one step, and has a curve; these are two.
    monkeypatch.setattr("assay.procedures.wsat.record.saturation_main_figures", lambda *_: ())
    merged = replace(counters(2 * READS, write=1), write_io_count=2 * WRITES - 1)
    test = stored(second={"counters_after": merged})
    report = build_report(synthetic_run(test))
    (page,) = (page for page in report.disclosure if page.subtitle == "Disclosure - Checks")
    (table,) = (block for column in page.columns for block in column)
    assert isinstance(table, Table)
    rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    # What is made up here is never filled, and says so.
    unwritten = "Reads of blocks never written"
    (marked,) = (row for row in rows if row["Level"] == "WARN" and row["Check"] != unwritten)
    names = ("Check", "Beyond", "Worst", "Limit", "Where")
    assert [marked[name] for name in names] == ["I/Os merged by the kernel", "1 of 4", "1", "0", "sample 1"]


def test_a_trace_is_summed_up_by_step_size_and_place(tmp_path: Path) -> None:
    columns = {
        "at_ns": pa.array([1, 2, 3, 4], pa.int64()),
        "latency_ns": pa.array([1, 1, 1, 1], pa.int64()),
        "operation": pa.array([1] * 4, pa.int32()),
        "step": pa.array([0, 0, 1, 1], pa.int32()),
        "offset_bytes": pa.array([0, 4096, 0, 1 << 20], pa.int64()),
        "length_bytes": pa.array([4096, 4096, 512, 65_536], pa.int32()),
    }
    path = tmp_path / "trace.parquet"
    pq.write_table(pa.table(columns), path)
    found = trace_summary(tmp_path, path.name, step_count=2, capacity_bytes=1 << 30)
    assert found == TraceSummary(
        io_counts=(2, 2),
        sizes=(((4096, 2),), ((512, 1), (65_536, 1))),
        touched_bytes=2 * 4096 + 65_536,
        grid_bytes=4096,
        successors=(None, None),
    )
    in_order = trace_summary(tmp_path, path.name, step_count=2, capacity_bytes=1 << 30, in_order={0})
    assert in_order.successors == ((1, 2), None)
    with pytest.raises(StoreError, match="outside the drive"):
        trace_summary(tmp_path, path.name, step_count=2, capacity_bytes=1 << 20)
    pq.write_table(pa.table({name: values for name, values in columns.items() if "bytes" not in name}), path)
    assert trace_summary(tmp_path, path.name, step_count=2, capacity_bytes=1 << 30).touched_bytes is None
    path.write_bytes(b"torn")
    with pytest.raises(StoreError, match="cannot be read"):
        trace_summary(tmp_path, path.name, step_count=2, capacity_bytes=1 << 30)
    assert (grid_bytes(CAPACITY), grid_bytes(10**12)) == (4096, 16_384)
