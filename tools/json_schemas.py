"""The JSON schemas under ``docs/formats``, made from the models of what commands print."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from assay.agent.messages import CheckAnswer, DrivesAnswer, QueueAnswer, Request
from assay.archive.index.status import IndexStatus
from assay.archive.verify.listed import VerifiedRun
from assay.report.comparison.facts import ComparisonFacts
from assay.report.formats.data import ShownForm
from assay.report.limits import ShownLimits
from assay.run.ending import RunEnd
from assay.summary.forms import ListedRun
from made_files import write_or_check
from pydantic import TypeAdapter

if TYPE_CHECKING:
    from collections.abc import Iterator

FORMATS = Path(__file__).parents[1] / "docs/formats"
SCHEMAS = {
    "agent-answers.schema.json": TypeAdapter(DrivesAnswer | CheckAnswer | QueueAnswer),
    "agent-requests.schema.json": TypeAdapter(Request),
    "alert.schema.json": TypeAdapter(RunEnd),
    "index.schema.json": TypeAdapter(IndexStatus),
    "results.schema.json": TypeAdapter(ShownForm),
    "runs.schema.json": TypeAdapter(tuple[ListedRun, ...]),
    "verify.schema.json": TypeAdapter(tuple[VerifiedRun, ...]),
    "limits.schema.json": TypeAdapter(ShownLimits),
    "comparison.schema.json": TypeAdapter(ComparisonFacts),
}
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
    return write_or_check(dict(schemas()), "tools/json-schemas")


if __name__ == "__main__":
    sys.exit(main())
