"""Iometer's files with seeded mistakes: each is read and converted, or refused in our own words, soon.

``make soak`` does so for an hour of CPU time, or for as many seconds as ``ASSAY_FUZZ_SECONDS`` says. What is
changed are lines, numbers, letters, bytes, and places where parts of two files are joined; what is read is also
converted to a workload, written, and read again. ``test_the_mistakes_reach_most_of_the_reader`` says how much.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from assay.errors import AssayError
from assay.workloads.iometer import from_workload, to_workload, write_icf
from assay.workloads.iometer.read import parse_icf
from assay.workloads.iometer.results import parse_results
from fuzzed_readers import SOAK_TIMEOUT, Outcome, Reader, check_reached, package_folder
from mistaken_files import CELLS, LETTERS
from test_iometer_results import TEXT

if TYPE_CHECKING:
    import random

FOLDER = Path(__file__).parents[1] / "unit/icf"
ORIGINALS = [path.read_bytes() for path in sorted(FOLDER.glob("*.icf"))]
SAMPLE = 1_500
WORDS = (
    b"'END test setup", b"'END access specifications", b"'TEST SETUP", b"'MANAGER LIST", b"'End worker", b"'Worker",
    b"Version 1998.02.03", b"Version 1.1.0", b"Version 9", b"\tNORMAL", b"\t1,2,3", b"\t512,100,0,0,0,1,0,0", b"\tIdle",
    b"\t", b"", b"\t2147483648", b"\t-1", b"'", b"\tNUMBER_OF_CPUS", b"'Test Type\n\tCYCLE_WORKERS",
)  # fmt: skip
READERS = ("keys.py", "lines.py", "read.py")


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


def tried(draw: random.Random, outcome: Outcome) -> None:
    """Read, convert, write, read again."""
    icf = parse_icf(mistaken(draw), "x.icf")
    outcome.stage = "read"
    workload = to_workload(icf, cpu_count=4, run_time_s=1)
    again = parse_icf(write_icf(from_workload(workload)), "again.icf")
    outcome.stage = "converted"
    assert len(to_workload(again, cpu_count=1).stages) == len(workload.stages)


ICF = Reader(kind="icf", tried=tried)


def test_a_file_with_mistakes_is_read_or_refused() -> None:
    outcomes = [ICF.answered(seed) for seed in range(SAMPLE)]
    assert outcomes.count("refused") > SAMPLE // 10
    assert outcomes.count("converted") > SAMPLE // 50


@pytest.mark.soak
@pytest.mark.timeout(SOAK_TIMEOUT)
def test_files_with_mistakes_are_read_or_refused_for_an_hour() -> None:
    assert ICF.answers_for_an_hour(SAMPLE) > 0


def tried_results(draw: random.Random, _: Outcome) -> None:
    """Results with cells of others, and lines lost or doubled."""
    lines = TEXT.split("\r\n")
    for _ in range(draw.choice([1, 2, 8])):
        place = draw.randrange(len(lines))
        cells = lines[place].split(",")
        cells[draw.randrange(len(cells))] = draw.choice(CELLS)
        lines[place] = draw.choice([",".join(cells), "", draw.choice(lines)])
    parse_results("\n".join(lines), "r.csv")


def test_results_with_mistakes_are_read_or_refused() -> None:
    reader = Reader(kind="results", tried=tried_results)
    for seed in range(SAMPLE // 5):
        reader.answered(seed)


def test_the_mistakes_reach_most_of_the_reader() -> None:
    """Lines of the reader's functions that 600 files with mistakes run through: 95 %.

    The others open the file, which is given as bytes here, or need more lines than the originals have.
    """

    def act() -> None:
        for seed in range(600):
            with suppress(AssayError):
                parse_icf(mistaken(ICF.drawn(seed)), "x.icf")

    check_reached(package_folder("assay.workloads.iometer"), READERS, act)
