"""The search field of the HTML report in a real browser: what it finds, where it goes, and by which keys."""

from pathlib import Path

import pytest
from assay.report import render
from chromium import PROGRAM, Page
from report_run import HOSTILE, synthetic_run

pytestmark = [
    pytest.mark.skipif(PROGRAM is None, reason="SKIPPED: needs the Debian package chromium"),
    pytest.mark.xdist_group("report-browser"),
]

FIELD = "document.querySelector('.search input')"
COUNT = "document.querySelector('.search output').textContent"
HERE = "document.querySelector('main .here')"
KEYS = {"Enter": ("\r", 13), "/": ("/", 191), "Escape": ("", 27)}
SHIFT = 8


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    (path,) = render(synthetic_run(serial=HOSTILE[0]), tmp_path_factory.mktemp("html"), formats=["html"])
    return path


def press(page: Page, key: str, *, modifiers: int = 0) -> None:
    text, code = KEYS[key]
    facts = {"key": key, "windowsVirtualKeyCode": code, "modifiers": modifiers, **({"text": text} if text else {})}
    page.ask("Input.dispatchKeyEvent", type="keyDown", **facts)
    page.ask("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)


def seek(page: Page, words: str) -> str:
    page.value(f"{FIELD}.value = {words!r}; {FIELD}.dispatchEvent(new Event('input'))")
    return str(page.value(COUNT))


def is_in_view(page: Page) -> bool:
    box = page.value(f"{HERE}.getBoundingClientRect().toJSON()")
    return bool(box["height"] > 0 and box["top"] >= 0 and box["bottom"] <= page.value("innerHeight"))


@pytest.mark.parametrize("width", [390, 1440])
def test_a_hit_in_a_closed_section_is_opened_and_shown(report: Path, page: Page, width: int) -> None:
    page.open(report, width=width, height=844)
    page.value("document.querySelectorAll('main details').forEach((one) => { one.open = false; })")
    assert seek(page, "depth of queue or no such words") == "0 hits"
    assert page.value("document.querySelector('.hits').hidden")
    count = int(seek(page, "measurement window").split()[0])
    assert count >= 2
    press(page, "/")
    assert page.value(f"document.activeElement === {FIELD}")
    assert page.value(f"{FIELD}.value") == "measurement window"
    press(page, "Enter")
    assert page.value(COUNT) == f"1 of {count} hits"
    page.until(f"{HERE} && {HERE}.getClientRects().length")
    assert is_in_view(page)
    press(page, "Enter", modifiers=SHIFT)
    assert page.value(COUNT) == f"{count} of {count} hits"
    assert page.value("document.querySelectorAll('.here').length") == 1
    press(page, "Escape")
    assert page.value(COUNT) == ""
    assert page.value(HERE) is None


def test_a_number_is_found_with_and_without_its_separators_and_a_row_by_its_column(report: Path, page: Page) -> None:
    page.open(report)
    cells = page.value("[...document.querySelectorAll('table.matrix td')].map((cell) => cell.textContent)")
    number = next(text for text in cells if "," in text)
    assert seek(page, number) == seek(page, number.replace(",", "")) != "0 hits"
    alone = int(seek(page, number).split()[0])
    assert int(seek(page, f"{number} kib").split()[0]) <= alone
    page.value("document.querySelector('.hits button').click()")
    page.until(HERE)
    assert number.replace(",", "") in page.value(f"{HERE}.textContent").replace(",", "")


def test_a_word_is_found_where_it_begins_and_what_has_all_words_stands_first(report: Path, page: Page) -> None:
    page.open(report)
    assert seek(page, "window") != "0 hits"
    assert seek(page, "indow") == "0 hits"
    assert seek(page, "steady window") != "0 hits"
    first = page.value("document.querySelector('.hits span').textContent").lower()
    assert "steady" in first
    assert "window" in first


def test_text_of_a_run_stays_text_in_the_list_of_hits(report: Path, page: Page) -> None:
    page.open(report)
    assert seek(page, "alert(1)") != "0 hits"
    assert page.value("document.querySelectorAll('.hits script').length") == 0
    assert HOSTILE[0] in page.value("document.querySelector('.hits').textContent")
    assert page.told("Runtime.exceptionThrown") == []


def test_a_file_without_script_has_no_field(report: Path) -> None:
    text = report.read_text("utf-8")
    assert '<input type="search"' not in text
    assert text.count("<input") == 0
