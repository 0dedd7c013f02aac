"""The HTML report for readers with a screen reader, a keyboard or weak sight: judged by axe-core in a browser."""

import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from assay.report import render
from chromium import PROGRAM, Page
from report_run import synthetic_run

SPEC = find_spec("axe_core_python")
AXE = os.environ.get("ASSAY_AXE") or (SPEC and SPEC.origin and str(Path(SPEC.origin).parent / "axe.min.js")) or ""
"""The program of axe-core: a file that somebody names, else that of the development package."""

pytestmark = [
    pytest.mark.xdist_group("report-browser"),
    pytest.mark.skipif(PROGRAM is None, reason="SKIPPED: needs the Debian package chromium"),
    pytest.mark.skipif(not AXE, reason="SKIPPED: needs the Python package axe-core-python"),
]
SERIOUS = {"serious", "critical"}


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    (path,) = render(synthetic_run(), tmp_path_factory.mktemp("html"), formats=["html"])
    return path


def violations(page: Page) -> list[str]:
    """What axe-core holds to be serious: the rule, how often, and the first place."""
    page.value(f"(() => {{ {Path(AXE).read_text('utf-8')} }})()")
    found: list[dict[str, Any]] = page.value(
        "axe.run(document, {resultTypes: ['violations']}).then((all) => all.violations.map((one) => ({id: one.id, "
        "impact: one.impact, count: one.nodes.length, html: one.nodes[0].html, why: one.nodes[0].failureSummary})))"
    )
    return [f"{one['id']} {one['count']}x {one['html']} {one['why']}" for one in found if one["impact"] in SERIOUS]


@pytest.mark.parametrize(("width", "dark"), [(390, True), (1440, False)])
def test_axe_core_finds_no_serious_violation(report: Path, page: Page, width: int, *, dark: bool) -> None:
    page.open(report, width=width, height=844, dark=dark)
    page.value("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    page.value("document.querySelectorAll('.page').forEach((one) => { one.style.contentVisibility = 'visible'; })")
    page.value("document.querySelector('.figure').scrollIntoView()")
    page.until("document.querySelector('.figure svg').tabIndex === 0")
    assert violations(page) == []
    page.value("document.querySelector('.search input').value = 'window'")
    page.value("document.querySelector('.search input').dispatchEvent(new Event('input'))")
    page.value("document.querySelector('.hits button').click()")
    page.value("document.querySelector('.hits').hidden = false")
    assert violations(page) == []


def test_a_picture_without_words_and_a_grey_text_are_found(report: Path, page: Page) -> None:
    page.open(report)
    page.value("document.querySelector('.figure .desk svg').removeAttribute('aria-label')")
    page.value("document.querySelector('h1').style.color = '#dddddd'")
    assert [one.partition(" ")[0] for one in violations(page)] == ["color-contrast", "svg-img-alt"]
