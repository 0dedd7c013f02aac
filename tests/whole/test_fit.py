"""`assay fit`: whose capacity counts, and that nothing is written where nothing became better."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import pytest
from assay.cli import assay
from assay.tools import simfit
from click.testing import CliRunner

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def fitted(tmp_path: Path, drive: str, *options: str) -> dict[str, Any]:
    """What a fit to one figure prints as JSON."""
    (tmp_path / "m.csv").write_text("block_kib,read_pct,iops\n4,0,3190\n")
    (tmp_path / "p.toml").write_text('schema = 1\ndrive = "sim:client-2013?capacity=32GB"\n')
    files = [
        "--against",
        str(tmp_path / "m.csv"),
        "--plan",
        str(tmp_path / "p.toml"),
        "--out",
        str(tmp_path / "o.toml"),
    ]
    done = CliRunner().invoke(assay, ["fit", drive, *files, "--json", *options], standalone_mode=False)
    assert done.exception is None, done.exception
    facts: dict[str, Any] = json.loads(done.stdout)
    return facts


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulated over published is what the test says; no drive is simulated."""
    monkeypatch.setattr(simfit, "residuals", lambda *_: {"iops_4_0": 0.5})


def test_the_capacity_is_that_of_the_command_else_of_the_plan_and_nothing_tried_writes_nothing(tmp_path: Path) -> None:
    facts = fitted(tmp_path, "sim:client-2011", "--evaluations", "0")
    assert (facts["capacity_bytes"], facts["drive_model"]) == (32_000_000_000, None)
    facts = fitted(tmp_path, "sim:client-2011?capacity=64GB", "--evaluations", "0")
    assert facts["capacity_bytes"] == 64_000_000_000
    assert not (tmp_path / "o.toml").exists()


@pytest.mark.parametrize(("error", "written"), [(0.4, True), (0.6, False)])
def test_a_drive_model_that_is_worse_than_the_one_it_began_with_is_not_written(
    error: float, written: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def search(start: Any, *_: object, **__: object) -> simfit.Fit:
        return simfit.Fit(drive_model=start.replaced(read_ns=77_000), error=error, evaluations=48)

    def errors(drive_model: Any, *_: object) -> Mapping[str, float]:
        return {"iops_4_0": error if drive_model["read_ns"] == 77_000 else 0.5}

    monkeypatch.setattr(simfit, "fit", search)
    monkeypatch.setattr(simfit, "residuals", errors)
    facts = fitted(tmp_path, "sim:client-2011", "--evaluations", "48")
    assert (facts["drive_model"] is not None, (tmp_path / "o.toml").exists()) == (written, written)
    assert facts["simulated_over_published"] == {"iops_4_0": math.exp(min(error, 0.5))}
