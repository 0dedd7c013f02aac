"""A record that contradicts itself is withheld wherever its run is read, with the reason and exit code 5."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from assay import load
from assay.archive.rendering import stored_run
from assay.archive.verify import verify_run
from assay.cli import assay
from assay.compare.comparison import Options, compare_runs
from assay.compare.limits.judge import judge
from assay.compare.limits.model import limits_of_plan
from assay.report import records_of_tests
from assay.report.comparison.files import loaded_run
from assay.report.formats.terminal.listed import listed_run
from assay.results.outcome import withheld_reason
from assay.results.run_checks import run_checks
from assay.words.text import text_or_none
from every_kind import run_of
from folder_faults import Folder
from forged_records import FORGERIES

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("true") / "iops"
    run_of("iops", folder)
    return folder


@pytest.fixture(scope="module", params=FORGERIES)
def forged(request: pytest.FixtureRequest, good: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A forged run, and what is said of it."""
    change, words = FORGERIES[request.param]
    folder, path = Folder.read(good), tmp_path_factory.mktemp("forged") / "run"
    change(folder)
    folder.write(path)
    return path, words


def test_a_true_record_contradicts_nothing(good: Path) -> None:
    (test,) = stored_run(good).tests
    assert withheld_reason(test) is None
    assert "record" not in [row.name for row in run_checks(test)]


def test_every_reader_withholds_and_says_why(forged: tuple[Path, str]) -> None:
    path, words = forged
    run = stored_run(path)
    reason = text_or_none(withheld_reason(run.tests[0])) or ""
    assert words in reason
    (report,) = records_of_tests(run)
    assert report.verdict.state == "withheld"
    assert all(measure.value is None for measure in report.measures)
    assert listed_run(run, "run").tests[0].verdict == "withheld"
    (test,) = load(path).tests.values()
    assert test.withheld == reason


def test_the_commands_say_it_and_exit_with_5(forged: tuple[Path, str], capsys: pytest.CaptureFixture[str]) -> None:
    path, words = forged
    assert assay(["show", str(path), "--json"], standalone_mode=False) == 5
    (test,) = json.loads(capsys.readouterr().out)["tests"]
    assert words in test["verdict"]["reason"]
    assay(["report", str(path), "--json"], standalone_mode=False)
    (test,) = json.loads((path / "report/results.json").read_bytes())["tests"]
    assert words in test["verdict"]["reason"]


def test_a_comparison_and_limits_leave_a_forged_record_out(good: Path, forged: tuple[Path, str]) -> None:
    path, _ = forged
    run = stored_run(path)
    compared = compare_runs([loaded_run(stored_run(good), "true"), loaded_run(run, "forged")], Options(despite=True))
    assert compared.numbers
    for number in compared.numbers:
        assert [side.state for side in number.sides][1:] == ["withheld"], number.name
    asked = {"limits": [{"test": "iops", "measure": "iops", "at_least": 1}]}
    (limit, *_) = judge(run, records_of_tests(run), limits_of_plan(replace(run, plan={**run.plan, **asked})))
    assert limit.verdict == "not decided", limit


def test_each_contradiction_is_a_broken_rule_as_well(forged: tuple[Path, str]) -> None:
    assert any(answer.rule.startswith("W-") for answer in verify_run(forged[0]).answers)
