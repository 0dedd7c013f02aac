"""Steps of stored runs as job files of fio: which step is meant, and what fio cannot say of it."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from assay.cli import assay
from assay.errors import AssayError, UsageError
from assay.results.workload import asked_workload, chosen_steps, numbered_steps
from assay.run.store.read import read_run
from assay.spec.workload import Content, LbaGroup, Line, Rate, Stage, Stream, Workload
from assay.workloads import fio
from click.testing import CliRunner, Result
from every_kind import run_of
from test_workload import run_of as run_streams

if TYPE_CHECKING:
    from assay.engine.records import StoredRun

TOOL = shutil.which("fio")
LINE = Line(size_bytes=4096)
GROUPS = [{"access_percent": 50, "range_percent": 5}, {"access_percent": 50, "range_percent": 95}]
STREAMS = [
    {"name": "hot reads", "queue_depth": 4, "lines": [{"size_bytes": 4096}], "lba_groups": GROUPS},
    {"name": "writes", "lines": [{"size_bytes": 8192, "read_percent": 0}], "rate": {"ios_per_s": 500}},
    {"name": "flushes", "operation": "flush", "lines": [{"size_bytes": 4096}], "rate": {"ios_per_s": 5}},
]


@pytest.fixture(scope="module")
def streams(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, StoredRun]:
    folder = tmp_path_factory.mktemp("runs") / "streams"
    stages = [{"name": "mixed", "time_s": 0.5, "streams": STREAMS}]
    return folder, run_streams(folder, stages, prepare_fills=1)


@pytest.fixture(scope="module")
def rounds(tmp_path_factory: pytest.TempPathFactory) -> StoredRun:
    return run_of("iops", tmp_path_factory.mktemp("runs") / "iops")


def convert(*words: object) -> Result:
    return CliRunner().invoke(assay, ["convert", *map(str, words)])


def test_a_step_is_chosen_by_its_number_or_its_printed_name(streams: tuple[Path, StoredRun]) -> None:
    by_number = convert(streams[0], "--to", "fio", "--step", 2, "--drive", "/dev/x")
    by_name = convert(streams[0], "--to", "fio", "--step", "Mixed", "--drive", "/dev/x")
    assert by_number.exit_code == 0
    assert by_number.stdout == by_name.stdout
    jobs = by_number.stdout
    assert "[hot reads]\nrw=randread\nbs=4096\nrandom_distribution=zoned:50/5:50/95\niodepth=4\n" in jobs
    assert "[writes]\nrw=randwrite\nbs=8192\n" in jobs
    assert "rate_iops=500\n" in jobs
    assert jobs.count("runtime=500ms") == 2
    assert "; Otherwise than there: flushes: left out: it flushes; fio has no job of flushes alone" in jobs


def test_without_a_step_or_with_a_wrong_one_they_are_listed(streams: tuple[Path, StoredRun]) -> None:
    for words, reason in (
        ((), "is missing"),
        (("--step", 3), "is no step of this run, which has 2"),
        (("--step", "mixt"), "did you mean 'mixed'?"),
    ):
        done = convert(streams[0], "--to", "fio", *words)
        assert isinstance(done.exception, UsageError)
        assert reason in str(done.exception)
        assert done.stderr.startswith("1  study-workload-1, preconditioning\n2  study-workload-1, mixed\n")
        assert done.stdout == ""


def test_a_step_of_a_simulated_drive_needs_a_drive_that_fio_can_open(streams: tuple[Path, StoredRun]) -> None:
    error = convert(streams[0], "--to", "fio", "--step", 1).exception
    assert isinstance(error, AssayError)
    assert "is simulated, and fio cannot open it; name a drive with --drive" in str(error)
    refused = convert(streams[0], "--to", "table", "--step", 1).exception
    assert "is no form that a run is converted to" in str(refused)
    assert "is for stored runs" in str(convert(Path(__file__).parents[1] / "x.icf", "--step", 1).exception)


def test_a_step_as_a_plan_asks_the_same_when_it_is_run(streams: tuple[Path, StoredRun], tmp_path: Path) -> None:
    plan, again = tmp_path / "plan.toml", tmp_path / "again"
    assert convert(streams[0], "--step", "mixed", "--out", plan).exit_code == 0
    done = CliRunner().invoke(assay, ["run", str(plan), "--no-report", "--seed", "1", "--out", str(again)])
    assert done.exit_code == 0, done.output
    (new,) = read_run(again).tests[0].sequences
    assert new.asked == streams[1].tests[0].sequences[-1].asked


def test_the_steps_of_all_tests_are_numbered_in_turn(rounds: StoredRun) -> None:
    listed = numbered_steps(rounds)
    assert [one.first for one in listed[1:]] == [one.last + 1 for one in listed[:-1]]
    first = next(one for one in listed if one.sequence.name == "round 1")
    assert chosen_steps(rounds, "round 1") == [first]
    assert len(asked_workload(rounds, "round 1").workload.stages) == len(first.groups)
    (cell,) = asked_workload(rounds, str(first.first)).workload.stages
    assert cell.name == first.sequence.asked[0].label
    # Every name that is listed is one that is taken.
    for one in listed:
        assert chosen_steps(rounds, one.name) == [one]
        assert chosen_steps(rounds, f"{one.first}-{one.last}") == [one]


def test_a_name_of_several_sequences_is_answered_with_names_that_are_taken(rounds: StoredRun) -> None:
    twice = replace(rounds, tests=(*rounds.tests, *rounds.tests))
    with pytest.raises(UsageError, match=r"names 2 sequences; choose from 'iops-1, round 1', 'iops-2, round 1'"):
        chosen_steps(twice, "round 1")
    (one,) = chosen_steps(twice, "iops-2,  Round 1")
    assert one.first > numbered_steps(rounds)[-1].last


def test_a_range_of_steps_is_one_workload_over_the_ends_of_sequences(rounds: StoredRun) -> None:
    fill, first, second = numbered_steps(rounds)[:3]
    parts = chosen_steps(rounds, f"{fill.first}-{second.first}")
    assert [(one.name, one.first, one.last) for one in parts] == [
        (fill.name, fill.first, fill.last),
        (first.name, first.first, first.last),
        (second.name, second.first, second.first),
    ]
    workload = asked_workload(rounds, f"{first.first}-{second.last}").workload
    assert len(workload.stages) == len(first.groups) + len(second.groups)
    assert workload.title == f"{first.name} to {second.name}, steps {first.first} to {second.last}"
    jobs = fio.nearest_job_text(workload, filename="/dev/x")
    assert jobs.count("stonewall") == len(workload.stages) - 1
    for wrong in ("0-1", "3-2", "1-99999"):
        with pytest.raises(UsageError, match="is no range of steps of this run"):
            chosen_steps(rounds, wrong)


def test_fio_takes_every_sequence_of_a_run(rounds: StoredRun, tmp_path: Path) -> None:
    if TOOL is None:
        pytest.skip("SKIPPED: needs fio to read the jobs")
    for one in numbered_steps(rounds)[:4]:
        asked = asked_workload(rounds, one.sequence.name)
        path = tmp_path / f"{one.first}.fio"
        path.write_text(fio.nearest_job_text(asked.workload, filename="/dev/x", notes=asked.notes), "utf-8")
        done = subprocess.run([TOOL, "--parse-only", str(path)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


def near(change: dict[str, Any], **end: object) -> str:
    stream = Stream.model_validate({"name": "s", "lines": (LINE,), "size_bytes": 1 << 20} | change)
    stage = Stage.model_validate({"name": "one", "streams": (stream,)} | (end or {"time_s": 1}))
    return fio.nearest_job_text(Workload(stages=(stage,)), filename="/dev/x")


MIXED = Line(size_bytes=4096, random_percent=0, read_percent=70)


@pytest.mark.parametrize(
    ("change", "end", "said", "keys"),
    [
        ({}, {}, None, "rw=randread\nbs=4096\niodepth=1\nnumjobs=1\n"),
        ({"lines": (MIXED,)}, {}, "after the last of their direction", "rw=rw\nrwmixread=70\n"),
        (
            {"lines": (Line(size_bytes=4096, random_percent=0),), "thread_count": 4, "queue_depth": 8},
            {},
            "4 threads as a single job of depth 32, because the threads share a position",
            "iodepth=32\nnumjobs=1\n",
        ),
        ({"thread_count": 4}, {"amount_bytes": 1 << 20}, "because the amount is shared", "iodepth=4\nnumjobs=1\n"),
        ({"lines": (Line(size_bytes=4096, read_percent=33.4),)}, {}, "whole per cent", "rwmixread=33\n"),
        ({"rate": Rate(ios_per_s=100.5)}, {}, "100.5 I/Os per second as bytes", "rate=411648\n"),
        ({"rate": Rate(ios_per_s=100, end_factor=3)}, {}, "the mean of its changing rate", "rate_iops=200\n"),
        (
            {"rate": Rate(ios_per_s=100), "lines": (Line(size_bytes=4096, read_percent=70),)},
            {},
            "separate jobs for reads and writes",
            "rate_iops=70\n",
        ),
        ({"data": Content(kind="stamped"), "lines": (Line(size_bytes=4096, read_percent=0),)}, {}, "random data", ""),
        ({"queue_depth": 2, "lines": (Line(size_bytes=4096, delay_ms=3),)}, {}, "pauses are left out", "iodepth=2\n"),
        (
            {"lines": (Line(percent=50, size_bytes=4096), Line(percent=50, size_bytes=8192))},
            {},
            "on a grid of 4096 bytes",
            "bssplit=4096/50:8192/50\nblockalign=4096\n",
        ),
        (
            {"lines": (Line(percent=50, size_bytes=4096), Line(percent=50, size_bytes=4096, read_percent=0))},
            {},
            "the mean mix for all sizes",
            "rwmixread=50\n",
        ),
        (
            {"thread_count": 2, "cursor": "per_thread", "lines": (Line(size_bytes=4096, random_percent=0),)},
            {},
            "a job for each thread",
            "offset=524288\nsize=524288\n",
        ),
    ],
)
def test_what_fio_cannot_say_is_said_in_a_comment(
    change: dict[str, Any], end: dict[str, object], said: str | None, keys: str
) -> None:
    text = near(change, **end)
    notes = [line for line in text.splitlines() if line.startswith("; Otherwise than there: s")]
    assert bool(notes) == (said is not None)
    assert said is None or any(said in note for note in notes), notes
    assert keys in text
    # What is written is a job that is read again as it stands.
    assert fio.parse_jobs(Path("x.fio"), text).stages


def test_a_workload_of_which_fio_can_do_nothing_is_refused() -> None:
    with pytest.raises(UsageError, match="no job of flushes"):
        near({"operation": "flush"})
    waits = Workload(stages=(Stage(name="one", time_s=1, streams=()),))
    with pytest.raises(UsageError, match="fio has no job without I/Os"):
        fio.nearest_job_text(waits, filename="/dev/x")


def test_a_flush_beside_reads_is_left_out_of_a_stage_that_ends_by_an_amount() -> None:
    streams = (Stream(name="s", lines=(LINE,)), Stream(name="f", operation="flush", lines=(LINE,)))
    workload = Workload(stages=(Stage(name="one", amount_bytes=1 << 20, streams=streams),))
    text = fio.nearest_job_text(workload, filename="/dev/x")
    assert "; Otherwise than there: f: left out: it flushes; fio has no job of flushes alone" in text
    assert text.endswith("io_size=1048576\n")


def test_zones_of_a_job_are_groups_of_a_stream() -> None:
    job = "[j]\ndirect=1\nrw=randread\nrandom_distribution=zoned:50/5:30/15:20/80\nruntime=1\n"
    (stream,) = fio.parse_jobs(Path("x.fio"), job).stages[0].streams
    shares = ((50, 5), (30, 15), (20, 80))
    assert stream.lba_groups == tuple(LbaGroup(access_percent=one, range_percent=two) for one, two in shares)
