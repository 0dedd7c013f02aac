"""Traces of every form with seeded mistakes: each is read, mapped and read again, or refused in our own words, soon.

``make soak`` does so for an hour of CPU time, or for as many seconds as ``ASSAY_FUZZ_SECONDS`` says.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

import pytest
from assay.errors import AssayError
from assay.workloads import traces
from fuzzed_readers import SOAK_TIMEOUT, Outcome, Reader, check_reached, package_folder
from test_traces import ALIBABA, BIOSNOOP, FIO_2, FIO_3, MSR, SYSTOR, TENCENT, capture, events

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random

SAMPLE = 600
CAPACITY_BYTES = 1 << 30
SPAN_MAX_BYTES = 1 << 48
READERS = ("blktrace.py", "csv_files.py", "parquet_files.py", "stream_map.py", "text.py", "trace.py")
RAGGED = FIO_2.replace("x wait 500 0\n", "").replace("x wait 600 0\n", "")
TEXTS = (FIO_3, FIO_2, RAGGED, MSR, ALIBABA, TENCENT, SYSTOR, BIOSNOOP)
WORDS = (
    b"\n", b",", b"\0", b"-", b"9" * 18, b"\xff", b" ", b"e9", b".", b"\r\n", b"nan", b"inf", b"-1", b"read", b"wait",
    b"trim", b"\xff\xff\xff\xff", b"\0\0\0\0", b"\x07ate", b"\x08\0\0\0", b"fio version 3 iolog\n", b"PAR1",
    b"time,op,offset,size\n",
)  # fmt: skip
WAITS = ("us_since_previous", "ms_since_start")
EVENTS = ("queue",)
DEVICES = ("8,0", "usr", "x,1", "419")
COLUMNS = (
    "time=1,op=2,offset=3,size=4", "time=1:100ns,op=4,offset=5,size=6",
    "time=Timestamp,op=IOType,offset=Offset,size=Size",
    "time=7", "op=Read", "", "time=1:parsec,op=1,offset=1,size=1", "=,,",
    "time=1,op=2,offset=3:KiB,size=4:sectors,device=5", "time=1:s,op=4:0=read,offset=2:sectors,size=3:sectors",
    "time=1:100ns,op=4:Read=read:Write=write,offset=5,size=6", "time=1:100ns,op=4:Read=read,offset=5,size=6",
)  # fmt: skip


def originals(folder: Path) -> list[bytes]:
    """A good file of each form."""
    return [
        *(text.encode() for text in TEXTS),
        *events("<", 7),
        *events(">", 8),
        capture(folder / "good.parquet").read_bytes(),
    ]


def mistaken(content: bytes, draw: Random) -> bytes:
    """The file with some bytes other than they were."""
    made = bytearray(content)
    for _ in range(draw.choice([1, 1, 2, 6])):
        at = draw.randrange(len(made)) if made else 0
        act = draw.randrange(8)
        if act == 0:
            made[at : at + 1] = bytes([draw.randrange(256)])
        elif act == 1:
            del made[at : at + draw.randrange(60)]
        elif act == 2:
            made[at:at] = made[: draw.randrange(200)]
        elif act < 6:
            figures = [place for place, byte in enumerate(made) if 48 <= byte <= 57] or [0]
            place = draw.choice(figures)
            made[place : place + 1] = bytes([48 + draw.randrange(10)])
        else:
            made[at : at + draw.choice([0, 1, 4])] = draw.choice(WORDS)
    return bytes(made)


def tried(path: Path, good: list[bytes], draw: Random, outcome: Outcome) -> None:
    """Read, and write a replay on a smaller drive: no I/O lies behind its end."""
    path.write_bytes(mistaken(draw.choice(good), draw))
    wait, event, device, columns = (draw.choice([*[None] * 12, *some]) for some in (WAITS, EVENTS, DEVICES, COLUMNS))

    def opened() -> traces.Trace:
        return traces.open_trace(path, event=event or "issue", device=device, wait=wait, columns=columns)

    found = traces.stream_map(opened())
    outcome.stage = "read"
    rule = traces.mapping_for(
        draw.choice(["scale", "wrap"]),
        span_bytes=max(found.end_bytes, 1),
        capacity_bytes=CAPACITY_BYTES,
        logical_block_bytes=4096,
    )
    replay = path.with_suffix(".replay")
    traces.write_replay(replay, traces.issued(traces.mapped(opened(), rule)))
    with replay.open("rb") as source:
        assert traces.replay_fault(traces.read_replay(source, "replay"), CAPACITY_BYTES) is None
    outcome.stage = "mapped"


@pytest.fixture
def reader(tmp_path: Path) -> Reader:
    """The reader of traces; what it cannot read to its end may be of the file, too."""
    return Reader(kind="trace", tried=partial(tried, tmp_path / "x", originals(tmp_path)), exits=(2, 6))


def test_a_trace_with_mistakes_is_read_or_refused(reader: Reader) -> None:
    outcomes = [reader.answered(seed) for seed in range(SAMPLE)]
    assert outcomes.count("refused") > SAMPLE // 10
    assert outcomes.count("mapped") > SAMPLE // 10


@pytest.mark.soak
@pytest.mark.timeout(SOAK_TIMEOUT)
def test_traces_with_mistakes_are_read_or_refused_for_an_hour(reader: Reader) -> None:
    assert reader.answers_for_an_hour(SAMPLE) > 0


def test_the_mistakes_reach_most_of_the_reader_of_traces(reader: Reader) -> None:
    """Lines of the reader's functions that the sample runs through: 91 %."""

    def act() -> None:
        for seed in range(SAMPLE):
            with suppress(AssayError):
                reader.tried(reader.drawn(seed), Outcome())

    check_reached(package_folder("assay.workloads.traces"), READERS, act)
