"""The rounds of the window after each average: least, greatest, variation, and the mark of a cell that moved."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from typing import TYPE_CHECKING

from assay.engine.records import Cell
from assay.procedures.editions import load_edition
from assay.procedures.families.loop.plan import LoopSettings
from assay.procedures.families.loop.result import (
    Spread,
    cell_spreads,
    loop_result,
    moved_places,
    moved_when,
    moved_where,
)
from assay.procedures.iops import IOPS
from assay.report import build_report, records_of_tests, render
from assay.results.step import cell_label
from assay.spec.units import KIB
from assay.summary.pages.model import Table
from assay.summary.pages.test_record import Source, TestRecord, record_of
from report_run import TRACKED, synthetic_run, synthetic_test
from result_rows import table_rows

if TYPE_CHECKING:
    from pathlib import Path

    import pytest
    from assay.summary.pages.model import Figure

MOVING = (279.0, 162.0, 159.0, 158.0, 158.0)


def moving_cells() -> tuple[Spread, Spread]:
    test = synthetic_test()
    settings = test.settings_as(LoopSettings)
    result = loop_result(test)
    cell = next(one for one in settings.cells if one != TRACKED)
    moved = replace(result, by_round={**result.by_round, cell: MOVING, TRACKED: MOVING})
    found = cell_spreads(moved, settings)
    return found[cell], found[TRACKED]


def test_a_cell_that_moves_in_the_window_is_marked_unless_it_is_tracked() -> None:
    cell, tracked = moving_cells()
    assert (cell.least, cell.greatest, cell.moved) == (158.0, 279.0, True)
    assert round(cell.variation, 3) == 0.292
    assert not tracked.moved


def test_paper_data_files_and_json_say_the_same_spread(tmp_path: Path) -> None:
    run = synthetic_run()
    found = cell_spreads(loop_result(run.tests[0]), run.tests[0].settings_as(LoopSettings))
    expected = found[TRACKED]
    files = {path.name: path for path in render(run, tmp_path, formats=["csv", "json"])}
    rows = list(csv.DictReader(io.StringIO(files["iops_matrix.csv"].read_text("utf-8"))))
    (row,) = (one for one in rows if (one["block_kib"], one["read_pct"]) == ("4", "0"))
    assert float(row["iops_least"]) == expected.least
    assert float(row["iops_greatest"]) == expected.greatest
    assert float(row["variation_share"]) == expected.variation
    matrix = table_rows(json.loads(files["results.json"].read_text("ascii"))["tests"][0], "matrix")
    (cell,) = (one for one in matrix if (one["block_kib"], one["read_pct"]) == (4, 0))
    assert (cell["iops_least"], cell["iops_greatest"]) == (expected.least, expected.greatest)
    assert (cell["variation_share"], cell["moved_over_20_pct"]) == (expected.variation, False)
    report = build_report(run)
    (table,) = (one for one in report.appendix if isinstance(one, Table) and "least to greatest" in one.caption)
    printed = f"{expected.least:,.1f} to {expected.greatest:,.1f} ({100 * expected.variation:.1f} %)"
    assert dict(zip(table.columns, table.rows[1], strict=True))["0/100"] == printed
    page = next(page for page in report.pages if "Tabular" in page.subtitle)
    (matrix,) = (block for block in page.blocks if isinstance(block, Table))
    largest = max(one.variation for one in found.values())
    said = f"All cells: coefficient of variation over the rounds of the window at most {100 * largest:.1f} %."
    assert matrix.notes == ("Average of rounds 1-5.", said)


def record_with(monkeypatch: pytest.MonkeyPatch, cell: Cell, rounds: tuple[float, ...]) -> TestRecord:
    """An IOPS test whose cell had other rounds."""
    run, test = synthetic_run(), synthetic_test()
    result = loop_result(test)
    other = replace(result, by_round={**result.by_round, cell: rounds})
    monkeypatch.setattr("assay.procedures.families.loop.record.loop_result", lambda _: other)
    return record_of(IOPS.report(Source(run=run, test=test, edition=load_edition("pts-c-1.0"), prefix="iops-1")))


def not_tracked() -> Cell:
    return next(one for one in synthetic_test().settings_as(LoopSettings).cells if one != TRACKED)


def test_the_page_names_the_cells_that_moved(monkeypatch: pytest.MonkeyPatch) -> None:
    cell = not_tracked()
    (report,) = records_of_tests(synthetic_run())
    moved = record_with(monkeypatch, cell, MOVING)
    page = next(page for page in moved.pages if "Tabular" in page.subtitle)
    (matrix,) = (block for block in page.blocks if isinstance(block, Table))
    notes = matrix.notes
    label = cell_label(cell, "random")
    at = notes.index("* Not tracked, and moved by more than 20 % of the average in the window:")
    assert notes[at + 1] == (
        f"{label}: 158.0 to 279.0 IOPS, 66.0 % of the average apart; "
        "round 1 alone is off, the others average 159.2 IOPS."
    )
    figures = [next(one for one in each.figures if one.kind == "matrix") for each in (moved, report)]
    assert [heat_mark_count(one.figure) for one in figures] == [1, 0]
    assert [one.note for one in figures] == ["QD 8; * varied by more than 20 %", "QD 8"]


def heat_mark_count(picture: Figure) -> int:
    assert picture.heat is not None
    return sum(text.endswith("*") for row in picture.heat.texts for text in row)


def test_the_round_that_alone_is_off_is_named() -> None:
    cell, tracked = moving_cells()
    assert (cell.odd, cell.others) == (1, 159.25)
    assert (tracked.odd, tracked.others) == (None, None)
    even = replace(cell, odd=None, others=None)
    cells = [Cell(read_pct=share, transfer_bytes=KIB) for share in (0, 5, 35)]
    assert moved_when(dict(zip(cells, (cell, cell, even), strict=True))) == "round 1 alone is off in 2 of 3"
    assert moved_when(dict(zip(cells, (cell, cell, even), strict=True)), "SEQ 128KiB W") == (
        "round 1, the first after preconditioning by SEQ 128KiB W, alone is off in 2 of 3"
    )
    assert moved_when(dict(zip(cells, (cell, even, even), strict=True))) == ""


def test_what_the_cells_that_moved_have_in_common_is_said_and_they_are_marked() -> None:
    def spread(*, moved: bool) -> Spread:
        return Spread(least=1.0, greatest=2.0, variation=0.3, apart=0.7, moved=moved)

    sizes = [4 * KIB, 8 * KIB, 16 * KIB]
    found = {Cell(read_pct=65, transfer_bytes=size): spread(moved=True) for size in sizes}
    found |= {Cell(read_pct=0, transfer_bytes=size): spread(moved=False) for size in sizes}
    assert moved_where(found) == "3 of 3 at 65/35"
    assert moved_places(found, sizes, [0, 65]) == ((0, 1), (1, 1), (2, 1))
    few = {cell: one for cell, one in found.items() if cell.transfer_bytes != 4 * KIB}
    assert moved_where(few) == ""


def test_of_the_last_round_it_is_not_known_whether_it_stays_so(monkeypatch: pytest.MonkeyPatch) -> None:
    cell, _ = moving_cells()
    last = replace(cell, odd=5, last=True)
    assert moved_when({TRACKED: last}, "SEQ 128KiB W") == "round 5, the last, alone is off in 1 of 1"
    (one,) = record_with(monkeypatch, not_tracked(), (100.0, 101.0, 100.0, 101.0, 150.0)).moved
    assert one.text.endswith(
        "; round 5, the last, alone is off, the others average 100.5 IOPS; whether it stays so is not known"
    )
