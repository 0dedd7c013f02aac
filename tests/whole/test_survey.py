"""One plan on several drives: every drive is asked before the first runs, and a survey goes on where it stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from assay.cli import assay
from assay.errors import AssayError
from assay.run.store.read import read_run
from click.testing import CliRunner

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result

PLAN = 'tests = ["lat"]\nedition = "pts-e-1.1"\nscale = 0.001\nseed = 1\n'
IDEAL, CLIENT = "sim:ideal?capacity=1GB", "sim:client-2011?capacity=1GB"


def survey(folder: Path, *drives: str, plan: str = PLAN) -> Result:
    path = folder / "survey.toml"
    path.write_text(plan, "utf-8")
    return CliRunner().invoke(assay, ["survey", str(path), *drives, "--out", str(folder / "out"), "--no-report"])


def test_every_drive_of_the_list_has_a_run_of_its_own_and_measured_ones_are_kept(tmp_path: Path) -> None:
    listed = f'drives = ["{IDEAL}", "{CLIENT}"]\n{PLAN}'
    assert survey(tmp_path, plan=listed).exit_code in {0, 7}
    runs = [tmp_path / "out/01-ideal", tmp_path / "out/02-client-2011"]
    kept = [run.joinpath("journal.jsonl").read_bytes() for run in runs]
    assert [read_run(run).identity.path for run in runs] == [IDEAL, CLIENT]
    more = survey(tmp_path, IDEAL, CLIENT, f"{CLIENT}&seed=2")
    assert more.stdout.count("(measured before)") == 2
    assert [run.joinpath("journal.jsonl").read_bytes() for run in runs] == kept
    assert read_run(tmp_path / "out/03-client-2011").identity.path == f"{CLIENT}&seed=2"
    compared = (tmp_path / "out/comparison/report.html").read_text("utf-8")
    assert all(text in compared for text in ("Ratios to A", "Pool of 2010", "50,156", "0.054"))


@pytest.mark.parametrize(
    ("drives", "said"),
    [
        ([IDEAL], "has 1 drives"),
        ([IDEAL, IDEAL], "are the same drive"),
        ([IDEAL, "sim:clinet-2011"], "client-2011"),
        ([IDEAL, "sim:client-2011?capacity=1MB"], "capacity"),
    ],
)
def test_nothing_runs_where_one_drive_cannot(tmp_path: Path, drives: list[str], said: str) -> None:
    done = survey(tmp_path, *drives)
    assert isinstance(done.exception, AssayError)
    assert said in str(done.exception)
    assert not (tmp_path / "out").exists()


def test_a_folder_of_another_run_is_not_taken_for_this_one(tmp_path: Path) -> None:
    survey(tmp_path, IDEAL, CLIENT)
    done = survey(tmp_path, "sim:ideal?capacity=2GB", CLIENT)
    assert "differs in drive" in str(done.exception)
    done = survey(tmp_path, IDEAL, CLIENT, plan=PLAN.replace("0.001", "0.002"))
    assert "differs in scale" in str(done.exception)


def test_choices_for_real_drives_are_refused_where_none_is_meant(tmp_path: Path) -> None:
    path = tmp_path / "survey.toml"
    path.write_text(PLAN, "utf-8")
    done = CliRunner().invoke(assay, ["survey", str(path), IDEAL, CLIENT, "--out", str(tmp_path), "--yes-destroy", "x"])
    assert "no drive of the survey" in str(done.exception)
    done = CliRunner().invoke(
        assay, ["survey", str(path), IDEAL, CLIENT, "--out", str(tmp_path / "out"), "--max-drive-writes", "9"]
    )
    assert "--max-drive-writes: is a choice for real drives only" in str(done.exception)


def test_a_file_is_not_written_to_without_its_confirmation(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_bytes(bytes(64 * 2**20))
    done = survey(tmp_path, IDEAL, str(target), plan=f"file_target = true\n{PLAN}")
    assert "was not confirmed" in str(done.exception)
    assert not any(target.read_bytes())
