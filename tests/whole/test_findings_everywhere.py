"""The same findings in PDF, HTML, workbook, CSV and JSON: each format is read by itself, and the lists compared.

What befalls the two tests of the run: stalls and a reset of the drive, no steady state, cells that move, a host that
stalls where results come from and where none do.
"""

from __future__ import annotations

import csv
import json
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from assay.dut.dut import Answers
from assay.procedures.run_findings import run_findings
from assay.report import FORMATS, records_of_tests, render
from assay.run.plan_file import load_plan
from assay.run.run import run_plan
from assay.run.store.read import read_run
from assay.summary.findings import gathered
from every_kind import with_stall
from openpyxl import load_workbook
from pypdfium2 import PdfDocument
from pypdfium2.raw import FPDF_PAGEOBJ_PATH
from report_run import synthetic_run
from result_rows import rows_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from assay.engine.records import StoredRun, StoredTest

Row = tuple[str, ...]

# The first is short of a void, and keeps every cell from being steady.
FAULTS = """
schema = 1
[[faults]]
kind = "stall"
every_s = 0.1
jitter_s = 0.09
duration_s = 0.03
[[faults]]
kind = "stall"
at_s = 40
duration_s = 5
[[faults]]
kind = "reset"
at_s = 60
duration_s = 0.01
"""
HEAD = ("Test", "Kind", "Where", "Places", "What was found")
FOOTER_PT = 46.0
"""Below this a sheet has the line of its footer; a table may end just above."""
THIN_PT = 2.0


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> StoredRun:
    folder = tmp_path_factory.mktemp("findings")
    faults = folder / "faults.toml"
    faults.write_text(FAULTS, "ascii")
    keys = {"edition": "pts-e-1.1", "seed": 1, "scale": 0.001, "tests": ["iops", "lat"]}
    plan = load_plan(None, {"drive": f"sim:ideal?capacity=1GB&faults={faults}", **keys})
    run_plan(plan, out=folder / "run", answers=Answers(), show=lambda _: None)
    stored = read_run(folder / "run", histograms=True)
    iops, lat = stored.tests
    stalled = {"round 2", "round 3", "round 5"}
    befallen = (_stalled(stored, iops, stalled), _stalled(stored, lat, {f"round {lat.window_indexes[0]}"}))
    return replace(stored, tests=befallen)


def _stalled(run: StoredRun, test: StoredTest, names: set[str]) -> StoredTest:
    return with_stall(replace(run, tests=(test,)), lambda one: one.name in names).tests[0]


@pytest.fixture(scope="module")
def files(run: StoredRun, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {path.name: path for path in render(run, tmp_path_factory.mktemp("report"), formats=FORMATS)}


def squeezed(row: Iterable[object]) -> Row:
    """A row without spaces, since a line of paper may end anywhere."""
    return tuple("".join(str(cell or "").replace("\u200b", "").split()) for cell in row)


def with_figures(row: tuple[Any, ...]) -> Row:
    """Test, kind, place and words, then figures, of which a workbook keeps fifteen digits, and their unit."""
    *words, measured, limit, unit = row
    figures = ("" if one in {None, ""} else f"{float(one):.12g}" for one in (measured, limit))
    return (*squeezed(words), *figures, unit or "")


def in_json(files: dict[str, Path]) -> list[Row]:
    found = rows_of(json.loads(files["results.json"].read_text("ascii"))["findings"])
    return [with_figures(tuple(one.values())) for one in found]


def in_csv(files: dict[str, Path]) -> list[Row]:
    with files["findings.csv"].open(newline="") as file:
        return [with_figures(tuple(row)) for row in list(csv.reader(file))[1:]]


def in_sheet(files: dict[str, Path]) -> list[Row]:
    return [with_figures(row) for row in list(load_workbook(files["report.xlsx"])["findings"].values)[1:]]


def in_report_sheet(files: dict[str, Path]) -> list[Row]:
    """The table among all others of the first sheet; a row without a name ends it, and none is there without a row."""
    rows = [row[: len(HEAD)] for row in load_workbook(files["report.xlsx"])["Results"].values]
    if HEAD not in rows:
        return []
    start = rows.index(HEAD) + 1
    end = next((place for place, row in enumerate(rows[start:], start) if not row[0]), len(rows))
    return [squeezed(row) for row in rows[start:end]]


class _Tables(HTMLParser):
    """Every table of a page as rows of texts."""

    def __init__(self) -> None:
        super().__init__()
        self.tables: list[list[list[str]]] = []
        self._inside = False

    def handle_starttag(self, tag: str, attrs: Any) -> None:  # noqa: ARG002 - as its base class has it
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in {"td", "th"}:
            self.tables[-1][-1].append("")
            self._inside = True

    def handle_endtag(self, tag: str) -> None:
        self._inside = self._inside and tag not in {"td", "th"}

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.tables[-1][-1][-1] += data


def in_html(files: dict[str, Path]) -> list[Row]:
    parser = _Tables()
    parser.feed(files["report.html"].read_text("utf-8"))
    found = [[squeezed(row) for row in table] for table in parser.tables]
    return [row for head, *rows in found if head == squeezed(HEAD) for row in rows]


def in_pdf(files: dict[str, Path]) -> list[Row]:
    """The cells between the lines of the tables on every sheet."""
    with PdfDocument(files["report.pdf"]) as document:
        return [row for sheet in document for row in _rows_of(sheet)]


def _rows_of(sheet: Any) -> list[Row]:
    """The rows below the shaded head of the list, down to the head of the next table; a cell may be of many rows."""
    text = sheet.get_textpage()
    boxes = [path.get_bounds() for path in sheet.get_objects(filter=[FPDF_PAGEOBJ_PATH])]
    along = [box for box in boxes if box[3] - box[1] < THIN_PT]
    heads: dict[tuple[float, float], list[tuple[float, float]]] = {}
    for left, bottom, right, top in boxes:
        if top - bottom >= THIN_PT:
            heads.setdefault((round(bottom, 1), round(top, 1)), []).append((left, right))
    for (bottom, top), columns in heads.items():
        sides = sorted(columns)
        if squeezed(text.get_text_bounded(left, bottom, right, top) for left, right in sides) == squeezed(HEAD):
            end = max((high for low, high in heads if high < bottom - THIN_PT), default=FOOTER_PT)
            places = sorted({round(high, 1) for *_, high in along if end + 1 < high <= bottom + 1}, reverse=True)
            rows = [
                squeezed(_cell(text, along, pair, (high + low) / 2) for pair in sides) for high, low in pairwise(places)
            ]
            return [row for row in rows if any(row)]
    return []


def _cell(text: Any, along: list[Any], sides: tuple[float, float], middle: float) -> str:
    """The text between two lines down a sheet, from the line along it above the middle to the one below."""
    (left, right), centre = sides, sum(sides) / 2
    lines = [top for start, _, end, top in along if start <= centre <= end]
    low, high = max(one for one in lines if one < middle), min(one for one in lines if one > middle)
    found: str = text.get_text_bounded(left, low, right, high)
    return found


TABLES: dict[str, Callable[[dict[str, Path]], list[Row]]] = {"csv": in_csv, "sheet": in_sheet}
READ_BY_PEOPLE: dict[str, Callable[[dict[str, Path]], list[Row]]] = {
    "printed sheet": in_report_sheet,
    "html": in_html,
    "pdf": in_pdf,
}


@pytest.mark.parametrize("form", TABLES)
def test_every_table_of_places_has_the_findings_of_results_json(form: str, files: dict[str, Path]) -> None:
    assert Counter(TABLES[form](files)) == Counter(in_json(files))


@pytest.mark.parametrize("form", READ_BY_PEOPLE)
def test_people_read_a_row_for_each_finding_with_the_count_of_its_places(
    form: str, run: StoredRun, files: dict[str, Path]
) -> None:
    listed = rows_of(json.loads(files["results.json"].read_text("ascii"))["findings"])
    rows = READ_BY_PEOPLE[form](files)
    assert Counter(rows) == Counter(
        squeezed((one.test, one.kind, one.where, one.count, one.what))
        for one in gathered(run_findings(run, records_of_tests(run)))
    )
    assert len(rows) < len(listed) == sum(int(row[3]) for row in rows)


def test_they_are_what_befell_the_run(run: StoredRun, files: dict[str, Path]) -> None:
    found = rows_of(json.loads(files["results.json"].read_text("ascii"))["findings"])
    rows = {(one["test"], one["kind"], one["where"]) for one in found}
    assert {("IOPS", "void", "round 11"), ("IOPS", "void", "round 15"), ("IOPS", "host", "round 2")} <= rows
    last = run.tests[-1].window_indexes[0]
    assert {("LAT", "withheld", ""), ("LAT", "host", f"round {last}")} <= rows
    assert ("IOPS", "warning", "") in rows
    assert [one["what"] for one in found if one["kind"] == "drive event"] == [
        "controller reset, 32 outstanding commands sent again"
    ]
    assert {test for test, kind, _ in rows if kind == "moved"} >= {"IOPS"}
    assert "LAT" not in {test for test, kind, _ in rows if kind == "moved"}
    results = json.loads(files["results.json"].read_text("ascii"))
    assert [one["what"] for one in found if one["kind"] == "deviation"] == results["deviations"]


def test_flags_of_the_matrix_and_of_sequences_say_the_same(files: dict[str, Path]) -> None:
    moved = [row for row in in_json(files) if row[:2] == ("IOPS", "moved")]
    with files["iops_matrix.csv"].open(newline="") as file:
        assert sum(row["moved_over_20_pct"] == "yes" for row in csv.DictReader(file)) == len(moved)
    for name in ("iops", "lat"):
        with files[f"{name}_sequences.csv"].open(newline="") as file:
            rows = list(csv.DictReader(file))
        told = {kind: {row["sequence"] for row in rows if row[column] != "n/a"} for kind, column in FLAGS.items()}
        for kind, flagged in told.items():
            listed = {row[2] for row in in_json(files) if row[:2] == (name.upper(), kind)}
            assert {"".join(one.split()) for one in flagged} == listed


FLAGS = {"host": "host_reason", "void": "void_reason"}
"""The column of the table of sequences that says of each kind."""


def test_a_run_without_a_finding_says_so(tmp_path: Path) -> None:
    run = synthetic_run()
    quiet = {path.name: path for path in render(run, tmp_path, formats=FORMATS)}
    assert in_json(quiet) == in_csv(quiet) == in_sheet(quiet)
    printed = in_json(quiet) or [squeezed(("all", "none", "", "", "no findings"))]
    assert in_html(quiet) == in_pdf(quiet) == printed
    assert in_report_sheet(quiet) == in_json(quiet)
