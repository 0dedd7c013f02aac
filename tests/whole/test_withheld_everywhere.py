"""A host that stalls inside anything that is measured withholds the results, in every kind of test and every format."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from assay.report import FORMATS, build_report, records_of_tests, render
from assay.results.measured import counted_sequences
from assay.results.outcome import withheld_reason
from assay.words.text import text_or_none
from every_kind import EVERY, OF_FAMILIES, selected, with_stall
from openpyxl import load_workbook

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from assay.engine.records import StoredRun, StoredSequence

SAID = "NO HEADLINE: the host stalled for 5,000 ms in "


def only(sequence: StoredSequence, name: str) -> bool:
    return sequence.name == name


def places(run: StoredRun) -> list[str]:
    """Everything that is measured in the first test of a run, by name."""
    return [one.name for one in counted_sequences(run.tests[0])]


@pytest.mark.parametrize("kind", OF_FAMILIES)
def test_without_a_stall_headlines_are_printed(kind: str, quiet: Callable[[str], StoredRun]) -> None:
    run = with_stall(quiet(kind), lambda _: False)
    assert withheld_reason(run.tests[0]) is None
    assert any(text not in {"n/a", "not reached", "not recovered"} for text in selected(run))


@pytest.mark.parametrize("kind", OF_FAMILIES)
def test_a_stall_of_the_host_in_anything_measured_is_said_on_every_page(
    kind: str, quiet: Callable[[str], StoredRun]
) -> None:
    found = places(quiet(kind))
    for name in (found[0], found[len(found) // 2], found[-1]):
        run = with_stall(quiet(kind), lambda one, name=name: only(one, name))
        # A study may be several tests; sequences of one name are in more than one of them.
        run = replace(run, tests=run.tests[:1])
        banners = [page.banner or "" for page in build_report(run).pages]
        assert all(SAID + name in banner for banner in banners), (name, banners)
        assert set(selected(run)) <= {"n/a"}, name
        (report,) = records_of_tests(run)
        assert report.verdict.state == "withheld"
        assert [one for one in report.measures if one.value is not None or one.rounds] == []


@pytest.mark.parametrize("kind", EVERY)
def test_a_stall_of_the_host_while_a_drive_is_prepared_withholds_nothing(
    kind: str, quiet: Callable[[str], StoredRun]
) -> None:
    run = with_stall(quiet(kind), lambda one: one.role == "prepare")
    assert withheld_reason(run.tests[0]) is None


@pytest.mark.long
@pytest.mark.parametrize("kind", ["dirth", "ecw"])
def test_preconditioning_that_has_the_numbers_of_the_window_s_rounds_is_no_result(
    kind: str, quiet: Callable[[str], StoredRun]
) -> None:
    run = with_stall(quiet(kind), lambda one: one.stage == "sample")
    rounds, samples = run.tests[0].stage("round"), run.tests[0].stage("sample")
    assert {one.index for one in samples} & {one.index for one in rounds}
    assert withheld_reason(run.tests[0]) is None


@pytest.mark.long
def test_the_baseline_of_idle_recovery_comes_from_its_preconditioning(quiet: Callable[[str], StoredRun]) -> None:
    last = quiet("hir").tests[0].stage("sample")[-1].name
    run = with_stall(quiet("hir"), lambda one: only(one, last))
    assert f"in {last};" in (text_or_none(withheld_reason(run.tests[0])) or "")


@pytest.mark.long
@pytest.mark.parametrize("kind", ["hir", "xsr", "dirth", "study-oio", "study-stability"])
def test_no_format_has_the_headline_of_a_run_that_is_withheld(
    kind: str, quiet: Callable[[str], StoredRun], tmp_path: Path
) -> None:
    last = places(quiet(kind))[-1]
    run = with_stall(quiet(kind), lambda one: only(one, last))
    files = {path.name: path for path in render(run, tmp_path, formats=FORMATS)}
    assert SAID in files["report.html"].read_text("utf-8")
    results = json.loads(files["results.json"].read_text("ascii"))["tests"][0]
    assert "the host stalled" in results["verdict"]["reason"]
    # A grid without operating points has no measure to withhold.
    assert results["measures"] or kind == "dirth"
    assert {value for one in results["measures"] for value in (one["value"], *one["rounds"])} <= {None}
    assert results["window"] is None
    sheet = load_workbook(files["report.xlsx"])["Results"]
    assert any(SAID in str(cell) for row in sheet.iter_rows(values_only=True) for cell in row if cell)
    for name, columns in _HEADLINE_COLUMNS.items():
        if path := files.get(name):
            with path.open(newline="") as file:
                assert {row[column] for row in csv.DictReader(file) for column in columns} <= {"n/a"}, name
    for name in _HEADLINE_TABLES & files.keys():
        with files[name].open(newline="") as file:
            assert not list(csv.DictReader(file)), name


_HEADLINE_COLUMNS = {
    "hir_wait_states.csv": ("mean_iops", "over_baseline", "gain_per_s", "return_iops"),
    "xsr_groups.csv": ("mean_mb_per_s", "end_mb_per_s", "latency_ms_mean_peak", "latency_ms_max_peak"),
    "study_oio_stages.csv": ("iops", "mb_per_s", "latency_ms_mean", "iops_share"),
}
_HEADLINE_TABLES = {"dirth_oltp_grid.csv", "dirth_oltp_points.csv", "study_stability_stability.csv"}
