"""Runs a small test and says of each round and sample that it is stored, for tests that end it from outside.

Arguments: the run folder, and the seed. It prints ``begun``, then the number of sequences in its
journal that are known to be on stable storage, and ends with the exit code of the run.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from assay.dut.dut import Answers
from assay.errors import AssayError
from assay.run.plan_file import load_plan
from assay.run.run import run_plan

if TYPE_CHECKING:
    from assay.run.progress import Progress

KEYS = {"drive": "sim:client-2011?capacity=1GB", "scale": 0.001, "edition": "pts-e-1.1", "tests": ["lat", "tp"]}
SEQUENCE = b'"kind":"steps"'


def main(out: Path, seed: int) -> int:
    """Run it; its exit code."""

    def show(progress: Progress) -> None:
        # A verdict is told after the sequence that it is of was made durable, with every line before it.
        # The store may fail under this as well, which is the run's own to say.
        with suppress(OSError):
            if progress.judged is not None:
                tell(str((out / "journal.jsonl").read_bytes().count(SEQUENCE)))

    tell("begun")
    try:
        return run_plan(load_plan(None, {**KEYS, "seed": seed}), out=out, answers=Answers(), show=show).exit_code
    except AssayError as error:
        os.write(2, f"{error}\n".encode())
        return error.exit_code


def tell(text: str) -> None:
    """A line on standard output, at once."""
    os.write(1, f"{text}\n".encode())


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2])))
