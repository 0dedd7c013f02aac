"""How long commands take that only print, beside the interpreter's own start, and how long the wheel is installed.

Goal: CPU and wall seconds of commands, the least of several, and the CPU as a ratio to ``python -c pass``; CPU is what
a busy host lengthens less. ``--help`` and ``--version`` are to stay below 0.15 s, ``run --help`` below 0.2 s, an error
of usage below 0.25 s, ``drives`` below 0.3 s, ``plan`` below 0.5 s, the wheel below 15 MB. Where ``dist/`` holds a
wheel: its size, and the seconds of unpacking it into a new virtual environment. Non-goal: getting the dependencies,
which ``tools/try-install`` times from wheel to first report.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

from measured_command import compiled

ASSAY = str(Path(sys.executable).with_name("assay"))
WHEELS = Path(__file__).parents[1] / "dist"
COMMANDS = (
    ("--help",), ("--version",), ("run", "--help"), ("check", "--help"), ("run", "--nonsense"), ("drives",), ("runs",),
    ("tests",), ("plan", "sim:client-2011?capacity=32GB"),
)  # fmt: skip
TURNS = 7


def main() -> None:
    """Print a line per command; ``--smoke`` takes each once."""
    turns = 1 if "--smoke" in sys.argv else TURNS
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "runs").mkdir()
        start = min(seconds([sys.executable, "-c", "pass"], folder)[0] for _ in range(turns))
        print(f"python -c pass    {start:6.3f} s of CPU")
        for command in COMMANDS:
            taken = [seconds([ASSAY, *command], folder) for _ in range(turns)]
            cpu, wall = (min(one[place] for one in taken) for place in (0, 1))
            ratio = f"{cpu / start:4.1f} starts"
            print(f"assay {' '.join(command):36} {cpu:6.3f} s of CPU, {ratio}, {wall:6.3f} s by the clock")
        for wheel in sorted(WHEELS.glob("assay-*.whl")):
            print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.2f} MB, installed in {installed(wheel, folder):.1f} s")


def seconds(command: list[str], folder: str) -> tuple[float, float]:
    """CPU and wall seconds of a command that runs in a folder."""
    before, begun = getrusage(RUSAGE_CHILDREN), time.perf_counter()
    # With bytecode, which the first turn writes.
    home = {**os.environ, **compiled(Path(folder))}
    subprocess.run(command, cwd=folder, env=home, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    wall, after = time.perf_counter() - begun, getrusage(RUSAGE_CHILDREN)
    return (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime), wall


def installed(wheel: Path, folder: str) -> float:
    """Wall seconds of a new environment with the wheel in it, without its dependencies."""
    place = Path(folder) / "venv"
    begun = time.perf_counter()
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(place)], check=True)
    pip = [str(place / "bin/python"), "-m", "pip", "install", "--quiet", "--no-index", "--no-deps"]
    subprocess.run([*pip, str(wheel)], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begun


if __name__ == "__main__":
    main()
