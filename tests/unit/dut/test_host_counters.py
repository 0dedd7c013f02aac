"""What the kernel counts of the host, read from a made proc and control groups."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from assay.dut.real.host import read_host_counters
from assay.dut.real.host_limits import throttled_ns
from assay.dut.real.surroundings import serving_threads
from assay.engine.records import DriveIdentity

if TYPE_CHECKING:
    from pathlib import Path

TICK_NS = 10**9 // os.sysconf("SC_CLK_TCK")


def written(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_the_counters_of_a_host(tmp_path: Path) -> None:
    stat = "cpu  1 2 3 90 0 5 6 7 0 0\ncpu0 0 0 0 90 0 0 0 3 0 0\ncpu1 0 0 0 90 0 0 0 4 0 0\n"
    written(tmp_path / "stat", stat)
    written(tmp_path / "pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=12\nfull total=3\n")
    written(tmp_path / "self/task/7/schedstat", "100 20 3\n")
    written(tmp_path / "9/schedstat", "50 5 1\n")
    found = read_host_counters(cpus=(1, 1), servers=lambda: [tmp_path / "9"], proc=tmp_path)
    assert (found.busy_ns, found.steal_ns, found.stimulus_steal_ns) == (6 * TICK_NS, 7 * TICK_NS, 4 * TICK_NS)
    assert (found.threads, found.servers, found.pressure_ns) == ({7: (100, 20)}, {9: (50, 5)}, 12_000)


def test_what_the_kernel_does_not_tell_is_unknown(tmp_path: Path) -> None:
    found = read_host_counters(proc=tmp_path)
    assert (found.busy_ns, found.steal_ns, found.servers, found.pressure_ns) == (None, None, None, None)
    assert (found.threads, found.throttled_ns) == ({}, None)


def test_every_group_above_counts_and_both_versions(tmp_path: Path) -> None:
    proc, root = tmp_path / "proc", tmp_path / "cgroup"
    written(proc / "self/cgroup", "3:cpu,cpuacct:/a\n0::/x/y\n")
    written(root / "cpu,cpuacct/a/cpu.stat", "nr_throttled 1\nthrottled_time 700\n")
    written(root / "unified/x/cpu.stat", "usage_usec 9\nthrottled_usec 2\n")
    written(root / "unified/x/y/cpu.stat", "usage_usec 9\nthrottled_usec 0\n")
    assert throttled_ns(proc=proc, root=root) == 2_000
    written(root / "cpu,cpuacct/a/cpu.stat", "throttled_time 9000\n")
    assert throttled_ns(proc=proc, root=root) == 9_000
    assert throttled_ns(proc=tmp_path, root=root) is None


def identity(kind: str, path: str) -> DriveIdentity:
    return DriveIdentity(kind=kind, id="x", path=path, capacity_bytes=1 << 30, logical_block_bytes=512)  # type: ignore[arg-type,call-arg]


def test_threads_that_serve_a_target_are_no_other_load(tmp_path: Path) -> None:
    for process, name in ((2, "kworker/u8:1-loop0"), (3, "loop0"), (4, "postgres"), (5, "fuse-server")):
        written(tmp_path / f"{process}/comm", f"{name}\n")
    written(tmp_path / "5/task/5/comm", "x")
    (tmp_path / "5/fd").mkdir()
    (tmp_path / "5/fd/3").symlink_to("/dev/fuse")
    of_loop, of_file = (
        serving_threads(identity(*one), proc=tmp_path) for one in (("block", "/dev/loop0"), ("file", "/x"))
    )
    assert of_loop is not None
    assert of_file is not None
    assert sorted(path.name for path in of_loop()) == ["2", "3"]
    assert sorted(path.name for path in of_file()) == ["2", "3", "5"]
    assert serving_threads(identity("block", "/dev/nvme0n1"), proc=tmp_path) is None
