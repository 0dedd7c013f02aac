"""Stack traces without a device: lines of a trace, counters, labels, pages, and targets that are refused."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from assay.dut.real.direct import Extent, create_file, cut_out, extents
from assay.dut.real.queue import DeviceCounters, device_counters
from assay.dut.real.sysfs import Disk
from assay.dut.real.tracefs import BlockRequest, TraceUnavailableError, block_trace, parse_request
from assay.errors import NotADriveError, UsageError
from assay.spec.units import KIB, MIB
from assay.summary.pages.model import Figure, Table, Text
from assay.tools.iostack import IssuedIo, StackExample, StackPhase, StackTrace, trace_drive, trace_folder
from assay.tools.iostack.examples import Received, received
from assay.tools.iostack.pages import issued_label, received_label, stack_report
from assay.tools.iostack.watch import Area, in_order_share

NOTHING = DeviceCounters(
    read_count=0,
    read_bytes=0,
    read_merge_count=0,
    write_count=0,
    write_bytes=0,
    write_merge_count=0,
    flush_count=0,
)


def request(place: int, length: int = 16 * KIB, kind: str = "R", at_ns: int = 2000) -> BlockRequest:
    return BlockRequest(at_ns=at_ns, kind=kind, start_bytes=place, length_bytes=length)


def issued(count: int, *, write: bool = False, place: int | None = 0) -> tuple[IssuedIo, ...]:
    return tuple(
        IssuedIo(at_ns=1000 + nth, write=write, offset_bytes=0, length_bytes=4 * KIB, place_bytes=place)
        for nth in range(count)
    )


def phase(**changes: Any) -> StackPhase:
    clean = StackPhase(name="part", issued=(), other_count=0, began_ns=1000, counted=NOTHING, requests=())
    return replace(clean, **changes)


def trace(*examples: StackExample, **changes: Any) -> StackTrace:
    clean = StackTrace(
        target="/folder",
        device="loop0",
        file_system="ext4",
        settings={"max_sectors_kb": "1280"},
        untraced="",
        background=NOTHING,
        background_ns=200_000_000,
        started_wall_ns=0,
        tool="Assay",
        examples=examples,
    )
    return replace(clean, **changes)


def test_a_line_of_a_trace_is_read_and_anything_else_is_left_out() -> None:
    line = "   kworker-123 [001] ..... 12.000034: block_rq_issue: 7,0 WS 4096 () 2048 + 8 none,0,0 [kworker/u4:1]"
    assert parse_request(line) == request(MIB, 4 * KIB, "WS", 12_000_034_000)
    flush = parse_request("  a-1 [000] d..1. 1.500000: block_rq_issue: 259,1 FF 0 () 0 + 0 none,0,0 [b c]")
    assert flush == request(0, 0, "FF", 1_500_000_000)
    assert not flush.write
    assert not flush.read
    assert parse_request("# tracer: nop") is None
    assert parse_request("CPU:1 [LOST 5 EVENTS]") is None


def test_counters_are_read_field_by_field_and_subtracted(tmp_path: Path) -> None:
    (tmp_path / "stat").write_text("8 1 64 0 2 3 16 0 0 0 0 0 0 0 0 5 0\n", "ascii")
    first = device_counters(Disk("x", tmp_path))
    assert (first.read_count, first.read_merge_count, first.read_bytes) == (8, 1, 32_768)
    assert (first.write_count, first.write_merge_count, first.write_bytes, first.flush_count) == (2, 3, 8_192, 5)
    (tmp_path / "stat").write_text("9 1 72 0 2 3 16 0 0 0 0\n", "ascii")
    later = device_counters(Disk("x", tmp_path))
    assert (later.since(first).read_count, later.since(first).read_bytes, later.flush_count) == (1, 4_096, 0)


def test_tracing_that_is_not_there_says_how_to_have_it(tmp_path: Path) -> None:
    with pytest.raises(TraceUnavailableError, match=r"mount -t tracefs|for root only"), block_trace(0, (tmp_path,)):
        pass
    (tmp_path / "instances").mkdir()
    with pytest.raises(TraceUnavailableError, match="block events"), block_trace(0, (tmp_path,)):
        pass
    assert not list((tmp_path / "instances").glob("*/events/*"))


def test_the_order_at_the_device_is_the_share_of_requests_that_begin_where_one_ended() -> None:
    step = 16 * KIB
    assert in_order_share([request(nth * step) for nth in range(5)]) == 1.0
    assert in_order_share([request(place * step) for place in (0, 9, 1, 10, 11)]) == 0.25
    assert in_order_share([request(0)]) is None


def test_what_others_do_on_the_device_is_left_out_where_requests_are_watched() -> None:
    area = Area(-1, (Extent(file_bytes=0, device_bytes=MIB, length_bytes=MIB),))
    counts = replace(NOTHING, read_count=9, read_bytes=MIB, write_count=5)
    seen = phase(counted=counts, requests=(request(MIB), request(2 * MIB), request(2 * MIB - KIB, KIB, "W")))
    assert received(seen, area) == Received(reads=1, read_bytes=16 * KIB, writes=1)
    assert received(replace(seen, requests=None), area) == Received(reads=9, read_bytes=MIB, writes=5)
    assert (area.place(4 * KIB), area.place(MIB)) == (MIB + 4 * KIB, None)


def test_labels_say_what_went_in_and_what_came_out() -> None:
    counted = replace(NOTHING, read_count=7, read_bytes=3 * MIB, write_merge_count=2, flush_count=1)
    assert issued_label(phase(issued=issued(256))) == "256 reads of 4 KiB, 1 MiB in all"
    assert issued_label(phase(issued=issued(1, write=True))) == "1 write of 4 KiB, 4 KiB in all"
    assert issued_label(phase(other_count=100)) == "100 calls without data"
    assert issued_label(phase()) == received_label(phase()) == "nothing"
    assert received_label(phase(counted=counted)) == "7 reads, 3 MiB; 2 merged; 1 flush"


def test_each_example_has_a_page_and_what_was_not_run_a_reason() -> None:
    long = phase(issued=issued(4), requests=(request(0, MIB), request(4 * MIB, 4 * KIB, "W")))
    report = stack_report(
        trace(
            StackExample(name="read-ahead", phases=(long,), shown=True),
            StackExample(name="fragmented", phases=(), shown=None, reason="a raw drive holds no files"),
            StackExample(name="metadata", phases=(phase(other_count=100),), shown=False),
            StackExample(name="cached", phases=(phase(),), shown=None, reason="others use the device, too"),
        )
    )
    assert [page.place for page in report.pages] == ["1 of 4", "2 of 4", "3 of 4", "4 of 4"]
    (summary,) = report.pages[0].blocks
    assert isinstance(summary, Table)
    assert [row[-1] for row in summary.rows] == [
        "shown",
        "cannot be shown: a raw drive holds no files",
        "not shown here",
        "cannot be told: others use the device, too",
    ]
    figure, _ = report.pages[1].blocks
    assert isinstance(figure, Figure)
    assert [(one.label, len(one.x)) for one in figure.series] == [
        ("issued by the application", 4),
        # A stroke: 1 MiB by dots of a hundredth of 4 MiB.
        ("received: reads", 25),
        ("received: writes", 1),
    ]
    assert figure.series[2].y == (4.0,)
    assert isinstance(report.pages[2].blocks[0], Text)


def test_a_trace_without_requests_says_so_on_each_page() -> None:
    counts = replace(NOTHING, read_count=4, read_bytes=64 * KIB)
    only = phase(issued=issued(4), counted=counts, requests=None)
    report = stack_report(
        trace(StackExample(name="cached", phases=(only,), shown=True), untraced="tracing is for root")
    )
    assert all("counts only" in (page.banner or "") for page in report.pages)
    table = report.pages[1].blocks[1]
    assert isinstance(table, Table)
    assert table.rows[1][-1] == "16.0 KiB in the mean"
    off = stack_report(trace(settings={"iostats": "0"}))
    assert "queue/iostats" in (off.pages[0].banner or "")


def test_a_target_without_a_block_device_behind_it_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="does not exist"):
        trace_folder(tmp_path / "missing", tool="Assay")
    with pytest.raises(NotADriveError, match="not on a single block device"):
        trace_folder(Path("/dev/shm"), tool="Assay")  # noqa: S108 - a tmpfs is what is asked for
    for path in ("sim:ideal", str(tmp_path)):
        with pytest.raises(UsageError, match="name a block device"):
            trace_drive(path, confirmation=None, tool="Assay")


def test_pieces_cut_out_of_a_file_leave_it_in_pieces(tmp_path: Path) -> None:
    fd = create_file(tmp_path / "file")
    try:
        os.pwrite(fd, bytes(range(1, 65)) * (4 * KIB), 0)
        os.fsync(fd)
        try:
            cut_out(fd, 64 * KIB, 64 * KIB)
        except OSError as error:
            pytest.skip(f"SKIPPED: the file system cannot cut a piece out: {error.strerror}")
        assert os.fstat(fd).st_size == 192 * KIB
        found = extents(fd)
        assert found is not None
        assert sum(one.length_bytes for one in found) == 192 * KIB
        assert any(one.file_bytes == 64 * KIB for one in found)
    finally:
        os.close(fd)
