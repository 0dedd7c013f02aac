"""The guide to results on the terminal: its commands run in their order, and print what it shows."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from assay.cli import assay

if TYPE_CHECKING:
    import pytest

GUIDE = (Path(__file__).parents[2] / "docs/guide/results.md").read_text("utf-8")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
VARIES = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC|took [^,]* of wall time|took [^,]*,|[0-9a-f]{64}")
"""When a run began, how long it took, and its hash."""


def same_every_time(text: str) -> str:
    return VARIES.sub("-", text)


def test_its_commands_print_what_it_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    printed, compared, ran = "", 0, 0
    for language, text in FENCE.findall(GUIDE):
        if language == "text":
            for part in same_every_time(text).split("[...]\n"):
                assert part in same_every_time(printed), part
                compared += 1
            continue
        for line in text.splitlines():
            name, *arguments = shlex.split(line)
            assert name == "assay"
            assert not assay(arguments, standalone_mode=False), line
            printed = capsys.readouterr().out
            ran += 1
    assert (compared, ran) == (4, 7)


def test_the_table_of_a_run_in_the_guide_of_formats_has_every_key() -> None:
    from assay.report.formats.terminal.listed import ListedRun, ListedTest  # noqa: PLC0415
    from assay.report.formats.terminal.overview import (  # noqa: PLC0415
        Overview,
        Quoted,
        ShownDrive,
        ShownTable,
        ShownTest,
    )

    page = (Path(__file__).parents[2] / "docs/formats/output.md").read_text("utf-8")
    for model in (Overview, ShownDrive, ShownTest, Quoted, ShownTable, ListedRun, ListedTest):
        names = {field.alias or name for name, field in model.model_fields.items()}
        assert {name for name in names if f"`{name}`" not in page} == set(), model
