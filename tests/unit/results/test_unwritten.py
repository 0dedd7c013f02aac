"""Reads of blocks that nothing was written to since the purge, told from what a run stored."""

from __future__ import annotations

from dataclasses import replace
from math import exp
from typing import TYPE_CHECKING, Any

import pytest
from assay.cli.options import make_plan
from assay.dut.dut import Answers
from assay.errors import UsageError
from assay.report import records_of_tests
from assay.report.first_page.insights import insights_of_test, sentences
from assay.results.outcome import withheld_reason
from assay.results.run_checks import run_checks
from assay.results.unwritten import unwritten_reads
from assay.run.run import run_plan
from assay.run.store.read import read_run

if TYPE_CHECKING:
    from pathlib import Path

    from assay.engine.records import StoredRun

DRIVE = "sim:client-2011?capacity=128MB"
READS = "[global]\nioengine=io_uring\ndirect=1\ntime_based\nruntime=100ms\nnorandommap\nbs=4k\n[reads]\nrw=randread\n"


def ran(folder: Path, job: str, **options: Any) -> StoredRun:
    path = folder / "x.fio"
    path.write_text(job)
    demand = {"thread_count": None, "queue_depth": None, "arrival": None}
    plan = make_plan((DRIVE,), fio=path, seed=1, **demand, **options)
    run_plan(plan, out=folder / "run", answers=Answers(), show=lambda _: None)
    return read_run(folder / "run")


def share(run: StoredRun) -> float | None:
    (found,) = [one for one in run_checks(run.tests[0]) if one.name == "unwritten"]
    return found.finding.measured


@pytest.mark.parametrize(
    ("options", "expected"),
    [({}, 1.0), ({"fill": 1.0}, 0.0), ({"fill": 0.25}, 0.75), ({"no_purge": True}, None)],
)
def test_the_share_of_a_range_that_was_never_written_is_what_the_fills_left(
    options: dict[str, Any], expected: float | None, tmp_path: Path
) -> None:
    run = ran(tmp_path, READS, **options)
    assert share(run) == (None if expected is None else pytest.approx(expected, abs=1e-3))
    assert withheld_reason(run.tests[0]) is None
    (report,) = records_of_tests(run)
    sentence = "{:.0f} % of the reads met blocks never written."
    said = sentences(insights_of_test(report))
    assert said[:1] == ((sentence.format(expected * 100),) if expected else said[:1])
    assert expected or not [line for line in said if "never written" in line]


def test_a_read_of_what_a_job_before_it_wrote_is_none_of_what_was_never_written(tmp_path: Path) -> None:
    fill = "[global]\nfilename=x\nioengine=io_uring\ndirect=1\nnorandommap\nsize=32m\n[fill]\nrw=write\nbs=128k\n"
    reads = "[reads]\nstonewall\nrw=randread\nbs=4k\ntime_based\nruntime=100ms\n"
    assert share(ran(tmp_path, fill + reads)) == 0.0


def test_random_writes_of_as_many_bytes_as_their_range_leave_a_share_of_1_to_e(tmp_path: Path) -> None:
    run = ran(tmp_path, READS)
    test = run.tests[0]
    (sequence,) = test.sequences
    step, asked = sequence.steps[0], sequence.asked[0]
    size = asked.active_range.segment_bytes
    wrote = replace(step, read=replace(step.write), write=replace(step.read, window_bytes=size, tail_bytes=0))
    before = replace(sequence, name="before", steps=(wrote,), asked=(replace(asked, pattern=asked.pattern),))
    (found,) = unwritten_reads(replace(test, sequences=(before, sequence)))
    assert found.measured == pytest.approx(exp(-1))


def test_a_fill_is_refused_where_no_workload_and_no_replay_is_run() -> None:
    demand = {"thread_count": None, "queue_depth": None, "arrival": None}
    with pytest.raises(UsageError, match=r"--fill: prepares the drive for a workload or a replay; .* --fio"):
        make_plan((DRIVE,), tests=("iops",), fill=1.0, **demand)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="--no-purge: prepares the drive"):
        make_plan((DRIVE,), no_purge=True, **demand)  # type: ignore[arg-type]
