"""Files of the project that are made from its code: written, or held against what would be written."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def write_or_check(made: Mapping[Path, str], tool: str) -> int:
    """Write what differs; with ``--check``, say which files do and which tool writes them. Returns 1 where one does.

    made : the text of each file.
    """
    stale = {path: text for path, text in made.items() if not path.exists() or path.read_text("utf-8") != text}
    if "--check" in sys.argv[1:]:
        for path in stale:
            print(f"{path} is out of date: run {tool}")
        return bool(stale)
    for path, text in stale.items():
        path.write_text(text, "utf-8")
    return 0
