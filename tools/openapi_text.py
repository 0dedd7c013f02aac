"""The OpenAPI document of ``assay serve`` under ``docs/formats``, made from the models that its API answers with."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from assay.web.openapi import openapi
from made_files import write_or_check

FILE = Path(__file__).parents[1] / "docs/formats/openapi.json"


def openapi_text() -> str:
    """The text of the file."""
    return json.dumps(openapi(), indent=1) + "\n"


def main() -> int:
    """Write the file; with ``--check``, say whether it differs."""
    return write_or_check({FILE: openapi_text()}, "tools/openapi")


if __name__ == "__main__":
    sys.exit(main())
