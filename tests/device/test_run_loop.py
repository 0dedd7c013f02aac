"""Whole runs on a loop device and on a plain file: report, labels, and the kernel's own counters."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from assay.dut.real.gate import open_drive
from assay.dut.real.identity import identify
from assay.dut.real.queue import merging_off, split_factor, stat_path
from assay.engine.pattern import fill_pattern, leading_range, random_pattern
from assay.engine.records import DataPattern, Demand, StepRecord, StepSpec, StopRule
from assay.engine.stimulus import Stimulus
from assay.procedures.editions import load_edition
from assay.procedures.families.saturation.result import saturation_result
from assay.results.audit import sequence_audits
from assay.results.step import issued_bytes
from assay.run.store.read import read_run
from conftest import HANG_S, PATIENT, LoopDrive, allocate, known_id
from quiet_host import QUIET_ASSAY
from undisturbed import quiet_assay, undisturbed, verdict_code

SIZE = 256 << 20
FEW_ROUNDS = "scale = 0.0003\n[iops]\nround_limit = 5\n"


def few_rounds(folder: Path) -> str:
    """A plan for runs that need not be steady: a loop device may keep them from it for 25 rounds."""
    plan = folder / "plan.toml"
    plan.write_text(FEW_ROUNDS, "utf-8")
    return str(plan)


def queue(path: str, name: str) -> str:
    return Path(f"/sys/block/{Path(path).name}/queue/{name}").read_text().strip()


def test_a_loop_device_gets_the_same_report_labelled_with_its_deviations(
    loop_drive_in_memory: LoopDrive, tmp_path: Path
) -> None:
    path = loop_drive_in_memory(SIZE)
    merging = queue(path, "nomerges")
    options = ("run", few_rounds(tmp_path), path, "--test", "iops", "--yes-destroy", known_id(path), *PATIENT)
    done, out = undisturbed(lambda out: quiet_assay(*options, "--out", str(out)), tmp_path)
    assert done.returncode == verdict_code(out), done.stderr
    assert queue(path, "nomerges") == merging
    run = read_run(out)
    (test,) = run.tests
    assert test.purge is not None
    assert test.purge.method == "discard"
    assert [line.split(" ")[0] for line in run.deviations] == ["cells", "test", "at", "purge"]
    assert run.engine["nomerges"] == "2"
    for audit in sequence_audits(test):
        assert audit.read_bytes[0] == audit.read_bytes[1], audit
        assert audit.write_bytes[0] == audit.write_bytes[1], audit
        assert audit.gap_ns is None or audit.gap_ns < 5 * 10**9
    html = (out / "report/report.html").read_text()
    assert "not conforming" in html
    assert (out / "report/report.pdf").stat().st_size > 10_000


def test_write_saturation_writes_what_the_kernel_counts(loop_drive_in_memory: LoopDrive, tmp_path: Path) -> None:
    path = loop_drive_in_memory(SIZE)
    options = ("run", path, "--test", "wsat", "--scale", "0.001", "--yes-destroy", known_id(path), *PATIENT)
    done, out = undisturbed(lambda out: quiet_assay(*options, "--out", str(out)), tmp_path)
    assert done.returncode == 0, done.stderr
    run = read_run(out)
    (test,) = run.tests
    assert test.ended in {"amount", "steady", "time"}
    audits = sequence_audits(test)
    assert all(audit.write_bytes[0] == audit.write_bytes[1] for audit in audits), audits
    result = saturation_result(test, run.identity.capacity_bytes)
    assert round(result.written_gb[-1] * 1e9) == sum(audit.write_bytes[1] or 0 for audit in audits)
    assert (out / "report/report.pdf").stat().st_size > 10_000


def test_every_cell_is_counted_by_the_kernel_to_the_byte(loop_drive_in_memory: LoopDrive) -> None:
    path = loop_drive_in_memory(SIZE)
    drive = identify(path, file_target=False)
    loop = load_edition("pts-c-1.0").iops
    demand = Demand(thread_count=2, queue_depth=8)
    with (
        open_drive(drive, confirmation=drive.id, acknowledged_signatures=frozenset(), needed_bytes=0) as held,
        merging_off(drive) as settings,
        Stimulus.real(
            held.fd,
            capacity_bytes=SIZE,
            logical_block_bytes=512,
            thread_count=2,
            seed=1,
            data_origin=1,
            counters_path=stat_path(drive),
        ) as stimulus,
    ):
        whole = leading_range(SIZE)
        fill = StepSpec(
            label="fill",
            pattern=fill_pattern(131072, DataPattern()),
            demand=demand,
            active_range=whole,
            stop=StopRule(amount_bytes=SIZE),
        )
        check_counters(stimulus.run([fill])[0], 1)
        for read_pct in loop.read_pct.value:
            for kib in loop.block_kib.value:
                size = int(kib * 1024)
                cell = StepSpec(
                    label=f"{kib} {read_pct}",
                    pattern=random_pattern(size, read_pct / 100, DataPattern()),
                    demand=demand,
                    active_range=whole,
                    stop=StopRule(time_ns=50_000_000),
                )
                record = stimulus.run([cell])[0]
                check_counters(record, split_factor(settings, size) or 1)


def check_counters(record: StepRecord, split: int) -> None:
    before, after = record.counters_before, record.counters_after
    assert before is not None
    assert after is not None
    pairs = [
        (record.read, after.read_bytes - before.read_bytes, after.read_io_count - before.read_io_count),
        (record.write, after.write_bytes - before.write_bytes, after.write_io_count - before.write_io_count),
    ]
    for direction, counted_bytes, counted_ios in pairs:
        assert issued_bytes(direction) == counted_bytes, record.label
        issued = direction.window_io_count + direction.tail_io_count
        assert counted_ios == issued * split, record.label


@pytest.mark.long
def test_a_plain_file_gives_the_same_report_without_root(tmp_path: Path) -> None:
    file = allocate(tmp_path / "target.img", 256 << 20)
    options = ["run", few_rounds(tmp_path), str(file), "--file-target", "--test", "iops", "--yes-destroy", str(file)]
    command = [*unprivileged(), *QUIET_ASSAY, *options, *PATIENT, "--out"]

    def attempt(out: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*command, str(out)], capture_output=True, text=True, check=False, timeout=HANG_S)

    done, out = undisturbed(attempt, tmp_path)
    assert done.returncode == verdict_code(out), done.stderr
    run = read_run(out)
    assert run.engine["transfer buffers"].startswith("not registered")
    assert f"a {run.identity.file_label} instead of a block device" in run.deviations
    assert run.tests[0].purge is not None
    assert run.tests[0].purge.method == "overwrite"
    assert sequence_audits(run.tests[0])[0].write_bytes == (2 * (256 << 20), None)


def unprivileged() -> list[str]:
    """A prefix that drops every privilege and all but 64 KiB of locked memory."""
    setpriv, prlimit = (shutil.which(tool, path="/usr/bin:/bin") for tool in ("setpriv", "prlimit"))
    if setpriv is None or prlimit is None:
        pytest.skip("SKIPPED: needs setpriv and prlimit of util-linux to drop privileges")
    dropped = [setpriv, "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs"]
    return [prlimit, "--memlock=65536:65536", *dropped] if os.geteuid() == 0 else [prlimit, "--memlock=65536:65536"]


@pytest.mark.parametrize("answer", ["y", "YES", "sda"])
def test_a_wrong_confirmation_writes_nothing_and_exits_3(
    loop_drive_in_memory: LoopDrive, answer: str, tmp_path: Path
) -> None:
    path = loop_drive_in_memory(SIZE)
    before = identify(path, file_target=False)
    done = quiet_assay(
        "run",
        path,
        "--test",
        "iops",
        "--scale",
        "0.001",
        "--yes-destroy",
        answer,
        "--out",
        str(tmp_path / "run"),
    )
    assert done.returncode == 3
    assert before.id in done.stderr
    assert not (tmp_path / "run").exists()
    with Path(path).open("rb") as device:
        assert not any(device.read(1 << 20))


def test_a_drive_that_is_held_by_another_run_is_refused(loop_drive_in_memory: LoopDrive, tmp_path: Path) -> None:
    path = loop_drive_in_memory(SIZE)
    drive = identify(path, file_target=False)
    with open_drive(drive, confirmation=drive.id, acknowledged_signatures=frozenset(), needed_bytes=0):
        done = quiet_assay(
            "run",
            path,
            "--test",
            "iops",
            "--scale",
            "0.001",
            "--yes-destroy",
            drive.id,
            "--out",
            str(tmp_path / "run"),
        )
    assert (done.returncode, "busy" in done.stderr.lower()) == (3, True), done.stderr
