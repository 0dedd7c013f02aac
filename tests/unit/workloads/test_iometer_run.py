"""A run of an Iometer file ends with results as Iometer writes them, which keep the invariants of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from assay.cli import assay
from assay.errors import UsageError
from assay.run.store.read import read_run
from assay.workloads.iometer import read_results
from assay.workloads.iometer.results import COLUMNS
from click.testing import CliRunner, Result
from iometer_invariants import invariants
from test_workload import STAGE
from test_workload import run_of as run_streams

OEM = Path(__file__).parents[1] / "icf/oem-guide-2006.07.27.icf"
SIZES = (131072, 131072, 4096, 4096)
NEVER_MEASURED = {
    *(f"% {one} Time" for one in ("User", "Privileged", "DPC", "Interrupt")),
    *("% CPU Utilization", "CPU Effectiveness", "Interrupts per Second"),
    *("Packets/Second", "Packet Errors", "Segments Retransmitted/Second"),
}


def command(*words: object) -> Result:
    return CliRunner().invoke(assay, list(map(str, words)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The script of the OEM guide on a simulated drive, its runs of 12 s instead of 30."""
    folder = tmp_path_factory.mktemp("runs") / "oem"
    drive = "sim:client-2011?capacity=1GB"
    done = command("run", drive, "--icf", OEM, "--scale", "0.4", "--seed", "1", "--out", folder)
    assert done.exit_code == 0, done.output
    return folder


def test_the_result_file_stands_beside_our_own_and_convert_writes_the_same(folder: Path, tmp_path: Path) -> None:
    written = (folder / "report/iometer.csv").read_bytes()
    assert written.startswith(b"'Test Type,Test Description\r\n0,Viking DVT Performance Test\r\n'Version\r\n2006.07.27")
    done = command("convert", folder, "--to", "iometer-csv", "--out", tmp_path / "again.csv")
    assert done.exit_code == 0
    assert (tmp_path / "again.csv").read_bytes() == written
    assert "128k_seq_100rd" in command("convert", folder / "report/iometer.csv").stdout


def test_the_rows_of_the_oem_guides_script_keep_the_invariants(folder: Path) -> None:
    found = [*read_results(folder / "report/iometer.csv").runs]
    assert len(found) == len(SIZES)
    for run, size_bytes in zip(found, SIZES, strict=True):
        kinds = [row.kind for row in run.rows]
        assert kinds == ["ALL", "MANAGER", "PROCESSOR", "WORKER", "DISK"]
        for row in run.rows:
            if row.kind == "PROCESSOR":
                continue
            kept = invariants(row, size_bytes)
            assert {one.name for one in kept} >= {
                "bytes / I/Os = size",
                "IOps x size / 2^20 = MBps",
                "outstanding / mean response time = IOps",
            }
            assert [one for one in kept if not one.holds] == []


def test_what_nobody_measured_is_empty_and_every_other_column_is_filled(folder: Path) -> None:
    for run in read_results(folder / "report/iometer.csv").runs:
        (whole,) = (row for row in run.rows if row.kind == "ALL")
        texts = {"Target Type", "Target Name", "Access Specification Name"}
        empty = (
            set(COLUMNS)
            - whole.cells.keys()
            - {name for name, column in COLUMNS.items() if "ALL" in column.empty}
            - texts
        )
        assert empty == NEVER_MEASURED


def test_streams_that_iometer_has_no_words_for_have_no_result_file(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    run_streams(folder, [STAGE])
    error = command("convert", folder, "--to", "iometer-csv").exception
    assert isinstance(error, UsageError)
    assert "which Iometer has no words for" in str(error)
    assert command("report", folder).exit_code == 0
    assert not (folder / "report/iometer.csv").exists()


def test_a_file_that_says_until_stopped_runs_for_the_time_that_is_given(tmp_path: Path) -> None:
    path, out = tmp_path / "endless.icf", tmp_path / "run"
    path.write_bytes(OEM.read_bytes().replace(b"0          0          30", b"0          0          0"))
    words = ["run", "sim:client-2011?capacity=1GB", "--icf", path, "--no-report", "--seed", 1, "--out", out]
    refused = command(*words).exception
    assert "each run lasts until somebody stops it" in str(refused)
    assert "give it with --run-time" in str(refused)
    assert command(*words, "--run-time", "0.5").exit_code == 0
    measured = [one for one in read_run(out).tests[0].sequences if one.role == "measure"]
    assert [[spec.stop.time_ns for _, _, spec in one.result_steps] for one in measured] == [[500_000_000]] * 4


def test_a_run_time_is_for_files_of_iometer_only() -> None:
    error = command("run", "sim:ideal", "--run-time", "5").exception
    assert isinstance(error, UsageError)
    assert "is for files of Iometer" in str(error)
    assert "is nan, which is no time" in str(command("run", "sim:ideal", "--icf", OEM, "--run-time", "nan").exception)
