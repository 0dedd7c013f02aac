"""fio's job files with seeded mistakes: each is read and written again, or refused in our own words, soon.

``make soak`` does so for an hour of CPU time, or for as many seconds as ``ASSAY_FUZZ_SECONDS`` says.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from assay.errors import AssayError
from assay.workloads import fio
from assay.workloads.fio.keys import ALIASES, IGNORED, READ, REFUSED
from fuzzed_readers import SOAK_TIMEOUT, Outcome, Reader, check_reached, package_folder
from mistaken_files import CELLS, LETTERS, RAW

if TYPE_CHECKING:
    import random

SAMPLE = 1_500
READERS = ("job_file.py", "reading.py", "streams.py")
HEAD = "[global]\nfilename=/dev/x\nioengine=io_uring\ndirect=1\nnorandommap\n"
TIMED = HEAD + "time_based\nruntime=60\n"
ORIGINALS = [
    TIMED + "[a]\nrw=randrw\nrwmixread=70\nbssplit=4k/50:64k/,8k\nblockalign=4k\n[b]\nstonewall\nrw=write\n",
    TIMED + "[a]\nrw=randread\niodepth=32\nnumjobs=4\n[b]\nrw=randtrim\nbs=64k\nrate_iops=50\nrate_process=poisson\n",
    TIMED + "ramp_time=2s\n[a]\nrw=read\nnumjobs=3\noffset_increment=1g\nsize=1g\nrate=1m\n[b]\nrw=rw\nbs=64k\n",
    TIMED + "[a]\nrw=randwrite\niodepth=1\nthinktime=1500\nthinktime_blocks=8\nbuffer_compress_percentage=40\n",
    TIMED + "[a]\nrw=randread\nrandom_distribution=zoned:60/10:30/20:8/30:2/40\npercentage_random=30\n",
    HEAD + "[a]\nrw=write\nsize=25%\nioengine=psync\n[b]\nstonewall\nrw=write\nbs=128k\nsize=1g\nio_size=4g\nloops=2\n",
    TIMED + "[a]\nrw=rw\nbssplit=4k/50:64k/50\nthinktime=3\n[b]\nfilename=/dev/y\n",
]
KEYS = sorted({*READ, *IGNORED, *REFUSED, *ALIASES, "iodeth", "", "[x]", "[global]"})
VALUES = (
    *CELLS, "4k", "64k/", "4k/50:8k/50", "8k,16k", "1g", "10%", "100%", "101%", "1000", "0x1000", "2m", "9" * 20,
    "zoned:50/50:50/50", "zoned_abs:1/1g", "zipf:1.2", "randrw", "rw:8", "libaio", "poisson", "stonewall", "${X}",
    "/dev/a:/dev/b",
)  # fmt: skip


def mistaken(draw: random.Random) -> str:
    """One of the files with a few lines other than they were."""
    lines = draw.choice(ORIGINALS).split("\n")
    for _ in range(draw.choice([1, 1, 2, 5])):
        place = draw.randrange(len(lines))
        line, act = lines[place], draw.randrange(7)
        if act == 0:
            lines[place] = f"{line.partition('=')[0]}={draw.choice(VALUES)}"
        elif act == 1:
            lines.insert(place, f"{draw.choice(KEYS)}={draw.choice(VALUES)}")
        elif act == 2:
            lines.insert(place, draw.choice(KEYS))
        elif act == 3:
            lines[place] = draw.choice([line * 2, line[::-1], line[:-1], ""])
        elif act == 4:
            lines[place:place] = draw.choice(ORIGINALS).split("\n")[len(HEAD.split("\n")) - 1 :]
        else:
            at = draw.randrange(len(line) + 1)
            lines[place] = line[:at] + draw.choice(LETTERS) + line[at + draw.randrange(2) :]
    return "\n".join(lines)


def tried(draw: random.Random, outcome: Outcome) -> None:
    """Read, write, read again: what was written can be read, and asks as many stages."""
    workload = fio.parse_jobs(Path("x.fio"), mistaken(draw))
    outcome.stage = "read"
    text = fio.job_text(workload, filename="/dev/x")
    outcome.stage = "written"
    assert len(fio.parse_jobs(Path("again.fio"), text).stages) == len(workload.stages)


JOBS = Reader(kind="fio", tried=tried, raw=(*RAW, "Error"))


def test_a_job_file_with_mistakes_is_read_or_refused() -> None:
    outcomes = [JOBS.answered(seed) for seed in range(SAMPLE)]
    assert outcomes.count("refused") > SAMPLE // 10
    assert outcomes.count("written") > SAMPLE // 10


@pytest.mark.soak
@pytest.mark.timeout(SOAK_TIMEOUT)
def test_job_files_with_mistakes_are_read_or_refused_for_an_hour() -> None:
    assert JOBS.answers_for_an_hour(SAMPLE) > 0


def test_the_mistakes_reach_most_of_the_reader_of_job_files() -> None:
    """Lines of the reader's functions that the sample runs through: 91 %; the others open the file."""

    def act() -> None:
        for seed in range(SAMPLE):
            with suppress(AssayError):
                tried(JOBS.drawn(seed), Outcome())

    check_reached(package_folder("assay.workloads.fio"), READERS, act)
