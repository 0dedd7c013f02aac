"""The flat list of numbers of every kind of test agrees with what its pages and results print."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

import pytest
from assay.pages.distribution import percentile_results
from assay.pages.headline import Headline
from assay.pages.measure import headline_measures
from assay.procedures.registry import find_procedure
from assay.report import reports_of_tests
from assay.results import step_times
from every_kind import EVERY, run_of

if TYPE_CHECKING:
    from pathlib import Path

    from assay.engine.records import StoredSequence
    from assay.pages.test_report import TestReport
    from assay.results import ResponseTimes


@pytest.mark.parametrize("kind", EVERY)
def test_measures_are_the_numbers_of_the_report(tmp_path: Path, kind: str) -> None:
    for one in reports_of_tests(run_of(kind, tmp_path)):
        _agrees(one)


def _agrees(one: TestReport) -> None:
    measures = list(one.measures())
    assert measures
    found = {(*measure.cell, measure.name): measure for measure in measures}
    assert len(found) == len(measures)
    for measure in measures:
        # A maximum of all rounds is the largest of theirs; averages over equal times are means of the rounds.
        if measure.rounds and measure.name.endswith("_max"):
            assert measure.value == max(measure.rounds)
        elif measure.rounds and measure.unit in {"IOPS", "MB/s"}:
            # Samples of a study are of unequal times where an amount ends them.
            tolerance = 1e-4 if find_procedure(one.test.settings.procedure).kind == "study" else 1e-6
            assert measure.value == pytest.approx(fmean(measure.rounds), rel=tolerance)
    _has_percentiles(one, found)
    for headline in one.headlines():
        values = {measure.value for measure in measures if measure.unit == headline.unit}
        assert headline.value is None or headline.value in values or headline.unit in {"x", "ms"}


def _has_percentiles(one: TestReport, found: dict[tuple[object, ...], object]) -> None:
    spread = one.distribution()
    rows = percentile_results(spread) if spread else []
    for row in rows:
        cell = tuple((name, row[name]) for name in spread.columns)
        times = {name: value for name, value in row.items() if name.startswith("latency_ms")}
        assert {name: found[(*cell, name)].value for name in times} == times


def test_of_a_headline_its_unit_names_the_number_and_says_what_is_better() -> None:
    item = "RND 4KiB 0/100, settled"
    values = (2400.0, 2600.0)
    (one,) = headline_measures([Headline(item=item, unit="IOPS", value=2500.0, basis="", values=values)])
    assert (one.cell, one.name, one.rounds, one.judged) == ((("item", item),), "iops", values, True)
    (ratio,) = headline_measures([Headline(item="of both", unit="x", value=0.25, basis="")])
    assert (one.better, ratio.better, ratio.judged) == ("higher", "neither", False)


def test_response_times_of_a_sequence_are_gathered_once_for_all_cells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gathered: list[str] = []

    def counted(sequence: StoredSequence) -> list[ResponseTimes]:
        gathered.append(sequence.name)
        return step_times(sequence)

    (report,) = reports_of_tests(run_of("iops", tmp_path))
    monkeypatch.setattr("assay.procedures.loop.measures.step_times", counted)
    assert len({one.cell for one in report.measures()}) > len(gathered) == len(set(gathered)) > 0
