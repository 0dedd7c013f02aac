"""The file of I/Os that a sequence issues again, and what is planned from a trace."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from assay.engine.records import DriveIdentity
from assay.errors import AssayError, StoreError, UsageError
from assay.procedures.editions import load_edition
from assay.run.plan_file import Plan, load_plan
from assay.run.planning import plan_suite
from assay.spec.units import GIB
from assay.workloads import traces
from assay.workloads.traces.records import FLUSH, READ, TRIM, WRITE, batch_of_lists
from every_kind import TRACE

if TYPE_CHECKING:
    from pathlib import Path

BLOCK = 4096


def planned(**options: object) -> tuple[Plan, object]:
    plan = load_plan(None, {"drive": "sim:ideal?capacity=1GB", "studies": ["replay"], "replay": options})
    drive = DriveIdentity(
        id="sim:ideal", path="sim:ideal", kind="simulated", capacity_bytes=10**9, logical_block_bytes=512
    )
    (test,) = plan_suite(load_edition(plan.edition_name), plan, drive).tests
    return plan, test


def test_what_is_written_is_read_back_in_its_order(tmp_path: Path) -> None:
    path = tmp_path / "replay.parquet"
    rows = [(0, READ, 0, BLOCK), (10, WRITE, BLOCK, 512), (10, TRIM, 0, 1 << 20), (11, FLUSH, 0, 0)]
    assert traces.write_replay(path, [batch_of_lists(rows[:2]), batch_of_lists(rows[2:])]) == 4
    with path.open("rb") as source:
        (batch, *more) = traces.read_replay(source, "replay.parquet")
    assert not more
    read = zip(batch.time_ns, batch.operation, batch.offset_bytes, batch.length_bytes, strict=True)
    assert [tuple(map(int, row)) for row in read] == rows
    assert all(not field.nullable for field in pq.read_schema(path))


def test_a_trim_of_2_and_a_half_gib_is_issued_as_three_and_an_io_of_no_bytes_not_at_all() -> None:
    batch = batch_of_lists([(0, READ, 0, 0), (1, TRIM, BLOCK, 5 * GIB // 2), (2, FLUSH, 0, 0), (3, WRITE, 0, 5 * GIB)])
    (found,) = traces.issued([batch])
    assert found.operation.tolist() == [TRIM, TRIM, TRIM, FLUSH, WRITE]
    assert found.length_bytes.tolist() == [GIB, GIB, GIB // 2, 0, 5 * GIB]
    assert found.offset_bytes.tolist()[:3] == [BLOCK, BLOCK + GIB, BLOCK + 2 * GIB]
    assert found.time_ns.tolist() == [1, 1, 1, 2, 3]


def test_at_twice_the_speed_an_io_of_10_us_is_due_at_5() -> None:
    (found,) = traces.at_speed([batch_of_lists([(10_000, READ, 0, BLOCK)])], 2.0)
    assert found.time_ns.tolist() == [5_000]


@pytest.mark.parametrize(
    ("rows", "fault"),
    [
        ([(0, READ, 0, BLOCK), (5, TRIM, BLOCK, BLOCK), (5, FLUSH, 0, 0)], None),
        ([(5, READ, 0, BLOCK), (4, READ, 0, BLOCK)], "due before its predecessor"),
        ([(0, READ, BLOCK, 3 * BLOCK)], "not on the drive"),
        ([(0, READ, -BLOCK, BLOCK)], "not on the drive"),
        ([(0, READ, 0, 0)], "no operation or no bytes"),
        ([(0, 7, 0, BLOCK)], "no operation or no bytes"),
    ],
)
def test_a_file_of_ios_that_no_replay_has_is_told(rows: list[tuple[int, int, int, int]], fault: str | None) -> None:
    found = traces.replay_fault([batch_of_lists(rows)], 3 * BLOCK)
    assert (found is None) == (fault is None)
    assert fault is None or fault in str(found)


def test_files_of_another_form_are_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"due_ns": pa.array([1], pa.int64())}), path)
    with pytest.raises(StoreError, match="has not the form of a replay"), path.open("rb") as source:
        list(traces.read_replay(source, "x"))
    path.write_bytes(b"PAR1nothing")
    with pytest.raises(StoreError, match="not a Parquet file, or is damaged"), path.open("rb") as source:
        list(traces.read_replay(source, "x"))


def test_a_trace_is_planned_from_what_was_found_in_it() -> None:
    plan, test = planned(trace=str(TRACE), queue_depth=64, speed=2.0, prepare_fills=0)
    facts = plan.replay.facts
    assert (facts.form, facts.issued_count) == ("fio iolog version 3", 400)
    assert facts.rounded_to(512).largest_bytes == 65536
    assert facts.map.span_ns == 2_365_455_000
    settings = test.settings
    assert settings.span_ns == 1_182_727_500
    demand = settings.step.demand
    assert (demand.thread_count, demand.queue_depth, demand.arrival_process) == (1, 64, "recorded")
    assert demand.arrivals_per_s == pytest.approx(400 / 1.1827275)
    assert settings.step.stop.io_count == 400
    assert test.written_bytes == facts.map.io_bytes["write"]
    # What was found is stored with the plan: nobody needs the trace to see what was planned.
    stored = Plan.model_validate(plan.model_dump(mode="json", by_alias=True))
    assert stored.replay == plan.replay


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "names no trace"),
        ({"trace": "missing.log"}, "No such file"),
        ({"trace": str(TRACE), "traced_bytes": 1 << 20}, "beyond the 1,048,576 bytes of the traced drive"),
        ({"trace": __file__}, "of no form that is known"),
    ],
)
def test_what_cannot_be_replayed_is_refused_with_the_reason(options: dict[str, object], words: str) -> None:
    with pytest.raises(AssayError, match=words):
        planned(**options)


def test_ios_inside_blocks_are_rounded_outwards_and_counted_for_the_drives_block(tmp_path: Path) -> None:
    path = tmp_path / "inside.log"
    ios = "0 /dev/sdx write 256 512\n1 /dev/sdx read 4096 4096\n2 /dev/sdx read 5120 100\n3 /dev/sdx sync 0 0\n"
    path.write_text(f"fio version 3 iolog\n0 /dev/sdx add\n0 /dev/sdx open\n{ios}")
    _, test = planned(trace=str(path))
    facts = test.settings.facts
    found = [(one.io_count, one.largest_bytes, one.write_bytes) for one in map(facts.rounded_to, (512, 4096, 65536))]
    assert found == [(2, 4096, 1024), (2, 4096, 4096), (3, 65536, 65536)]
    assert test.written_bytes == 1_000_000_000 // 512 * 512 + 1024
    sentence = "2 I/Os begin or end inside a block of 512 bytes and are issued rounded outwards"
    assert sentence in test.outline.notes


SYSTOR = "time=1:s,op=3,device=4,offset=5:bytes,size=6:bytes"


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ("0.0,1,R,0,1024,8\n1.5,1,W,0,2048,8\n", "but 2 of its I/Os would begin or end inside a sector of 512 bytes"),
        ("0.0,1,W,0,1024,512\n1.5,1,W,0,2048,512\n", "but all of its I/Os would be a write"),
        ("0.0,1,R,0,1024,512\n1.5,1,W,0,9000000000,4096\n", "would go up to byte 9,000,004,096, beyond this drive"),
    ],
)
def test_a_form_that_was_guessed_and_makes_no_sense_is_refused_with_the_choices(
    rows: str, reason: str, tmp_path: Path
) -> None:
    path = tmp_path / "x.csv"
    path.write_text(rows)
    with pytest.raises(UsageError) as caught:
        planned(trace=str(path))
    assert reason in caught.value.reason
    assert f"confirm these: --columns {SYSTOR}" in caught.value.remedy
    if "beyond" not in reason:
        planned(trace=str(path), columns=SYSTOR)
    path.write_text("Timestamp,Response,IOType,LUN,Offset,Size\n" + rows.replace("9000000000", "9000448"))
    planned(trace=str(path))


def test_a_plan_tells_read_share_sizes_range_and_rate_of_a_trace(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("1,R,0,512\n2,R,512,512\n3,W,8192,4096\n4,F,-1,0\n")
    _, test = planned(trace=str(path), columns="time=1:s,op=2,offset=3,size=4")
    told = "66.7 % reads; 512 bytes (50 %), 4,096 bytes (25 %); up to byte 12,288; 1.0 I/Os per second"
    assert told in test.outline.notes


def test_a_trace_without_times_is_issued_as_fast_as_possible_only(tmp_path: Path) -> None:
    path = tmp_path / "v2.log"
    path.write_text("fio version 2 iolog\n/dev/sdx add\n/dev/sdx open\n/dev/sdx read 0 4096\n/dev/sdx close\n")
    with pytest.raises(UsageError, match=r"has no times .* --speed max"):
        planned(trace=str(path))
    _, test = planned(trace=str(path), speed="max")
    assert (test.settings.span_ns, test.settings.step.demand.arrivals_per_s) == (0, None)


def test_a_trace_of_a_larger_drive_needs_a_rule_for_its_places(tmp_path: Path) -> None:
    path = tmp_path / "large.log"
    path.write_text("fio version 3 iolog\n0 /dev/sdx add\n0 /dev/sdx open\n5 /dev/sdx write 3000000000 4096\n")
    with pytest.raises(UsageError, match="map it with the rule scale or wrap"):
        planned(trace=str(path))
    for rule in ("scale", "wrap"):
        _, test = planned(trace=str(path), map=rule)
        assert np.isclose(test.settings.mapping.capacity_bytes, 10**9, rtol=1e-6)
