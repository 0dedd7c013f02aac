"""Against an independent tool on a device of known speed: a loop device throttled by the block I/O controller.

Less than the throttle allows, and more behind a time in which it let nothing through, is the host's doing where the
watch beside says so, and such an attempt counts for nothing.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from assay.dut.real.host_watch import HostWatch
from conftest import LoopDrive, run_in, set_throttle
from quiet_host import was_disturbed

pytestmark = pytest.mark.long

SIZE = 256 << 20
ATTEMPTS_MAX = 4
OURS = """
import os, sys
from assay.engine.pattern import leading_range, random_pattern
from assay.engine.records import DataPattern, Demand, StepSpec, StopRule
from assay.engine.stimulus import Stimulus
from assay.results.step import iops
path, size = sys.argv[1], int(sys.argv[2])
descriptor = os.open(path, os.O_RDWR | os.O_DIRECT | os.O_EXCL)
with Stimulus.real(descriptor, capacity_bytes=size, logical_block_bytes=512, thread_count=1, seed=1, data_origin=1,
                   counters_path=None) as stimulus:
    step = StepSpec(label="read", pattern=random_pattern(4096, 1.0, DataPattern()),
                    demand=Demand(thread_count=1, queue_depth=32), active_range=leading_range(size),
                    stop=StopRule(time_ns=4 * 10**9))
    # The first second fills the throttle's tokens.
    print(float(iops(stimulus.run([step, step])[1])))
"""

OPEN = """
import os, sys
from assay.engine.pattern import leading_range, random_pattern
from assay.engine.records import DataPattern, Demand, StepSpec, StopRule
from assay.engine.stimulus import Stimulus
path, size, rate, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4])
descriptor = os.open(path, os.O_RDWR | os.O_DIRECT | os.O_EXCL)
with Stimulus.real(descriptor, capacity_bytes=size, logical_block_bytes=512, thread_count=1, seed=1, data_origin=1,
                   counters_path=None) as stimulus:
    step = StepSpec(label="read", pattern=random_pattern(4096, 1.0, DataPattern()),
                    demand=Demand(thread_count=1, queue_depth=256, arrivals_per_s=rate),
                    active_range=leading_range(size), stop=StopRule(time_ns=int(seconds * 10**9)))
    (record,) = stimulus.run([step])
    read = record.read
    print(record.offered_io_count, read.window_io_count, read.intended_ns_max / 1e9, read.latency_ns_max / 1e9)
"""

STREAMS = """
import json, os, sys
from assay.engine.pattern import random_pattern
from assay.engine.records import ActiveRange, DataPattern, Demand, StepSpec, StopRule
from assay.engine.stimulus import Stimulus
path, size, seconds, rates = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), json.loads(sys.argv[4])
quarter = size // 4
descriptor = os.open(path, os.O_RDWR | os.O_DIRECT | os.O_EXCL)
with Stimulus.real(descriptor, capacity_bytes=size, logical_block_bytes=512, thread_count=4, seed=1, data_origin=1,
                   counters_path=None) as stimulus:
    steps = [StepSpec(label=str(place), pattern=random_pattern(4096, 1.0, DataPattern()),
                      demand=Demand(thread_count=1, queue_depth=64, arrivals_per_s=rate, arrival_process=process),
                      active_range=ActiveRange(segment_starts=(place * quarter,), segment_bytes=quarter),
                      stop=StopRule(time_ns=seconds * 10**9), beside=place > 0)
             for place, (rate, process) in enumerate(rates)]
    print(json.dumps([[one.offered_io_count, one.read.window_io_count, one.read.latency_io_count]
                      for one in stimulus.run(steps)]))
"""


@pytest.mark.parametrize("cap", [pytest.param(2_000, marks=pytest.mark.soak), 10_000])
def test_our_figure_is_within_half_a_per_cent_of_the_cap_and_that_of_fio_within_one(
    loop_drive: LoopDrive, throttle: Path, cap: int
) -> None:
    if shutil.which("fio") is None:
        pytest.skip("SKIPPED: needs fio to compare with")
    path = throttled(loop_drive, throttle, cap)
    figures = []
    for _ in range(ATTEMPTS_MAX):
        with HostWatch() as watch:
            figures.append(measured(throttle, path))
        if near(figures[-1], cap):
            return
        assert disturbed(watch), f"cap {cap}: {figures}"
    pytest.skip(f"SKIPPED: the host was disturbed in all {ATTEMPTS_MAX} attempts")


def test_an_open_loop_beyond_the_cap_tells_how_late_it_is(loop_drive: LoopDrive, throttle: Path) -> None:
    cap, seconds = 10_000, 4
    path = throttled(loop_drive, throttle, cap)
    with HostWatch() as watch:
        done = run_in(throttle, [sys.executable, "-c", OPEN, path, str(SIZE), str(1.2 * cap), str(seconds)])
    offered, achieved, largest_s, issued_s = map(float, done.split())
    assert offered == 1.2 * cap * seconds
    if disturbed(watch):
        pytest.skip("SKIPPED: the host was disturbed, which makes single I/Os later than the backlog")
    assert achieved <= 1.01 * cap * seconds
    # The n-th is due at n / offered rate and comes back at n / achieved rate.
    late_s = seconds * (1 - achieved / offered)
    assert late_s > 0.6
    # The throttle deals out its tokens in slices of a tenth of a second.
    assert abs(largest_s - late_s) < 0.15, f"{largest_s} s late, {late_s} s computed"
    assert issued_s < 0.5, "from its submission on an I/O waits for slices, not for the backlog"


def test_four_streams_at_stated_rates_share_a_device_of_known_speed(loop_drive: LoopDrive, throttle: Path) -> None:
    cap, seconds = 10_000, 4
    rates = [(600.0, "fixed"), (1200.0, "fixed"), (1800.0, "fixed"), (400.0, "poisson")]
    path = throttled(loop_drive, throttle, cap)
    command = [sys.executable, "-c", STREAMS, path, str(SIZE), str(seconds), json.dumps(rates)]
    for _ in range(ATTEMPTS_MAX):
        with HostWatch() as watch:
            found = json.loads(run_in(throttle, command))
        for (rate, process), (offered, done, issued) in zip(rates, found, strict=True):
            # What is due is exact whatever the host does; chance spreads a Poisson process by the root of its count.
            due, spread = rate * seconds, 5 * (rate * seconds) ** 0.5 if process == "poisson" else 1
            assert abs(offered - due) <= spread, f"{offered} due of {due}"
            assert done <= issued <= offered
        # All of them together are 40 % of what the device serves, so that each achieves what was due.
        if all(done >= 0.995 * offered for offered, done, _ in found):
            return
        assert disturbed(watch), str(found)
    pytest.skip(f"SKIPPED: the host was disturbed in all {ATTEMPTS_MAX} attempts")


def throttled(loop_drive: LoopDrive, throttle: Path, cap: int) -> str:
    """A loop device, written to once, that serves so many reads a second."""
    path = loop_drive(SIZE)
    subprocess.run(
        ["/bin/dd", "if=/dev/urandom", f"of={path}", "bs=1M", "oflag=direct", "count=256"],
        check=True,
        capture_output=True,
    )
    set_throttle(throttle, path, cap, "read")
    return path


def measured(throttle: Path, path: str) -> dict[str, float]:
    """IOPS of RND 4KiB reads at queue depth 32 by our engine and by fio, one after the other."""
    fio = ["fio", "--name=j", "--thread", f"--filename={path}", "--rw=randread", "--bs=4k", "--ioengine=io_uring"]
    fio += ["--direct=1", "--iodepth=32", "--norandommap", "--randrepeat=0", "--runtime=4", "--ramp_time=4"]
    fio += ["--time_based", "--output-format=json"]
    ours = float(run_in(throttle, [sys.executable, "-c", OURS, path, str(SIZE)]))
    return {"ours": ours, "fio": json.loads(run_in(throttle, fio))["jobs"][0]["read"]["iops"]}


def disturbed(watch: HostWatch) -> bool:
    """Whether the host kept the tools from running."""
    return was_disturbed(watch.record)


def near(figures: dict[str, float], cap: int) -> bool:
    """Ours within half a per cent, the other within one."""
    return abs(figures["ours"] / cap - 1) <= 0.005 and abs(figures["fio"] / cap - 1) <= 0.01
