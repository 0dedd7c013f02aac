"""The flat list of numbers of every kind of test agrees with what its pages and results print."""

from __future__ import annotations

from dataclasses import replace
from statistics import fmean
from typing import TYPE_CHECKING

import pytest
from assay.procedures.registry import find_procedure
from assay.report import reports_of_tests
from assay.results import step_times
from assay.summary.measures import LAST, MAXIMUM, MEAN, SETTLED, quoted
from assay.summary.pages.distribution import percentile_data
from assay.summary.pages.headline import quoted_headlines
from assay.summary.table import records
from assay.words.coded import coded
from every_kind import EVERY, run_of

if TYPE_CHECKING:
    from pathlib import Path

    from assay.engine.records import StoredSequence
    from assay.results import ResponseTimes
    from assay.summary.pages.test_report import TestReport


@pytest.mark.parametrize("kind", EVERY)
def test_measures_are_the_numbers_of_the_report(tmp_path: Path, kind: str) -> None:
    for one in reports_of_tests(run_of(kind, tmp_path)):
        _agrees(one)


def _agrees(one: TestReport) -> None:
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
    for headline in one.headlines():
        values = {measure.value for measure in measures if measure.unit == headline.unit}
        assert headline.value is None or headline.value in values or headline.unit in {"x", "ms"}


def _has_percentiles(one: TestReport, found: dict[tuple[object, ...], object]) -> None:
    spread = one.distribution()
    rows = records(percentile_data(spread)) if spread else []
    for row in rows:
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
    last = quoted(LAST, "IOPS", "RND 4KiB 0/100, last sample", 3953.0, coded("no-level"))
    found = quoted_headlines([replace(one, value=None, rounds=(), claim="rnd_4k_write_iops"), last])
    assert [(each.value, each.basis, each.last) for each in found] == [
        (None, "n/a: no settled level", 3953.0),
        (3953.0, "n/a: no settled level", None),
    ]


def test_a_mean_response_time_is_that_of_the_rate_of_its_cell_and_times_without_a_rate_are_parts() -> None:
    cell = (("point", "Max"),)
    rate = quoted(cell, "IOPS", "Max", 100.0, coded("replay"))
    time = quoted(cell, "ms", "Max, average response time", 1.0, coded("replay"), key=MEAN)
    alone = [quoted((), "ms", key, 1.0, coded("replay"), key=key) for key in (MEAN, MAXIMUM)]
    found = quoted_headlines([rate, time, *alone])
    assert [(one.of, one.part) for one in found] == [("", ""), ("Max", ""), ("", "average"), ("", "maximum")]


def test_response_times_of_a_sequence_are_gathered_once_for_all_cells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gathered: list[str] = []

    def counted(sequence: StoredSequence) -> list[ResponseTimes]:
        gathered.append(sequence.name)
        return step_times(sequence)

    (report,) = reports_of_tests(run_of("iops", tmp_path))
    monkeypatch.setattr("assay.procedures.families.loop.measures.step_times", counted)
    assert len({one.cell for one in report.measures}) > len(gathered) == len(set(gathered)) > 0
