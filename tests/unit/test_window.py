"""What is printed: sums, weights and windows on hand-made records."""

from dataclasses import replace

import pytest
from assay import window
from assay.errors import VerificationError
from assay.records import Cell
from report_run import GOLDEN, synthetic_direction, synthetic_rounds, synthetic_settings, synthetic_step, synthetic_test

CELL = Cell(read_pct=65, transfer_bytes=65_536)


def test_a_mixed_cell_is_the_sum_of_its_reads_and_writes() -> None:
    step = replace(
        synthetic_step(CELL, 1),
        span_ns=60 * 10**9,
        read=synthetic_direction(90, 4096),
        write=synthetic_direction(30, 4096),
    )
    assert window.iops(step) == 2


def test_the_mean_latency_is_weighted_by_completions_and_the_maximum_is_the_largest() -> None:
    read = replace(synthetic_direction(3, 4096), latency_ns_sum=300, latency_ns_max=120)
    write = replace(synthetic_direction(1, 4096), latency_ns_sum=500, latency_ns_max=500)
    step = replace(synthetic_step(CELL, 1), read=read, write=write)
    assert (window.mean_latency_ns(step), window.max_latency_ns(step)) == (200.0, 500)
    nothing = replace(step, read=synthetic_direction(0, 4096), write=synthetic_direction(0, 4096))
    nothing = replace(
        nothing,
        read=replace(nothing.read, latency_ns_max=None),
        write=replace(nothing.write, latency_ns_max=None),
    )
    assert (window.mean_latency_ns(nothing), window.max_latency_ns(nothing)) == (None, None)


def test_tail_completions_enter_no_rate() -> None:
    step = replace(synthetic_step(CELL, 1), read=replace(synthetic_direction(0, 4096), tail_io_count=1000))
    without = replace(step, read=synthetic_direction(0, 4096))
    assert window.iops(step) == window.iops(without)


def test_cells_are_named_as_in_the_specification() -> None:
    assert window.cell_label(CELL) == "RND 64KiB 65/35"
    assert window.cell_label(Cell(read_pct=0, transfer_bytes=512)) == "RND 0.5KiB 0/100"


def test_effective_queue_depth() -> None:
    step = replace(synthetic_step(CELL, 1), span_ns=60 * 10**9, outstanding_ns=480 * 10**9)
    assert window.effective_queue_depth(step) == 8.0


def test_there_is_no_window_before_the_fifth_round() -> None:
    settings = synthetic_settings()
    assert window.measurement_window(synthetic_rounds(settings, GOLDEN[:4]), settings) is None


def test_all_three_cells_of_edition_2_must_be_steady_at_once() -> None:
    settings = synthetic_settings("pts-e-2.0")
    rounds = list(synthetic_rounds(settings, (3000.0,) * 5))
    steady = window.measurement_window(rounds, settings)
    assert steady is not None
    assert (steady.reached, len(steady.verdicts)) == (True, 3)
    index = settings.cells.index(Cell(read_pct=100, transfer_bytes=1 << 20))
    cells = list(rounds[4].cells)
    cells[index] = replace(cells[index], read=synthetic_direction(1, 1 << 20))
    rounds[4] = replace(rounds[4], cells=tuple(cells))
    broken = window.measurement_window(rounds, settings)
    assert broken is not None
    assert not broken.reached
    assert [verdict.steady for verdict in broken.verdicts.values()] == [True, True, False]


def test_the_matrix_is_the_average_over_the_last_five_rounds() -> None:
    test = synthetic_test(tracked=(9000.0, 100.0, 110.0, 90.0, 100.0, 100.0))
    result = window.loop_result(test)
    assert result.matrix[Cell(read_pct=0, transfer_bytes=4096)] == pytest.approx(100.0)
    assert result.window is not None
    assert result.window.rounds == (2, 3, 4, 5, 6)


def test_a_failed_io_leaves_no_headline() -> None:
    result = window.loop_result(synthetic_test(errors=1))
    assert result.error_count == 5
    assert result.matrix == {}


def test_a_stored_verdict_that_its_rounds_do_not_give_is_refused() -> None:
    test = synthetic_test()
    forged = replace(
        test, verdict=window.measurement_window(synthetic_rounds(test.settings, (1.0,) * 5), test.settings)
    )
    with pytest.raises(VerificationError):
        window.loop_result(forged)
