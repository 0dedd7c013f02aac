"""Seconds that the engine publishes of several real workers are the rows of the stored series."""

from typing import Any

import pytest
import timed_file as timed
from assay.engine.pattern import leading_range, random_pattern
from assay.engine.records import DataPattern, Demand, StepSpec, StopRule
from conftest import stimulus_on
from live_rows import check_seconds
from timed_file import Service, timed_file

MS = 10**6


@pytest.mark.parametrize(("threads", "depth"), [(1, 1), (3, 8)])
def test_seconds_of_a_file_of_known_times_are_the_rows_of_its_series(threads: int, depth: int) -> None:
    if (reason := timed.missing()) is not None:
        pytest.skip(f"SKIPPED: {reason}")
    demand = Demand(thread_count=threads, queue_depth=depth)
    steps = [
        StepSpec(
            label=f"{read_share}",
            pattern=random_pattern(4096, read_share, DataPattern()),
            demand=demand,
            active_range=leading_range(1 << 30),
            stop=StopRule(time_ns=time_ns),
        )
        for read_share, time_ns in ((1.0, 2200 * MS), (1.0, 1000 * MS), (0.3, 1300 * MS))
    ]
    seconds: list[Any] = []
    with (
        timed_file(Service(service_ns=MS // 2)) as file,
        stimulus_on(file.path, file.size_bytes, thread_count=threads) as stimulus,
    ):
        records = stimulus.run(steps, seconds=seconds.extend)
    assert [second.step for second in seconds] == [0, 0, 0, 1, 2, 2]
    check_seconds(seconds, records)
