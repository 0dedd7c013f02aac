"""Runs in Python: frames of polars and pandas hold the numbers of the report, and the guide's lines run with both."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import assay
import pytest
from assay.errors import AssayError, StoreError, UsageError, VerificationError
from assay.procedures.run_findings import run_findings
from assay.report import records_of_tests
from every_kind import run_of

if TYPE_CHECKING:
    from assay.archive.frames import FrameLibrary

GUIDE = Path(__file__).parents[3] / "docs/guide/load.md"
BLOCK = re.compile(r"^```python ?(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
LIBRARIES: tuple[FrameLibrary, ...] = ("polars", "pandas")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A short run of write saturation below ``runs/first``."""
    found = tmp_path_factory.mktemp("load") / "runs/first"
    run_of("wsat", found)
    return found


def without(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    for name in names:
        monkeypatch.setitem(sys.modules, name, None)


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_lines_of_the_guide_run(library: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import matplotlib.pyplot as plt  # noqa: PLC0415

    monkeypatch.chdir(folder.parents[1])
    without(monkeypatch, *(one for one in LIBRARIES if one != library))
    names: dict[str, Any] = {}
    blocks = [text for only, text in BLOCK.findall(GUIDE.read_text("utf-8")) if only in {"", library}]
    assert len(blocks) == 3
    for text in blocks:
        exec(text, names)  # noqa: S102 - what the guide shows
    assert type(names["seconds"]).__module__.startswith(library)
    assert list(plt.gca().lines[0].get_ydata()) == list(names["seconds"]["io_count"])
    plt.close("all")


@pytest.mark.parametrize("library", LIBRARIES)
def test_frames_hold_the_numbers_of_the_report(library: FrameLibrary, folder: Path) -> None:
    run = assay.load(folder, frames=library)
    found = run.tests["wsat"]
    (report,) = records_of_tests(run.arrow.run)
    measures = report.measures
    values = [None if value != value else value for value in found.measures["value"]]  # noqa: PLR0124 - pandas' null
    assert values == [one.value for one in measures]
    assert list(found.measures["name"]) == [one.key for one in measures]
    assert len(found.cells) == len({(one.cell, one.label) for one in measures})
    sides = [side for one in report.test.sequences for step in one.steps for side in (step.read, step.write)]
    counted = sum(side.window_io_count + side.carried_in_io_count for side in sides)
    assert int(found.series["io_count"].sum()) == counted
    assert int(found.histograms["count"].sum()) == sum(side.latency_io_count for side in sides)
    assert (found.histograms["latency_ns_from"] < found.histograms["latency_ns_to"]).all()
    assert len(run.findings) == len(run_findings(run.arrow.run, [report]))


def test_cells_have_a_column_for_each_number(tmp_path: Path) -> None:
    run_of("iops", tmp_path)
    test = assay.load(tmp_path).tests["iops"]
    cells = {(row["block_kib"], row["read_pct"]): row for row in test.arrow.cells.to_pylist()}
    for row in test.arrow.measures.to_pylist():
        assert cells[row["block_kib"], row["read_pct"]][row["name"]] == row["value"]
        assert not row["rounds"] or (row["least"], row["greatest"]) == (min(row["rounds"]), max(row["rounds"]))
    assert (test.reached, test.withheld, test.procedure) == (True, None, "iops")


def test_without_a_library_tables_are_there_and_a_frame_says_what_to_install(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without(monkeypatch, *LIBRARIES)
    test = assay.load(folder).tests["wsat"]
    assert test.arrow.measures.num_rows
    with pytest.raises(UsageError, match=r"neither polars nor pandas .* \.arrow"):
        _ = test.measures
    with pytest.raises(UsageError, match="pip install pandas"):
        assay.load(folder, frames="pandas")
    with pytest.raises(UsageError, match='did you mean "polars"'):
        assay.load(folder, frames="polar")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        (6, r"written by a newer Assay \(schema 6\); this version reads up to 5"),
        (2, "schema 2"),
        ("x", "unknown to this version"),
    ],
)
def test_a_folder_of_another_schema_is_answered_by_name(tmp_path: Path, schema: object, words: str) -> None:
    (tmp_path / "run.json").write_text(json.dumps({"schema": schema}), "utf-8")
    with pytest.raises(StoreError, match=words):
        assay.load(tmp_path)


def test_a_table_that_was_changed_is_found(tmp_path: Path) -> None:
    run_of("wsat", tmp_path)
    run = assay.load(tmp_path)
    table = next((tmp_path / "series").iterdir())
    table.write_bytes(table.read_bytes()[:-1] + b"x")
    with pytest.raises(VerificationError, match="is not the table"):
        _ = run.tests["wsat"].series
    with pytest.raises(AssayError):
        assay.load(tmp_path)


def test_a_test_that_a_run_does_not_have_is_answered_by_the_names_that_it_has(folder: Path) -> None:
    loaded = assay.load(folder)
    assert loaded.tests.get("iops") is None
    with pytest.raises(UsageError, match="test 'iops': is not in this run; it has wsat"):
        loaded.tests["iops"]
