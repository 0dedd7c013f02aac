"""What is printed: sums, weights and windows on hand-made records."""

from dataclasses import replace
from fractions import Fraction

import pytest
from assay.engine.records import Cell, Demand, KernelCounters, StoredTest
from assay.errors import VerificationError
from assay.procedures.families.loop.plan import LoopSettings
from assay.procedures.families.loop.result import loop_result, measurement_window
from assay.results.audit import sequence_audits
from assay.results.step import (
    Samples,
    cell_label,
    effective_queue_depth,
    holds_queue_depth,
    iops,
    max_latency_ns,
    mean_and_max_ms,
    mean_latency_ns,
    response_time,
    thread_spread,
    throughput,
)
from assay.words.text import text_or_none
from report_run import (
    GOLDEN,
    round_programs,
    synthetic_direction,
    synthetic_fill,
    synthetic_rounds,
    synthetic_settings,
    synthetic_step,
    synthetic_test,
)

CELL = Cell(read_pct=65, transfer_bytes=65_536)


def test_a_mixed_cell_is_the_sum_of_its_reads_and_writes() -> None:
    step = replace(
        synthetic_step(CELL, 1),
        span_ns=60 * 10**9,
        read=synthetic_direction(90, 4096),
        write=synthetic_direction(30, 4096),
    )
    assert iops(step) == 2


def test_the_mean_latency_is_weighted_by_completions_and_the_maximum_is_the_largest() -> None:
    read = replace(synthetic_direction(3, 4096), latency_ns_sum=300, latency_ns_max=120)
    write = replace(synthetic_direction(1, 4096), latency_ns_sum=500, latency_ns_max=500)
    step = replace(synthetic_step(CELL, 1), read=read, write=write)
    assert (mean_latency_ns(step), max_latency_ns(step)) == (200.0, 500)
    nothing = replace(step, read=synthetic_direction(0, 4096), write=synthetic_direction(0, 4096))
    nothing = replace(
        nothing,
        read=replace(nothing.read, latency_ns_max=None),
        write=replace(nothing.write, latency_ns_max=None),
    )
    assert (mean_latency_ns(nothing), max_latency_ns(nothing)) == (None, None)


def test_a_series_has_a_value_of_every_step_at_its_end_or_at_a_stated_time() -> None:
    step = replace(synthetic_step(CELL, 1), span_ns=60 * 10**9)
    samples = Samples.of([step, step], begun_ns=120 * 10**9)
    assert samples.minutes == (3.0, 4.0)
    assert Samples.of([step, step], [0, 30 * 10**9]).minutes == (0.0, 0.5)
    first, last = samples.each()
    assert first == last._replace(minute=3.0)
    assert (last.iops, last.throughput) == (float(iops(step)), float(throughput(step)))
    assert (last.latency_ms_mean, last.latency_ms_max) == mean_and_max_ms([step])


def test_tail_completions_enter_no_rate() -> None:
    step = replace(synthetic_step(CELL, 1), read=replace(synthetic_direction(0, 4096), tail_io_count=1000))
    without = replace(step, read=synthetic_direction(0, 4096))
    assert iops(step) == iops(without)


def test_what_was_carried_in_enters_the_rate_and_what_led_in_does_not() -> None:
    own = synthetic_step(CELL, 1)
    both = replace(
        own, read=replace(own.read, carried_in_io_count=100, carried_in_bytes=6_553_600, lead_in_io_count=50)
    )
    assert iops(both) - iops(own) == Fraction(100 * 10**9, own.span_ns)
    assert throughput(both) - throughput(own) == Fraction(65_536 * 100 * 10**9, own.span_ns * 10**6)
    assert response_time(both) == response_time(own)


def test_cells_are_named_as_in_the_specification() -> None:
    assert cell_label(CELL) == "RND 64KiB 65/35"
    assert cell_label(Cell(read_pct=0, transfer_bytes=512)) == "RND 0.5KiB 0/100"


def test_effective_queue_depth() -> None:
    step = replace(synthetic_step(CELL, 1), span_ns=60 * 10**9, outstanding_ns=480 * 10**9)
    assert effective_queue_depth(step) == 8.0


def test_there_is_no_window_before_the_fifth_round() -> None:
    settings = synthetic_settings()
    assert measurement_window(synthetic_rounds(settings, GOLDEN[:4]), settings) is None


def test_all_three_cells_of_edition_2_must_be_steady_at_once() -> None:
    settings = synthetic_settings("pts-e-2.0")
    rounds = list(synthetic_rounds(settings, (3000.0,) * 5))
    steady = measurement_window(rounds, settings)
    assert steady is not None
    assert (steady.reached, len(steady.verdicts)) == (True, 3)
    index = settings.cells.index(Cell(read_pct=100, transfer_bytes=1 << 20))
    cells = list(rounds[4].cells)
    cells[index] = replace(cells[index], read=synthetic_direction(1, 1 << 20))
    rounds[4] = replace(rounds[4], cells=tuple(cells))
    broken = measurement_window(rounds, settings)
    assert broken is not None
    assert not broken.reached
    assert [verdict.steady for verdict in broken.verdicts.values()] == [True, True, False]


def test_the_matrix_is_the_average_over_the_last_five_rounds() -> None:
    test = synthetic_test(tracked=(9000.0, 100.0, 110.0, 90.0, 100.0, 100.0))
    result = loop_result(test)
    assert result.matrix[Cell(read_pct=0, transfer_bytes=4096)] == pytest.approx(100.0)
    assert result.window is not None
    assert result.window.rounds == (2, 3, 4, 5, 6)


def test_a_failed_io_leaves_no_headline() -> None:
    result = loop_result(synthetic_test(errors=1))
    assert result.error_count == 5
    assert result.matrix == {}


def test_a_stored_verdict_that_its_rounds_do_not_give_is_refused() -> None:
    test = synthetic_test()
    forged = replace(
        test, verdict=measurement_window(synthetic_rounds(test.settings, (1.0,) * 5), test.settings_as(LoopSettings))
    )
    with pytest.raises(VerificationError):
        loop_result(forged)


def with_sixth_round(test_ended: str | None, /, **last_cell: object) -> StoredTest:
    """A test with a verdict over rounds 1 to 5 and a sixth round whose last cell is not as it should be."""
    test = synthetic_test(tracked=(*GOLDEN, 3000.0), ended=test_ended)
    sixth = test.rounds[5]
    cells = (*sixth.cells[:-1], replace(sixth.cells[-1], **last_cell))  # type: ignore[arg-type]
    verdict = measurement_window(test.rounds[:5], test.settings_as(LoopSettings))
    rounds = (*test.rounds[:5], replace(sixth, cells=cells))
    return replace(test, sequences=(synthetic_fill(), *round_programs(rounds)), verdict=verdict)


@pytest.mark.parametrize("ended", ["interrupted", "device-failure", None])
@pytest.mark.parametrize(
    "last_cell",
    [
        {"ended": "interrupted"},
        {"ended": "hung"},
        {"ended": "interrupted", "span_ns": 0},
        {"read": replace(synthetic_direction(1, 512), errors={5: 1})},
    ],
)
def test_a_run_that_ended_badly_is_readable_and_gives_no_result(
    ended: str | None, last_cell: dict[str, object]
) -> None:
    result = loop_result(with_sixth_round(ended, **last_cell))
    assert result.rounds == (1, 2, 3, 4, 5)
    assert (result.matrix, result.withheld is None) == ({}, False)


def test_a_crash_between_a_round_and_its_verdict_leaves_the_run_readable() -> None:
    result = loop_result(with_sixth_round(None))
    assert result.rounds == (1, 2, 3, 4, 5, 6)
    assert text_or_none(result.withheld) == "the test did not run to its end"


def test_an_error_in_preconditioning_is_counted() -> None:
    test = synthetic_test()
    fill = replace(test.preconditioning[0], write=replace(synthetic_direction(1, 512), errors={5: 3}))
    sequences = (replace(synthetic_fill(), steps=(fill,)), *test.sequences[1:])
    assert loop_result(replace(test, sequences=sequences)).error_count == 3


def test_what_was_issued_is_held_against_what_the_drive_counted() -> None:
    counters = KernelCounters(
        read_io_count=0, read_bytes=100, read_merge_count=0, write_io_count=0, write_bytes=7, write_merge_count=0
    )
    step = replace(
        synthetic_step(CELL, 1),
        read=synthetic_direction(2, 4096),
        write=replace(synthetic_direction(0, 4096), tail_bytes=512),
        counters_before=counters,
        counters_after=replace(counters, read_bytes=100 + 8192, write_bytes=7 + 512),
    )
    test = replace(synthetic_test(), sequences=(replace(synthetic_fill(), steps=(step,)),))
    (audit, *_) = sequence_audits(test)
    assert (audit.read_bytes, audit.write_bytes, audit.gap_ns) == ((8192, 8192), (512, 512), None)


@pytest.mark.parametrize(
    ("fewest", "most", "spread"),
    [(98, 103, Fraction(5, 100)), (100, 100, 0), (0, 400, 4), (None, None, None)],
)
def test_the_spread_between_threads_is_most_less_fewest_over_their_mean(
    fewest: int | None, most: int | None, spread: Fraction | None
) -> None:
    step = replace(
        synthetic_step(CELL, 1),
        read=synthetic_direction(300, 4096),
        write=synthetic_direction(100, 4096),
        thread_io_count_min=fewest,
        thread_io_count_max=most,
    )
    assert thread_spread(step, Demand(thread_count=4, queue_depth=1)) == spread


def test_threads_without_any_io_have_no_spread() -> None:
    nothing = synthetic_direction(0, 4096)
    step = replace(synthetic_step(CELL, 1), read=nothing, write=nothing, thread_io_count_min=0, thread_io_count_max=0)
    assert thread_spread(step, Demand(thread_count=4, queue_depth=1)) is None


@pytest.mark.parametrize(
    ("outstanding", "held"), [(8.0, True), (7.96, True), (7.95, False), (8.04, True), (8.05, False)]
)
def test_a_cell_whose_queue_depth_is_off_by_more_than_half_a_per_cent_is_marked(outstanding: float, held: bool) -> None:
    step = replace(synthetic_step(CELL, 1), span_ns=10**9, outstanding_ns=int(outstanding * 10**9))
    assert holds_queue_depth(step, synthetic_settings().demand) is held
