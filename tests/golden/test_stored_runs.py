"""Runs that were stored by version 0.1.0 stay readable: they open, show, verify, compare and keep their level.

Source: ``stored_runs/simulated`` and ``stored_runs/file``, made in November 2026 by the commit before levels were kept
outside run folders (69eae760), on a host of two processors, with
``assay run 'sim:client-2011?capacity=1GB' --test lat --scale 0.01 --seed 1 --no-report`` and
``assay run FILE --file-target --test wsat --scale 0.001 --seed 1 --no-report``. No later version writes them anew.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from assay.cli import assay, stored_runs
from assay.errors import UsageError
from assay.run.store.read import read_run

STORED = Path(__file__).with_name("stored_runs")
HOST = "c8d0d1fd9c2634f2"
"""The host that both were made on."""
EXPECTED = {
    "simulated": ("lat", "12d352cabe4f6cc31e35e64f528e1edb3a775523c9e853f4c068762ab34873ef"),
    "file": ("wsat", "28a3486bd453172277c1a340901efdc4fbf13dff991da8f6312bf42944cb1546"),
}
"""Test and final hash of each."""
NUMBERS = {
    "simulated": {
        "RND 4KiB R, 1 outstanding, average": 0.11956502434747958,
        "RND 4KiB W, 1 outstanding, maximum": 3.796217,
    },
    "file": {"RND 4KiB 0/100, first sample": 52433.333333333336, "Written": 1.092169728},
}
"""Some of the key results that version 0.1.0 printed: ms of the simulated drive, IOPS and GB of the file."""
BYTES_MAX = 500_000
KINDS = list(EXPECTED)


@pytest.fixture(autouse=True)
def maker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The user and the host that made the runs."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(stored_runs, "host_id", lambda: HOST)


def command(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str]:
    code = assay(list(map(str, arguments)), standalone_mode=False)
    return code if isinstance(code, int) else 0, capsys.readouterr().out


@pytest.mark.parametrize("kind", KINDS)
def test_a_stored_run_opens(kind: str) -> None:
    test, final_hash = EXPECTED[kind]
    run = read_run(STORED / kind, histograms=True)
    assert run.identity.kind == kind
    assert [one.settings.test for one in run.tests] == [test]
    assert run.journal
    assert (run.journal.complete, run.journal.hash) == (True, final_hash)


@pytest.mark.parametrize("kind", KINDS)
def test_a_stored_run_shows_its_results_and_keeps_its_level(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, text = command(capsys, "show", STORED / kind, "--json")
    shown = json.loads(text)
    assert code == 0
    assert shown["level"] == "self-checked"
    numbers = {
        number["name"]: number["value"] for test in shown["tests"] for number in test["measures"] if number["quoted"]
    }
    assert {item: numbers[item] for item in NUMBERS[kind]} == NUMBERS[kind]


@pytest.mark.parametrize("kind", KINDS)
def test_a_stored_run_verifies(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, text = command(capsys, "verify", STORED / kind)
    assert code == 0
    assert ": verified, " in text


def test_stored_runs_compare_and_a_copy_is_seen_to_be_the_same(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, text = command(capsys, "compare", "--despite", STORED / "file", STORED / "simulated")
    assert code == 0
    assert text.count("self-checked") == len(KINDS)
    assert all(number in text for number in ("52,433.3", "0.120", "3.796"))
    for kind in KINDS:
        shutil.copytree(STORED / kind, tmp_path / kind)
        with pytest.raises(UsageError, match="holds the same as"):
            command(capsys, "compare", STORED / kind, tmp_path / kind)


def test_stored_runs_stay_small() -> None:
    assert 0 < sum(path.stat().st_size for path in STORED.rglob("*") if path.is_file()) < BYTES_MAX
