"""The changelog is short: what the tool does now, and which numbers changed and why."""

from __future__ import annotations

import re
from pathlib import Path

CHANGELOG = (Path(__file__).parents[2] / "CHANGELOG.md").read_text("utf-8")
LINES_MAX = 120
COLUMNS_MAX = 145
GROUPS = ["Added", "Changed", "Fixed", "Changed numbers"]


def test_it_has_one_unreleased_section_of_four_groups() -> None:
    (section,) = re.findall(r"^## Unreleased\n(.*?)(?=^## |\Z)", CHANGELOG, re.MULTILINE | re.DOTALL)
    assert re.findall(r"^### (.+)$", section, re.MULTILINE) == GROUPS
    assert len(section.splitlines()) <= LINES_MAX


def test_its_lines_are_not_longer_to_be_fewer() -> None:
    assert [line for line in CHANGELOG.splitlines() if len(line) > COLUMNS_MAX] == []
    assert CHANGELOG.count("\n## ") == 1, "an older release has a section of its own: change this test"
