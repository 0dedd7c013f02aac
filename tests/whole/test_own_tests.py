"""The guide's test of another package: written out from its page, installed, run, stored, reported."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from result_rows import table_rows

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs/guide/own-tests.md").read_text("utf-8")
ASSAY = [sys.executable, "-c", "from assay.cli import main; main()"]
LINES_MAX = 60


def block(language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", GUIDE, re.DOTALL)
    assert found
    return found[1]


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """The guide's package as an installer lays it out: the module, and its entry points beside it."""
    folder = tmp_path / "site"
    (folder / "assay_pause-1.dist-info").mkdir(parents=True)
    (folder / "pause.py").write_text(block("python"), "utf-8")
    entry = re.search(r'\[project\.entry-points\."assay\.procedures"\]\n(.*?)\n\n', block("toml"), re.DOTALL)
    assert entry
    lines = entry[1].replace('"', "")
    (folder / "assay_pause-1.dist-info/entry_points.txt").write_text(f"[assay.procedures]\n{lines}\n", "utf-8")
    metadata = "Metadata-Version: 2.1\nName: assay-pause\nVersion: 1\n"
    (folder / "assay_pause-1.dist-info/METADATA").write_text(metadata, "utf-8")
    return folder


def assay(*arguments: str, beside: Path | None = None) -> subprocess.CompletedProcess[str]:
    places = [str(ROOT / "python"), *([str(beside)] if beside else [])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(places)}
    return subprocess.run([*ASSAY, *arguments], capture_output=True, text=True, check=False, env=environment)


def test_the_guides_test_is_short() -> None:
    lines = [line for line in block("python").splitlines() if line.strip()]
    assert len(lines) <= LINES_MAX


def test_a_test_of_another_package_runs_is_stored_and_is_labelled(package: Path, tmp_path: Path) -> None:
    assert "wsat, iops, tp, lat, hir, xsr, ecw, dirth, pause;" in " ".join(
        assay("run", "--help", beside=package).stdout.split()
    )
    out = tmp_path / "run"
    drive, options = "sim:client-tlc?capacity=1GB", ("--test", "pause", "--scale", "0.01", "--seed", "1")
    done = assay("run", drive, *options, "--queue-depth", "8", "--out", str(out), beside=package)
    assert done.returncode == 0, done.stderr
    results = json.loads((out / "report/results.json").read_text("ascii"))
    (test,) = results["tests"]
    assert "pause is no test of the specification" in results["deviations"]
    assert (test["settings"]["procedure"], test["settings"]["pause_ns"]) == ("pause", 600_000_000)
    assert test["settings"]["demand"]["queue_depth"] == 8
    before, behind = (row["value"] for row in table_rows(test, "values"))
    assert before > 0
    assert behind > 0
    assert {check["level"] for check in test["checks"]} <= {"pass", "n/a", "unknown"}
    rows = (out / "report/pause_values.csv").read_text("ascii").splitlines()
    assert rows[1].startswith("RND 4KiB writes before the pause,")
    html = (out / "report/report.html").read_text("utf-8")
    assert "Writes behind a Pause - Report Page (no test of the specification)" in html
    assert (out / "report/report.pdf").stat().st_size > 10_000
    again = assay("report", str(out), beside=package)
    assert again.returncode == 0, again.stderr
    assert judged(package, tmp_path, out, "iops", str(before)) == (0, "pass")
    assert judged(package, tmp_path, out, "iops", str(before + 1)) == (8, "FAIL")
    unknown = assay("limits", str(out), limit_file(tmp_path, "ipos", "1"), beside=package)
    assert (unknown.returncode, 'did you mean "iops"?' in unknown.stderr) == (2, True), unknown
    gone = assay("report", str(out))
    assert gone.returncode == 6
    assert "test 'pause' is not known" in gone.stderr
    assert "install the package that it comes from" in gone.stderr


def limit_file(folder: Path, measure: str, at_least: str) -> str:
    """A file of one limit of the guide's test."""
    (example,) = re.findall(r"```toml\n(\[\[limits\]\].*?)```", GUIDE, re.DOTALL)
    text = example.replace('"iops"', f'"{measure}"').replace("behind the pause", "before the pause")
    path = folder / "limits.toml"
    path.write_text(f"schema = 1\n{text}".replace("1000", at_least), "utf-8")
    return str(path)


def judged(package: Path, folder: Path, run: Path, measure: str, at_least: str) -> tuple[int, str]:
    """The exit code of a limit of the guide's test, and its verdict."""
    done = assay("limits", str(run), limit_file(folder, measure, at_least), beside=package)
    assert not done.stderr, done.stderr
    return done.returncode, "FAIL" if "FAIL" in done.stdout else "pass"


def test_its_table_in_a_plan_file_is_checked(package: Path, tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text('schema = 1\ndrive = "sim:ideal?capacity=1GB"\ntests = ["pause"]\n[pause]\npause_second = 5\n')
    done = assay("plan", str(plan), beside=package)
    assert done.returncode == 2
    assert "pause_second" in done.stderr
    plan.write_text('schema = 1\ndrive = "sim:ideal?capacity=1GB"\ntests = ["pause"]\n[pause]\npause_seconds = 5\n')
    shown = assay("plan", str(plan), "--json", beside=package)
    assert json.loads(shown.stdout)["tests"][0]["device_ns_max"] == 125 * 10**9


FORM = """
import sys
from pathlib import Path
from web_site import client_of, site_in
client = client_of(site_in(Path(sys.argv[1])), "operator")
print(client.get("/plan?drive=sim:ideal").text)
typed = {"tests": ["pause"], "pause.pause_seconds": "soon"}
print(client.post("/plan/check", json={"drive": "", "values": typed}).text)
"""


def test_it_is_in_the_form_of_a_plan_with_its_checked_keys(package: Path, tmp_path: Path) -> None:
    unit = ROOT / "tests/unit"
    folders = (ROOT / "python", unit, *(path for path in unit.iterdir() if path.is_dir()), package)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, folders))}
    command = [sys.executable, "-c", FORM, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    page, check = done.stdout.rsplit("</html>", 1)
    assert 'value="pause"' in page
    assert 'name="pause.pause_seconds"' in page
    answer = json.loads(check)
    assert answer["tables"] == ["pause"]
    assert answer["faults"]["pause.pause_seconds"].startswith('is "soon", not a ')


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("PAUSE = 1", "is a int, not a Procedure"),
        ("import no_such_module", "cannot be loaded (ModuleNotFoundError"),
        (None, "is named iops, as another is"),
    ],
)
def test_a_package_that_cannot_be_used_is_refused_by_name(source: str | None, reason: str, package: Path) -> None:
    text = (package / "pause.py").read_text("utf-8").replace('name="pause"', 'name="iops"')
    (package / "pause.py").write_text(text if source is None else source, "utf-8")
    done = assay("plan", "sim:ideal?capacity=1GB", beside=package)
    assert done.returncode == 2
    assert reason in done.stderr
    assert "assay-pause" in done.stderr
    assert "Traceback" not in done.stderr
