"""What a plan says that a run takes: bounds that every kind of test keeps, and refusals in the words of the run."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from assay.dut.dut import Answers, find_drive
from assay.dut.foreseen import refuse_run
from assay.engine.records import Demand
from assay.errors import NotADriveError, StoreError, UsageError, WearError
from assay.plan.phases import PlannedPhase, TimedSteps, timed_phase
from assay.procedures.editions import load_edition
from assay.results.step import issued_bytes
from assay.run.foreseen import describe, unqueried
from assay.run.plan_file import load_plan
from assay.run.planning import forecast, plan_suite
from assay.run.store.write import refuse_folder
from click.testing import CliRunner
from every_kind import EVERY, plan_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from assay.engine.records import StoredRun
    from assay.run.plan_file import Plan
    from assay.run.planning import Forecast

MINUTE_NS = 60 * 10**9
ONE = Demand(thread_count=1, queue_depth=1)


def foreseen(plan: Plan) -> Forecast:
    drive = find_drive(plan)
    return forecast(plan, drive, plan_suite(load_edition(plan.edition_name), plan, drive).tests)


def steps(read_share: float, count: int = 1) -> TimedSteps:
    return TimedSteps(read_share=read_share, transfer_bytes=4096, demand=ONE, span_ns=MINUTE_NS, count=count)


@pytest.mark.parametrize(
    ("expected", "read_share"), [(36_000_000_000, 0.0), (19_384_615_385, 0.65), (1_894_736_843, 0.95), (0, 1.0)]
)
def test_a_minute_writes_at_most_what_the_link_carries_beside_the_reads(expected: int, read_share: float) -> None:
    phase = timed_phase("rounds", [steps(read_share)], least_ns=MINUTE_NS)
    in_flight = 2 * 4096 if read_share < 1 else 0
    assert phase.written_bytes_max(600e6) == expected + in_flight


def test_an_amount_or_a_time_ends_a_part_whichever_bounds_it() -> None:
    fill = PlannedPhase(name="preconditioning", amount_bytes=64 * 10**9)
    assert fill.written_bytes_max(600e6) == 64 * 10**9
    assert (fill.span_ns_least(640e6), fill.span_ns_most()) == (100 * 10**9, 1280 * 10**9)
    both = replace(timed_phase("samples", [steps(0, 10)], least_ns=MINUTE_NS), amount_bytes=10**9, beyond_ns=MINUTE_NS)
    assert both.written_bytes_max(1e6) == 600 * 10**6 + 20 * 4096
    assert both.written_bytes_max(600e6) == 37 * 10**9
    assert both.span_ns_most() == 10 * MINUTE_NS


def test_what_is_repeated_when_it_is_void_counts_as_often() -> None:
    phase = timed_phase("histogram", [steps(0)], least_ns=MINUTE_NS, repeats=True)
    assert phase.written_bytes_max(1e9, void_limit=3) == 4 * phase.written_bytes_max(1e9)
    assert phase.span_ns_most(void_limit=3) == 4 * MINUTE_NS


@pytest.mark.parametrize("kind", EVERY)
def test_no_run_writes_more_or_takes_longer_than_its_plan_says(kind: str, quiet: Callable[[str], StoredRun]) -> None:
    expected = foreseen(plan_of(kind))
    for test, phases in zip(quiet(kind).tests, expected.phases, strict=True):
        done = [step for sequence in test.sequences for step in sequence.steps]
        written = sum(issued_bytes(step.write) for step in done)
        assert 0 < written <= sum(phase.written_bytes_max for phase in phases)
        assert sum(step.span_ns for step in done) <= sum(phase.span_ns_most for phase in phases)


def test_the_bound_of_a_suite_of_recovery_is_not_nothing() -> None:
    found = foreseen(load_plan(None, {"drive": "sim:client-2011", "suite": "advanced"}))
    assert found.written_bytes == 0
    assert found.written_bytes_max > 100 * 128 * 10**9
    assert found.span_ns_least > 2 * 24 * 3600 * 10**9


@pytest.mark.parametrize("suite", ["basic", "client", "enterprise", "advanced", "blind-survey"])
def test_no_suite_is_refused_for_wear_unless_somebody_sets_a_limit(suite: str, tmp_path: Path) -> None:
    plan = load_plan(None, {"drive": "sim:client-2011?capacity=128GB", "suite": suite})
    drive = replace(find_drive(plan), kind="block", path=str(tmp_path))
    tests = plan_suite(load_edition(plan.edition_name), plan, drive).tests
    from assay.dut.real.gate.facts import Request, refuse_wear  # noqa: PLC0415

    known, most = sum(test.written_bytes for test in tests), 10**18
    refuse_wear(Request(identity=drive, written_bytes=known, written_bytes_max=most))
    with pytest.raises(WearError, match=r"could be written, at the rate of its link, 7\.8"):
        refuse_wear(Request(identity=drive, written_bytes=known, written_bytes_max=most, drive_writes_max=30.0))


def test_a_sparse_file_is_refused_by_the_plan_as_by_the_run(tmp_path: Path) -> None:
    image = tmp_path / "sparse.img"
    image.touch()
    with image.open("r+b") as file:
        file.truncate(1 << 30)
    options = [
        str(image),
        "--file-target",
        "--test",
        "lat",
        "--scale",
        "0.01",
        "--out",
        str(tmp_path / "run"),
        "--json",
    ]
    said = []
    for command, more in (("plan", []), ("run", ["--yes-destroy", str(image)])):
        done = invoke(command, *options, *more)
        assert isinstance(done.exception, NotADriveError)
        said.append(str(done.exception))
    assert said[0] == said[1]
    assert "is sparse" in said[0]


def invoke(*arguments: str):  # type: ignore[no-untyped-def]  # noqa: ANN201 - click's
    from assay.cli import assay  # noqa: PLC0415

    return CliRunner().invoke(assay, list(arguments), standalone_mode=False)


def test_the_plan_in_words_and_in_json_say_the_same() -> None:
    drive = "sim:client-2011?capacity=32GB"
    words = invoke("plan", drive, "--test", "iops").output
    facts = json.loads(invoke("plan", drive, "--test", "iops", "--json").output)
    assert facts["span_ns_least"] < facts["span_ns_most"]
    assert "Time      4 h 43 min to 23 h 41 min in all; 1 purge on top" in words
    assert f"up to {facts['written_bytes_max'] / 1e9:,.2f} GB" in words
    assert f"{facts['memory_bytes'] / 1e9:.2f} GB for the simulated drive" in words
    assert [phase["name"] for phase in facts["tests"][0]["phases"]] == ["preconditioning", "rounds"]
    assert "writes in preconditioning: 64.00 GB" in words
    assert facts["refused"] is None
    assert facts["real_time_ns"] is None


@pytest.mark.parametrize(
    ("option", "words"), [(["--pin", "0"], "real drives only"), (["--all-namespaces", "2"], "NVMe drives only")]
)
def test_what_means_nothing_for_a_simulated_drive_is_refused(option: list[str], words: str, tmp_path: Path) -> None:
    for command in ("plan", "run"):
        done = invoke(command, "sim:client-2011", *option, "--out", str(tmp_path / command))
        assert isinstance(done.exception, UsageError)
        assert words in str(done.exception)
        assert done.stdout == "", "a plan that was not meant is not shown"


def test_namespaces_of_a_file_are_refused(tmp_path: Path) -> None:
    drive = replace(find_drive(load_plan(None, {"drive": "sim:ideal"})), kind="file", path=str(tmp_path / "x"))
    plan = load_plan(None, {"drive": str(tmp_path / "x"), "file_target": True})
    with pytest.raises(UsageError, match="NVMe drives only"):
        refuse_run(plan, drive, (), Answers(all_namespaces=1), written_bytes_max=0)


def test_a_disk_that_is_too_full_is_said_before_the_folder_is_made(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="MB are needed"):
        refuse_folder(tmp_path / "not" / "there", 10**18)
    assert not (tmp_path / "not").exists()


def test_a_folder_that_is_not_empty_is_said_by_the_plan_as_by_the_run(tmp_path: Path) -> None:
    (tmp_path / "old").touch()
    said = {
        str(invoke(verb, "sim:ideal", "--test", "lat", "--out", str(tmp_path)).exception) for verb in ("plan", "run")
    }
    assert said == {f"{tmp_path}: is not empty; name a new folder with --out"}


def test_deviations_stand_once_after_the_tests_and_writes_are_given_per_rate() -> None:
    """A quick look at a simulated drive has rounds of 12 min 30 s, of which what is not read is written."""
    plan = load_plan(None, {"drive": "sim:client-2011?capacity=1GB", "suite": "quick"})
    ahead = unqueried(plan, find_drive(plan))
    lines = describe(ahead).splitlines()
    heads = [line.partition(" ")[0] for line in lines if not line.startswith(" ")]
    assert heads.index("Deviation") > max(place for place, head in enumerate(heads) if head == "Test")
    assert len([line for line in lines if "quick look, not a test of the specification" in line]) == 1
    expected = ahead.expected
    each = (expected.written_bytes_max - expected.written_bytes) / expected.bytes_per_s * 100e6
    (line,) = (line for line in lines if "expected:" in line)
    assert line.strip() == f"expected: {each / 1e9:,.2f} GB more per 100 MB/s that the drive writes"
