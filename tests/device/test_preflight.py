"""Limits of the host are found before the drive is written, named with the amount, and enough where that is given."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import uuid
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from assay.run.store.read import read_run
from conftest import PATIENT, LoopDrive, allocate, command, known_id
from quiet_host import QUIET_ASSAY
from undisturbed import HANG_S, undisturbed, verdict_code

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SIZE = 64 << 20
WITHOUT_RINGS = str(Path(__file__).with_name("without_rings.py"))
FORBIDDEN = {1: "EPERM", 13: "EACCES", 38: "ENOSYS"}
THREADS = 24
MANY_THREADS = f'suite = "client"\ntests = ["tp"]\n[tp]\nround_limit = 5\nthread_count = {THREADS}\nqueue_depth = 1'
READS = """
studies = ["workload"]
[workload]
title = "reads"
purge = false
prepare_fills = 0
[[workload.stages]]
name = "reads"
io_count = 2000
[[workload.stages.streams]]
name = "reads"
thread_count = 2
lines = [{ size_bytes = 4096, read_percent = 100 }]
"""
SYNCHRONOUS = ("--io-path", "synchronous")
LITTLE_MEMORY = 400_000_000
CGROUPS = Path("/sys/fs/cgroup")

Prefix = tuple[str, ...]
Done = subprocess.CompletedProcess[str]


@dataclass(frozen=True)
class Limit:
    """A limit of the host. few : too little of it. words : of the error. amount : finds there what is needed."""

    few: int
    words: str
    amount: str


LIMITS = {
    "files": Limit(100, "open files (RLIMIT_NOFILE)", r"raise it with ulimit -n (\d+)"),
    "locked": Limit(64, "locked memory (RLIMIT_MEMLOCK)", r"raise it with ulimit -l (\d+)"),
    "threads": Limit(20, "threads of the control group", r"raise it to (\d+)"),
    "memory": Limit(LITTLE_MEMORY, "memory of the control group", r"raise it to (\d+)"),
}


def plan_of(folder: Path, text: str) -> str:
    path = folder / "plan.toml"
    path.write_text(f"scale = 0.0003\n{text}\n", "utf-8")
    return str(path)


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """A file of bytes that no run writes."""
    path = allocate(tmp_path / "target.img", SIZE)
    path.write_bytes(b"\xa5" * SIZE)
    return path


@pytest.fixture
def limited() -> Iterator[Callable[[str, int], Prefix]]:
    """A factory of prefixes of commands that may have so much of a thing."""
    groups: list[Path] = []

    def prefix(kind: str, amount: int) -> Prefix:
        if kind == "files":
            return ("prlimit", f"--nofile={amount}:{amount}")
        if kind == "locked":
            bound = ("prlimit", f"--memlock={amount * 1024}:{amount * 1024}")
            return (
                (*bound, "setpriv", "--bounding-set=-ipc_lock", "--inh-caps=-ipc_lock") if os.geteuid() == 0 else bound
            )
        group = _group("pids" if kind == "threads" else "memory", amount)
        groups.append(group)
        return ("/bin/sh", "-c", f'echo $$ > {group}/cgroup.procs && exec "$@"', "sh")

    yield prefix
    for group in groups:
        group.rmdir()


def _group(controller: str, amount: int) -> Path:
    """A control group of our own of either version, with this limit; skips where there is no such controller."""
    name = f"assay-test-{uuid.uuid4().hex[:8]}"
    files = {"pids": ("pids.max", "pids.max"), "memory": ("memory.limit_in_bytes", "memory.max")}
    old, new = files[controller]
    enabled = CGROUPS / "cgroup.subtree_control"
    if os.geteuid() == 0 and (CGROUPS / controller / "tasks").exists():
        group, file = CGROUPS / controller / name, old
    elif os.geteuid() == 0 and enabled.exists() and controller in enabled.read_text().split():
        group, file = CGROUPS / name, new
    else:
        pytest.skip(f"SKIPPED: needs root and the controller {controller} of control groups")
    group.mkdir()
    (group / file).write_text(str(amount))
    return group


def run(
    plan: str, target: Path, *options: str, prefix: Prefix = (), out: Path | None = None, verb: str = "run"
) -> Done:
    """A run of the plan behind a prefix that limits it."""
    arguments = [*prefix, *QUIET_ASSAY, verb, plan, str(target), "--file-target", *options]
    if verb == "run":
        folder = out or target.with_name("run")
        arguments += ["--yes-destroy", str(target), "--no-report", "--out", str(folder), *PATIENT]
    return subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=HANG_S)


def content(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def assert_refused(done: Done, target: Path, before: str, *words: str) -> str:
    """Nothing was written; the last line of the errors, which has the words."""
    told = done.stderr.splitlines()[-1]
    assert done.returncode == 3, done.stderr
    assert all(word in told for word in words), told
    assert content(target) == before
    assert not target.with_name("run").exists()
    return told


@pytest.mark.parametrize(("code", "name"), FORBIDDEN.items(), ids=FORBIDDEN.values())
@pytest.mark.parametrize("verb", ["plan", "run"])
def test_without_io_uring_nothing_is_written_and_the_error_names_it(
    code: int, name: str, verb: str, target: Path, tmp_path: Path
) -> None:
    plan, before = plan_of(tmp_path, MANY_THREADS.replace("queue_depth = 1", "queue_depth = 4")), content(target)
    done = run(plan, target, prefix=(sys.executable, WITHOUT_RINGS, str(code)), verb=verb)
    told = assert_refused(done, target, before, "io_uring: this", name, "seccomp", "io_uring_setup")
    assert "synchronous" not in told


def test_system_calls_are_the_remedy_where_every_step_has_one_io_at_a_time(target: Path, tmp_path: Path) -> None:
    plan, before = plan_of(tmp_path, MANY_THREADS), content(target)
    done = run(plan, target, prefix=(sys.executable, WITHOUT_RINGS, "1"))
    assert_refused(done, target, before, "io_uring: this", "EPERM", "or choose --io-path synchronous")


@pytest.mark.parametrize("verb", ["plan", "run"])
def test_system_calls_alone_are_refused_for_deeper_steps_by_name(verb: str, target: Path, tmp_path: Path) -> None:
    plan, before = plan_of(tmp_path, 'suite = "client"\ntests = ["lat"]'), content(target)
    done = run(plan, target, "--io-path", "synchronous", verb=verb)
    assert (done.returncode, content(target)) == (2, before)
    assert "step 'preconditioning' of LAT has queue depth 8; choose --io-path auto" in done.stderr


def test_system_calls_alone_carry_a_whole_run_without_io_uring(target: Path, tmp_path: Path) -> None:
    plan, before = plan_of(tmp_path, READS), content(target)
    forbidden = (sys.executable, WITHOUT_RINGS, "1")
    done, out = undisturbed(lambda out: run(plan, target, *SYNCHRONOUS, prefix=forbidden, out=out), tmp_path)
    assert (done.returncode, content(target)) == (0, before), done.stderr
    assert read_run(out).engine["I/O path"] == "a system call per I/O"


@pytest.mark.long
def test_system_calls_alone_carry_a_purge_by_overwrite_and_writes_without_io_uring(
    target: Path, tmp_path: Path
) -> None:
    plan, forbidden = plan_of(tmp_path, MANY_THREADS), (sys.executable, WITHOUT_RINGS, "1")
    done, out = undisturbed(lambda out: run(plan, target, *SYNCHRONOUS, prefix=forbidden, out=out), tmp_path)
    assert done.returncode == verdict_code(out), done.stderr
    assert read_run(out).engine["I/O path"] == "a system call per I/O"
    (test,) = read_run(out).tests
    assert test.purge
    assert test.purge.method == "overwrite"


@pytest.mark.parametrize("kind", LIMITS)
def test_a_limit_is_named_in_plan_and_run_before_anything_is_written(
    kind: str, target: Path, tmp_path: Path, limited: Callable[[str, int], Prefix]
) -> None:
    limit, before = LIMITS[kind], content(target)
    plan, prefix = plan_of(tmp_path, MANY_THREADS), limited(kind, limit.few)
    told = {assert_refused(run(plan, target, prefix=prefix, verb=verb), target, before) for verb in ("plan", "run")}
    assert all(limit.words in line and re.search(limit.amount, line) for line in told), told


@pytest.mark.long
@pytest.mark.parametrize("kind", LIMITS)
def test_with_the_amount_that_the_error_names_the_run_completes(
    kind: str, target: Path, tmp_path: Path, limited: Callable[[str, int], Prefix]
) -> None:
    limit, plan = LIMITS[kind], plan_of(tmp_path, MANY_THREADS)
    refused = run(plan, target, prefix=limited(kind, limit.few), verb="plan")
    named = re.search(limit.amount, refused.stderr)
    assert named, refused.stderr
    enough = limited(kind, int(named[1]))
    done, out = undisturbed(lambda out: run(plan, target, prefix=enough, out=out), tmp_path)
    assert done.returncode == verdict_code(out), done.stderr


def test_a_soft_limit_of_open_files_is_raised_to_the_hard_one(target: Path, tmp_path: Path) -> None:
    plan = plan_of(tmp_path, MANY_THREADS)
    needed = 64 + 2 * THREADS
    assert run(plan, target, prefix=("prlimit", f"--nofile=40:{needed}"), verb="plan").returncode == 0
    assert run(plan, target, prefix=("prlimit", f"--nofile=40:{needed - 1}"), verb="plan").returncode == 3


@pytest.mark.usefixtures("needs_root")
def test_the_threads_of_a_user_are_named_and_the_amount_is_enough(target: Path, tmp_path: Path) -> None:
    plan, rights = plan_of(tmp_path, MANY_THREADS), "-all,+dac_read_search,+dac_override"
    user = ("setpriv", "--reuid=54321", "--clear-groups", f"--inh-caps={rights}", f"--ambient-caps={rights}")
    refused = run(plan, target, prefix=("prlimit", "--nproc=20:20", *user), verb="plan")
    named = re.search(r"threads of this user \(RLIMIT_NPROC\): .* raise it with ulimit -u (\d+)", refused.stderr)
    assert (refused.returncode, bool(named)) == (3, True), refused.stderr
    enough = named[1] if named else ""
    done = run(plan, target, prefix=("prlimit", f"--nproc={enough}:{enough}", *user), verb="plan")
    # That user may not write the file, which is asked behind the limits.
    assert "read-only: no permission to write it" in done.stderr


@contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    folder.mkdir()
    command("mount", "-t", "tmpfs", "-o", "size=1m", "none", str(folder))
    try:
        yield folder
    finally:
        command("umount", str(folder))


@pytest.mark.usefixtures("needs_root")
def test_a_full_folder_of_temporary_files_is_named_before_anything_is_written(target: Path, tmp_path: Path) -> None:
    plan, before = plan_of(tmp_path, MANY_THREADS), content(target)
    with small_disk(tmp_path / "small") as folder:
        done = run(plan, target, prefix=("/usr/bin/env", f"TMPDIR={folder}"))
    assert_refused(done, target, before, f"temporary files ({folder})", "ENOSPC", "free space there, or set TMPDIR")


def test_the_kernel_counts_no_write_to_a_disk_whose_run_a_limit_refuses(
    loop_drive: LoopDrive, tmp_path: Path, limited: Callable[[str, int], Prefix]
) -> None:
    path, plan = loop_drive(SIZE), plan_of(tmp_path, MANY_THREADS)
    arguments = [*QUIET_ASSAY, "run", plan, path, "--yes-destroy", known_id(path), "--out", str(tmp_path / "run")]
    before = _writes(path)
    for kind in ("files", "locked"):
        prefix = limited(kind, LIMITS[kind].few)
        done = subprocess.run([*prefix, *arguments], capture_output=True, text=True, check=False, timeout=HANG_S)
        assert (done.returncode, LIMITS[kind].words in done.stderr) == (3, True), done.stderr
    assert _writes(path) == before


def _writes(path: str) -> list[str]:
    """Writes and discards that the kernel has counted since the device is there."""
    counters = Path(f"/sys/block/{Path(path).name}/stat").read_text("ascii").split()
    return [*counters[4:8], *counters[11:15]]
