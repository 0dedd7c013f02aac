"""How long the report of a client suite takes to make in all formats, and which part takes it.

Goal: seconds of the clock and of the processors for all formats together and for each alone, as ``assay report`` makes
them in a process of its own; the hash of the files, the same in every run. Non-goal: how soon a reader sees it
(``report_html.py``). At most 5 s of the clock on two quiet cores; on a busy one the others say more. The byte code of
Python is kept from a first run that is not timed, as every installation keeps it, whatever the environment asks for.
"""

from __future__ import annotations

import hashlib
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from assay.dut.dut import Answers
from assay.run.plan_file import load_plan
from assay.run.run import run_plan

FULL, SMOKE = ("32GB", 1.0), ("1GB", 0.01)
PROGRAM = "from assay.cli import main; main()"
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
    capacity, scale = SMOKE if "--smoke" in sys.argv else FULL
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        keys = {"suite": "client", "scale": scale, "seed": 1}
        plan = load_plan(None, {"drive": f"sim:client-2011?capacity={capacity}", **keys})
        run_plan(plan, out=run, answers=Answers(), show=lambda _: None)
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(Path(folder) / "code")}
        timed(run, (), environment)
        for name, options in FORMATS.items():
            clock, processors = timed(run, options, environment)
            print(f"{name:12} {clock:8.2f} s {processors:8.2f} s of the processors")
        print(f"{'files':12} {hash_of(run / 'report')}")


def timed(run: Path, options: tuple[str, ...], environment: dict[str, str]) -> tuple[float, float]:
    """Seconds of the clock and of the processors for a report in a process of its own, with what that starts."""
    begun, before = time.monotonic(), used()
    command = [sys.executable, "-c", PROGRAM, "report", str(run), *options]
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
    return time.monotonic() - begun, used() - before


def used() -> float:
    """Seconds of the processors that ended processes took."""
    found = resource.getrusage(resource.RUSAGE_CHILDREN)
    return found.ru_utime + found.ru_stime


def hash_of(folder: Path) -> str:
    """One hash of the names and bytes of all files."""
    found = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        found.update(path.name.encode() + b"\0" + path.read_bytes())
    return found.hexdigest()[:12]


if __name__ == "__main__":
    main()
