"""How long the report of a client suite takes to make in all formats, and which part takes it.

Goal: seconds of the clock and of the processors for all formats together and for each alone, as ``assay report`` makes
them in a process of its own; the hash of the files, the same in every run. Non-goal: how soon a reader sees it
(``report_html.py``). At most 5 s of the clock on two quiet cores; on a busy one the others say more. The byte code of
Python is kept from a first run that is not timed, as every installation keeps it.
"""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path

from client_run import client_run
from measured_command import command

FORMATS = {
    "all formats": (),
    "json": ("--json",),
    "csv": ("--csv",),
    "xlsx": ("--xlsx",),
    "html": ("--html",),
    "pdf": ("--pdf",),
}


def main() -> None:
    """Print one line per format; ``--smoke`` takes a small run."""
    with tempfile.TemporaryDirectory() as folder:
        run = client_run(Path(folder) / "run")
        command(Path(folder), "report", str(run))
        for name, options in FORMATS.items():
            done = command(Path(folder), "report", str(run), *options)
            print(f"{name:12} {done.wall_s:8.2f} s {done.cpu_s:8.2f} s of the processors")
        print(f"{'files':12} {hash_of(run / 'report')}")


def hash_of(folder: Path) -> str:
    """One hash of the names and bytes of all files."""
    found = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        found.update(path.name.encode() + b"\0" + path.read_bytes())
    return found.hexdigest()[:12]


if __name__ == "__main__":
    main()
