"""Old results of Iometer beside runs: paired by what was asked, marked as unverified everywhere, never gated."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pypdfium2
import pytest
from assay.cli import assay
from assay.compare.unverified import differences_of, load_of_file
from assay.dut.dut import Answers
from assay.errors import PlanError, UsageError
from assay.report.comparison.facts import ComparisonFacts
from assay.run.plan_file import load_plan
from assay.run.run import run_plan
from assay.workloads.iometer import read_results
from assay.workloads.iometer.results import parse_results
from click.testing import CliRunner, Result
from test_iometer_results import TEXT as PUBLISHED

OEM = Path(__file__).parents[1] / "icf/oem-guide-2006.07.27.icf"
DRIVES = {"new": "client-2011", "old": "mlc-a"}


def command(*words: object) -> Result:
    return CliRunner().invoke(assay, list(map(str, words)))


def facts(*words: object) -> dict[str, Any]:
    done = command("compare", *words, "--json")
    assert done.exit_code == 0, done.exception
    return ComparisonFacts.model_validate_json(done.stdout).model_dump()


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run of the OEM guide's file on two drives, ``new`` and ``old``, and the results of the latter."""
    folder = tmp_path_factory.mktemp("icf")
    for name, drive in DRIVES.items():
        words = ["run", f"sim:{drive}?capacity=1GB", "--icf", OEM, "--scale", "0.02", "--seed", "1", "--no-report"]
        assert command(*words, "--out", folder / name).exit_code == 0
    done = command("convert", folder / "old", "--to", "iometer-csv", "--out", folder / "old.csv")
    assert done.exit_code == 0
    return folder


def test_figures_of_a_file_are_those_of_the_run_that_they_are_of(runs: Path) -> None:
    """Assay's own file of another run gives the ratios that the two runs have."""
    both = facts(runs / "new", runs / "old")
    (file,) = facts(runs / "new", runs / "old.csv")["unverified"]
    names = {"IOPS": "iops", "MB/s": "mb_per_s"}
    names |= {"Average response time": "latency_ms_mean_of_ios", "Maximum response time": "latency_ms_max"}
    ratios = {(one["item"].partition(",")[0], one["name"]): one["entries"][1]["ratio"] for one in both["numbers"]}
    found = {(one["specification"], names[one["figure"]]): one["entries"][0]["ratio"] for one in file["figures"]}
    assert len(found) == 4 * 4
    assert found == pytest.approx({key: ratios[key] for key in found}, rel=1e-4)
    assert file["verified"] is False
    assert file["uncertainty"] == "single value of a file, spread unknown"


def test_every_output_says_unverified_and_gives_no_interval(runs: Path, tmp_path: Path) -> None:
    done = command("compare", runs / "new", runs / "old.csv", "--out", tmp_path)
    assert done.exit_code == 0
    assert "U1 (unverified)" in done.stdout
    assert "nothing vouches for these figures" in done.stdout
    with (tmp_path / "unverified.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert {row["level"] for row in rows} == {"unverified"}
    assert {row["uncertainty"] for row in rows} == {"single value of a file, spread unknown"}
    pages = [page.get_textpage().get_text_range() for page in pypdfium2.PdfDocument(tmp_path / "report.pdf")]
    assert [page for page in pages if "U1 UNVERIFIED: figures of Iometer" not in page] == []
    assert any("no interval, no rank, and no gate" in " ".join(page.split()) for page in pages)
    assert "U1 UNVERIFIED" in (tmp_path / "report.html").read_text("utf-8")
    assert json.loads((tmp_path / "comparison.json").read_text())["unverified"][0]["verified"] is False


def test_one_run_beside_a_file_has_no_ranks_and_two_files_have_letters(runs: Path) -> None:
    shown = command("compare", runs / "new", runs / "old.csv", runs / "old.csv").stdout
    assert "Ranks" not in shown
    assert "U2 / A" in shown
    assert "Ranks" in command("compare", runs / "new", runs / "old", runs / "old.csv").stdout


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (",32,", ",16,", "16 outstanding I/Os in the file, 32 in the run"),
        ("\n4096,100,", "\n8192,100,", "other sizes, shares or alignment"),
    ],
)
def test_what_was_asked_otherwise_has_no_ratio(runs: Path, tmp_path: Path, old: str, new: str, reason: str) -> None:
    text = (runs / "old.csv").read_bytes().decode()
    last = text.index("4k_ran_100wr") - 200
    changed = tmp_path / "changed.csv"
    changed.write_bytes((text[:last] + text[last:].replace(old, new)).encode())
    (file,) = facts(runs / "new", changed)["unverified"]
    reasons = {one["run"]: one["entries"][0]["reason"] for one in file["figures"]}
    assert reasons == {1: "", 2: "", 3: "", 4: reason}
    assert [one["entries"][0]["ratio"] for one in file["figures"] if one["run"] == 4] == [None] * 4


def test_what_was_asked_pairs_them_and_not_the_name(runs: Path, tmp_path: Path) -> None:
    text = (runs / "old.csv").read_text("utf-8").replace("4k_ran_100wr", "unknown")
    (tmp_path / "renamed.csv").write_text(text)
    (file,) = facts(runs / "new", tmp_path / "renamed.csv")["unverified"]
    assert [one["entries"][0]["stage"] for one in file["figures"]][-1] == "4k_ran_100wr"
    assert all(one["entries"][0]["ratio"] for one in file["figures"])


def test_a_file_that_is_like_no_run_is_refused_or_shown_apart(runs: Path, tmp_path: Path) -> None:
    (tmp_path / "published.csv").write_text(PUBLISHED)
    refused = command("compare", runs / "new", tmp_path / "published.csv").exception
    assert isinstance(refused, UsageError)
    assert "run 1 (0.5k_seq_100rd), A: no stage like it" in str(refused)
    (file,) = facts(runs / "new", tmp_path / "published.csv", "--despite")["unverified"]
    assert [one["entries"][0]["ratio"] for one in file["figures"]] == [None] * 4
    # 22.572 MBps of 2^20 bytes are 23.668 MB/s.
    assert {one["figure"]: one["value"] for one in file["figures"]}["MB/s"] == pytest.approx(23.668, abs=0.001)


def test_a_row_with_failed_ios_has_no_ratio(runs: Path, tmp_path: Path) -> None:
    lines = (runs / "old.csv").read_text("utf-8").splitlines()
    header = next(line for line in lines if line.startswith("'Target Type")).split(",")
    changed = []
    for line in lines:
        cells = line.split(",")
        if cells[0] == "ALL" and cells[2] == "4k_ran_100rd":
            cells[header.index("Errors")] = "3"
        changed.append(",".join(cells))
    (tmp_path / "failed.csv").write_text("\n".join(changed))
    (file,) = facts(runs / "new", tmp_path / "failed.csv")["unverified"]
    assert {one["entries"][0]["reason"] for one in file["figures"] if one["run"] == 3} == {"3 I/Os failed"}


@pytest.mark.parametrize("place", [0, 1])
def test_no_gate_takes_a_file_of_another_tool(runs: Path, place: int) -> None:
    paths = [runs / "new", runs / "new"]
    paths[place] = runs / "old.csv"
    refused = command("compare", "--baseline", paths[0], paths[1], "--fail-over", "5%").exception
    assert isinstance(refused, UsageError)
    assert "which no gate uses" in str(refused)


def test_a_blind_comparison_names_no_file(runs: Path, tmp_path: Path) -> None:
    done = command("compare", runs / "new", runs / "old.csv", "--blind", "--out", tmp_path)
    assert done.exit_code == 0
    for path in tmp_path.iterdir():
        assert b"old.csv" not in path.read_bytes()


def test_a_table_of_something_else_is_no_result_of_iometer(runs: Path, tmp_path: Path) -> None:
    (tmp_path / "other.csv").write_text("time,iops\n1,2\n")
    refused = command("compare", runs / "new", tmp_path / "other.csv").exception
    assert isinstance(refused, PlanError)
    assert "name a result file that Iometer wrote" in str(refused) or "expected" in str(refused)


def test_rows_of_workers_say_what_was_asked_and_without_them_the_row_of_all() -> None:
    (run,) = parse_results(PUBLISHED, "r.csv").runs
    whole = run.rows[0]
    load = load_of_file(run, whole)
    assert (load.name, load.depth, load.start, load.length) == ("0.5k_seq_100rd", 32, 0, 0)
    assert load.text == "0.5KiB, 100 % read, 0 % random, 32 outstanding"
    kept = "\r\n".join(line for line in PUBLISHED.split("\r\n") if not line.startswith(("WORKER", "DISK")))
    (short,) = parse_results(kept, "r.csv").runs
    assert differences_of(load, load_of_file(short, short.rows[0])) == ()


def test_workers_in_order_are_counted_and_a_range_is_part_of_what_was_asked(runs: Path) -> None:
    run = next(iter(read_results(runs / "old.csv").runs))
    one = load_of_file(run, run.rows[0])
    (worker,) = one.workers
    two = replace(one, workers=(replace(worker, count=2),), length=8)
    assert differences_of(one, two) == (
        "1 worker in the file with accesses in order, 2 in the run",
        "range: to the end in the file, 8 sectors in the run",
    )


def test_a_range_behind_the_start_that_goes_to_the_end_is_found_again_beside_its_own_run(tmp_path: Path) -> None:
    stream = {"name": "w", "start_bytes": 100_663_296, "lines": [{"size_bytes": 4096, "read_percent": 50}]}
    workload = {"stages": [{"name": "s", "time_s": 1, "streams": [stream]}]}
    plan = {"drive": "sim:client-tlc?capacity=1GB", "studies": ["workload"], "seed": 1, "workload": workload}
    run_plan(load_plan(None, plan), out=tmp_path / "run", answers=Answers(), show=lambda _: None)
    assert command("convert", tmp_path / "run", "--to", "iometer-csv", "--out", tmp_path / "r.csv").exit_code == 0
    (file,) = facts(tmp_path / "run", tmp_path / "r.csv")["unverified"]
    assert file["figures"][0]["entries"][0]["ratio"] == pytest.approx(1, rel=1e-3)
