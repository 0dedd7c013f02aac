"""How long commands take that only print, and how long the wheel takes to install.

Goal: CPU and wall seconds of ``--help``, ``--version``, ``drives`` and ``runs`` (of an empty folder), the least of
several; CPU is what a busy host lengthens less. ``--help`` and ``--version`` are to stay below 0.15 s, ``drives`` below
0.3 s, the wheel below 15 MB. Where ``dist/`` holds a wheel: its size, and the seconds of unpacking it into a new
virtual environment. Non-goal: getting the dependencies, which ``tools/try-install`` times from wheel to first report.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

ASSAY = str(Path(sys.executable).with_name("assay"))
WHEELS = Path(__file__).parents[1] / "dist"
COMMANDS = (("--help",), ("--version",), ("drives",), ("runs",))
TURNS = 7


def main() -> None:
    """Print a line per command; ``--smoke`` takes each once."""
    turns = 1 if "--smoke" in sys.argv else TURNS
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "runs").mkdir()
        for command in COMMANDS:
            taken = [seconds([ASSAY, *command], folder) for _ in range(turns)]
            cpu, wall = (min(one[place] for one in taken) for place in (0, 1))
            print(f"assay {' '.join(command):12} {cpu:6.3f} s of CPU, {wall:6.3f} s by the clock, least of {turns}")
        for wheel in sorted(WHEELS.glob("assay-*.whl")):
            print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.2f} MB, installed in {installed(wheel, folder):.1f} s")


def seconds(command: list[str], folder: str) -> tuple[float, float]:
    """CPU and wall seconds of a command that runs in a folder."""
    before, begun = getrusage(RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, check=True)
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
