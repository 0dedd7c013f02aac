"""What may not cost a report: characters that the fonts lack, names that are too long, a format that cannot be made."""

from __future__ import annotations

import json
import resource
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import openpyxl
import pypdfium2 as pdfium
import pytest
from assay.errors import StoreError
from assay.procedures.custom import DataTable
from assay.report import FORMATS, build_report, render
from assay.report import layout as report_module
from assay.report.formats import pdf as pdf_module
from assay.report.formats import typeset
from assay.report.formats.pdf import REPLACEMENT, figure_svg, spelled_out
from assay.report.formats.workbook import Block, Book, sheet_names, workbook
from assay.spec.units import MIB
from assay.summary.pages.model import Page, Table
from report_run import synthetic_run, synthetic_test

if TYPE_CHECKING:
    from assay.summary.table import ResultTable

SPONSOR = "東芝 データ 삼성 𠮷 🚀 ไทย"
CSV = [
    "iops_matrix.csv", "iops_rounds.csv", "iops_response_times.csv", "iops_sequences.csv", "iops_percentiles.csv",
    "findings.csv",
]  # fmt: skip
OTHERS = [*CSV, "report.xlsx", "results.json"]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def first_page(path: Path) -> str:
    """The text of the first page of the specification, behind the summary and the method."""
    with closing(pdfium.PdfDocument(path)) as document:
        for sheet in document:
            with closing(sheet.get_textpage()) as found:
                text: str = found.get_text_range()
            if "Summary Report - All Tests" in text:
                return text
    raise AssertionError(path)


def test_characters_that_the_fonts_lack_cost_no_report_and_are_kept_elsewhere(tmp_path: Path) -> None:
    run = synthetic_run(description={"sponsor": SPONSOR}, path="/dev/データ/t.img", model_number="$\\frac$ 東")
    files = {path.name: path.read_bytes() for path in render(run, tmp_path, formats=FORMATS)}
    text = first_page(tmp_path / "report.pdf")
    assert r"東芝 データ 삼성 \u{20bb7} \u{1f680}" in text
    assert "/dev/データ/t.img" in files["report.html"].decode()
    assert SPONSOR in files["report.html"].decode()
    assert json.loads(files["results.json"])["description"]["sponsor"] == SPONSOR


def test_every_character_is_either_known_or_spelled_out() -> None:
    assert spelled_out("A 東\x00𠮷 é Ω Ж א ≤") == r"A \u{6771}\u{0}\u{20bb7} é Ω Ж א ≤"
    assert spelled_out(("plain", 3, None, ("東",))) == ("plain", 3, None, (r"\u{6771}",))
    table = Table(caption="東", columns=("a",), rows=(("b",),))
    assert spelled_out(table, "?") == replace(table, caption="?")
    assert spelled_out("東芝 データ 삼성 汉字 🚀\x07", wide=True) == r"東芝 データ 삼성 汉字 \u{1f680}\u{7}"


def test_a_text_that_the_typesetter_does_not_take_costs_its_characters_and_no_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original, tried = pdf_module.Typesetting.finish, []

    def finish(setting: Any, pictures: Any) -> bytes:
        tried.append("\\u6771" in (setting._root / "report.json").read_text("ascii"))
        if tried[-1]:
            raise StoreError("report.pdf", "the typesetter ended with code 1", "none")
        return original(setting, pictures)

    monkeypatch.setattr(pdf_module.Typesetting, "finish", finish)
    render(synthetic_run(description={"sponsor": "東芝"}), tmp_path, formats=["pdf"])
    assert tried == [True, False]


def test_a_long_text_of_such_characters_gets_a_mark_for_each_where_its_numbers_take_too_much_space(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    original = pdf_module.Typesetting.finish

    def finish(setting: Any, pictures: Any) -> bytes:
        seen.append(json.dumps(json.loads((setting._root / "report.json").read_text("ascii")), ensure_ascii=False))
        if "u{1f680}" in seen[-1]:
            raise StoreError("report.pdf", "9 pages came out on 10 sheets", "shorten the texts of the plan")
        return original(setting, pictures)

    monkeypatch.setattr(pdf_module.Typesetting, "finish", finish)
    render(synthetic_run(description={"sponsor": "🚀" * 5}), tmp_path, formats=["pdf"])
    assert ["u{1f680}" in text for text in seen] == [True, False]
    assert REPLACEMENT * 5 in seen[1]


def test_texts_of_a_figure_are_no_formulas_and_may_be_of_any_script() -> None:
    figure = next(one for one in build_report(synthetic_run()).figures if one.series)
    series = (replace(figure.series[0], label="$\\frac{$ 東"), *figure.series[1:])
    assert figure_svg(replace(figure, series=series, y_title="$x^2$ 芝"))


@pytest.mark.parametrize("broken", ["pdf", "html", "xlsx", "csv", "json"])
def test_a_format_that_cannot_be_made_costs_no_other(
    broken: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> Any:
        raise KeyError("no such thing")

    maker = {"csv": "table_csv", "json": "results_text", "xlsx": "_workbook"}.get(broken, f"_{broken}")
    monkeypatch.setattr(report_module, maker, fail)
    with pytest.raises(StoreError, match=rf"{broken} report could not be made \(KeyError in") as caught:
        render(synthetic_run(), tmp_path, formats=FORMATS)
    assert caught.value.exit_code == 6
    assert isinstance(caught.value.__cause__, KeyError)
    left = {"pdf": ["report.pdf"], "html": ["report.html"], "xlsx": ["report.xlsx"], "json": ["results.json"]}
    lost = left.get(broken, CSV)
    assert names(tmp_path) == sorted({"report.pdf", "report.html", *OTHERS} - set(lost))


def test_a_page_that_does_not_fit_costs_the_pdf_alone_and_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> Any:
        raise StoreError("report.pdf", "6 pages came out on 7 sheets", "shorten the texts of the plan")

    monkeypatch.setattr(report_module, "_pdf", fail)
    with pytest.raises(StoreError, match=r"7 sheets; written all the same: .*report\.html; shorten") as caught:
        render(synthetic_run(), tmp_path, formats=FORMATS)
    files = ["results.json", "report.xlsx", "report.html"]
    assert all(str(tmp_path / name) in caught.value.reason for name in files)
    assert f"{len(CSV)} csv files in {tmp_path}" in caught.value.reason
    assert caught.value.exit_code == 6
    assert names(tmp_path) == sorted(["report.html", *OTHERS])


def test_a_typesetter_that_fails_costs_the_pdf_alone_and_its_reason_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in typeset.SOURCES:
        (tmp_path / name).write_text("#panic()")
    monkeypatch.setattr(pdf_module, "ASSETS", tmp_path)
    with pytest.raises(StoreError, match=r"report\.pdf: the typesetter ended with code 1; written") as caught:
        render(synthetic_run(), tmp_path / "report", formats=["json", "pdf"])
    assert "panicked" in str(caught.value.__cause__)
    assert names(tmp_path / "report") == ["results.json"]


def test_a_process_keeps_nothing_of_what_was_typeset(tmp_path: Path) -> None:
    render(synthetic_run(), tmp_path, formats=["html"])
    before = resident_bytes()
    render(synthetic_run(), tmp_path, formats=["pdf"])
    assert resident_bytes() - before < 32 * MIB


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * resource.getpagesize()


def test_pages_that_cannot_be_laid_out_cost_no_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> Page:
        raise ZeroDivisionError

    monkeypatch.setattr(report_module, "all_tests_page", fail)
    with pytest.raises(StoreError, match=r"(?s)html report.*pdf report.*written all the same: .*json, .*csv.*xlsx"):
        render(synthetic_run(), tmp_path, formats=FORMATS)
    assert names(tmp_path) == sorted(OTHERS)


def test_sheets_have_names_of_their_own_whatever_the_tables_are_called() -> None:
    long = "dirth_" + "x" * 32
    asked = [f"{long}_grid", f"{long}_rounds", "Results", "run", "history", "a", "A", "b"]
    found = sheet_names(asked)
    assert found[-1] == "b"
    assert len({name.lower() for name in [*found, "results", "run"]}) == len(asked) + 2
    assert max(map(len, found)) <= 31
    tables = tuple(DataTable(name=name, columns=("x",), rows=((1,),)) for name in asked)
    date = datetime(2026, 1, 1, tzinfo=UTC)
    book = Book(title="x", label="", footer="", date=date, blocks=(Block("x", (), tables),))
    assert openpyxl.load_workbook(BytesIO(workbook(book))).sheetnames == ["Results", *found]


def test_two_tests_of_one_name_and_number_give_each_table_a_file() -> None:
    table = DataTable(name="x", columns=("a",), rows=((1,),))

    class Twice:
        suffix = ""
        test = synthetic_test()
        distribution = None

        def tables(self) -> list[ResultTable]:
            return [replace(table, key="x")]

    found = report_module._tables_of_tests([Twice(), Twice()])  # type: ignore[list-item]
    assert [[one.key for one in tables] for tables in found] == [["x", "iops_sequences"], ["x_3", "iops_sequences_4"]]
