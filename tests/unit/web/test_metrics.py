"""Metrics for Prometheus: the runs that go on, gone once they ended, escaped, and without serial numbers."""

from __future__ import annotations

import json
import os
import re
import shutil
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from assay.archive.index.folders import run_address, site
from assay.engine.live import LivePoint, LiveSecond
from assay.run.store.live import LiveFile
from assay.run.store.status import GoingRuns
from assay.spec.units import SECOND_NS
from assay.web.api import running_states
from assay.web.metrics import CONTENT_TYPE, NAMES, Sample, label_value, metrics_text, run_samples
from every_kind import run_of
from going_run import held
from web_site import client_of, site_in

if TYPE_CHECKING:
    from assay.archive.index.location import Place

GUIDE = Path(__file__).parents[3] / "docs/guide/web-metrics.md"
PROGRESS: dict[str, Any] = {
    "pid": os.getpid(), "wall_ns": 2_000_000_000, "elapsed_ns": 1_500_000_000, "test": 'a"b\\c\nd', "test_number": 2,
    "test_count": 3, "phase": "purge", "name": "", "step": "", "step_number": 0, "step_count": 0, "share": 0.25,
    "left": None, "test_left": {"earliest_ns": 10**9, "latest_ns": None},
    "run_left": {"earliest_ns": 2 * 10**9, "latest_ns": 3 * 10**9},
    "drive": {
        "path": "/dev/x", "kind": "block", "capacity_bytes": 1, "model_number": "M", "serial": "S123", "firmware": None,
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ended") / "run"
    run_of("tp", folder)
    return folder


@pytest.fixture
def folder(ended: Path, tmp_path: Path) -> Path:
    """A folder of runs with a run that has kept its progress."""
    run = tmp_path / "runs/a"
    shutil.copytree(ended, run)
    (run / "progress.json").write_text(json.dumps(PROGRESS))
    return run.parent


def scraped(place: Place, folder: Path, *, identity: bool = False) -> dict[str, float]:
    """The series and their values."""
    answer = client_of(site_in(folder, folder, place=place, metrics_identity=identity), "program").get("/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == CONTENT_TYPE
    lines = [line for line in answer.text.splitlines() if not line.startswith("#")]
    return {series: float(value) for series, _, value in (line.rpartition(" ") for line in lines)}


def test_a_run_that_goes_on_has_series_until_it_ends(place: Place, folder: Path) -> None:
    run = run_address(site(), os.path.realpath(folder), "a")
    with held(folder / "a"):
        series = scraped(place, folder)
    assert series[f'assay_run_elapsed_seconds{{run="{run}"}}'] == 1.5
    assert series[f'assay_run_phase_ratio{{run="{run}"}}'] == 0.25
    assert series[f'assay_run_test_number{{run="{run}"}}'] == 2
    assert series[f'assay_run_suspended{{run="{run}"}}'] == 0
    assert series[f'assay_run_updated_timestamp_seconds{{run="{run}"}}'] == 2
    lefts = {name: value for name, value in series.items() if name.startswith("assay_run_left_seconds")}
    assert lefts == {
        f'assay_run_left_seconds{{run="{run}",scope="test",bound="earliest"}}': 1,
        f'assay_run_left_seconds{{run="{run}",scope="run",bound="earliest"}}': 2,
        f'assay_run_left_seconds{{run="{run}",scope="run",bound="latest"}}': 3,
    }
    assert not [name for name in scraped(place, folder) if name.startswith(("assay_run", "assay_drive"))]


def test_rates_are_those_of_the_last_line(place: Place, folder: Path) -> None:
    run = run_address(site(), os.path.realpath(folder), "a")
    live = LiveFile(folder / "a", time.time_ns, virtual=False)
    for second, count in ((0, 99), (1, 10)):
        live.add(1, [LiveSecond(0, second, SECOND_NS, (LivePoint(0, 1, count, 40960, 5000, 900),))])
    live.close()
    with held(folder / "a"):
        series = scraped(place, folder)
    rates = {name: value for name, value in series.items() if "direction" in name}
    assert len(rates) == 6
    assert rates[f'assay_run_iops{{run="{run}",direction="read"}}'] == 0
    assert rates[f'assay_run_iops{{run="{run}",direction="write"}}'] == 10
    assert rates[f'assay_run_bytes_per_second{{run="{run}",direction="write"}}'] == 40960


def test_the_server_has_its_memory_and_jobs(place: Place, folder: Path) -> None:
    series = scraped(place, folder)
    assert series["assay_server_jobs_waiting"] == 0
    assert 10e6 < series["assay_server_memory_bytes"] < 2e9


def test_serial_numbers_are_named_only_on_request(place: Place, folder: Path) -> None:
    with held(folder / "a"):
        (run,) = GoingRuns([folder]).look()
        assert run.progress.drive
        serial = run.progress.drive.serial
        assert serial
        assert serial not in "".join(scraped(place, folder))
        (info,) = [name for name in scraped(place, folder, identity=True) if name.startswith("assay_run_info")]
    assert f'serial="{serial}"' in info
    assert 'model="M",firmware="",kind="block"' in info
    assert str(folder) in info


def test_label_values_are_escaped(place: Place, folder: Path) -> None:
    assert label_value('a"b\\c\nd') == 'a\\"b\\\\c\\nd'
    with held(folder / "a"):
        (info,) = [name for name in scraped(place, folder) if name.startswith("assay_run_info")]
    assert 'test="a\\"b\\\\c\\nd"' in info


def test_the_text_groups_samples_below_help_and_type() -> None:
    samples = [
        Sample(name="assay_run_suspended", value=1.0, labels=(("run", "a"),)),
        Sample(name="assay_server_jobs_waiting", value=2),
        Sample(name="assay_run_suspended", value=0.0, labels=(("run", "b"),)),
    ]
    assert metrics_text(samples) == (
        "# HELP assay_run_suspended 1 where the process of the run was stopped by a signal.\n"
        "# TYPE assay_run_suspended gauge\n"
        'assay_run_suspended{run="a"} 1.0\nassay_run_suspended{run="b"} 0.0\n'
        "# HELP assay_server_jobs_waiting Jobs that wait for the child process.\n"
        "# TYPE assay_server_jobs_waiting gauge\nassay_server_jobs_waiting 2\n"
    )


def test_the_temperature_is_there_where_progress_has_it(folder: Path) -> None:
    with held(folder / "a"):
        (run,) = GoingRuns([folder]).look()
    # As of a version that keeps what it saw of the drive.
    watched: Any = SimpleNamespace(
        **{name: getattr(run.progress, name) for name in PROGRESS}, watched=SimpleNamespace(temperature_c=41.0)
    )
    samples = {sample.name: sample.value for sample in run_samples(replace(run, progress=watched), identity=False)}
    assert samples["assay_drive_temperature_celsius"] == 41.0
    assert "assay_drive_temperature_celsius" not in {one.name for one in run_samples(run, identity=False)}


def test_a_process_that_was_stopped_is_suspended(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.run.store.status.process_fields", lambda _: ["T"])
    with held(folder / "a"):
        (run,) = GoingRuns([folder]).look()
        assert run.state == "suspended"
    assert GoingRuns([folder]).look() == []


@pytest.mark.parametrize("content", [b"", b"[", b"{}", b"\xff" * 100])
def test_progress_that_cannot_be_read_is_left_out(folder: Path, content: bytes) -> None:
    (folder / "a/progress.json").write_bytes(content)
    (folder / "b").mkdir()
    (folder / "b/progress.json").symlink_to("/dev/zero")
    os.mkfifo(folder / "c")
    with held(folder / "a"), held(folder / "b"):
        assert GoingRuns([folder, folder / "gone"]).look() == []


def test_states_of_what_goes_on_are_listed(ended: Path, tmp_path: Path) -> None:
    shutil.copytree(ended, tmp_path / "a")
    lines = (tmp_path / "a/journal.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "a/journal.jsonl").write_bytes(b"".join(lines[:-1]))
    (tmp_path / "a/progress.json").write_text(json.dumps(PROGRESS))
    assert running_states([tmp_path]) == []
    with held(tmp_path / "a"):
        (state,) = running_states([tmp_path])
    assert (state.state, state.run) == ("running", str(tmp_path / "a"))
    assert state.progress is not None
    assert state.progress.share == 0.25


def test_every_name_is_documented_and_valid() -> None:
    documented = set(re.findall(r"`(assay_\w+)`", GUIDE.read_text("utf-8")))
    assert documented == NAMES.keys()
    assert all(re.fullmatch(r"[a-z_]+", name) for name in NAMES)
