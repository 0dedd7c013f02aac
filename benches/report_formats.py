"""What a client suite costs to show and to report: the first ``show``, the next, all formats, and each alone.

Goal: seconds of the processors beside those of the interpreter's start, each in a process of its own; at most 1.2 s for
the first ``show``, 0.4 s for the next, 4 s for all formats. The hash of the files is the same in every run.
Non-goal: how soon a reader sees the report (``report_html.py``). The byte code of Python is kept from a first run that
is not timed, as every installation keeps it; the first ``show`` after it finds no summary kept.
"""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from client_run import client_run
from measured_command import command

if TYPE_CHECKING:
    from measured_command import Done

FORMATS = {
    "all formats": (),
    "json": ("--json",),
    "csv": ("--csv",),
    "xlsx": ("--xlsx",),
    "html": ("--html",),
    "pdf": ("--pdf",),
}


def main() -> None:
    """Print one line per command; ``--smoke`` takes a small run."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run = client_run(folder / "run")
        command(folder, "report", str(run))
        start_s = command(folder, "--version").cpu_s
        print(f"{'start':12} {start_s:8.2f} s of the processors")
        for title in ("show", "show again"):
            printed(title, command(folder, "show", str(run), exit_codes={0, 7}), start_s)
        for title, options in FORMATS.items():
            printed(title, command(folder, "report", str(run), *options), start_s)
        print(f"{'files':12} {hash_of(run / 'report')}")


def printed(title: str, done: Done, start_s: float) -> None:
    """One line: seconds of the processors, of the clock, and times the start."""
    print(f"{title:12} {done.cpu_s:8.2f} s of the processors {done.wall_s:8.2f} s {done.cpu_s / start_s:8.1f} starts")


def hash_of(folder: Path) -> str:
    """One hash of the names and bytes of all files."""
    found = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        found.update(path.name.encode() + b"\0" + path.read_bytes())
    return found.hexdigest()[:12]


if __name__ == "__main__":
    main()
