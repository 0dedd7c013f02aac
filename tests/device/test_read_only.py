"""A drive that is only read: opened so that the kernel refuses writes, and its bytes are the same afterwards."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from assay.dut.dut import Answers, find_drive
from assay.dut.foreseen import refuse_run
from assay.dut.real.gate import open_drive
from assay.dut.real.identity import identify
from assay.engine.pattern import cell_pattern, leading_range
from assay.engine.records import DataPattern, Demand, StepSpec, StopRule
from assay.engine.stimulus import Stimulus
from assay.errors import ReadOnlyError, UsageError
from assay.procedures.editions import load_edition
from assay.run.plan_file import load_plan
from assay.run.planning import plan_suite
from assay.run.store.read import read_run
from conftest import PATIENT, allocate, command
from quiet_host import RECORDED
from undisturbed import quiet_assay, undisturbed

if TYPE_CHECKING:
    from conftest import LoopDrive

SIZE = 64 << 20
MARK = os.urandom(4096)
EDITION = """
schema = 1
base = "quick-read-only"
name = "short"
"""
SHORT = "".join(
    f"""
[{test}]
step_seconds = {{ value = 0.2, source = "short, for a test" }}
step_seconds_least = {{ value = 0.05, source = "short, for a test" }}
"""
    for test in ("iops", "tp", "lat")
)


def short_edition(folder: Path) -> str:
    path = folder / "short.toml"
    path.write_text(EDITION + SHORT, "utf-8")
    return str(path)


def filled(path: Path) -> str:
    """A file with data on it; the hash of its bytes."""
    path.write_bytes(MARK * (SIZE // len(MARK)))
    return digest(path)


def digest(path: Path | str) -> str:
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def test_a_file_with_data_is_read_without_confirmation_and_is_the_same_afterwards(
    memory_path: Path, tmp_path: Path
) -> None:
    image = memory_path / "data.img"
    before, changed = filled(image), image.stat().st_mtime_ns
    chosen = ("--file-target", "--quick", "--read-only", "--edition", short_edition(tmp_path))
    options = ("run", str(image), *chosen, *PATIENT, "--json")
    done, out = undisturbed(lambda out: quiet_assay(*options, "--out", str(out)), tmp_path)
    assert done.returncode == 0, done.stderr
    assert (digest(image), image.stat().st_mtime_ns) == (before, changed)
    assert done.stderr.startswith("QUICK LOOK, NOT A TEST OF THE SPECIFICATION\nread only: no purge, no precond")
    assert "reads of what was never written may be answered without the flash" in done.stderr
    results = json.loads((out / "report/results.json").read_text("utf-8"))
    label = "not conforming: quick look, not a test of the specification; read only: no purge"
    assert label in json.dumps(results)
    html = (out / "report/report.html").read_text("utf-8")
    summary = html.partition('<section class="sheet summary"')[2].partition("</section>")[0]
    assert "Not conforming" in summary or "not conforming" in summary
    assert html.count("quick look, not a test of the specification") >= 3
    journal = (out / "journal.jsonl").read_text("utf-8")
    assert '"access":"opened for reading only"' in journal
    assert "data origin" not in journal
    # What stands for this host is what was stored of it.
    hosts = [sequence.host for test in read_run(out).tests for sequence in test.sequences]
    assert {host and (host.late_ns_p999, host.late_ns_max) for host in hosts} == {
        (RECORDED.late_ns_p999, RECORDED.late_ns_max)
    }


def test_a_read_only_loop_device_can_be_looked_at_and_not_be_tested(
    loop_drive_in_memory: LoopDrive, tmp_path: Path
) -> None:
    path = loop_drive_in_memory(SIZE, read_only=True)
    before, identity = digest(path), identify(path, file_target=False).id
    chosen = ("--read-only", "--edition", short_edition(tmp_path))
    options = ("run", path, *chosen, *PATIENT, "--no-report", "--json")
    done, _ = undisturbed(lambda out: quiet_assay(*options, "--out", str(out)), tmp_path)
    assert done.returncode == 0, done.stderr
    assert [test["ended"] for test in json.loads(done.stdout)["tests"]] != []
    assert digest(path) == before
    refused = quiet_assay(
        "run", path, "--quick", "--yes-destroy", identity, "--json", "--out", str(tmp_path / "written")
    )
    assert (refused.returncode, "read-only: the kernel refuses writes" in refused.stderr) == (3, True)


def test_what_is_on_a_drive_need_not_be_acknowledged_to_read_it(loop_drive: LoopDrive, tmp_path: Path) -> None:
    path = loop_drive(SIZE)
    command("mkfs.ext4", "-q", "-F", path)
    done = quiet_assay("plan", path, "--read-only", "--out", str(tmp_path / "run"))
    assert done.returncode == 0, done.stderr
    assert "Writes    nothing" in done.stdout
    assert done.stdout.endswith("is opened for reading only; nothing is written to it.\n")
    assert "ALL DATA" not in done.stdout
    assert quiet_assay("plan", path, "--quick", "--out", str(tmp_path / "run")).returncode == 3


def test_a_mounted_drive_is_not_read_either(loop_drive: LoopDrive, tmp_path: Path) -> None:
    path, place = loop_drive(SIZE), tmp_path / "mnt"
    place.mkdir()
    command("mkfs.ext4", "-q", "-F", path)
    command("mount", path, str(place))
    try:
        for verb in ("plan", "run"):
            done = quiet_assay(verb, path, "--read-only", "--out", str(tmp_path / "run"), "--json")
            assert (done.returncode, f"mounted on {place}" in done.stderr) == (3, True), done.stderr
    finally:
        command("umount", str(place))


def test_the_kernel_refuses_a_write_through_what_the_gate_opened(memory_path: Path) -> None:
    image = memory_path / "data.img"
    before = filled(image)
    identity = identify(str(image), file_target=True)
    wanted = {"confirmation": None, "acknowledged_signatures": frozenset(), "needed_bytes": SIZE}
    with open_drive(identity, **wanted, read_only=True) as held:
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.pwrite(held.fd, MARK, 0)
        stimulus = Stimulus.real(
            held.fd,
            capacity_bytes=SIZE,
            logical_block_bytes=512,
            thread_count=1,
            seed=1,
            data_origin=1,
            counters_path=None,
        )
        with stimulus:
            (record,) = stimulus.run(
                [
                    StepSpec(
                        label="writes",
                        pattern=cell_pattern("random", 4096, 0.0, DataPattern()),
                        demand=Demand(thread_count=1, queue_depth=4),
                        active_range=leading_range(SIZE),
                        stop=StopRule(io_count=100),
                    )
                ]
            )
    assert record.write.window_io_count == 0
    assert sum(record.write.errors.values()) > 0
    assert digest(image) == before


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        ({"tests": ["iops"]}, "iops: writes to the drive"),
        ({"tests": ["iops"], "edition": "quick"}, "iops: writes to the drive"),
        ({"studies": ["oio"]}, "study-oio: writes to the drive"),
        ({"suite": "quick-read-only", "io_path": "passthrough"}, "opened for writing"),
        ({"suite": "quick-read-only", "purge": "discard"}, "purge: changes a drive"),
        ({"suite": "quick-read-only", "write_cache": "off"}, "write_cache: changes a drive"),
    ],
)
def test_what_would_write_is_refused_before_the_drive_is_opened(
    chosen: dict[str, object], words: str, memory_path: Path
) -> None:
    image = allocate(memory_path / "x.img", 1 << 30)
    plan = load_plan(None, {"drive": str(image), "file_target": True, "read_only": True, "scale": 0.01, **chosen})
    drive = find_drive(plan)
    tests = plan_suite(load_edition(plan.edition_name), plan, drive).tests
    with pytest.raises(UsageError, match=words):
        refuse_run(plan, drive, tests, Answers(), written_bytes_max=0)


def test_a_drive_that_may_not_be_read_is_refused(memory_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    image = allocate(memory_path / "x.img", SIZE)
    monkeypatch.setattr(os, "access", lambda *_: False)
    wanted = {"confirmation": None, "acknowledged_signatures": frozenset(), "needed_bytes": SIZE}
    with pytest.raises(ReadOnlyError, match="no permission to read it"):
        open_drive(identify(str(image), file_target=True), **wanted, read_only=True)
