"""The flat list of numbers of every kind of test agrees with what its pages and results print."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

import pytest
from assay.procedures.registry import find_procedure
from assay.report import records_of_tests
from assay.results.histogram import step_times
from assay.summary.measures import SETTLED, quoted
from assay.summary.pages.histograms import percentile_data
from assay.words.coded import coded
from every_kind import FEW

if TYPE_CHECKING:
    from collections.abc import Callable

    from assay.engine.records import StoredRun, StoredSequence
    from assay.results.histogram import ResponseTimes
    from assay.summary.pages.test_record import TestRecord


@pytest.mark.parametrize("kind", FEW)
def test_measures_are_the_numbers_of_the_report(kind: str, quiet: Callable[[str], StoredRun]) -> None:
    for one in records_of_tests(quiet(kind)):
        _agrees(one)


def _agrees(one: TestRecord) -> None:
    measures = one.measures
    assert measures
    found = {(*measure.cell, measure.key): measure for measure in measures}
    assert len(found) == len(measures)
    for measure in measures:
        # A maximum of all rounds is the largest of theirs; averages over equal times are means of the rounds.
        if measure.rounds and measure.stat == "maximum":
            assert measure.value == max(measure.rounds)
        elif measure.rounds and measure.unit in {"IOPS", "MB/s"}:
            # Samples of a study are of unequal times where an amount ends them.
            tolerance = 1e-4 if find_procedure(one.test.settings.procedure).kind == "study" else 1e-6
            assert measure.value == pytest.approx(fmean(measure.rounds), rel=tolerance)
    _has_percentiles(one, found)
    assert one.key_results
    assert all(measure.quoted for measure in one.key_results)


def _has_percentiles(one: TestRecord, found: dict[tuple[object, ...], object]) -> None:
    spread = one.distribution
    table = percentile_data(spread) if spread else None
    keys = [column.key for column in table.columns] if table else []
    for values in table.rows if table else ():
        row = dict(zip(keys, values, strict=True))
        cell = tuple((name, row[name]) for name in spread.columns)
        times = {name: value for name, value in row.items() if name.startswith("latency_ms")}
        assert {name: found[(*cell, name)].value for name in times} == times


def test_the_unit_of_a_quoted_number_is_its_key_and_says_what_is_better() -> None:
    one = quoted(SETTLED, "IOPS", "RND 4KiB 0/100, settled", 2500.0, coded("no-level"), rounds=(2400.0, 2600.0))
    ratio = quoted(SETTLED, "x", "of both", 0.25, coded("two-above"))
    assert [(each.key, each.stat, each.better) for each in (one, ratio)] == [
        ("iops", "mean", "higher"),
        ("ratio", "ratio", "neither"),
    ]


def test_response_times_of_a_sequence_are_gathered_once_for_all_cells(
    quiet: Callable[[str], StoredRun], monkeypatch: pytest.MonkeyPatch
) -> None:
    gathered: list[str] = []

    def counted(sequence: StoredSequence) -> list[ResponseTimes]:
        gathered.append(sequence.name)
        return step_times(sequence)

    run = quiet("iops")
    monkeypatch.setattr("assay.procedures.families.loop.measures.step_times", counted)
    (report,) = records_of_tests(run)
    assert len({one.cell for one in report.measures}) > len(gathered) == len(set(gathered)) > 0
