"""Key results with their range and claims, and what a run says of them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from assay.archive.rendering import run_summary
from assay.engine.records import DirectionRecord
from assay.report import records_of_tests, render
from assay.report.annex.summary import annex_verdict
from assay.report.annex.summary import test_page as page_of_test
from assay.report.first_page.claims import Compared, claims_table
from assay.report.formats.cells import WHOLE, drawn_bars, table_cells
from assay.report.formats.terminal.tables import key_results
from assay.summary.pages.model import Table
from assay.summary.record import Measure
from assay.words.printed import claim_text, share_text
from report_run import FALLING, synthetic_run, synthetic_test
from run_words import run_sentences
from saturation_run import saturation_test

if TYPE_CHECKING:
    from assay.engine.records import StoredRun

RATES = [50_000.0] * 100 + [2_500.0] * 1340


def suite(**changes: object) -> StoredRun:
    return replace(synthetic_run(), tests=(saturation_test(RATES), synthetic_test()), **changes)  # type: ignore[arg-type]


def sentences(run: StoredRun) -> list[str]:
    return [line for _, line in run_sentences(run)]


def results(run: StoredRun) -> dict[str, tuple[str, ...]]:
    return {row[1]: row for table in key_results(run_summary(run, Path("RUN"))) for row in table.rows}


def test_the_numbers_are_those_of_the_window_with_least_and_greatest_round() -> None:
    run = suite()
    found = results(run)
    assert found["RND 4KiB 0/100, first sample"][2:4] == ("50,000.0", "IOPS")
    assert found["RND 4KiB 0/100, settled"][2:5] == ("2,500.0", "IOPS", "2,500.0 - 2,500.0")
    assert found["RND 4KiB 0/100, settled over first"][2:4] == ("0.050", "x")
    item = found["RND 4KiB W"]
    # The published window: 3445.45, 3011.86, 3147.05, 2903.05, 3227.82.
    assert item[2:5] == ("3,147.0", "IOPS", "2,903.1 - 3,445.4")
    assert item[5] == "average of rounds 1-5, 8 outstanding"


def test_claims_stand_in_a_table_of_their_own_where_the_plan_has_some() -> None:
    assert claims_table(suite(), records_of_tests(suite())) == ()
    run = suite(plan={"claims": {"rnd_4k_write_iops": 3000.0, "rnd_4k_read_iops": 1e6}})
    (found,) = claims_table(run, records_of_tests(run))
    rows = {row[:2]: row[2:] for row in found.rows}
    assert rows["IOPS", "RND 4KiB W"] == ("3,147.0", "IOPS", "at least 3,000", "105 %", "YES")
    assert rows["IOPS", "RND 4KiB R"][-1] == "NO"
    assert rows["WSAT", "RND 4KiB 0/100, settled"][-2:] == ("83 %", "NO")
    assert found.bars is not None
    assert found.bars.shares[1:] == pytest.approx([29_860.1 / 1e6, 3_147.0 / 3_000], rel=0.5)
    assert drawn_bars(found)[5][0] == pytest.approx(2_500 / 3_000 * WHOLE)


def test_a_claim_is_not_judged_by_numbers_of_a_test_that_did_not_get_steady() -> None:
    test = synthetic_test(tracked=FALLING, ended="round-limit")
    run = replace(synthetic_run(test), plan={"claims": {"rnd_4k_write_iops": 1.0}})
    (found,) = claims_table(run, records_of_tests(run))
    assert found.rows[0][-1] == "not judged"
    assert not [line for line in sentences(run) if "claim" in line]


def compared(unit: str, value: float, stated: float) -> Compared:
    measure = Measure(cell=(), key="iops", label="", unit=unit, value=value, stat="mean")
    return Compared(records_of_tests(suite())[0], measure, stated)


@pytest.mark.parametrize(
    ("unit", "value", "claim", "met"),
    [("IOPS", 5.0, 5.0, True), ("IOPS", 4.9, 5.0, False), ("ms", 5.0, 5.0, True), ("ms", 5.1, 5.0, False)],
)
def test_rates_meet_a_claim_from_it_on_and_times_up_to_it(unit: str, value: float, claim: float, met: bool) -> None:
    assert compared(unit, value, claim).met is met


def test_every_output_says_what_the_numbers_mean_gravest_first(tmp_path: Path) -> None:
    said = sentences(suite())
    assert said[0] == "Sustained random 4 KiB writes keep 5 % of fresh speed (50k to 2.5k IOPS)."
    assert len(said) <= 5
    (path,) = render(suite(), tmp_path, formats=["json"])
    stored = json.loads(path.read_text("ascii"))
    assert stored["tables"] == []
    assert stored["insights"] == said


def test_claims_that_are_missed_lead_and_one_that_two_tests_judge_is_missed_where_one_misses_it(tmp_path: Path) -> None:
    claimed = suite(plan={"claims": {"rnd_4k_write_iops": 3000.0}})
    both = {path.name: path for path in render(claimed, tmp_path / "claimed", formats=["json", "csv"])}
    (table,) = json.loads(both["results.json"].read_text("ascii"))["tables"]
    keys = [column["key"] for column in table["columns"]]
    wsat, iops = (dict(zip(keys, row, strict=True)) for row in table["rows"])
    assert (wsat["measured"], wsat["met"], iops["met"], iops["bound"]) == (2500.0, False, True, "least")
    assert len(both["claims.csv"].read_text("ascii").splitlines()) == 3
    assert sentences(claimed)[0] == "1 of 1 claims missed, worst RND 4KiB 0/100, settled: 2.5k IOPS for 3k IOPS."


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (45_000.0, "90 %"), (49_990.0, "99.98 %"), (49_999.9, "99.99 %"), (50_000.0, "100 %"), (50_001.0, "100.01 %"),
        (500_000.0, "1000 %"),
    ],
)  # fmt: skip
def test_the_share_of_a_claim_says_on_which_side_of_it_a_number_is(value: float, shown: str) -> None:
    share = compared("IOPS", value, 50_000.0).share
    assert share == value / 50_000
    assert share_text(share) == shown


def test_a_claim_says_which_side_of_it_is_good() -> None:
    assert (claim_text(40_000.0, "IOPS"), claim_text(0.3, "ms")) == ("at least 40,000", "at most 0.3")


def test_a_withheld_test_has_no_number_and_says_why(tmp_path: Path) -> None:
    test = synthetic_test()
    first, *rest = test.sequences
    failed = replace(first.steps[0], read=replace(first.steps[0].read, errors={5: 1}))
    assert isinstance(failed.read, DirectionRecord)
    run = synthetic_run(replace(test, sequences=(replace(first, steps=(failed, *first.steps[1:])), *rest)))
    assert results(run) == {}
    (report,) = records_of_tests(run)
    assert annex_verdict(report).startswith("WITHHELD: 1 I/O error")
    (path,) = render(run, tmp_path, formats=["json"])
    found = json.loads(path.read_text("ascii"))["tests"][0]["measures"]
    assert found
    assert {one["value"] for one in found} == {None}


@pytest.mark.parametrize(
    ("changes", "expected"), [({}, "good"), ({"host": (2, 5)}, "warn"), ({"state": "not-steady"}, "bad")]
)
def test_the_colour_of_a_verdict_follows_what_it_is(changes: dict[str, Any], expected: str) -> None:
    assert [row[-1].look for row in table_cells(_table("Set-up", changes))] == [expected]


def test_the_basis_of_a_number_that_the_host_disturbed_is_amber() -> None:
    looks = [
        [row[4].look for row in table_cells(_table("Select Performance Data", one))] for one in ({}, {"host": (2, 5)})
    ]
    assert [set(one) for one in looks] == [{""}, {"warn"}]


def _table(caption: str, changes: dict[str, Any]) -> Table:
    """A table of the summary of a test whose verdict has other values."""
    (test,) = records_of_tests(synthetic_run())
    page = page_of_test(replace(test, verdict=replace(test.verdict, **changes)))
    return next(block for block in page.blocks if isinstance(block, Table) and block.caption == caption)
