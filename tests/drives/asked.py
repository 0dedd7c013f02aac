"""Asks the gate for a drive in a process of its own, and prints what it answers as JSON: ``asked.py PATH [WORD ...]``.

The process around it decides what can be seen: its ``/dev``, its processes, its rights.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from assay.dut.real.gate import examined, open_drive
from assay.dut.real.identity import identify
from assay.errors import AssayError

if TYPE_CHECKING:
    from assay.engine.records import DriveIdentity


def main(path: str, *words: str) -> None:
    """Print ``refusals`` as listed, ``refused`` as at opening, and ``with_words`` as that with the words."""
    found = identify(path, file_target=False)
    answer = {
        "refusals": examined(found).refusals,
        "refused": refused(found, frozenset()),
        "with_words": refused(found, frozenset(words)),
    }
    sys.stdout.write(json.dumps(answer))


def refused(found: DriveIdentity, words: frozenset[str]) -> str:
    """Why the gate does not open a drive; empty where it does."""
    try:
        with open_drive(
            found,
            confirmation=found.id,
            acknowledged_signatures=frozenset(),
            needed_bytes=0,
            acknowledged=words,
        ) as opened:
            opened.verify()
    except AssayError as error:
        return str(error)
    return ""


if __name__ == "__main__":
    main(*sys.argv[1:])
