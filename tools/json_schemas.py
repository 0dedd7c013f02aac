"""The JSON schemas under ``docs/formats``, made from the models of what commands print."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from assay.report.listed import ListedRun
from assay.report.overview import Overview
from pydantic import TypeAdapter

if TYPE_CHECKING:
    from collections.abc import Iterator

FORMATS = Path(__file__).parents[1] / "docs/formats"
SCHEMAS = {"results.schema.json": TypeAdapter(Overview), "runs.schema.json": TypeAdapter(tuple[ListedRun, ...])}
"""Each file with the form that it is of."""


def schemas() -> Iterator[tuple[Path, str]]:
    """Every file with its text."""
    for name, form in SCHEMAS.items():
        content = {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            **form.json_schema(by_alias=True, mode="serialization"),
        }
        yield FORMATS / name, json.dumps(content, indent=1) + "\n"


def main() -> int:
    """Write the files; with ``--check``, say which differ."""
    stale = [(path, text) for path, text in schemas() if not path.exists() or path.read_text("utf-8") != text]
    if "--check" in sys.argv[1:]:
        print(*(f"{path} is out of date: run tools/json-schemas" for path, _ in stale), sep="\n", end="")
        return bool(stale)
    for path, text in stale:
        path.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
