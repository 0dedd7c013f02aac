"""The checker of layouts finds each kind of fault, and none in the figures of a run at any size."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from assay.report import build_report, render
from assay.report.drawing import Size, figure_svg, screen_rules
from assay.report.drawing.theme import FONT
from assay.summary.pages.model import Figure, Series
from chromium import PROGRAM, Page
from page_layout import SIZES as WINDOWS
from page_layout import layout_faults
from report_run import synthetic_run, synthetic_test
from saturation_run import saturation_test

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [
    pytest.mark.skipif(PROGRAM is None, reason="SKIPPED: needs the Debian package chromium"),
    pytest.mark.xdist_group("report-browser"),
]

LABEL = '<text x="{}" y="{}" font-size="12">{}</text>'
SIZES = (Size(width=620, height=340), Size(width=350, height=270, beside=False, grows=True))


def faults_of(page: Page, path: Path, *labels: tuple[float, float, str], body: str = "") -> list[str]:
    texts = "".join(LABEL.format(*one) for one in labels)
    figure = f'<figure data-name="f"><svg width="300" height="100" viewBox="0 0 300 100">{texts}</svg></figure>'
    path.write_text(f"<!doctype html><meta charset=utf-8><body>{figure}{body}", "utf-8")
    return layout_faults(page, path, "desk")


@pytest.mark.parametrize(
    ("labels", "fault"),
    [
        (((100.0, 50.0, "128"), (114.0, 50.0, "1024")), 'f: "128" covers "1024"'),
        (((100.0, 50.0, "6.7k*"), (110.0, 52.0, "3.4k*")), 'f: "6.7k*" covers "3.4k*"'),
        (((285.0, 50.0, "1024"),), 'f: "1024" is cut by the frame'),
        (((100.0, 4.0, "Max"),), 'f: "Max" is cut by the frame'),
        (((100.0, 50.0, "1e+06"),), 'f: "1e+06" is in scientific notation'),
        (((100.0, 50.0, "100."),), 'f: "100." ends with a point'),
        (
            ((10.0, 50.0, "0.2"), (80.0, 50.0, "0.21"), (150.0, 50.0, "0.22")),
            "f: 0.2, 0.21, 0.22 have different decimals",
        ),
    ],
)
def test_each_kind_of_fault_in_a_figure_is_found(
    labels: tuple[tuple[float, float, str], ...], fault: str, page: Page, tmp_path: Path
) -> None:
    assert faults_of(page, tmp_path / "bad.html", *labels) == [fault]


def test_labels_apart_are_no_fault(page: Page, tmp_path: Path) -> None:
    # Of places that stand apart by factors each has the decimals that it needs.
    labels = ((10.0, 50.0, "0.05"), (80.0, 50.0, "0.1"), (150.0, 50.0, "1"), (220.0, 50.0, "10"), (10.0, 64.0, "128"))
    assert faults_of(page, tmp_path / "good.html", *labels) == []


def test_tiles_and_pages_that_are_too_wide_are_found(page: Page, tmp_path: Path) -> None:
    tile = '<div class="tile" style="width:40px;white-space:nowrap">24.6k to 3.95k IOPS</div>'
    found = faults_of(page, tmp_path / "wide.html", body=f'{tile}<div style="width:2000px">x</div>')
    assert found[0] == 'tile: "24.6k to 3.95k IOPS" is wider than its place'
    assert found[1].startswith("page: 20")


@pytest.mark.parametrize("size", SIZES)
def test_no_figure_of_a_run_has_a_fault(size: Size, page: Page, tmp_path: Path) -> None:
    report = build_report(synthetic_run())
    figures = dict.fromkeys((*report.screen_figures, *report.printed_figures))
    assert len(figures) >= 8
    drawn = (
        f'<figure data-name="{one.name}" style="width:{size.width}px">{figure_svg(one, size, paper=False)}</figure>'
        for one in figures
    )
    face = f"@font-face{{font-family:Plex;src:url({FONT.resolve().as_uri()})}}body{{font-family:Plex}}"
    style = f"<style>{face}{screen_rules()}</style>"
    (tmp_path / "figures.html").write_text(f"<!doctype html><meta charset=utf-8>{style}{''.join(drawn)}", "utf-8")
    assert layout_faults(page, tmp_path / "figures.html", "desk") == []


def test_small_shares_on_a_logarithmic_axis_are_plain_figures(page: Page, tmp_path: Path) -> None:
    line = Series(label="", x=(1.0, 2.0), y=(2e-6, 0.5), colour=0)
    figure = Figure(name="f", kind="lines", alt="", x_title="x", y_title="y", y_scale="log", series=(line,))
    drawn = figure_svg(figure, SIZES[0], paper=False)
    assert ">0.00001<" in drawn
    (tmp_path / "shares.html").write_text(f"<!doctype html><meta charset=utf-8><figure>{drawn}</figure>", "utf-8")
    assert layout_faults(page, tmp_path / "shares.html", "desk") == []


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a saturation and an IOPS test."""
    tests = (saturation_test([24_600.0] * 100 + [3_950.0] * 1340), synthetic_test())
    (path,) = render(replace(synthetic_run(), tests=tests), tmp_path_factory.mktemp("several"), formats=["html"])
    return path


@pytest.mark.parametrize("size", WINDOWS)
def test_no_report_of_several_tests_has_a_fault(size: str, page: Page, several: Path) -> None:
    assert layout_faults(page, several, size) == []
