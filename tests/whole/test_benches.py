"""The benchmarks run, at smoke size."""

import runpy
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

BENCHES = sorted((Path(__file__).parents[2] / "benches").glob("*.py"))


@pytest.mark.parametrize("path", BENCHES, ids=lambda path: path.stem)
def test_a_benchmark_runs(path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", [str(path), "--smoke"])
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out
