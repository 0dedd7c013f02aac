"""The quick look: short, never too short, and labelled wherever it is seen."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from assay.cli import assay
from assay.dut.dut import find_drive
from assay.errors import UsageError
from assay.procedures.conformity import conformity_label
from assay.procedures.editions import load_edition
from assay.report import build_report
from assay.results.step import issued_bytes
from assay.run.plan_file import load_plan
from assay.run.planning import forecast, plan_suite
from assay.run.store.read import read_run
from click.testing import CliRunner
from session_runs import copied_run

if TYPE_CHECKING:
    from pathlib import Path

    from assay.engine.records import StoredRun

MINUTE_NS = 60 * 10**9
LABEL = "quick look, not a test of the specification"
SUITES = ("quick", "quick-read-only")


@pytest.fixture(scope="module", params=SUITES)
def looked(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> StoredRun:
    """A quick look at a simulated drive, with the shortest cells that it has."""
    folder = tmp_path_factory.mktemp("quick") / "run"
    keys = {"drive": "sim:client-2011?capacity=1GB", "suite": request.param, "scale": 0.01, "seed": 1}
    assert copied_run(load_plan(None, keys), folder) == 0
    return read_run(folder, histograms=True)


def test_a_cell_takes_two_seconds_at_least_and_is_said_to_be_shorter(looked: StoredRun) -> None:
    assert {test.settings.test for test in looked.tests} == {"iops", "tp-128", "lat"}
    steps = [step for test in looked.tests for step in test.steps("round")]
    assert min(step.span_ns for step in steps) >= 2 * 10**9
    assert any(line.startswith("cells of 2 s instead of") for line in looked.deviations)


def test_its_label_stands_first_and_on_every_page_and_no_run_of_it_conforms(looked: StoredRun) -> None:
    assert looked.deviations[0] == LABEL
    assert conformity_label(looked).startswith(f"simulated drive; not conforming: {LABEL}")
    real = replace(looked, identity=replace(looked.identity, kind="block"))
    assert conformity_label(real).startswith(f"not conforming: {LABEL}")
    assert LABEL in build_report(looked).label
    # Believed or not: it follows from the edition that is stored.
    assert LABEL in conformity_label(replace(looked, deviations=()))


def test_it_is_not_purged_and_pages_say_what_was_done_instead(looked: StoredRun) -> None:
    assert [test.purge for test in looked.tests] == [None, None, None]
    written = [sum(issued_bytes(step.write) for step in test.preconditioning) for test in looked.tests]
    reads_only = looked.edition["name"] == "quick-read-only"
    assert written == ([0, 0, 0] if reads_only else [1_000_000_000] * 3)
    assert "no purge of iops" in looked.deviations
    assert not any("is recorded" in text for text in conformity_label(looked).split("; "))
    text = str(build_report(looked))
    assert ("nothing is written before the test loop" in text) is reads_only


@pytest.mark.parametrize("capacity", ["128GB", "1TB", "16TB"])
@pytest.mark.parametrize("suite", SUITES)
def test_it_takes_ten_to_thirty_minutes_whatever_the_capacity(
    suite: str, capacity: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A plan needs no memory for the drive.
    monkeypatch.setattr("assay.dut.needs.spare_memory_bytes", lambda: None)
    plan = load_plan(None, {"drive": f"sim:client-tlc?capacity={capacity}", "suite": suite})
    drive = find_drive(plan)
    found = forecast(plan, drive, plan_suite(load_edition(plan.edition_name), plan, drive).tests)
    assert 10 * MINUTE_NS <= found.span_ns_least <= found.span_ns_most <= 30 * MINUTE_NS
    assert (found.written_bytes_max == 0) is (suite == "quick-read-only")


@pytest.mark.parametrize(
    ("options", "edition"),
    [
        (["--quick"], "quick"),
        (["--read-only"], "quick-read-only"),
        (["--quick", "--read-only"], "quick-read-only"),
        (["--suite", "quick-read-only"], "quick-read-only"),
        (["--suite", "quick", "--read-only"], "quick-read-only"),
    ],
)
def test_options_and_suites_name_the_same(options: list[str], edition: str) -> None:
    done = CliRunner().invoke(assay, ["plan", "sim:client-2011", *options, "--test", "lat", "--json"])
    facts = json.loads(done.output)
    assert (facts["edition"], [test["test"] for test in facts["tests"]]) == (edition, ["lat"])


def test_another_suite_beside_it_is_refused() -> None:
    done = CliRunner().invoke(assay, ["plan", "sim:client-2011", "--quick", "--suite", "client"])
    assert isinstance(done.exception, UsageError)
    assert str(done.exception) == "--suite client: is not what --quick runs; drop either option"


def test_studies_stand_on_tests_that_write() -> None:
    plan = load_plan(None, {"drive": "sim:client-2011", "edition": "quick-read-only", "studies": ["oio"]})
    with pytest.raises(Exception, match="which has no IOPS test that writes the drive"):
        plan_suite(load_edition(plan.edition_name), plan, find_drive(plan))


def test_the_terminal_says_it_before_anything_else(tmp_path: Path) -> None:
    options = ["--quick", "--scale", "0.01", "--test", "lat", "--no-report", "--json", "--out", str(tmp_path / "run")]
    done = CliRunner().invoke(assay, ["run", "sim:client-2011?capacity=1GB", *options], standalone_mode=False)
    assert done.return_value == 0
    assert done.stderr.splitlines()[0] == LABEL.upper()
    options[options.index("--json")] = "--quiet"
    options[-1] = str(tmp_path / "quiet")
    done = CliRunner().invoke(assay, ["run", "sim:client-2011?capacity=1GB", *options], standalone_mode=False)
    assert (done.return_value, done.output) == (0, "")
