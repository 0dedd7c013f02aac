"""The numbers that people quote equal those of a second implementation, which reads the files of the run alone."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from assay.archive.rendering import whole_run
from assay.report.formats.data import results_text
from assay.run.store.read import read_run
from every_kind import EVERY, plan_of
from second_values import differing
from session_runs import session_run

SECOND = Path(__file__).parents[1] / "second_values.py"
DRIVE = "sim:client-2011?capacity=1GB"


@pytest.mark.parametrize("kind", EVERY)
def test_a_second_implementation_comes_to_the_same_numbers(kind: str, tmp_path: Path) -> None:
    folder = session_run(plan_of(kind, drive=DRIVE))
    content = results_text(whole_run(read_run(folder, histograms=True)).results)
    results = json.loads(content)
    assert all(test["measures"][0]["quoted"] for test in results["tests"])
    assert differing(folder, results) == []
    # It would see a number that is off by a millionth.
    quoted = next(one for one in results["tests"][0]["measures"] if one["quoted"] and one["value"])
    quoted["value"] *= 1.000001
    assert len(differing(folder, results)) == 1
    if kind == "iops":
        (tmp_path / "results.json").write_bytes(content)
        assert script(folder, tmp_path / "results.json") == (0, "no difference\n")


def script(*paths: Path) -> tuple[int, str]:
    done = subprocess.run([sys.executable, "-I", SECOND, *paths], check=False, capture_output=True, text=True)
    return done.returncode, done.stdout


def test_the_second_implementation_imports_nothing_of_the_product() -> None:
    assert not re.findall(r"^\s*(?:import|from) assay", SECOND.read_text("utf-8"), re.MULTILINE)
