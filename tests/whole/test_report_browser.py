"""The HTML report in a real browser: no error, no request, no sideways scroll, figures on every screen."""

import re
import time
from pathlib import Path

import pytest
from assay.report import render
from chromium import PROGRAM, Page, browser
from report_run import HOSTILE, synthetic_run

pytestmark = [
    pytest.mark.skipif(PROGRAM is None, reason="SKIPPED: needs the Debian package chromium"),
    pytest.mark.xdist_group("report-browser"),
]

DRAWN = "[...document.querySelectorAll('.figure')]"
FIGURES = f"{DRAWN}.length"
INK = "getComputedStyle(document.querySelector('#{} .desk .fig .t')).fill"
SAVED_BYTES_MIN = 500
SCREENS_MAX = 16
ONE_TEST_SCREENS_MAX = 4
WINDOW = "iops-steady-state-measurement-window"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("html")
    (path,) = render(synthetic_run(serial=HOSTILE[0]), folder, formats=["html"])
    return path


def show(page: Page, selector: str) -> None:
    page.value("document.documentElement.style.scrollBehavior = 'auto'")
    page.value(f"document.querySelector({selector!r}).scrollIntoView()")


def unfold(page: Page) -> None:
    """Open the annexes, which are closed when the page opens."""
    page.value("document.querySelectorAll('.annex').forEach((one) => { one.open = true; })")


def faults(page: Page) -> list[str]:
    errors = [one["entry"]["text"] for one in page.told("Log.entryAdded") if one["entry"]["level"] == "error"]
    return errors + [str(one["exceptionDetails"]) for one in page.told("Runtime.exceptionThrown")]


def requests(page: Page) -> list[str]:
    """What was asked of a network; the file itself and what it holds are not."""
    asked = [one["request"]["url"] for one in page.told("Network.requestWillBeSent")]
    return [one for one in asked if not one.startswith(("file:", "data:", "blob:"))]


def test_every_figure_is_drawn_for_the_window_without_a_request(report: Path, page: Page) -> None:
    for width, shown, other in ((1440, "desk", "phone"), (390, "phone", "desk")):
        page.open(report, width=width)
        page.value("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        page.value("document.querySelectorAll('.page').forEach((one) => { one.style.contentVisibility = 'visible'; })")
        assert page.value(FIGURES) >= 5
        box = f"{DRAWN}.map((one) => one.querySelector('.{{}} svg').getBoundingClientRect())"
        wide = page.value(f"{box.format(shown)}.map((one) => [one.width, one.height])")
        assert all(200 < across <= width and up > 150 for across, up in wide)
        assert page.value(f"{box.format(other)}.every((one) => one.width === 0)")
        assert faults(page) == []
        assert requests(page) == []
    assert page.value("document.querySelectorAll('img').length") == 0
    assert HOSTILE[0] not in page.value("document.body.innerHTML")
    assert page.value("document.body.innerText").count(HOSTILE[0]) >= 1


@pytest.mark.parametrize("width", [390, 1024, 1440])
@pytest.mark.parametrize("dark", [False, True])
def test_the_page_never_scrolls_sideways(report: Path, page: Page, width: int, *, dark: bool) -> None:
    page.open(report, width=width, height=844, dark=dark)
    page.value("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    page.value("document.querySelectorAll('.page').forEach((one) => { one.style.contentVisibility = 'visible'; })")
    assert page.value("document.documentElement.scrollWidth") == width
    assert page.value("document.querySelector('main').scrollWidth <= document.querySelector('main').clientWidth")
    ground = page.value("getComputedStyle(document.querySelector('.page')).backgroundColor")
    assert (ground == "rgb(255, 255, 255)") is not dark
    assert faults(page) == []


@pytest.mark.parametrize("dark", [False, True])
def test_a_row_of_many_columns_is_a_card_on_a_phone_and_no_table_scrolls(
    report: Path, page: Page, *, dark: bool
) -> None:
    page.open(report, width=390, height=844, dark=dark)
    page.value("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    page.value("document.querySelectorAll('.page').forEach((one) => { one.style.contentVisibility = 'visible'; })")
    wide = "[...document.querySelectorAll('.scroll')].filter((one) => one.scrollWidth > one.clientWidth)"
    assert page.value(f"{wide}.map((one) => one.firstElementChild.getAttribute('aria-label'))") == []
    cells = "[...document.querySelectorAll('table.cards tbody td')]"
    assert page.value(f"{cells}.length") > 0
    assert page.value(f"{cells}.every((cell) => 'label' in cell.dataset)")
    # A matrix of short numbers stays a table.
    heads = "[...document.querySelectorAll('table.matrix.compact thead th')].map((one) => one.textContent)"
    assert {"Block Size (KiB)", "0/100", "100/0"} <= set(page.value(heads))
    assert page.value("document.querySelectorAll('table.matrix.compact.labelled').length") == 0
    page.open(report, width=1440)
    assert page.value("document.querySelectorAll('table.labelled').length") == 0


def test_a_phone_shows_a_line_for_each_section_and_card_until_it_is_opened(report: Path, page: Page) -> None:
    page.open(report, width=390, height=844)
    folds = "[...document.querySelectorAll('main details.fold')]"
    assert page.value(f"{folds}.map((one) => one.open)").count(True) == 0
    assert page.value("document.documentElement.scrollHeight") < SCREENS_MAX * 844
    page.value("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    row = "document.querySelector('.labelled tr.folding:has(th button)')"
    shown = f"[...{row}.cells].filter((cell) => cell.getClientRects().length).length"
    lead = page.value(shown)
    assert lead < page.value(f"{row}.cells.length")
    page.value(f"{row}.querySelector('th button').focus()")
    page.ask("Input.dispatchKeyEvent", type="keyDown", key="Enter", code="Enter", text="\r", windowsVirtualKeyCode=13)
    assert page.value(f"{row}.querySelector('th button').getAttribute('aria-expanded')") == "true"
    assert page.value(shown) > lead
    assert faults(page) == []


def test_an_address_opens_what_is_folded_on_a_phone_also_when_followed_twice(report: Path, page: Page) -> None:
    page.open(report, width=390, height=844)
    fold = f"document.querySelector('#{WINDOW} .fold')"
    for _ in range(2):
        page.value(f"document.querySelector('nav a[href=\"#{WINDOW}\"]').click()")
        page.until(f"{fold}.open")
        top = page.value(f"document.querySelector('#{WINDOW}').getBoundingClientRect().top")
        assert 0 <= top < 844 / 2
        page.value(f"{fold}.open = false")


def test_a_phone_shows_tiles_before_any_sentence_each_with_unit_demand_and_range(report: Path, page: Page) -> None:
    page.open(report, width=390, height=844)
    tops = "['.summary > .tiles', '.summary > .lead', '.summary > .main-figures', '.summary > .told']"
    found = page.value(f"{tops}.map((one) => document.querySelector(one).getBoundingClientRect().top)")
    assert found == sorted(found)
    tiles = page.value(r"[...document.querySelectorAll('.tile')].map((one) => one.innerText.split(/\s*\n\s*/))")
    assert [tile[0] for tile in tiles] == ["4 KiB random read QD 8", "4 KiB random write QD 8"]
    assert tiles[1][1:] == ["3.15k IOPS", "rounds 2.9k to 3.45k"]


def test_annexes_are_closed_until_asked_for_and_a_test_alone_stands_on_the_summary(report: Path, page: Page) -> None:
    page.open(report)
    assert page.value("[...document.querySelectorAll('.annex')].map((one) => [one.id, one.open])") == [
        ["pts-report", False], ["disclosure", False],
    ]  # fmt: skip
    chapters = page.value("[...document.querySelectorAll('.chapters a')].map((one) => one.textContent)")
    assert chapters == ["Summary", "Method", "PTS report", "Data"]
    assert page.value("document.documentElement.scrollHeight") < ONE_TEST_SCREENS_MAX * 900
    page.value("document.querySelector('.chapters a[href=\"#pts-report\"]').click()")
    page.until("document.querySelector('#pts-report').open")


def test_the_theme_is_switched_with_its_figures(report: Path, page: Page) -> None:
    page.open(report)
    unfold(page)
    ink = INK.format(WINDOW)
    light = page.value(ink)
    page.value("document.querySelector('.tools button').click()")
    assert page.value("document.documentElement.dataset.theme") == "dark"
    assert page.value(ink) != light
    page.value("document.querySelector('.tools button').click()")
    assert page.value(ink) == light
    page.value("localStorage.clear()")


def test_a_table_is_sorted_by_click_and_keys_and_comes_back(report: Path, page: Page) -> None:
    page.open(report)
    unfold(page)
    column = (
        "[...document.querySelector('.page table.matrix').tBodies[0].rows]"
        ".map((row) => parseFloat(row.cells[1].textContent.replaceAll(',', '')))"
    )
    head = "document.querySelector('.page table.matrix thead tr:last-child th')"
    as_it_came = page.value(column)
    assert page.value(f"{head}.getAttribute('aria-sort')") == "none"
    page.value(f"{head}.querySelector('button').click()")
    assert page.value(column) == sorted(as_it_came)
    assert page.value(f"{head}.getAttribute('aria-sort')") == "ascending"
    page.value(f"{head}.querySelector('button').focus()")
    page.ask("Input.dispatchKeyEvent", type="keyDown", key="Enter", code="Enter", text="\r", windowsVirtualKeyCode=13)
    assert page.value(column) == sorted(as_it_came, reverse=True)
    page.value(f"{head}.querySelector('button').click()")
    assert page.value(column) == as_it_came


def _is_written(path: Path) -> bool:
    return path.exists() and path.stat().st_size > SAVED_BYTES_MIN


def test_a_field_of_a_heat_map_says_what_it_is(report: Path, page: Page) -> None:
    page.open(report)
    heat = "document.querySelector('.main-figure[data-name$=main-matrix] .desk svg')"
    page.value(f"{heat}.scrollIntoView({{behavior: 'instant', block: 'center'}})")
    place = page.value(f"{heat}.getBoundingClientRect().toJSON()")
    left, top, right, bottom = map(float, page.value(f"{heat}.dataset.box").split())
    scale = place["width"] / page.value(f"{heat}.viewBox.baseVal.width")
    # The field of the smallest blocks, at the top.
    across, down = left + (right - left) / 20, top + (bottom - top) / 20
    at = {"x": place["left"] + across * scale, "y": place["top"] + down * scale}
    page.ask("Input.dispatchMouseEvent", type="mouseMoved", **at)
    page.until("!document.querySelector('.hint').hidden")
    told = page.value("[...document.querySelector('.hint').children].map((line) => line.textContent)")
    assert told[:2] == ["100/0", "Block Size (KiB): 0.5"]
    assert re.fullmatch(r"IOPS: [\d,.]+", told[2])
    assert faults(page) == []


def test_the_data_of_a_figure_can_be_saved(report: Path, page: Page, tmp_path: Path) -> None:
    page.open(report)
    unfold(page)
    page.ask("Page.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    show(page, ".figure.columns")
    for place, name in enumerate(("csv", "svg", "png"), 1):
        page.value(f"document.querySelector('.figure.columns .bar button:nth-child({place})').click()")
        wanted = tmp_path / f"iops-1-columns.{name}"
        # A browser makes the file first and writes into it later.
        while not _is_written(wanted):
            time.sleep(0.1)
        assert wanted.stat().st_size > SAVED_BYTES_MIN, name
    rows = (tmp_path / "iops-1-columns.csv").read_text("utf-8").splitlines()
    assert rows[0] == "R/W Mix,Block Size (KiB),IOPS"
    assert len(rows) == 1 + 8 * 7
    assert faults(page) == []


def test_contents_mark_the_place_and_an_address_opens_a_folded_section(report: Path, page: Page) -> None:
    page.open(report)
    unfold(page)
    show(page, f"#{WINDOW}")
    page.until(f"document.querySelector('.contents a[aria-current]')?.hash === '#{WINDOW}'")
    # All are open, then all are closed.
    for _ in range(2):
        page.value("document.querySelectorAll('.tools button')[1].click()")
    assert page.value(f"document.querySelector('#{WINDOW} .fold').open") is False
    page.value(f"location.hash = '#{WINDOW}'")
    page.until(f"document.querySelector('#{WINDOW} .fold').open")


def test_the_contents_list_only_the_sections_of_the_test_in_view(report: Path, page: Page) -> None:
    page.open(report, width=390, height=844)
    opened = "[...document.querySelectorAll('nav .below[open] a')].map((one) => one.hash)"
    assert page.value(opened) == []
    # A closed test is opened by an address inside it.
    page.value(f"location.hash = '#{WINDOW}'")
    page.until(f"{opened}.includes('#{WINDOW}')")
    assert page.value("document.querySelectorAll('nav .below[open]').length") == 1


def test_paper_shows_everything_and_no_button(report: Path, page: Page) -> None:
    page.open(report)
    page.ask("Emulation.setEmulatedMedia", media="print")
    shown = "[...document.querySelectorAll('{}')].every((one) => one.getBoundingClientRect().height > 0)"
    assert page.value(shown.format(".form .groups"))
    assert page.value(shown.format(".figure .desk svg"))
    assert page.value(shown.format(".folded table"))
    hidden = "document.querySelectorAll('nav, .bar, .phone')"
    assert page.value(f"[...{hidden}].every((one) => one.getBoundingClientRect().height === 0)")
    ends = "[...document.querySelectorAll('article')].map((one) => one.getBoundingClientRect())"
    assert page.value(f"(({ends}).every((one, at, them) => !at || one.top >= them[at - 1].bottom - 1))")


def test_without_a_script_everything_can_be_read(report: Path) -> None:
    with browser(script=False) as page:
        page.events.clear()
        page.ask("Page.navigate", url=report.as_uri())
        while not page.told("Page.loadEventFired"):
            time.sleep(0.05)
        page.ask("DOM.enable")
        root = page.ask("DOM.getDocument", depth=0)["root"]["nodeId"]

        def heights(selector: str) -> list[float]:
            found = page.ask("DOM.querySelectorAll", nodeId=root, selector=selector)["nodeIds"]
            return [page.ask("DOM.getBoxModel", nodeId=one)["model"]["height"] for one in found]

        assert all(heights("article .fold[open] > summary"))
        assert len(heights(".figure .desk svg")) >= 5
        assert page.ask("DOM.querySelectorAll", nodeId=root, selector=".bar, .hint")["nodeIds"] == []
