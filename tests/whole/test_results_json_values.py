"""``results.json`` of every kind of test: numbers or null, nothing that is only for print."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING, Any

import pytest
from assay.report import render
from assay.words.printed import NOT_APPLICABLE, NOT_AVAILABLE, UNKNOWN
from every_kind import FEW

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from assay.engine.records import StoredRun

# What a drive or a check says in words; "n/a" and "unknown" are levels of checks and caveats.
WORDS = {"drive", "platform", "plan", "settings", "checks", "level", "description", "certificate"}


def texts(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Every text below a value with the name that it stands under."""
    if isinstance(value, dict) and {"columns", "rows"} <= value.keys():
        keys = [column["key"] for column in value["columns"]]
        for row in value["rows"]:
            yield from texts(dict(zip(keys, row, strict=True)))
    elif isinstance(value, dict):
        for key, inner in value.items():
            if key not in WORDS:
                yield from texts(inner, key)
    elif isinstance(value, list):
        for inner in value:
            yield from texts(inner, name)
    elif isinstance(value, str):
        yield name, value


@pytest.mark.parametrize("kind", FEW)
def test_what_is_unknown_is_null(kind: str, tmp_path: Path, quiet: Callable[[str], StoredRun]) -> None:
    (path,) = render(quiet(kind), tmp_path, formats=["json"])
    results = json.loads(path.read_text("ascii"))
    assert [pair for pair in texts(results) if pair[1] in {NOT_AVAILABLE, NOT_APPLICABLE, UNKNOWN}] == []


def test_the_two_averages_of_latency_have_two_names(tmp_path: Path, quiet: Callable[[str], StoredRun]) -> None:
    paths = render(quiet("lat"), tmp_path, formats=["csv", "json"])
    heads = {path.name: next(csv.reader(path.read_text().splitlines())) for path in paths if path.suffix == ".csv"}
    assert "latency_ms_mean_of_rounds" in heads["lat_matrix.csv"]
    assert "latency_ms_mean_of_ios" in heads["lat_response_times.csv"]
    (test,) = json.loads(paths[-1].read_text("ascii"))["tests"]
    tables = {table["key"]: [column["key"] for column in table["columns"]] for table in test["tables"]}
    assert "latency_ms_mean_of_rounds" in tables["lat_matrix"]
    assert "latency_ms_mean_of_ios" in tables["lat_response_times"]
