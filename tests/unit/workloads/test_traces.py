"""Traces of every form: what is read of them, in which order, and which line or byte a fault names."""

from __future__ import annotations

import os
import random
import shutil
import struct
import subprocess
import sys
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from assay.engine.pattern import leading_range, random_pattern
from assay.engine.records import DataPattern, Demand, StepSpec, StopRule
from assay.engine.stimulus import Capture, Stimulus
from assay.errors import StoreError, UsageError
from assay.results.step import completed_count
from assay.workloads import traces
from assay.workloads.traces.records import batch_of_lists, in_order

if TYPE_CHECKING:
    from pathlib import Path


READ, WRITE, TRIM, FLUSH = traces.READ, traces.WRITE, traces.TRIM, traces.FLUSH
Row = tuple[int, int, int, int]
FIO_3 = """fio version 3 iolog
0 /dev/sdx add
0 /dev/sdx open
10 /dev/sdx read 4096 8192
30 /dev/sdx sync 0 0
20 /dev/sdx trim 65536 4096
40 /dev/sdx write 0 512
41 /dev/sdx close
"""
FIO_2 = (
    "fio version 2 iolog\nx add\nx open\nx read 0 512\nx wait 500 0\nx write 512 512\nx wait 600 0\nx datasync 0 0\n"
)
MSR = "128166372003061629,usr,0,Read,7014609920,24576,41286\n128166372016382155,usr,0,Write,2517975040,4096,1963\n"
ALIBABA = "419,W,8792731648,16384,1577808144360767\n419,R,4096,512,1577808144360800\n"
TENCENT = "1538323200,12910952,128,0,1063\n1538323201,8,8,1,1063\n"
SYSTOR = (
    "Timestamp,Response,IOType,LUN,Offset,Size\n1455592800.123456,0.0001,R,0,4096,8192\n"
    "1455592800.2,,,0,0,0\n1455592801.123456,0.1,W,0,0,512\n"
)


def rows(trace: traces.Trace) -> list[Row]:
    """All I/Os as tuples of time, operation, offset and length."""
    return [
        row
        for batch in trace
        for row in zip(
            batch.time_ns.tolist(),
            batch.operation.tolist(),
            batch.offset_bytes.tolist(),
            batch.length_bytes.tolist(),
            strict=True,
        )
    ]


def record(
    time: int,
    sector: int,
    size: int,
    action: int,
    flags: int,
    *,
    order: str = "<",
    version: int = 7,
    device: int = 8 << 20,
    data: bytes = b"",
) -> bytes:
    """One record of blktrace with the bytes behind it, from the kernel's struct."""
    head = 0x65617400 | version, 1, time, sector, size
    word = action | flags << 16
    if version == 8:
        return struct.pack(f"{order}IIQQIIQIIHH12x", *head, 77, word, device, 0, 0, len(data)) + data
    return struct.pack(f"{order}IIQQIIIIIHH", *head, word, 77, device, 0, 0, len(data)) + data


def events(order: str, version: int) -> tuple[bytes, bytes]:
    """What two CPUs saw: queued, merged, issued and completed I/Os, with messages and plugs between them."""
    made = [
        (1000, 0, 4, 0, 0x400 | 2, b"hello world"),
        (2000, 8, 4096, 1, 0x01, b""),
        (2100, 8, 4096, 7, 0x01, b""),
        (2200, 0, 0, 10, 0, struct.pack("<Q", 1)),
        (2500, 64, 8192, 0x107, 0x02, b"cgroupid"),
        (9000, 8, 4096, 8, 0x01, b""),
        (9500, 2048, 1 << 20, 7, 0x2002, b""),
    ]
    first = b"".join(
        record(t, sector, size, action, flags, order=order, version=version, data=data)
        if action
        else record(t, 0, 0, 2, 0x400, order=order, version=version, data=data)
        for t, sector, size, action, flags, data in made
    )
    second = record(2300, 100, 512, 7, 0x02, order=order, version=version)
    return first, second + record(9999, (1 << 64) - 1, 0, 7, 0x06, order=order, version=version)


EVENTS = [
    (0, READ, 4096, 4096),
    (200, WRITE, 51200, 512),
    (400, WRITE, 32768, 8192),
    (7400, TRIM, 1 << 20, 1 << 20),
    (7899, FLUSH, 0, 0),
]


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("version", [7, 8])
def test_issued_ios_of_all_cpus_are_read_in_order_of_time(order: str, version: int, tmp_path: Path) -> None:
    for number, content in enumerate(events(order, version)):
        (tmp_path / f"sda.blktrace.{number}").write_bytes(content)
    (tmp_path / "sdb.blktrace.0").write_bytes(b"another trace")
    trace = traces.open_trace(tmp_path / "sda.blktrace.0")
    assert (trace.form, rows(trace)) == ("blktrace, 2 files", EVENTS)
    assert rows(trace) == EVENTS, "it can be read again"
    # A CPU without an event.
    (tmp_path / "sda.blktrace.2").write_bytes(b"")
    assert rows(traces.open_trace(tmp_path / "sda.blktrace.2")) == EVENTS
    queued = traces.open_trace(tmp_path / "sda.blktrace.1", event="queue")
    assert rows(queued) == [(0, READ, 4096, 4096)]


def test_a_record_that_a_read_cuts_is_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "x"
    many = b"".join(record(t, t, 512, 7, 1, data=b"x" * (t % 7)) for t in range(60_000))
    path.write_bytes(many)
    found = rows(traces.open_trace(path))
    assert found == [(t, READ, t * 512, 512) for t in range(60_000)]


def test_a_trace_of_several_devices_is_of_the_one_that_is_named(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(record(1, 1, 512, 7, 1) + record(2, 2, 512, 7, 1, device=259 << 20 | 3))
    with pytest.raises(UsageError, match=r"several devices, '259,3' and '8,0'; choose a device with --device 259,3"):
        rows(traces.open_trace(path))
    assert rows(traces.open_trace(path, device="259,3")) == [(0, READ, 1024, 512)]
    with pytest.raises(UsageError, match="no pair of numbers"):
        traces.open_trace(path, device="sda")
    path.write_text(ALIBABA + "420,R,0,512,1577808144360900\n", "utf-8")
    with pytest.raises(
        UsageError, match=r"x:3: has I/Os of several devices, '419' and '420'; choose a device with --device 419"
    ):
        rows(traces.open_trace(path))
    assert rows(traces.open_trace(path, device="420"))[0][2:] == (0, 512)
    path.write_text("fio version 3 iolog\n1 a add\n1 b add\n1 a read 0 512\n2 b write 512 512\n", "utf-8")
    with pytest.raises(
        UsageError, match=r"x:3: has I/Os of several devices, 'a' and 'b'; choose a device with --device a"
    ):
        rows(traces.open_trace(path))
    assert rows(traces.open_trace(path, device="b")) == [(0, WRITE, 512, 512)]
    path.write_text(BIOSNOOP + "2.0 dd 1 sdb R 8 4096 1.0\n", "utf-8")
    with pytest.raises(UsageError, match=r"x:5: has I/Os of several devices, 'nvme0n1' and 'sdb'"):
        rows(traces.open_trace(path))
    assert rows(traces.open_trace(path, device="sdb")) == [(0, READ, 4096, 4096)]


BIOSNOOP = """\
TIME(s)     COMM           PID     DISK      T  SECTOR               BYTES  LAT(ms)
0.000500    dd             1234    nvme0n1   R  8                    4096   0.12
0.001000    Web Content    77      nvme0n1   WS 16                   8192   0.95
0.002000    jbd2/nvme0n1-8 77      nvme0n1   FF 18446744073709551615 0      0.50
"""


def test_lines_of_biosnoop_are_issued_at_their_time_less_their_latency(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text(BIOSNOOP, "utf-8")
    trace = traces.open_trace(path)
    assert trace.form == "biosnoop"
    expected = [(0, WRITE, 8192, 8192), (330_000, READ, 4096, 4096), (1_450_000, FLUSH, 0, 0)]
    assert rows(trace) == expected
    queued = (
        BIOSNOOP.replace("BYTES  LAT", "BYTES QUE(ms) LAT").replace("   0.", " 9.9 0.").replace(" 0      ", " 0 9.9 ")
    )
    path.write_text(queued, "utf-8")
    assert rows(traces.open_trace(path)) == expected
    path.write_text(BIOSNOOP.replace("DISK", "NAME"), "utf-8")
    with pytest.raises(UsageError, match="of no form that is known"):
        traces.open_trace(path)


@pytest.mark.parametrize("place", ["-1", "18446744073709551615", "0"])
def test_a_flush_is_of_no_place_whatever_stands_there(place: str, tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text(f"fio version 3 iolog\n1 a add\n1 a read 0 512\n2 a sync {place} {place}\n", "utf-8")
    expected = [(0, READ, 0, 512), (1000, FLUSH, 0, 0)]
    assert rows(traces.open_trace(path)) == expected
    path.write_text(f"1,R,0,512\n2,F,{place},{place}\n", "utf-8")
    assert rows(traces.open_trace(path, "time=1:us,op=2,offset=3,size=4")) == expected


@pytest.mark.parametrize(
    ("op", "expected"),
    [("5:1=read", [READ, WRITE, READ]), ("5:0=read", [WRITE, READ, WRITE]), ("5:1=trim:0=write", [TRIM, WRITE, TRIM])],
)
def test_what_an_operation_means_is_named_by_its_value(op: str, expected: list[int], tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text("0.0,0,1024,8,1\n1.5,0,2048,8,0\n2.5,0,4096,16,1\n", "utf-8")
    trace = traces.open_trace(path, f"time=1:ms,op={op},offset=3:sectors,size=4:sectors")
    assert [row[1] for row in rows(trace)] == expected


@pytest.mark.parametrize(
    ("op", "reason"),
    [
        ("5", "x:1: has the operation '1'; .* say what it means"),
        ("5:1=read:2=write", "x:2: has the operation '0'"),
        ("5:1=reads", "columns op '1=reads': names no meaning"),
        ("5:1=read:1=write", "names no meaning"),
        ("3:1024=read", "has the unnamed operations '2048' and '4096' up to here"),
    ],
)
def test_an_operation_without_a_meaning_is_refused(op: str, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text("0.0,0,1024,8,1\n1.5,0,2048,8,0\n2.5,0,4096,16,1\n", "utf-8")
    with pytest.raises(UsageError, match=reason):
        rows(traces.open_trace(path, f"time=1:ms,op={op},offset=3:sectors,size=4:sectors"))


@pytest.mark.skipif(shutil.which("fio") is None, reason="SKIPPED: needs fio as the other reader of blktrace")
def test_fio_reads_the_same_events_of_a_trace_of_blktrace(tmp_path: Path) -> None:
    draw = random.Random(5)  # noqa: S311 - the same every time
    made = [(t * 1000, draw.randrange(1000) * 8, draw.choice([4096, 8192]), draw.choice([1, 2])) for t in range(200)]
    (tmp_path / "x").write_bytes(b"".join(record(t, sector, size, 1, flag) for t, sector, size, flag in made))
    image = tmp_path / "image"
    image.write_bytes(b"")
    os.truncate(image, 8 << 20)
    command = [str(shutil.which("fio")), "--name=j", f"--read_iolog={tmp_path / 'x'}", "--ioengine=psync"]
    command += [f"--replay_redirect={image}", "--replay_no_stall=1", "--write_lat_log=log", "--log_offset=1"]
    subprocess.run(command, check=True, capture_output=True, cwd=tmp_path)
    # Time, response time, direction, size, offset and priority of what it did.
    lines = [line.split(",") for line in (tmp_path / "log_lat.1.log").read_text("ascii").splitlines()]
    by_fio = [(int(line[2]), int(line[4]), int(line[3])) for line in lines]
    ours = [row[1:] for row in rows(traces.open_trace(tmp_path / "x", event="queue"))]
    assert ours == by_fio
    assert len(ours) == 200


def test_logs_of_fio_are_read_with_their_times(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text(FIO_3, "utf-8")
    trace = traces.open_trace(path)
    assert trace.form == "fio iolog version 3"
    expected = [(0, READ, 4096, 8192), (10_000, TRIM, 65536, 4096), (20_000, FLUSH, 0, 0), (30_000, WRITE, 0, 512)]
    assert rows(trace) == expected
    path.write_text(FIO_2, "utf-8")
    with pytest.raises(UsageError, match="log:5: waits, and fio's manual and its code"):
        rows(traces.open_trace(path))
    times = {"us_since_previous": [0, 500_000, 1_100_000], "ms_since_start": [0, 500_000_000, 600_000_000]}
    assert [row[0] for row in rows(traces.open_trace(path, wait="us_since_previous"))] == times["us_since_previous"]
    assert [row[0] for row in rows(traces.open_trace(path, wait="ms_since_start"))] == times["ms_since_start"]
    path.write_text("fio version 2 iolog\nx read 0 512\nx write 8 512\n", "utf-8")
    untimed = traces.open_trace(path)
    assert (untimed.has_times, rows(untimed)) == (False, [(0, READ, 0, 512), (0, WRITE, 8, 512)])


@pytest.mark.parametrize(
    ("text", "form", "expected"),
    [
        (MSR, "MSR Cambridge", [(0, READ, 7014609920, 24576), (1_332_052_600, WRITE, 2517975040, 4096)]),
        (ALIBABA, "Alibaba 2020", [(0, WRITE, 8792731648, 16384), (33_000, READ, 4096, 512)]),
        (TENCENT, "Tencent CBS", [(0, READ, 12910952 * 512, 65536), (10**9, WRITE, 4096, 4096)]),
        (SYSTOR, "SYSTOR '17", [(0, READ, 4096, 8192), (10**9, WRITE, 0, 512)]),
    ],
)
def test_public_forms_are_known_by_their_columns(text: str, form: str, expected: list[Row], tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    for shown in (text, text.replace("\n", "\r\n"), text.removesuffix("\n")):
        path.write_bytes(shown.encode())
        trace = traces.open_trace(path)
        assert (trace.form, rows(trace)) == (form, expected)
        assert trace.told[0].startswith("columns: time ")


def test_columns_are_named_by_number_or_heading_with_their_units(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("when;lba;kind;blocks\n1.5;8;write;1\n1.25;16;Discard;2\n", "utf-8")
    trace = traces.open_trace(path, "time=when:ms,op=3,offset=lba:sectors,size=4:KiB")
    assert rows(trace) == [(0, TRIM, 8192, 2048), (250_000, WRITE, 4096, 1024)]
    assert trace.told[0] == "columns: time 1 (ms), op 3, offset 2 (sectors), size 4 (KiB)"
    with pytest.raises(UsageError, match="of no form that is known, with 4 columns"):
        traces.open_trace(path)
    for named, reason in (
        ("time=when", "do not say where op is"),
        ("time=wen,op=3", 'did you mean "when"'),
        ("tme=1", 'did you mean "time"'),
        ("time=1:min,op=3,offset=2,size=4", "has the unit 'min'"),
        ("time=9,op=3,offset=2,size=4", "is not in the file"),
    ):
        with pytest.raises(UsageError, match=reason):
            traces.open_trace(path, named)


def capture(path: Path, **columns: object) -> Path:
    """A capture as the engine writes them, of three I/Os that ended in another order than they began."""
    table = {
        "at_ns": pa.array([500, 900, 950], pa.int64()),
        "latency_ns": pa.array([100, 800, 50], pa.int64()),
        "operation": pa.array([1, 0, 1], pa.int32()),
        "step": pa.array([0, 0, 0], pa.int32()),
        "offset_bytes": pa.array([4096, 0, 8192], pa.int64()),
        "length_bytes": pa.array([4096, 512, 4096], pa.int32()),
    } | columns
    pq.write_table(pa.table({name: column for name, column in table.items() if column is not None}), path)
    return path


def test_our_own_captures_are_read_by_the_times_of_issue(tmp_path: Path) -> None:
    path = capture(tmp_path / "x.parquet")
    expected = [(0, READ, 0, 512), (300, WRITE, 4096, 4096), (800, WRITE, 8192, 4096)]
    assert rows(traces.open_trace(path)) == expected
    capture(path, offset_bytes=None, length_bytes=None)
    with pytest.raises(UsageError, match="captured without addresses; run again with --capture addresses"):
        rows(traces.open_trace(path))
    capture(path, latency_ns=pa.array([1, 1, -1], pa.int64()))
    with pytest.raises(StoreError, match="row 2"):
        rows(traces.open_trace(path))
    path.write_bytes(b"PAR1" + bytes(100))
    with pytest.raises(StoreError, match="cannot be read after row 0"):
        rows(traces.open_trace(path))


def test_what_the_engine_captures_is_read_as_it_was_asked(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    step = StepSpec(
        label="null",
        pattern=random_pattern(4096, 0.5, DataPattern()),
        demand=Demand(thread_count=1, queue_depth=8),
        active_range=leading_range(1 << 30),
        stop=StopRule(io_count=5000),
    )
    with Stimulus.null(seed=1) as stimulus:
        done = stimulus.run([step], None, Capture(path=path, addresses=True))[0]
    found = traces.stream_map(traces.open_trace(path))
    assert found.total_count == completed_count(done) == 5000
    assert found.io_count["read"] == done.read.window_io_count
    assert {one.length_bytes for one in found.sizes} == {4096}
    assert found.end_bytes <= 1 << 30


@pytest.mark.parametrize(
    ("content", "place", "reason"),
    [
        (b"", "x", "is empty"),
        (b"fio version 3 iolog\n1 x read 0\n", "x:2", "is no line of such a log"),
        (b"fio version 3 iolog\n1 x erase 0 1\n", "x:2", "has the action 'erase'"),
        (b"fio version 3 iolog\n1 x read -1 1\n", "x:2", "has '-1'"),
        (b"fio version 3 iolog\n1 x read 9223372036854775807 1\n", "x:2", "has '1'"),
        (b"fio version 3 iolog\n1 x read 0 1\n1 y read 0 1\n", "x:3", "several devices, 'x' and 'y'"),
        (b"fio version 3 iolog\n" + b"9" * 200_000, "x:2", "is longer than"),
        (MSR.encode() + b"1,usr,0,Read,5\n", "x:3", "has 5 columns, and the first line 7"),
        (MSR.encode() + b"1,usr,0,Erase,5,6,7\n", "x:3", "has the operation 'Erase'"),
        (MSR.encode() + b"1,usr,0,Read,5,-6,7\n", "x:3", "has the size '-6'"),
        (MSR.encode() + b"1,usr,0,Read,99999999999999999999,6,7\n", "x:3", "has the offset"),
        (MSR.encode() + b"noon,usr,0,Read,5,6,7\n", "x:3", "has the time 'noon'"),
        (MSR.encode() + b"1e-2147483647,usr,0,Read,5,6,7\n", "x:3", "has the time '1e-2147483647'"),
        (MSR.encode() + b"1,\xff,0,Read,5,6,7\n", "x:3", "is not UTF-8"),
        (MSR.encode() + b"\n" + MSR.encode() + b"1,R", "x:6", "has 2 columns"),
        (record(1, 1, 512, 7, 1)[:-3], "x at byte 0", "ends within a record"),
        (record(1, 1, 512, 7, 1) + b"y" * 48, "x at byte 48", "has no record"),
        (record(1, 1, 512, 7, 1, version=6), "x at byte 0", "is of version 6"),
        (record(1, 1 << 60, 512, 7, 1), "x", "has a sector or a time that no drive has"),
        (bytes(range(256)) * 100, "x:1", "of no form that is known"),
    ],
)
def test_a_fault_names_the_line_or_the_byte(content: bytes, place: str, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(content)
    with pytest.raises(UsageError) as caught:
        rows(traces.open_trace(path))
    assert caught.value.thing == f"{tmp_path}/{place}"
    assert reason in caught.value.reason


def test_runs_that_do_not_fit_in_memory_are_merged_and_equal_times_keep_their_order() -> None:
    draw = random.Random(3)  # noqa: S311 - the same every time
    made = [(draw.randrange(50) * 7 - 100, READ, number, 1) for number in range(70_000)]
    batches = [batch_of_lists(made[at : at + 999]) for at in range(0, len(made), 999)]
    least = min(made)[0]
    expected = [(time - least, number) for time, _, number, _ in sorted(made, key=lambda row: row[0])]
    for run_rows in (1000, 20_000, 1 << 20):
        parts = list(in_order(batches, run_rows=run_rows))
        found = [(t, n) for one in parts for t, n in zip(one.time_ns.tolist(), one.offset_bytes.tolist(), strict=True)]
        assert found == expected
    assert list(in_order([])) == []


def test_a_long_trace_needs_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    part = "".join(f"1,{'RW'[n % 2]},{n * 4096 % (1 << 36)},4096,{(n ^ 5) * 10}\n" for n in range(50_000))
    with path.open("w", encoding="utf-8") as file:
        for _ in range(30):
            file.write(part)
    program = (
        "import re, sys; from pathlib import Path; from assay.workloads import traces\n"
        "print(traces.stream_map(traces.open_trace(Path(sys.argv[1]))).total_count,"
        " re.findall(r'VmHWM:\\s*([0-9]+) kB', Path('/proc/self/status').read_text())[0])"
    )
    done = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True)
    count, kilobytes = map(int, done.stdout.split())
    assert count == 1_500_000
    assert kilobytes * 1024 < 300_000_000
