"""A stated rate of arrivals on a loop device by the command line, and the certificate of the host in its report."""

import json
import os
from collections.abc import Mapping
from pathlib import Path

import pytest
from assay.engine.records import StepRecord, StoredRun
from assay.procedures.families.loop.result import loop_result, offered_rates, open_loop_times
from assay.results.audit import sequence_audits
from assay.results.step import completed_count
from assay.run.store.read import read_run
from conftest import PATIENT, LoopDrive, known_id
from undisturbed import quiet_assay, undisturbed, verdict_code

SIZE = 256 << 20
RATE, OUTSTANDING_MAX = 300, 64
"""I/Os per second of the rate that is kept up: 18 in a step of 60 ms."""


@pytest.fixture
def data_home(tmp_path: Path) -> dict[str, str]:
    """An environment whose certificates are those of the test."""
    return {**os.environ, "XDG_DATA_HOME": str(tmp_path / "data")}


def latency(
    loop_drive_in_memory: LoopDrive, folder: Path, environment: Mapping[str, str], arrival: str
) -> tuple[StoredRun, Path]:
    """Five rounds of the latency test at a rate, at most 64 outstanding, and the folder of its report."""
    path, plan = loop_drive_in_memory(SIZE), folder / "plan.toml"
    plan.write_text(
        f'tests = ["lat"]\nscale = 0.001\ndrive = "{path}"\n[lat]\nround_limit = 5\nhistogram_minutes = 5\n'
    )
    demand = ("--arrival", arrival, "--queue-depth", str(OUTSTANDING_MAX))
    options = ("run", str(plan), *demand, "--yes-destroy", known_id(path), *PATIENT)
    done, out = undisturbed(lambda out: quiet_assay(*options, "--out", str(out), env=environment), folder)
    assert done.returncode == verdict_code(out), done.stderr
    return read_run(out, histograms=True), out / "report"


def _due_too_late(cell: StepRecord) -> int:
    """How many I/Os of a Poisson process can have been due behind the last that a host let the tester submit.

    The queue holds nearly all that is due in a step, so that nothing else keeps one from being submitted.
    """
    submitted_ns = cell.last_submission_ns or cell.start_ns
    expected = RATE * max(cell.start_ns + cell.span_ns - submitted_ns, 0) / 1e9
    return round(expected + 6 * (expected + 1) ** 0.5)


def test_a_rate_that_the_device_keeps_up_is_reported_with_both_latencies(
    loop_drive_in_memory: LoopDrive, tmp_path: Path, data_home: dict[str, str]
) -> None:
    certified = quiet_assay("calibrate", "--seconds", "0.05", env=data_home)
    assert certified.returncode == 0, certified.stderr
    run, report = latency(loop_drive_in_memory, tmp_path, data_home, f"poisson:{RATE}")
    (test,) = run.tests
    rates, times = offered_rates(test, loop_result(test)), open_loop_times(test, loop_result(test))
    assert len(rates) == len(times) == 9
    assert sum(rate.offered_per_s for rate in rates.values()) == pytest.approx(9 * RATE, rel=0.15)
    # What is due is issued as soon as a busy host lets it, and comes back after the step at the latest.
    for step in (cell for round_ in test.rounds for cell in round_.cells):
        assert 0 <= (step.offered_io_count or 0) - completed_count(step) <= _due_too_late(step)
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
    facts = json.loads((report / "results.json").read_text())
    assert [check["name"] for check in facts["checks"]] == ["ceiling", "cost", "fill"]


def test_a_rate_beyond_the_device_is_invalid_and_a_missing_certificate_is_told(
    loop_drive_in_memory: LoopDrive, tmp_path: Path, data_home: dict[str, str]
) -> None:
    run, report = latency(loop_drive_in_memory, tmp_path, data_home, "fixed:2000000")
    (test,) = run.tests
    rates = offered_rates(test, loop_result(test))
    assert {rate.level for rate in rates.values()} == {"invalid"}
    # What the drive did not take waits in the tester.
    for times in open_loop_times(test, loop_result(test)).values():
        assert (times.intended.latency_ms_mean or 0) > 2 * (times.service.latency_ms_mean or 0)
    html = (report / "report.html").read_text()
    assert "OFFERED RATE NOT REACHED in 9 of 9 cells" in html
    assert "none: run assay calibrate" in html
