"""Iometer's result files: written with all columns of the published sample, read in three forms, and their invariants.

The sample is table 3-3 of the OEM guide AN0006: one run of 30 s, 512 byte sequential reads with 32 outstanding.
"""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from assay.errors import PlanError
from assay.workloads.iometer import results_csv
from assay.workloads.iometer.model import AccessRow, AccessSpec
from assay.workloads.iometer.results import COLUMNS, SHOWN, as_csv, as_json, parse_results, table_rows
from assay.workloads.iometer.results_write import CpuFigures, Direction, StageFigures, WorkerFigures
from iometer_invariants import invariants

if TYPE_CHECKING:
    from assay.workloads.iometer.model import Record
    from assay.workloads.iometer.results import ResultRow, Results

SAMPLE = {
    "IOps": 46227.62202,
    "MBps": 22.572081,
    "Average Response Time": 0.69196,
    "Maximum Response Time": 7.495195,
    "Bytes Read": 710908416,
    "Read I/Os": 1388493,
    "Bytes Written": 0,
    "Write I/Os": 0,
    "% CPU Utilization": 14.05168,
    "CPU Effectiveness": 3289.828927,
    "Queue Depth": 32,
}
SPEC = AccessSpec(
    name="0.5k_seq_100rd",
    assignment="ALL",
    rows=(AccessRow(size_bytes=512, percent=100, read_percent=100, random_percent=0, align_bytes=4096),),
)
RUN_TIME_NS = round(1388493 / 46227.62202 * 1e9)
READS = Direction(io_count=1388493, byte_count=710908416, latency_ns_sum=1388493 * 691_960, latency_ns_max=7_495_195)
WORKER = WorkerFigures(
    name="Worker 1",
    target="PHYSICALDRIVE:1",
    spec=SPEC.name,
    read=READS,
    write=Direction(),
    run_time_ns=RUN_TIME_NS,
    queue_depth=32,
)
CPU = CpuFigures(
    busy_percent=14.05168,
    user_percent=0.325678,
    system_percent=13.750119,
    deferred_percent=2.03223,
    interrupt_percent=6.643828,
    interrupts_per_s=12345.5,
)
STAGE = StageFigures(
    specs=(SPEC,),
    begun="2010-10-14 06:28:37:406",
    ended="2010-10-14 06:29:17:500",
    workers=(WORKER,),
    manager="DMTEST6",
    total=CPU,
    cpus=(CPU,) * 8,
    cpu_hz=2_670_000_000,
)
TEXT = results_csv([STAGE], description="Viking DVT, Performance Test")


def read(text: str = TEXT) -> Results:
    return parse_results(text, "r.csv")


def rows_of(text: str = TEXT) -> list[ResultRow]:
    return [row for run in read(text).runs for row in run.rows]


def test_there_are_the_56_columns_of_the_published_sample() -> None:
    assert len(COLUMNS) == 56
    assert [list(COLUMNS)[place - 1] for place in (7, 10, 15, 25, 33, 42, 45, 51, 53, 56)] == [
        "IOps",
        "MBps",
        "Average Response Time",
        "Errors",
        "Transactions per Connection",
        "Total Raw Run Time",
        "Queue Depth",
        "Processor Speed",
        "CPU Effectiveness",
        "Segments Retransmitted/Second",
    ]


def test_the_sample_is_written_with_the_figures_that_were_published() -> None:
    whole = rows_of()[0]
    assert {name: whole.cells[name] for name in SAMPLE} == pytest.approx(SAMPLE, rel=1e-6)
    assert (whole.kind, whole.name, whole.spec) == ("ALL", "All", "0.5k_seq_100rd")
    assert [whole.cells[name] for name in ("# Managers", "# Workers", "# Disks")] == [1, 1, 1]
    assert [whole.cells[name] for name in ("Starting Sector", "Maximum Size", "Transactions per Connection")] == [
        0,
        0,
        -1,
    ]
    assert whole.cells["Write IOps"] == whole.cells["Average Write Response Time"] == whole.cells["Errors"] == 0


def test_figures_of_the_sample_agree_among_themselves() -> None:
    text = f"'Target Type,{','.join(('Target Name', 'Read IOps', 'Write IOps', *SAMPLE))}\n"
    text += f"ALL,All,46227.62202,0,{','.join(map(str, SAMPLE.values()))}\n"
    (row,) = rows_of(text)
    found = {one.name: one for one in invariants(row, 512)}
    assert len(found) == 5
    assert all(one.holds for one in found.values())
    assert found["IOps x size / 2^20 = MBps"].expected == pytest.approx(22.572, abs=5e-4)
    assert found["bytes / I/Os = size"].found == 512
    assert found["IOps / % CPU = effectiveness"].expected == pytest.approx(3289.83, abs=5e-3)
    assert found["outstanding / mean response time = IOps"].expected == pytest.approx(46245.4, abs=0.1)


@pytest.mark.parametrize(
    ("column", "broken"),
    [
        ("IOps", "IOps x size"),
        ("MBps", "IOps x size"),
        ("Bytes Read", "bytes / I/Os"),
        ("Average Response Time", "outstanding /"),
        ("CPU Effectiveness", "IOps / % CPU"),
        ("Read IOps", "Read IOps + "),
    ],
)
def test_a_changed_figure_breaks_its_invariant(column: str, broken: str) -> None:
    row = rows_of()[0]
    changed = replace(row, cells={**row.cells, column: row.cells[column] * 1.02})
    assert any(one.name.startswith(broken) for one in invariants(changed, 512) if not one.holds)


def test_every_row_that_is_written_keeps_its_invariants() -> None:
    writes = Direction(io_count=500, byte_count=500 * 512, latency_ns_sum=500 * 64_000_000, latency_ns_max=10**8)
    second = replace(WORKER, name="Worker 2", read=Direction(), write=writes, run_time_ns=10**9)
    rows = rows_of(results_csv([replace(STAGE, workers=(WORKER, second))]))
    counts = {row.kind: len(invariants(row, 512)) for row in rows}
    assert counts == {"ALL": 5, "MANAGER": 5, "PROCESSOR": 0, "WORKER": 4, "DISK": 4}
    broken = [(row.kind, one) for row in rows for one in invariants(row, 512) if not one.holds]
    # Two workers of unlike latency have no common mean: Little's law is of each of them.
    assert {(kind, one.name) for kind, one in broken} <= {
        (kind, "outstanding / mean response time = IOps") for kind in ("ALL", "MANAGER")
    }


def test_rows_come_in_iometers_order_and_leave_its_columns_empty() -> None:
    rows = rows_of()
    assert [row.kind for row in rows] == ["ALL", "MANAGER", *["PROCESSOR"] * 8, "WORKER", "DISK"]
    for row in rows:
        assert not row.cells.keys() & {name for name, column in COLUMNS.items() if row.kind in column.empty}
    speed = "Processor Speed"
    assert [row.cells.get(speed) for row in rows] == [None, *[2_670_000_000] * 11]
    raw = {row.kind: row.cells.get("Total Raw Run Time") for row in rows}
    assert raw["DISK"] == raw["WORKER"] == raw["MANAGER"] == RUN_TIME_NS * 2_670_000_000 // 10**9
    assert all(len(line.split(",")) == 56 for line in TEXT.split("\r\n") if line.startswith(("ALL,", "DISK,")))


@pytest.mark.parametrize(
    ("record", "kinds"),
    [
        ("NO_TARGETS", {"ALL", "MANAGER", "PROCESSOR", "WORKER"}),
        ("NO_WORKERS", {"ALL", "MANAGER", "PROCESSOR"}),
        ("NO_MANAGERS", {"ALL"}),
        ("NONE", set()),
    ],
)
def test_record_results_leaves_out_rows_from_the_bottom(record: Record, kinds: set[str]) -> None:
    assert {row.kind for row in rows_of(results_csv([STAGE], record=record))} == kinds


def test_what_is_unknown_is_an_empty_cell() -> None:
    unknown = replace(STAGE, total=CpuFigures(), cpus=(CpuFigures(),), cpu_hz=None)
    reads = replace(READS, latency_ns_sum=None, latency_ns_max=None)
    row = rows_of(results_csv([replace(unknown, workers=(replace(WORKER, read=reads),))]))[0]
    empty = {
        "% CPU Utilization",
        "CPU Effectiveness",
        "Average Response Time",
        "Maximum Read Response Time",
        "Packet Errors",
    }
    assert not row.cells.keys() & empty
    assert row.cells["IOps"] == pytest.approx(SAMPLE["IOps"])


def test_what_workers_do_not_have_in_common_is_mixed() -> None:
    other = replace(WORKER, spec="other", start_sector=8, queue_depth=1)
    row = rows_of(results_csv([replace(STAGE, workers=(WORKER, other))]))[0]
    assert (row.spec, row.cells["Starting Sector"], row.cells["Queue Depth"]) == ("mixed", -1, -1)
    assert (row.cells["# Workers"], row.cells["# Disks"]) == (2, 1)


def test_the_same_figures_give_the_same_text_and_commas_in_texts_end_no_cell() -> None:
    assert results_csv([STAGE], description="Viking DVT, Performance Test") == TEXT
    assert "0,Viking DVT- Performance Test\r\n" in TEXT
    assert TEXT.startswith("'Test Type,Test Description\r\n")
    found = read()
    (series,) = found.series
    assert (series.test_type, series.version) == ("0", "2006.07.27")
    (run,) = series.runs
    assert run.time_stamps == ("2010-10-14 06:28:37:406", "2010-10-14 06:29:17:500")
    assert [(spec.name, spec.rows) for spec in run.specs] == [("0.5k_seq_100rd", [(512, 100, 100, 0, 0, 1, 4096, 0)])]


def as_release(columns: int) -> str:
    """The sample as 1.1.0-rc1 (59 columns) or 1.1.0 (80) have it."""
    lines = TEXT.split("\r\n")
    place = next(number for number, line in enumerate(lines) if line.startswith("'Target Type"))
    table = [line.removeprefix("'").split(",") for line in lines[place : place + 13]]
    unit = "MBps" if columns == 59 else "MiBps"
    header, *rows = table
    header[9:12] = [f"{unit} (Binary)", f"Read {unit} (Binary)", f"Write {unit} (Binary)"]
    header[12:12] = ["MBps (Decimal)", "Read MBps (Decimal)", "Write MBps (Decimal)"]
    for row in rows:
        row[12:12] = [str(float(cell or 0) * 1.048576) for cell in row[9:12]]
    if columns == 80:
        header.extend([*(f"{edge} ms" for edge in range(20)), " >= 10 s"])
        for row in rows:
            row.extend(["1"] * 21)
    lines[place : place + 13] = [("'" if not number else "") + ",".join(row) for number, row in enumerate(table)]
    return "\n".join(f"{line}," if line.startswith("512,") and columns == 80 else line for line in lines)


@pytest.mark.parametrize("columns", [56, 59, 80])
def test_files_of_all_releases_are_read_by_the_names_of_their_columns(columns: int) -> None:
    (run,) = read(TEXT if columns == 56 else as_release(columns)).runs
    whole = run.rows[0]
    assert len(run.columns) == columns
    assert whole.mebibytes_per_s() == pytest.approx(22.572081)
    assert whole.mebibytes_per_s("Read") == pytest.approx(22.572081)
    assert all(one.holds for one in invariants(whole, 512))
    assert columns != 80 or whole.cells[">= 10 s"] == 1


def test_tests_that_are_appended_are_read() -> None:
    found = read(TEXT + results_csv([STAGE, STAGE]))
    assert [len(one.runs) for one in found.series] == [1, 2]
    assert [len(run.rows) for run in found.runs] == [12, 12, 12]
    assert {run.time_stamps for run in found.runs} == {("2010-10-14 06:28:37:406", "2010-10-14 06:29:17:500")}


@pytest.mark.parametrize("cut", [",", ".", "6227"])
def test_a_row_that_is_cut_is_refused_with_its_line(cut: str) -> None:
    lines = TEXT.split("\r\n")
    whole = next(number for number, line in enumerate(lines) if line.startswith("WORKER"))
    lines[whole] = lines[whole][: lines[whole].index("46227") + len("4") + len(cut)]
    with pytest.raises(PlanError, match=rf"r\.csv:{whole + 1}: has 7 cells for 56 columns"):
        read("\n".join(lines[: whole + 1]))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("ALL,All", "SOME,All", 'r.csv:15: the target type is "SOME"'),
        ("46227.622020", "fast", 'r.csv:15: "fast" stands in the column IOps'),
        ("46227.622020", "nan", '"nan" stands in the column IOps'),
        ("'Target Type", "'Target Sort", "no title that Iometer writes"),
        (",IOps,", ",IOPS,", 'has no column "IOps"'),
        ("512,100,100", "512,100%,100", "no row of a specification"),
        ("'Results", "Results", '"Results" belongs to nothing'),
    ],
)
def test_a_fault_in_results_names_its_line(old: str, new: str, said: str) -> None:
    with pytest.raises(PlanError) as caught:
        read(TEXT.replace(old, new))
    assert said in str(caught.value)


def test_a_file_without_results_is_refused() -> None:
    for text in ("", "\n", "'Test Type,Test Description\n0,x\n"):
        with pytest.raises(PlanError, match="has no results"):
            read(text)


def test_old_results_are_shown_as_a_table_json_and_csv() -> None:
    found = read()
    rows = table_rows(found)
    assert all(len(row) == len(SHOWN) for row in rows)
    assert rows[0] == (
        *("1", "ALL", "All", "0.5k_seq_100rd", "32", "46,227.62", "46,227.62", "0.00", "22.57"),
        *("0.6920", "7.495", "0", "14.05"),
    )
    assert rows[-1][1:4] == ("DISK", "PHYSICALDRIVE:1", "0.5k_seq_100rd")
    facts = json.loads(as_json(found))
    assert facts["verified"] is False
    assert facts["tests"][0]["runs"][0]["rows"][0]["cells"]["Read I/Os"] == 1388493
    listed = list(csv.DictReader(io.StringIO(as_csv(found))))
    assert len(listed) == 12
    assert float(listed[0]["IOps"]) == pytest.approx(46227.62202)
