"""What was issued is what the kernel, the histograms and the trace count, to the I/O and to the byte."""

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from assay.dut.real.identity import identify
from assay.dut.real.queue import merging_off, split_factor, stat_path
from assay.engine.pattern import cell_pattern, leading_range, random_pattern
from assay.engine.records import AccessPattern, DataPattern, Demand, StepRecord, StepSpec, StopRule
from assay.engine.stimulus import Capture, Stimulus
from assay.results.step import completed_count, issued_bytes, issued_count, rate_count
from conftest import LoopDrive, stimulus_on
from loop_device import loop_device

SIZE = 256 << 20
KIB = 1024
THREADS = Demand(thread_count=32, queue_depth=1)
# The sizes of the enterprise composite workload and their shares in per cent.
COMPOSITE = {512: 4, 1024: 1, 1536: 1, 2048: 1, 2560: 1, 3072: 1, 3584: 1, 4096: 67, 8192: 10, 16384: 7, 32768: 3}
COMPOSITE |= {65536: 3}


def composite() -> AccessPattern:
    sizes = tuple((size, share / 100) for size, share in COMPOSITE.items())
    return AccessPattern(sizes=sizes, read_share=0.4, random_share=1.0, alignment_bytes=512)


def step(pattern: AccessPattern, demand: Demand, stop: StopRule) -> StepSpec:
    return StepSpec(label="step", pattern=pattern, demand=demand, active_range=leading_range(SIZE), stop=stop)


def queue(path: str, name: str) -> Path:
    return Path(f"/sys/block/{Path(path).name}/queue/{name}")


@contextmanager
def queue_as(path: str, **settings: str) -> Iterator[None]:
    """The queue so for a while: what is set stays with a loop device's node, and the next test may get the same one."""
    former = {name: queue(path, name).read_text().strip() for name in settings}
    try:
        for name, value in settings.items():
            queue(path, name).write_text(value)
        yield
    finally:
        for name, value in former.items():
            queue(path, name).write_text(value)


@contextmanager
def held(path: str, thread_count: int, sector_bytes: int = 512) -> Iterator[tuple[Stimulus, dict[str, str]]]:
    """The stimulus on a loop device with merging off and the kernel's counters, and the settings in force."""
    drive = identify(path, file_target=False)
    with (
        merging_off(drive) as settings,
        stimulus_on(
            path,
            SIZE,
            thread_count=thread_count,
            flags=os.O_EXCL,
            sector_bytes=sector_bytes,
            counters_path=stat_path(drive),
        ) as stimulus,
    ):
        yield stimulus, settings


def kernel_counts(record: StepRecord) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    """I/Os, bytes and merges of reads and of writes that the kernel counted in a sequence of one step."""
    before, after = record.counters_before, record.counters_after
    assert before is not None
    assert after is not None
    return (
        (
            after.read_io_count - before.read_io_count,
            after.read_bytes - before.read_bytes,
            after.read_merge_count - before.read_merge_count,
        ),
        (
            after.write_io_count - before.write_io_count,
            after.write_bytes - before.write_bytes,
            after.write_merge_count - before.write_merge_count,
        ),
    )


def check_exact(record: StepRecord, split: int = 1) -> None:
    assert record.ended == "stop-rule"
    for direction, counted in zip((record.read, record.write), kernel_counts(record), strict=True):
        io_count = issued_count(direction)
        if io_count == 0:
            # Whoever lists the drives of this host reads from a fresh device, too.
            continue
        assert counted == (io_count * split, issued_bytes(direction), 0)
        assert sum(count for _, count in (*direction.histogram, *direction.lead_in_histogram)) == io_count


@pytest.mark.parametrize("kib", [4, 128, 1024])
@pytest.mark.parametrize("read_share", [0.0, 1.0])
def test_sequential_ios_reach_the_device_one_to_one_or_in_the_splits_that_are_named(
    loop_drive: LoopDrive, kib: int, read_share: float
) -> None:
    path = loop_drive(SIZE)
    pattern = cell_pattern("sequential", kib * KIB, read_share, DataPattern())
    count = min(4000, SIZE // (kib * KIB))
    with held(path, 1) as (stimulus, settings):
        (record,) = stimulus.run([step(pattern, Demand(thread_count=1, queue_depth=32), StopRule(io_count=count))])
        split = split_factor(settings, kib * KIB)
    assert completed_count(record) == count
    assert split is not None
    check_exact(record, split)


def test_a_transfer_beyond_the_queue_s_limit_arrives_in_as_many_requests_as_are_named(loop_drive: LoopDrive) -> None:
    path = loop_drive(SIZE)
    with queue_as(path, max_sectors_kb="128"), held(path, 1) as (stimulus, settings):
        pattern = cell_pattern("sequential", KIB * KIB, 0.0, DataPattern())
        (record,) = stimulus.run([step(pattern, Demand(thread_count=1, queue_depth=32), StopRule(io_count=100))])
    assert split_factor(settings, KIB * KIB) == 8
    check_exact(record, 8)


def test_where_the_kernel_merges_its_requests_and_merges_together_are_what_was_issued(loop_drive: LoopDrive) -> None:
    path = loop_drive(SIZE)
    pattern = cell_pattern("sequential", 4 * KIB, 0.0, DataPattern())
    drive = identify(path, file_target=False)
    with (
        queue_as(path, nomerges="0", iostats="1"),
        stimulus_on(path, SIZE, flags=os.O_EXCL, counters_path=stat_path(drive)) as stimulus,
    ):
        (record,) = stimulus.run([step(pattern, Demand(thread_count=1, queue_depth=32), StopRule(io_count=4000))])
    _, (io_count, written, merged) = kernel_counts(record)
    assert (io_count + merged, written) == (4000, 4000 * 4 * KIB)


def test_the_queue_is_as_before_after_a_run_that_failed(loop_drive: LoopDrive, tmp_path: Path) -> None:
    path = loop_drive(SIZE)
    former = {"nomerges": "1", "iostats": "0"}
    os.truncate(tmp_path / "loop0.img", SIZE // 2)
    with queue_as(path, **former):
        with held(path, 1) as (stimulus, settings):
            assert (settings["nomerges"], settings["iostats"]) == ("2", "1")
            pattern = random_pattern(4 * KIB, 1.0, DataPattern())
            (record,) = stimulus.run([step(pattern, Demand(thread_count=1, queue_depth=4), StopRule(io_count=50_000))])
        assert record.ended == "errors"
        assert {name: queue(path, name).read_text().strip() for name in former} == former


@pytest.mark.usefixtures("needs_root")
def test_32_threads_of_1_mib_on_sectors_of_4096_bytes_are_counted_exactly_and_each_is_served() -> None:
    pattern = random_pattern(KIB * KIB, 0.5, DataPattern())
    with (
        loop_device(SIZE, sector_bytes=4096) as path,
        held(path, THREADS.thread_count, 4096) as (stimulus, settings),
    ):
        assert identify(path, file_target=False).logical_block_bytes == 4096
        split = split_factor(settings, KIB * KIB) or 0
        (counted,) = stimulus.run([step(pattern, THREADS, StopRule(io_count=3200))])
        assert completed_count(counted) == 3200
        check_exact(counted, split)
        check_served(stimulus, pattern, split)


@pytest.mark.usefixtures("needs_root")
def test_the_twelve_sizes_of_32_threads_are_counted_exactly_and_each_is_served(tmp_path: Path) -> None:
    trace, count = tmp_path / "trace.parquet", 60_000
    with loop_device(SIZE) as path, held(path, THREADS.thread_count) as (stimulus, _):
        capture = Capture(path=trace, addresses=True)
        (counted,) = stimulus.run([step(composite(), THREADS, StopRule(io_count=count))], None, capture)
        check_exact(counted)
        check_served(stimulus, composite(), 1)
    sizes = Counter(pq.read_table(trace, columns=["length_bytes"])["length_bytes"].to_pylist())
    assert (set(sizes), sum(sizes.values()), completed_count(counted)) == (set(COMPOSITE), count, count)
    issued = issued_bytes(counted.read) + issued_bytes(counted.write)
    assert sum(size * times for size, times in sizes.items()) == issued
    # Each share within five standard deviations of a draw of its own.
    for size, per_cent in COMPOSITE.items():
        share = per_cent / 100
        assert abs(sizes[size] - count * share) < 5 * (count * share * (1 - share)) ** 0.5, size


def check_served(stimulus: Stimulus, pattern: AccessPattern, split: int) -> None:
    """Every thread has its part; how alike they are is the scheduler's affair, too: benches/threads.py measures it."""
    (record,) = stimulus.run([step(pattern, THREADS, StopRule(time_ns=10**9))])
    check_exact(record, split)
    least, most = record.thread_io_count_min, record.thread_io_count_max
    assert least
    assert most
    assert least * THREADS.thread_count <= rate_count(record) <= most * THREADS.thread_count
