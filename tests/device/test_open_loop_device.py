"""A stated rate of arrivals on a loop device by the command line, and the certificate of the host in its report."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from assay.engine.records import StoredRun, StoredTest
from assay.procedures.loop.open_loop import offered_rates, open_loop_times
from assay.procedures.loop.result import loop_result
from assay.results import completed_count, sequence_audits
from assay.run.store.read import read_run
from conftest import PATIENT, LoopDrive

ASSAY = str(Path(sys.executable).with_name("assay"))
SIZE = 256 << 20


@pytest.fixture
def data_home(tmp_path: Path) -> dict[str, str]:
    """An environment whose certificates are those of the test."""
    return {**os.environ, "XDG_DATA_HOME": str(tmp_path / "data")}


def assay(environment: dict[str, str], *arguments: str) -> str:
    done = subprocess.run(
        [ASSAY, *arguments], capture_output=True, text=True, timeout=280, check=False, env=environment
    )
    assert done.returncode in {0, 5, 7}, done.stderr
    return done.stdout


def latency(loop_drive_in_memory: LoopDrive, folder: Path, environment: dict[str, str], arrival: str) -> StoredRun:
    """Five rounds of the latency test at a rate, at most 64 outstanding."""
    path = loop_drive_in_memory(SIZE)
    listed = json.loads(assay(environment, "drives", "--json"))
    identity = next(str(drive["id"]) for drive in listed if drive["path"] == path)
    plan = folder / "plan.toml"
    plan.write_text(
        f'tests = ["lat"]\nscale = 0.001\ndrive = "{path}"\n[lat]\nround_limit = 5\nhistogram_minutes = 5\n'
    )
    demand = ("--arrival", arrival, "--queue-depth", "64")
    assay(environment, "run", str(plan), *demand, "--yes-destroy", identity, "--out", str(folder / "run"), *PATIENT)
    return read_run(folder / "run", histograms=True)


def _as_on_a_quiet_host(test: StoredTest) -> StoredTest:
    """The stored test without what the host did meanwhile, which may have its results withheld on a busy one."""
    return replace(test, sequences=tuple(replace(sequence, host=None) for sequence in test.sequences))


def test_a_rate_that_the_device_keeps_up_is_reported_with_both_latencies(
    loop_drive_in_memory: LoopDrive, tmp_path: Path, data_home: dict[str, str]
) -> None:
    assay(data_home, "calibrate", "--seconds", "0.05")
    run = latency(loop_drive_in_memory, tmp_path, data_home, "poisson:300")
    test = _as_on_a_quiet_host(run.tests[0])
    rates, times = offered_rates(test, loop_result(test)), open_loop_times(test, loop_result(test))
    assert len(rates) == len(times) == 9
    assert sum(rate.offered_per_s for rate in rates.values()) == pytest.approx(9 * 300, rel=0.15)
    # A busy host is slow; what is due is issued all the same, and comes back after the step at the latest.
    cells = [cell for round_ in test.rounds for cell in round_.cells]
    assert sum(map(completed_count, cells)) > 0.9 * sum(cell.offered_io_count or 0 for cell in cells)
    for cell in rates:
        service, intended = times[cell].service, times[cell].intended
        assert (intended.latency_ms_mean or 0) >= (service.latency_ms_mean or 0) > 0
        assert (intended.latency_ms_max or 0) >= (service.latency_ms_max or 0)
    for audit in sequence_audits(test):
        assert audit.read_bytes[0] == audit.read_bytes[1], audit
        assert audit.write_bytes[0] == audit.write_bytes[1], audit
    assert any(line.startswith("open loop: poisson arrivals") for line in run.deviations)
    assert run.certificate is not None
    assert run.certificate.status == "valid"
    facts = json.loads((tmp_path / "run/report/results.json").read_text())
    assert [check["name"] for check in facts["checks"]] == ["ceiling", "cost", "fill"]


def test_a_rate_beyond_the_device_is_invalid_and_a_missing_certificate_is_told(
    loop_drive_in_memory: LoopDrive, tmp_path: Path, data_home: dict[str, str]
) -> None:
    run = latency(loop_drive_in_memory, tmp_path, data_home, "fixed:2000000")
    test = _as_on_a_quiet_host(run.tests[0])
    rates = offered_rates(test, loop_result(test))
    assert {rate.level for rate in rates.values()} == {"invalid"}
    # What the drive did not take waits in the tester.
    for times in open_loop_times(test, loop_result(test)).values():
        assert (times.intended.latency_ms_mean or 0) > 2 * (times.service.latency_ms_mean or 0)
    html = (tmp_path / "run/report/report.html").read_text()
    withheld = loop_result(run.tests[0]).withheld
    assert ("OFFERED RATE NOT REACHED in 9 of 9 cells" in html) == (withheld is None)
    assert withheld is None or "test system" in withheld
    assert "none: run assay calibrate" in html
