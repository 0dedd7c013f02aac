"""Comparing two engines: the arithmetic of pairs, and what is read from the other tool."""

import math
from typing import Any

import pytest
from assay.dut.simulated.model import parse_simulated
from assay.engine.stimulus import Stimulus
from assay.host.points import Side
from assay.tools.crosscheck import POINTS, differences
from assay.tools.crosscheck.run import fio_arguments, read_fio, side_of


def _side(iops: float, mean_ns: float = 1e6, p99_ns: float | None = 2e6) -> Side:
    return Side(iops=iops, mean_ns=mean_ns, p99_ns=p99_ns)


def test_what_both_engines_share_cancels_in_pairs() -> None:
    slow_minutes = [(_side(1010 * load), _side(1000 * load)) for load in (1.0, 0.5, 0.8, 0.3)]
    found = differences(slow_minutes)[0]
    assert found.ratio == pytest.approx(1.01)
    assert (found.low, found.high) == (pytest.approx(1.01), pytest.approx(1.01))
    assert found.verdict == "agree"


def test_the_interval_is_that_of_student() -> None:
    pairs = [(_side(100 * math.exp(log)), _side(100)) for log in (0.1, 0.2, 0.3)]
    found = differences(pairs)[0]
    # Mean 0.2, standard deviation 0.1, t(0.975, 2) = 4.3027: 0.2 -+ 0.2484.
    assert found.ratio == pytest.approx(math.exp(0.2))
    assert (math.log(found.low), math.log(found.high)) == (
        pytest.approx(-0.0484, abs=1e-4),
        pytest.approx(0.4484, abs=1e-4),
    )
    assert found.verdict == "undecided"
    assert differences([(_side(130 + nth), _side(100)) for nth in range(5)])[0].verdict == "differ"


def test_a_percentile_that_one_engine_lacks_is_not_compared() -> None:
    pairs = [(_side(100, p99_ns=None), _side(100)), (_side(100), _side(100))]
    assert [one.metric for one in differences(pairs)] == ["iops", "mean_ns"]


def _direction(count: int, iops: float, mean_ns: float) -> dict[str, Any]:
    return {"total_ios": count, "iops": iops, "lat_ns": {"mean": mean_ns, "percentile": {"99.000000": 3 * mean_ns}}}


def test_both_directions_of_the_other_tool_are_added_and_weighted() -> None:
    report = {"jobs": [{"read": _direction(3000, 300.0, 1e6), "write": _direction(1000, 100.0, 5e6)}]}
    assert read_fio(report) == Side(iops=400.0, mean_ns=2e6, p99_ns=15e6)
    assert read_fio(report).queue_depth == pytest.approx(0.8)
    only_reads = {"jobs": [{"read": _direction(1000, 500.0, 1e6), "write": _direction(0, 0.0, 0.0)}]}
    assert read_fio(only_reads) == Side(iops=500.0, mean_ns=1e6, p99_ns=3e6)


def test_points_are_asked_of_the_other_tool_as_of_ours() -> None:
    options = fio_arguments(POINTS[4], 1 << 30, 5.0)
    assert {"--rw=randrw", "--rwmixread=65", "--bs=4096", "--iodepth=16", "--lat_percentiles=1"} <= set(options)
    assert "--rw=write" in fio_arguments(POINTS[6], 1 << 30, 5.0)
    for seconds, runtime in ((5.0, "5000ms"), (0.5, "500ms"), (0.1, "100ms"), (1.5, "1500ms")):
        assert f"--runtime={runtime}" in fio_arguments(POINTS[0], 1 << 30, seconds), "fio drops fractions of seconds"
    step = POINTS[4].step(1 << 30, 5.0)
    assert (step.label, step.pattern.read_share, step.demand.queue_depth) == ("RND 4KiB 65/35, 1 x 16", 0.65, 16)


def test_our_side_of_a_point_is_what_the_step_recorded() -> None:
    with Stimulus.simulated(parse_simulated("sim:ideal?capacity=1GB").drive_model, seed=1, epoch_wall_ns=0) as stimulus:
        (record,) = stimulus.run([POINTS[1].step(1 << 29, 1.0)])
    side = side_of(record)
    assert side.iops == record.read.window_io_count
    assert side.queue_depth == pytest.approx(32, rel=0.01)
    assert side.p99_ns == pytest.approx(record.read.latency_ns_max, rel=0.01)
