"""``assay convert`` through the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from assay.cli import assay
from assay.cli.convert import FORMS
from assay.errors import AssayError, StoreError, UsageError
from click.testing import CliRunner, Result
from test_iometer_results import TEXT

OEM = Path(__file__).parents[1] / "icf/oem-guide-2006.07.27.icf"


def convert(*words: object) -> Result:
    return CliRunner().invoke(assay, ["convert", *map(str, words)])


def failed(*words: object) -> AssayError:
    error = convert(*words).exception
    assert isinstance(error, AssayError)
    return error


def test_a_file_of_iometer_becomes_a_plan_and_that_a_file_again(tmp_path: Path) -> None:
    plan, icf = tmp_path / "plan.toml", tmp_path / "again.icf"
    done = convert(OEM, "--out", plan, "--drive", "sim:ideal")
    assert done.exit_code == 0
    assert "assay: Line 28: the results display" in done.stderr
    text = plan.read_text("utf-8")
    assert 'drive = "sim:ideal"\nstudies = ["workload"]\n' in text
    assert text.count("[[workload.stages]]") == 4
    assert convert(plan, "--out", icf, "--icf-version", "2006.07.27").exit_code == 0
    assert icf.read_bytes().startswith(b"Version 2006.07.27 \r\n")
    assert convert(icf).stdout.count("[[workload.stages]]") == 4


def test_the_outcome_goes_to_standard_output_and_words_to_standard_error() -> None:
    done = convert(OEM)
    assert done.stdout.startswith("# A plan of Assay.")
    assert "assay:" not in done.stdout


def test_results_are_shown_and_called_unverified(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    path.write_text(TEXT, "utf-8")
    done = convert(path)
    assert done.exit_code == 0
    assert done.stdout.startswith("Unverified: ")
    assert "46,227.62" in done.stdout
    assert json.loads(convert(path, "--to", "json").stdout)["schema"] == 1
    listed = convert(path, "--to", "csv")
    assert listed.stdout.startswith("run,time_stamp,version,target_type")
    assert listed.stderr.startswith("assay: Unverified")
    assert isinstance(failed(path, "--to", "toml"), UsageError)
    assert isinstance(failed(path, "--out", tmp_path / "x"), UsageError)


def test_what_cannot_be_converted_is_refused(tmp_path: Path) -> None:
    assert "is of a form that is not known" in str(failed("x.xyz"))
    assert "is no form that a icf file is converted to" in str(failed(OEM, "--to", "icf"))
    assert "is no form that a icf file is converted to" in str(failed(OEM, "--to", "table"))
    assert "No such file" in str(failed(tmp_path / "missing.icf"))
    plan = tmp_path / "plan.toml"
    plan.write_text('schema = 1\ndrive = "sim:ideal"\n', "utf-8")
    assert "has no table [workload]" in str(failed(plan))
    plan.write_text('[workload]\n[[workload.stages]]\nname = "a"\ntime_s = "x"\nstreams = []\n', "utf-8")
    assert f"{plan}:4:1 workload.stages.0.time_s" in str(failed(plan))


def test_a_plan_is_converted_for_the_drive_that_it_names(tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    stage = '[[workload.stages]]\nname = "a"\ntime_s = 1\n[[workload.stages.streams]]\nname = "s"\n'
    stage += "lines = [{ size_bytes = 4096 }]\n"
    plan.write_text(f'schema = 1\ndrive = "/dev/disk/by-path/pci-0000:01:00.0"\n[workload]\n{stage}', "utf-8")
    jobs = convert(plan, "--to", "fio").stdout
    assert "filename=/dev/disk/by-path/pci-0000\\:01\\:00.0\n" in jobs
    job = tmp_path / "again.fio"
    job.write_text(jobs, "utf-8")
    assert convert(job).exit_code == 0
    assert "filename=/dev/y\n" in convert(plan, "--to", "fio", "--drive", "/dev/y").stdout
    plan.write_text(f'schema = 1\ndrive = "sim:ideal"\n[workload]\n{stage}', "utf-8")
    assert (
        str(failed(plan, "--to", "fio")) == "sim:ideal: is simulated, and fio cannot open it; name a drive with --drive"
    )


def test_no_file_is_written_over(tmp_path: Path) -> None:
    there = tmp_path / "there.toml"
    there.write_text("mine", "utf-8")
    assert isinstance(failed(OEM, "--out", there), StoreError)
    assert there.read_text("utf-8") == "mine"


def test_a_run_time_is_given_where_the_file_says_until_stopped(tmp_path: Path) -> None:
    path = tmp_path / "endless.icf"
    path.write_bytes(OEM.read_bytes().replace(b"0          0          30", b"0          0          0"))
    assert "each run lasts until somebody stops it" in str(failed(path))
    assert "time_s = 45\n" in convert(path, "--run-time", "45").stdout
    assert "is nan, which is no time" in str(failed(path, "--run-time", "nan"))


@pytest.mark.parametrize("name", FORMS)
def test_a_form_is_told_by_its_suffixes(name: str) -> None:
    assert FORMS[name].suffixes
    assert FORMS[name].read or FORMS[name].write
