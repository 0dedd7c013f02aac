"""Whole runs on simulated drives that fail: they end, void and disclose as runs on real drives do."""

import hashlib
import json
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from assay.dut.dut import Answers, open_dut
from assay.dut.simulated.model import parse_simulated
from assay.engine.pattern import leading_range, random_pattern
from assay.engine.records import DataPattern, Demand, StepSpec, StopRule, StoredTest
from assay.errors import DeviceFailureError, UsageError
from assay.procedures.conformity import conformity_label
from assay.report import render
from assay.results.ended import stored_error_count
from assay.results.outcome import withheld_reason
from assay.results.stall import void_places
from assay.run.plan_file import load_plan
from assay.run.run import Outcome, run_plan
from assay.run.store.read import read_run
from assay.spec.units import MILLISECOND_NS, SECOND_NS
from assay.words.text import text
from shown_errors import error_lines

# 56 cells of 60 ms are a round of 3.36 s; purge and preconditioning take less than 0.2 s.
SCALE = 0.001
IN_ROUND_2 = "at_s = 5"
SERVICE_NS = 10_000
CAPACITY = 128_000_000


def written(folder: Path, *faults: str) -> Path:
    path = folder / "faults.toml"
    path.write_text("schema = 1\n" + "".join(f"[[faults]]\n{fault}\n" for fault in faults), "utf-8")
    return path


def run(folder: Path, *faults: str, drive: str = "sim:ideal?capacity=128MB", **keys: Any) -> Outcome:
    path = written(folder, *faults)
    chosen = {"drive": f"{drive}&faults={path}", "tests": ["iops"], "seed": 1, "scale": SCALE, **keys}
    return run_plan(load_plan(None, chosen), out=folder / "run", answers=Answers(), show=lambda _: None)


def failed(folder: Path, *faults: str, **keys: Any) -> tuple[str, StoredTest]:
    """Why a run ended with exit code 4, and what it left."""
    with pytest.raises(DeviceFailureError) as caught:
        run(folder, *faults, **keys)
    assert caught.value.exit_code == 4
    (test,) = read_run(folder / "run").tests
    assert test.ended == caught.value.slug
    return caught.value.reason, test


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        ("(1 x ENODATA, no data available)", 'kind = "media-error"'),
        ("(1 x EREMOTEIO, remote I/O error)", 'kind = "media-error"\nerrno = "EREMOTEIO"\ndirection = "write"'),
        ("(1 x ETIMEDOUT, connection timed out)", 'kind = "timeout"\nduration_s = 0.5'),
        ("(8 x EIO, input/output error)", 'kind = "reset"\nduration_s = 0.1\noutcome = "error"'),
        (" x ENODEV, no such device)", 'kind = "gone"'),
        ("its size changed from 128,000,000 to 64,000,000 bytes", 'kind = "shrink"\ncapacity_bytes = 64_000_000'),
        ("it is gone", 'kind = "gone"'),
    ],
)
def test_a_fault_in_a_measured_round_ends_the_run_and_keeps_what_was_before(
    words: str, fault: str, tmp_path: Path
) -> None:
    reason, test = failed(tmp_path, f"{fault}\n{IN_ROUND_2}")
    assert words in reason
    first, second = test.rounds
    assert (first.index, len(first.cells), second.index) == (1, 56, 2)
    assert withheld_reason(test)
    assert all(step.ended == "stop-rule" for step in first.cells)
    assert stored_error_count(test) > 0


def test_a_drive_that_shrinks_where_nothing_is_asked_of_it_is_found_too(tmp_path: Path) -> None:
    reason, test = failed(tmp_path, f'kind = "shrink"\n{IN_ROUND_2}\ncapacity_bytes = {CAPACITY - 512}')
    assert "its size changed from 128,000,000 to 127,999,488 bytes" in reason
    assert withheld_reason(test)


def test_a_drive_that_is_gone_before_its_purge_is_not_purged(tmp_path: Path) -> None:
    reason, test = failed(tmp_path, 'kind = "gone"\nat_s = 0')
    assert reason.startswith("it is gone while it was tested")
    assert (test.purge, test.sequences) == (None, ())


def test_a_command_that_never_comes_back_in_time_ends_the_run(tmp_path: Path) -> None:
    reason, test = failed(tmp_path, f'kind = "stall"\n{IN_ROUND_2}\nduration_s = 60')
    assert "the drive stopped answering" in reason
    assert "8 x ETIMEDOUT, connection timed out" in reason
    assert [round_.index for round_ in test.rounds] == [1, 2]


def test_the_time_limit_of_an_io_is_that_of_the_plan(tmp_path: Path) -> None:
    stall = f'kind = "stall"\n{IN_ROUND_2}\nduration_s = 8'
    reason, _ = failed(tmp_path, stall, io_time_limit_seconds=3)
    assert "the drive stopped answering" in reason


@pytest.mark.parametrize("length_s", [1.5, 5.0])
def test_a_stall_is_noted_and_beyond_the_limit_voids_its_round(length_s: float, tmp_path: Path) -> None:
    outcome = run(tmp_path, f'kind = "stall"\n{IN_ROUND_2}\nduration_s = {length_s}')
    assert outcome.exit_code == 0
    (test,) = read_run(outcome.folder).tests
    assert '"kind":"stall"' in (outcome.folder / "journal.jsonl").read_text("utf-8")
    longest = max(step.stall_ns_max or 0 for step in test.steps("round"))
    assert longest == round(length_s * SECOND_NS) + SERVICE_NS
    void = [("round 2", f"the drive stalled for {length_s:.1f} s")] if length_s > 2 else []
    assert [(str(place), text(happened)) for place, happened in void_places(test)] == void
    assert test.verdict is not None
    assert test.verdict.rounds == ((3, 4, 5, 6, 7) if void else (1, 2, 3, 4, 5))
    assert withheld_reason(test) is None


def test_the_limit_of_silence_and_the_policy_are_those_of_the_plan(tmp_path: Path) -> None:
    reason, test = failed(
        tmp_path,
        f'kind = "stall"\n{IN_ROUND_2}\nduration_s = 0.8',
        stall_limit_seconds=0.5,
        on_stall="stop",
    )
    assert "no I/O completed for 0.8 s" in reason
    assert len(test.rounds) == 2


def test_a_drive_that_stalls_again_and_again_is_given_up(tmp_path: Path) -> None:
    reason, test = failed(tmp_path, 'kind = "stall"\nevery_s = 6\njitter_s = 1\nduration_s = 3')
    assert "the drive stalled or was reset: the last void round" in reason
    assert len(void_places(test)) == 4


@pytest.mark.parametrize(
    ("said", "fault"),
    [
        ("controller reset, 8 outstanding commands sent again", 'kind = "reset"\nduration_s = 0.4'),
        ("command timed out after 0.3 s, ", 'kind = "timeout"\nduration_s = 0.3\noutcome = "retry"'),
    ],
)
def test_a_reset_that_costs_no_command_voids_its_round_by_its_event(said: str, fault: str, tmp_path: Path) -> None:
    outcome = run(tmp_path, f"{fault}\n{IN_ROUND_2}")
    assert outcome.exit_code == 0
    (test,) = read_run(outcome.folder).tests
    events = [(step, event) for step in test.steps("round") for event in step.drive_events]
    ((step, event),) = events
    assert event.text.startswith(said)
    assert not stored_error_count(test)
    ((place, happened),) = void_places(test)
    assert (str(place), happened.code) == ("round 2", "kernel-says")
    assert test.verdict is not None
    assert test.verdict.rounds[0] == 3
    at_ns = 5 * SECOND_NS + (300 * MILLISECOND_NS if "timed" in said else 0)
    assert step.start_ns - step.lead_in_ns <= at_ns <= step.start_ns + step.span_ns


@pytest.mark.parametrize(
    "drive", ["sim:client-2011?capacity=128MB", "sim:hdd-15k?capacity=128MB", "sim:ideal?capacity=128MB"]
)
def test_every_kind_of_drive_counts_its_media_errors_and_comes_to_the_same_again(drive: str, tmp_path: Path) -> None:
    path = written(tmp_path, 'kind = "media-error"\nrate = 0.02\ndirection = "read"')
    plan = load_plan(None, {"drive": f"{drive}&faults={path}"})
    step = StepSpec(
        label="mixed",
        pattern=random_pattern(4096, 0.5, DataPattern()),
        demand=Demand(thread_count=2, queue_depth=4),
        active_range=leading_range(CAPACITY),
        stop=StopRule(io_count=2000),
    )

    def once() -> Any:
        with open_dut(plan, parse_simulated(plan.drive).identity, [], answers=Answers(), seed=1) as dut:
            (record,) = dut.stimulus.run([step])
        return asdict(record)

    found = once()
    errors = found["read"]["errors"][61]
    # About 1,000 reads, each with a chance of 0.02; four deviations are 18.
    assert 2 <= errors <= 38
    assert not found["write"]["errors"]
    count = sum(found[way][f"{part}_io_count"] for way in ("read", "write") for part in ("window", "tail"))
    assert count + errors == 2000
    assert {**found, "start_wall_ns": 0} == {**once(), "start_wall_ns": 0}


def test_a_drive_without_faults_is_not_watched(tmp_path: Path) -> None:
    plan = load_plan(None, {"drive": "sim:ideal?capacity=128MB", "tests": ["iops"], "seed": 1, "scale": SCALE})
    run_plan(plan, out=tmp_path / "run", answers=Answers(), show=lambda _: None)
    (test,) = read_run(tmp_path / "run").tests
    assert {step.stall_ns_max for step in test.steps("round")} == {None}
    assert {sequence.drive for sequence in test.sequences} == {None}


def test_the_faults_are_disclosed_on_every_page_with_the_hash_of_their_file(tmp_path: Path) -> None:
    outcome = run(tmp_path, 'kind = "stall"\nat_s = 1e9\nduration_s = 5')
    stored = read_run(outcome.folder)
    said, digest = "stall of 5 s, at 1e+09 s", hashlib.sha256((tmp_path / "faults.toml").read_bytes()).hexdigest()
    assert stored.identity.faults == (said,)
    assert stored.identity.faults_sha256 == (digest,)
    assert f"injected faults: {said}" in stored.deviations
    html = render(stored, tmp_path / "report", formats=["html"])[0].read_text("utf-8")
    assert f"{said} (SHA-256 {digest[:12]})" in html
    assert f"injected faults: {said}" in conformity_label(stored)
    # An emptied list of deviations hides nothing.
    assert f"injected faults: {said}" in conformity_label(replace(stored, deviations=()))
    assert html.count(f"injected faults: {said}") >= 3


def test_the_command_line_ends_with_4_and_describes_the_faults(tmp_path: Path) -> None:
    path = written(tmp_path, f'kind = "gone"\n{IN_ROUND_2}')
    drive = f"sim:ideal?capacity=128MB&faults={path}"
    assay = str(Path(sys.executable).with_name("assay"))
    options = ["--test", "iops", "--scale", str(SCALE), "--out", str(tmp_path / "run")]
    ended = subprocess.run([assay, "run", drive, *options], capture_output=True, text=True, check=False)
    faults = error_lines(ended.stderr)
    assert (ended.returncode, "ENODEV, no such device" in faults, faults.count("\n")) == (4, True, 1), ended.stderr
    shown = subprocess.run([assay, "drives", "--json", "--describe", drive], capture_output=True, text=True, check=True)
    assert json.loads(shown.stdout)["injected_faults"] == [{"kind": "gone", "at_s": 5}]


def test_nothing_is_fitted_to_a_drive_with_faults(tmp_path: Path) -> None:
    path = written(tmp_path, f'kind = "gone"\n{IN_ROUND_2}')
    assay = str(Path(sys.executable).with_name("assay"))
    arguments = [assay, "fit", f"sim:client-2011?faults={path}", "--against", str(path)]
    ended = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert (ended.returncode, "has faults" in ended.stderr, ended.stderr.count("\n")) == (2, True, 1), ended.stderr


def test_a_file_of_faults_that_changes_before_the_run_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, f'kind = "gone"\n{IN_ROUND_2}')
    plan = load_plan(None, {"drive": f"sim:ideal?capacity=128MB&faults={path}"})
    identity = parse_simulated(plan.drive).identity
    written(tmp_path, 'kind = "gone"\nat_s = 6')
    with (
        pytest.raises(UsageError, match="has changed since it was read"),
        open_dut(plan, identity, [], answers=Answers(), seed=1),
    ):
        pass


def test_the_example_of_the_guide_runs(tmp_path: Path) -> None:
    guide = (Path(__file__).parents[2] / "docs/guide/simulated-drives.md").read_text("utf-8")
    (example,) = (part.split("```")[0] for part in guide.split("```toml\n")[1:] if "[[faults]]" in part)
    (tmp_path / "faults.toml").write_text(example, "utf-8")
    keys = {"tests": ["iops"], "seed": 1, "scale": SCALE}
    drive = f"sim:ideal?capacity=32GB&faults={tmp_path / 'faults.toml'}"
    plan = load_plan(None, {"drive": drive, **keys})
    # Scaled, it is over before a fault strikes by time or amount; of its millions of reads some fail.
    with pytest.raises(DeviceFailureError, match="ENODATA, no data"):
        run_plan(plan, out=tmp_path / "run", answers=Answers(), show=lambda _: None)
    stored = read_run(tmp_path / "run")
    events = [event for step in stored.tests[0].steps("round") for event in step.drive_events]
    assert len(events) == stored_error_count(stored.tests[0])
    assert all(event.text.startswith("critical medium error, read of LBA ") for event in events)
    assert [line.partition(",")[0] for line in stored.identity.faults] == [
        "media-error",
        "media-error of 2 s",
        "stall of 5 s",
        "gone",
    ]
