"""Iometer's files with seeded mistakes: each is read and converted, or refused in our own words, soon.

``make soak`` does so for an hour of CPU time, or for as many seconds as ``ASSAY_ICF_FUZZ_SECONDS`` says. What is
changed are lines, numbers, letters, bytes, and places where parts of two files are joined; what is read is also
converted to a workload, written, and read again. ``test_the_mistakes_reach_most_of_the_reader`` says how much.
"""

from __future__ import annotations

import os
import random
import sys
import time
from contextlib import suppress
from inspect import CO_OPTIMIZED
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from assay.errors import AssayError
from assay.iometer import from_workload, to_workload, write_icf
from assay.iometer.read import parse_icf
from assay.iometer.results_read import parse_results
from mistaken_files import CELLS, CPU_SECONDS_MAX, LETTERS, RAW
from test_iometer_results import TEXT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType, FrameType

FOLDER = Path(__file__).parents[1] / "unit/icf"
ORIGINALS = [path.read_bytes() for path in sorted(FOLDER.glob("*.icf"))]
SOAK_SECONDS = float(os.environ.get("ASSAY_ICF_FUZZ_SECONDS", "3600"))
SAMPLE = 1_500
WORDS = (
    b"'END test setup", b"'END access specifications", b"'TEST SETUP", b"'MANAGER LIST", b"'End worker", b"'Worker",
    b"Version 1998.02.03", b"Version 1.1.0", b"Version 9", b"\tNORMAL", b"\t1,2,3", b"\t512,100,0,0,0,1,0,0", b"\tIdle",
    b"\t", b"", b"\t2147483648", b"\t-1", b"'", b"\tNUMBER_OF_CPUS", b"'Test Type\n\tCYCLE_WORKERS",
)  # fmt: skip
READERS = ("lines.py", "read.py", "read_setup.py", "read_specs.py", "read_managers.py")
ENDINGS = tuple(f"/iometer/{name}" for name in READERS)
REACHED_MIN = 0.9


def mistaken(draw: random.Random) -> bytes:
    """One of the files with a few mistakes."""
    lines = draw.choice(ORIGINALS).split(b"\n")
    for _ in range(draw.choice([1, 1, 2, 5, 20])):
        place = draw.randrange(len(lines))
        act = draw.randrange(8)
        if act == 0:
            lines[place] = draw.choice(WORDS)
        elif act == 1:
            lines.insert(place, draw.choice(WORDS))
        elif act == 2:
            del lines[place : place + draw.choice([1, 1, 3, 30])]
            lines = lines or [b""]
        elif act == 3:
            lines[place:place] = lines[draw.randrange(len(lines)) :][: draw.choice([1, 5, 40])]
        elif act == 4:
            cells = lines[place].split(b",")
            cells[draw.randrange(len(cells))] = draw.choice(CELLS).encode()
            lines[place] = b",".join(cells)
        elif act == 5:
            other = draw.choice(ORIGINALS).split(b"\n")
            lines = lines[:place] + other[draw.randrange(len(other)) :]
        else:
            at = draw.randrange(len(lines[place]) + 1)
            stray = bytes([draw.randrange(256)]) if act == 6 else draw.choice(LETTERS).encode()
            lines[place] = lines[place][:at] + stray + lines[place][at + draw.randrange(2) :]
    return b"\n".join(lines)


def answered(seed: int) -> str:
    """How far a file with mistakes came: ``read``, ``converted`` or ``refused``. Fails where it is none of ours."""
    draw = random.Random(f"icf {seed}")  # noqa: S311 - the same every time
    begun, outcome = time.process_time(), "refused"
    faults: list[AssayError] = []
    try:
        icf = parse_icf(mistaken(draw), "x.icf")
        outcome = "read"
        workload = to_workload(icf, cpu_count=4, run_time_s=1)
        again = parse_icf(write_icf(from_workload(workload)), "again.icf")
        outcome = "converted"
        assert len(to_workload(again, cpu_count=1).stages) == len(workload.stages)
    except AssayError as error:
        faults.append(error)
    except BaseException as error:
        raise AssertionError(f"seed {seed}") from error
    check_words(faults, seed)
    assert time.process_time() - begun < CPU_SECONDS_MAX, f"seed {seed}"
    return outcome


def check_words(faults: list[AssayError], seed: int) -> None:
    """Whether faults are of the file and in words of ours."""
    for fault in faults:
        assert fault.exit_code == 2, f"seed {seed}"
        assert not any(word in str(fault) for word in RAW), f"seed {seed}: {fault}"


def test_a_file_with_mistakes_is_read_or_refused() -> None:
    outcomes = [answered(seed) for seed in range(SAMPLE)]
    assert outcomes.count("refused") > SAMPLE // 10
    assert outcomes.count("converted") > SAMPLE // 50


@pytest.mark.soak
@pytest.mark.timeout(int(SOAK_SECONDS * 4) + 600)
def test_files_with_mistakes_are_read_or_refused_for_an_hour() -> None:
    begun, seed = time.process_time(), SAMPLE
    while time.process_time() - begun < SOAK_SECONDS:
        answered(seed)
        seed += 1
    assert seed > SAMPLE


def test_results_with_mistakes_are_read_or_refused() -> None:
    for seed in range(SAMPLE // 5):
        draw = random.Random(f"results {seed}")  # noqa: S311 - the same every time
        lines = TEXT.split("\r\n")
        for _ in range(draw.choice([1, 2, 8])):
            place = draw.randrange(len(lines))
            cells = lines[place].split(",")
            cells[draw.randrange(len(cells))] = draw.choice(CELLS)
            lines[place] = draw.choice([",".join(cells), "", draw.choice(lines)])
        try:
            parse_results("\n".join(lines), "r.csv")
        except AssayError as error:
            check_words([error], seed)
        except BaseException as error:
            raise AssertionError(f"seed {seed}") from error


def test_the_mistakes_reach_most_of_the_reader() -> None:
    """Lines of the reader's functions that 600 files with mistakes run through: 409 of 432, 95 %.

    The others open the file, which is given as bytes here, or need more lines than the originals have.
    """
    reached: set[tuple[str, int]] = set()

    def line(frame: FrameType, event: str, _: Any) -> Any:
        if event == "line":
            reached.add((frame.f_code.co_filename.rpartition("/")[2], frame.f_lineno))
        return line

    def call(frame: FrameType, _event: str, _: Any) -> Any:
        return line if frame.f_code.co_filename.endswith(ENDINGS) else None

    before = sys.gettrace()
    sys.settrace(call)
    try:
        for seed in range(600):
            draw = random.Random(f"icf {seed}")  # noqa: S311 - the same every time
            with suppress(AssayError):
                parse_icf(mistaken(draw), "x.icf")
    finally:
        sys.settrace(before)
    known = {(name, number) for name in READERS for number in lines_of_functions(name)}
    assert len(known & reached) / len(known) >= REACHED_MIN, sorted(known - reached)


def lines_of_functions(name: str) -> Iterator[int]:
    """The lines of all functions of a module that can be run."""
    path = Path(sys.modules["assay.iometer"].__file__ or "").with_name(name)
    codes: list[CodeType] = [compile(path.read_text("utf-8"), str(path), "exec")]
    while codes:
        code = codes.pop()
        codes += [one for one in code.co_consts if hasattr(one, "co_lines")]
        if code.co_flags & CO_OPTIMIZED:
            yield from (number for _, _, number in code.co_lines() if number and number > code.co_firstlineno)
