"""Figures on a screen: the value under the pointer and the keys, and what a reader takes away."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING

import pytest
from assay.report.drawing import screen_rules
from assay.report.drawing.theme import markers
from assay.report.formats.html import ASSETS, figure_data, screen_pictures
from assay.summary.pages.model import Figure, Heat, Series, Tick
from chromium import PROGRAM, Page, browser

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [
    pytest.mark.skipif(PROGRAM is None, reason="SKIPPED: needs the Debian package chromium"),
    pytest.mark.xdist_group("report-browser"),
]

LINES = Figure(
    name="lines",
    kind="lines",
    alt="IOPS by round",
    x_title="Round",
    y_title="IOPS",
    rounds=True,
    series=(
        Series(label="reads", x=(1.0, 2.0, 3.0), y=(30_000.0, 31_234.5, 30_500.0), colour=0),
        Series(label="=writes", x=(1.0, 2.0, 3.0), y=(4_000.0, 3_900.0, 3_950.0), colour=1),
    ),
)
HEAT = Figure(
    name="heat",
    kind="heat",
    alt="I/Os by minute and response time",
    x_title="Minute",
    y_title="Time (ms)",
    y_scale="log",
    series=(),
    y_ticks=(Tick(at=1.0, label="1"), Tick(at=10.0, label="10")),
    heat=Heat(x_edges=(0.0, 1.0, 2.0), y_edges=(1.0, 10.0, 100.0), rows=((5.0, None), (7.0, 9.0)), colour_title="I/Os"),
)
HEAD = "<!doctype html><meta charset=utf-8><meta name=viewport content=width=device-width>"
TAKEN = """window.taken = []; URL.createObjectURL = (blob) => { taken.push(blob); return 'blob:x'; };
document.addEventListener('click', (event) => { if (event.target.download) event.preventDefault(); }, true);"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    path = tmp_path_factory.mktemp("figures") / "figures.html"
    path.write_text(document(LINES, HEAT), "utf-8")
    with browser() as found:
        found.open(path)
        yield found


def document(*figures: Figure) -> str:
    shown = "".join(f'<figure class="figure" data-name="{one.name}">{screen_pictures(one)}</figure>' for one in figures)
    data = json.dumps({one.name: figure_data(one) for one in figures})
    style, scripts = (ASSETS / "figures.css").read_text(), [(ASSETS / name).read_text() for name in SCRIPTS]
    return (
        f"{HEAD}<style>{style}{screen_rules()}</style>{shown}"
        f'<script type="application/json" id="figures">{data}</script><script>{"".join(scripts)}</script>'
    )


SCRIPTS = ("places.js", "figures.js")


def moved(page: Page, name: str, share_x: float, share_y: float) -> str:
    """What is shown where the pointer is, in shares of the plot from its left upper corner."""
    place = page.value(
        f"(() => {{ const svg = document.querySelector('[data-name={name}] .desk svg');"
        "const [l, t, r, b] = svg.dataset.box.split(' ').map(Number); const f = svg.getBoundingClientRect();"
        f"const s = f.width / svg.viewBox.baseVal.width; const at = [l + {share_x} * (r - l), t + {share_y} * (b - t)];"
        "return [f.left + at[0] * s, f.top + at[1] * s]; })()"
    )
    page.ask("Input.dispatchMouseEvent", type="mouseMoved", x=place[0], y=place[1])
    hidden = page.value("document.querySelector('.hint').hidden")
    return "" if hidden else str(page.value("document.querySelector('.hint').innerText"))


def test_the_pointer_shows_the_exact_value_of_the_nearest_point(page: Page) -> None:
    # The second round is in the middle; the axis goes from 0 to 6 % above the largest value.
    height = 1 - 31_234.5 / (31_234.5 * 1.06)
    assert moved(page, "lines", 0.5, height + 0.01).split("\n") == ["reads", "Round: 2", "IOPS: 31,234.5"]
    assert moved(page, "lines", 0.5, 0.5) == ""


def test_the_pointer_shows_the_field_of_a_heat_map(page: Page) -> None:
    assert moved(page, "heat", 0.74, 0.26).split("\n") == ["10 - 100", "Minute: 1 - 2", "I/Os: 9"]


def test_the_arrow_keys_go_along_a_curve_and_from_one_to_the_next(page: Page) -> None:
    page.value("document.querySelector('[data-name=lines] .desk svg').focus()")
    said = []
    for key in ("ArrowRight", "ArrowRight", "ArrowRight", "ArrowRight", "ArrowUp", "ArrowLeft"):
        page.ask("Input.dispatchKeyEvent", type="keyDown", key=key)
        said.append(page.value("document.querySelector('.spoken').textContent"))
    assert said == [
        "reads, Round: 1, IOPS: 30,000",
        "reads, Round: 2, IOPS: 31,234.5",
        "reads, Round: 3, IOPS: 30,500",
        "reads, Round: 3, IOPS: 30,500",
        "=writes, Round: 3, IOPS: 3,950",
        "=writes, Round: 2, IOPS: 3,900",
    ]


def test_numbers_and_picture_can_be_taken_away(page: Page) -> None:
    page.value(TAKEN)

    def taken(name: str, place: int) -> str:
        page.value("taken.length = 0")
        page.value(f"document.querySelectorAll('[data-name={name}] .bar button')[{place}].click()")
        page.until("taken.length")
        return str(page.value("taken[0].text()"))

    # A cell that a spreadsheet would compute is text.
    assert taken("lines", 0).splitlines()[:2] + taken("lines", 0).splitlines()[4:5] == [
        "series,Round,IOPS",
        "reads,1,30000",
        "'=writes,1,4000",
    ]
    assert taken("heat", 0).splitlines() == [
        "Minute,Time (ms) (log),I/Os",
        "0 - 1,1 - 10,5",
        "0 - 1,10 - 100,7",
        "1 - 2,10 - 100,9",
    ]
    picture = taken("lines", 1)
    assert picture.startswith("<svg")
    assert ".s0{color:" in picture.replace(" ", "")
    assert "light-dark" not in picture


@pytest.mark.parametrize("letters", [7.0, 10.5, 12.0, 13.0])
def test_round_points_are_round(letters: float, page: Page) -> None:
    drawn = markers([(20.0, 20.04)], 0, letters * 0.33)
    page.value(
        "document.body.insertAdjacentHTML('beforeend', "
        f'\'<svg id=round viewBox="0 0 40 40"><path d="{drawn}"/></svg>\')'
    )
    box = page.value(
        "(() => { const b = document.querySelector('#round path').getBBox(); return [b.width, b.height]; })()"
    )
    page.value("document.querySelector('#round').remove()")
    assert box[0] == pytest.approx(box[1], rel=0.01)


def test_a_phone_sees_the_picture_that_is_drawn_for_it(page: Page, tmp_path: Path) -> None:
    (tmp_path / "figures.html").write_text(document(LINES), "utf-8")
    page.open(tmp_path / "figures.html", width=390, height=844)
    seen = "[...document.querySelectorAll('svg')].filter((one) => one.getClientRects().length)"
    assert page.value(f"{seen}.map((one) => one.viewBox.baseVal.width)") == [350]
    assert base64.b64decode(page.ask("Page.captureScreenshot", format="png")["data"])[:4] == b"\x89PNG"
