"""What limits a host sets, read from recorded files, and how its errors name them."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from assay.dut.dut import find_drive
from assay.dut.needs import Group, overwrite_demand, planned_groups, thread_needs
from assay.dut.real import alignment, preflight
from assay.dut.real.host_limits import forbidden_ring, thread_limits
from assay.dut.real.memory import MemoryBound
from assay.dut.real.preflight import ThreadNeeds, refuse_little_memory
from assay.engine.records import Demand
from assay.errors import GateRefusedError, HostLimitError, StoreError
from assay.run.plan_file import load_plan
from assay.run.planning import plan_run
from assay.run.store import write
from assay.run.store.write import refuse_folder

THREADS = (ThreadNeeds(depth=32, buffer_bytes=8 << 20),) * 4


def proc_with(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        path = folder / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


@pytest.mark.parametrize(
    ("code", "switch", "reason", "remedy"),
    [
        (errno.EPERM, "2", "kernel.io_uring_disabled is 2, which forbids it to everybody", "io_uring_disabled=0"),
        (errno.EPERM, "1", "kernel.io_uring_disabled is 1, which forbids it to all but", "io_uring_disabled=0"),
        (errno.EPERM, "0", "this host forbids it, as the seccomp profile of a container does", "allow io_uring_setup"),
        (errno.EACCES, "2", "this host forbids it, as the seccomp profile of a container does", "allow io_uring_setup"),
        (errno.ENOSYS, "", "this kernel lacks it or a filter hides it", "Linux 5.11 or newer"),
    ],
)
def test_a_host_without_io_uring_says_what_forbids_it(
    code: int, switch: str, reason: str, remedy: str, tmp_path: Path
) -> None:
    found = forbidden_ring(code, proc=proc_with(tmp_path, sys__kernel__io_uring_disabled=f"{switch}\n"))
    assert (found.thing, found.exit_code, found.slug) == ("io_uring", GateRefusedError.exit_code, "host-limit")
    assert reason in found.reason
    assert remedy in found.remedy


def test_every_group_on_the_way_up_limits_threads(tmp_path: Path) -> None:
    proc = proc_with(
        tmp_path / "proc",
        self__cgroup="0::/box/inner\n",
        loadavg="0.1 0.2 0.3 2/345 678\n",
        sys__kernel__threads_max="1000\n",
    )
    (proc / "sys/kernel/threads_max").rename(proc / "sys/kernel/threads-max")
    groups = tmp_path / "cgroup"
    for name, (limit, used) in {"box": ("60", "50"), "box/inner": ("max", "20")}.items():
        (groups / name).mkdir(parents=True)
        (groups / name / "pids.max").write_text(f"{limit}\n")
        (groups / name / "pids.current").write_text(f"{used}\n")
    found = {limit.name.partition(" (")[0]: limit.spare for limit in thread_limits(proc=proc, cgroups=groups)}
    assert found["threads of the control group"] == 10
    assert found["threads of the host"] == 655


def test_memory_counts_buffers_and_the_tool_and_names_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    needed = 4 * (8 << 20) + preflight.TOOL_BYTES + preflight.TEST_BYTES
    bound = MemoryBound(
        spare_bytes=needed, words="left in the group", limit_bytes=10**9, name="memory", remedy="raise it to {bytes}"
    )
    monkeypatch.setattr(preflight, "memory_bounds", lambda: [bound])
    refuse_little_memory(THREADS)
    less = MemoryBound(
        spare_bytes=needed - 1,
        words="left in the group",
        limit_bytes=10**9,
        name="memory",
        remedy="raise it to {bytes}",
    )
    monkeypatch.setattr(preflight, "memory_bounds", lambda: [less])
    with pytest.raises(
        HostLimitError, match=r"memory: the run takes 0\.63 GB, 0\.03 GB of it for buffers; .* 1006632960"
    ):
        refuse_little_memory(THREADS)


def test_threads_of_steps_side_by_side_are_dealt_out_one_step_after_the_other() -> None:
    demands = (Demand(thread_count=1, queue_depth=4), Demand(thread_count=2, queue_depth=8))
    assert Group(name="x", demands=demands).depths(2) == [12, 8]
    assert Group(name="x", demands=demands[:1]).depths(3) == [4, 0, 0]


@pytest.mark.parametrize(
    ("stated", "granted", "disk", "expected"),
    [
        (4096, 512, 512, 4096),
        (0, 512, 512, None),
        (None, 512, 4096, 4096),
        (None, 1024, 512, 1024),
        (None, 8192, 512, None),
    ],
    ids=["stated", "no direct I/O", "of the disk", "granted", "none granted"],
)
def test_the_block_of_direct_io_is_what_the_kernel_states_or_else_the_larger_of_disk_and_probe(
    stated: int | None, granted: int, disk: int, expected: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(alignment, "_stated_bytes", lambda _: stated)
    monkeypatch.setattr(alignment, "_reads_directly", lambda _, size: size >= granted)
    monkeypatch.setattr(alignment, "_disk_block_bytes", lambda _: disk)
    assert alignment.direct_block_bytes(0) == expected


def test_a_folder_that_cannot_be_synced_is_refused_and_left_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fsync = os.fsync

    def refusing(descriptor: int) -> None:
        if Path(f"/proc/self/fd/{descriptor}").is_dir():
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        fsync(descriptor)

    refuse_folder(tmp_path / "run", 0)
    monkeypatch.setattr(write.os, "fsync", refusing)
    with pytest.raises(StoreError, match=r"run: files or folders cannot be synced there \(Invalid argument\)"):
        refuse_folder(tmp_path / "run", 0)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suite", ["client", "enterprise", "advanced"])
def test_every_demand_of_a_test_is_counted_under_a_name(suite: str) -> None:
    plan = load_plan(None, {"drive": "sim:client-2011?capacity=32GB", "suite": suite})
    for test in plan_run(plan, find_drive(plan)).tests:
        groups = list(planned_groups(test))
        assert {demand for group in groups for demand in group.demands} >= set(test.settings.demands), (
            test.settings.test
        )
        assert all(group.name for group in groups)
        (thread, *_) = thread_needs([test])
        assert thread.depth == max(32, *(demand.queue_depth for demand in test.settings.demands))
        assert thread.buffer_bytes >= 2 * thread.depth * test.settings.transfer_bytes_max


def test_system_calls_alone_purge_one_write_at_a_time() -> None:
    assert overwrite_demand("synchronous") == Demand(thread_count=1, queue_depth=1)
    assert overwrite_demand("auto") == Demand(thread_count=1, queue_depth=32)
