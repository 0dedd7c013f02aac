"""Held against a file whose service times are known and logged: rates, response times and percentiles are the server's.

The log also says how late a busy host let the tester run, so that no bound here depends on the host's speed.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
import timed_file as timed
from assay.engine.pattern import leading_range, random_pattern
from assay.engine.records import DataPattern, Demand, StepRecord, StepSpec, StopRule
from assay.engine.stimulus import Capture
from assay.results.histogram import direction_times
from assay.results.step import completed_count, iops
from conftest import stimulus_on
from numpy.typing import NDArray
from timed_file import Service, TimedFile, timed_file

# One worker runs a demand once for all tests of it.
pytestmark = [pytest.mark.xdist_group("known-truth"), pytest.mark.long]

SECOND_NS, MS = 10**9, 10**6
CELL_NS = SECOND_NS // 2
# Both clocks count nanoseconds since the host's start; a calibrated time stamp counter is off by up to 2 ppm.
CLOCK_SLACK_NS = 100_000
# (threads, queue depth) of Demand.
DEMANDS = ((1, 1), (1, 32), (4, 8), (1, 256))


@dataclass(frozen=True)
class Outcome:
    """What the tester recorded of each cell, and what the server did."""

    records: list[StepRecord]
    log: NDArray[Any]
    outstanding: int
    queues: int


@pytest.fixture(scope="module")
def served() -> None:
    if (reason := timed.missing()) is not None:
        pytest.skip(f"SKIPPED: {reason}")


@pytest.fixture(scope="module")
def outcome(request: pytest.FixtureRequest, served: None) -> Outcome:  # noqa: ARG001
    """Four cells in one call, the last two alike, on a server of 2,000 I/Os per second."""
    threads, depth = request.param
    demand = Demand(thread_count=threads, queue_depth=depth)
    cells = [cell(4096, 1.0, demand), cell(8192, 0.0, demand), cell(16384, 1.0, demand), cell(16384, 1.0, demand)]
    with timed_file(Service(service_ns=MS // 2)) as file:
        records = run(file, cells)
        return Outcome(records=records, log=file.log(), outstanding=threads * depth, queues=threads)


def cell(transfer_bytes: int, read_share: float, demand: Demand, stop: StopRule | None = None) -> StepSpec:
    """A random cell of half a second over all of the file."""
    return StepSpec(
        label=f"{transfer_bytes} {read_share}",
        pattern=random_pattern(transfer_bytes, read_share, DataPattern()),
        demand=demand,
        active_range=leading_range(1 << 40),
        stop=stop or StopRule(time_ns=CELL_NS),
    )


def run(file: TimedFile, cells: list[StepSpec], capture: Capture | None = None) -> list[StepRecord]:
    threads = max(one.demand.thread_count for one in cells)
    with stimulus_on(file.path, file.size_bytes, thread_count=threads) as stimulus:
        return stimulus.run(cells, None, capture)


def own(outcome: Outcome, record: StepRecord) -> NDArray[np.bool_]:
    """Which I/Os of the log have the size of a cell."""
    return np.asarray(outcome.log["length_bytes"] == int(record.label.split()[0]))


def check_rate(outcome: Outcome, record: StepRecord) -> None:
    """The rate of a cell is that of the server in the same window, within one I/O per queue."""
    count, end_ns = iops(record) * record.span_ns / SECOND_NS, record.start_ns + record.span_ns
    least, most = timed.seen_count_bounds(outcome.log, record.start_ns, end_ns, outcome.outstanding)
    answered = timed.answered_count(outcome.log, record.start_ns, end_ns)
    said = f"{record.label}: {float(count)} counted, {answered} answered, {least} to {most} can have been seen"
    assert least - outcome.queues <= count <= most + outcome.queues, said


@pytest.mark.parametrize("outcome", DEMANDS, indirect=True)
def test_the_rate_of_the_first_cell_is_that_of_the_server(outcome: Outcome) -> None:
    check_rate(outcome, outcome.records[0])


@pytest.mark.parametrize("outcome", DEMANDS, indirect=True)
def test_the_rate_of_a_cell_that_follows_another_is_that_of_the_server(outcome: Outcome) -> None:
    for record in outcome.records[1:3]:
        check_rate(outcome, record)


@pytest.mark.parametrize("outcome", DEMANDS, indirect=True)
def test_the_rate_of_a_cell_that_follows_an_equal_one_is_that_of_the_server(outcome: Outcome) -> None:
    check_rate(outcome, outcome.records[3])


@pytest.mark.parametrize("outcome", [demand for demand in DEMANDS if demand[0] == 1], indirect=True)
def test_mean_response_times_are_those_of_the_server_and_its_transport(outcome: Outcome) -> None:
    shortest, longest = timed.latency_bounds(outcome.log, outcome.records[0].start_ns, outcome.outstanding)
    for record in outcome.records[:2]:
        direction = record.read if record.read.latency_ns_sum else record.write
        # Those that are measured are the last ones submitted in the cell.
        count = sum(number for _, number in direction.histogram)
        places = np.flatnonzero(own(outcome, record))
        measured = places[np.argsort(outcome.log["arrival_ns"][places])][-count:]
        mean_ns = direction.latency_ns_sum / count
        assert 0.998 * shortest[measured].mean() <= mean_ns <= 1.002 * longest[measured].mean(), record.label


def test_a_percentile_of_a_mixture_is_that_of_the_server(served: None) -> None:  # noqa: ARG001
    outstanding, count = 64, 12_000
    demand = Demand(thread_count=1, queue_depth=outstanding)
    # The second cell sends what takes the places of the first one's last I/Os.
    cells = [cell(4096, 1.0, demand, StopRule(io_count=count)), cell(8192, 1.0, demand)]
    mixture = Service(service_ns=MS // 2, servers=outstanding, slow_ns=20 * MS, slow_share=0.01)
    with timed_file(mixture) as file:
        records = run(file, cells)
        log = file.log()
    bounds = timed.latency_bounds(log, records[0].start_ns, outstanding)
    shortest, longest = (np.sort(bound[log["length_bytes"] == 4096]) for bound in bounds)
    assert len(shortest) == count
    for share in (0.5, 0.98, 0.995, 0.999):
        found = (direction_times(records[0].read).percentile(share) or 0) * MS
        rank = round(share * len(shortest)) - 1
        assert 0.99 * shortest[rank] <= found <= 1.01 * longest[rank], f"{share}: {found / MS} ms"


def test_every_io_is_sent_before_it_arrives_and_seen_after_it_is_answered(
    served: None,  # noqa: ARG001
    tmp_path: Path,
) -> None:
    capture = Capture(path=tmp_path / "trace.parquet", addresses=True)
    with timed_file(Service(service_ns=MS // 2)) as file:
        run(file, [cell(4096, 0.5, Demand(thread_count=4, queue_depth=8))], capture)
        log = file.log()
    trace = traced(capture.path)
    # Seeded places in a terabyte: each is asked for once.
    ours, theirs = np.argsort(trace["offset_bytes"]), np.argsort(log["offset_bytes"])
    assert np.array_equal(trace["offset_bytes"][ours], log["offset_bytes"][theirs])
    assert np.array_equal(trace["operation"][ours], log["write"][theirs] == 1)
    seen = trace["at_ns"][ours].astype(np.int64)
    sent = seen - trace["latency_ns"][ours].astype(np.int64)
    arrived, answered = (log[name][theirs].astype(np.int64) for name in ("arrival_ns", "answered_ns"))
    assert (arrived - sent).min() > -CLOCK_SLACK_NS
    assert (seen - answered).min() > -CLOCK_SLACK_NS


def test_response_times_of_an_open_loop_count_from_when_an_io_was_due(
    served: None,  # noqa: ARG001
    tmp_path: Path,
) -> None:
    demand = Demand(thread_count=1, queue_depth=256, arrivals_per_s=500.0)
    stalls = Service(service_ns=MS // 2, stall_every_ns=500 * MS, stall_ns=200 * MS)
    capture = Capture(path=tmp_path / "trace.parquet")
    with timed_file(stalls) as file:
        (record,) = run(file, [cell(4096, 1.0, demand, StopRule(time_ns=3 * CELL_NS))], capture)
        log = file.log()
    assert record.offered_io_count == 750
    # What a busy host would send after the end is not sent, nothing is before it is due, and each comes back.
    # One server answers in order: the n-th answer is that to the n-th that was due.
    assert completed_count(record) == len(log) <= 750
    assert (len(log) - 1) * 2 * MS <= (record.last_submission_ns or 0) - record.start_ns
    due_ns = record.start_ns + np.arange(len(log)) * 2 * MS
    answered_late_ns = log["answered_ns"].astype(np.int64) - due_ns
    seen_late_ns = traced(capture.path)["at_ns"].astype(np.int64) - due_ns
    # In 200 of 500 ms one waits for 100 ms in the mean.
    assert answered_late_ns.mean() > 30 * MS
    assert (seen_late_ns - answered_late_ns).min() > -CLOCK_SLACK_NS
    assert record.read.intended_ns_sum == seen_late_ns.sum()
    assert record.read.intended_ns_max == seen_late_ns.max()


def test_a_stalled_server_answers_nothing(served: None) -> None:  # noqa: ARG001
    stalls = Service(service_ns=MS, servers=4, stall_every_ns=100 * MS, stall_ns=40 * MS)
    with timed_file(stalls) as file:
        run(file, [cell(4096, 1.0, Demand(thread_count=1, queue_depth=8))])
        log = file.log()
    due = log["due_ns"] % (100 * MS)
    assert len(due) > 8
    assert np.all(log["answered_ns"] >= log["due_ns"])
    assert not np.any((due > 0) & (due <= 40 * MS))


def traced(path: Path) -> dict[str, NDArray[Any]]:
    """The columns of a trace."""
    table = pq.read_table(path)
    return {name: table.column(name).to_numpy() for name in table.column_names}
