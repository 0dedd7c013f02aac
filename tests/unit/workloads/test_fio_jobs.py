"""Job files of fio: what is read of them, what is refused with its line, and that nothing changes on the way back."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from assay.errors import PlanError, UsageError
from assay.procedures.editions import load_edition
from assay.run.plan_file import load_plan
from assay.run.planning import PlannedRun, plan_suite
from assay.spec.workload import Content, Line, Rate, Stage, Stream, Workload
from assay.workloads import fio
from demand_run import demand_drive
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

HEAD = "[global]\nfilename=/dev/sdx\nioengine=io_uring\ndirect=1\n"
TIMED = HEAD + "time_based\nruntime=60\nnorandommap\n"
MANY = settings(
    max_examples=150, deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow]
)
FIO = shutil.which("fio")


def read(jobs: str) -> Workload:
    return fio.parse_jobs(Path("x.fio"), jobs)


def stream(keys: str) -> Stream:
    """The only stream of a job with these keys."""
    (only,) = read(f"{TIMED}[j]\n{keys}").stages[0].streams
    return only


def planned_suite(keys: dict[str, object]) -> PlannedRun:
    plan = load_plan(None, keys)
    return plan_suite(load_edition(plan.edition_name), plan, demand_drive())


def meaning(workload: Workload) -> list[object]:
    """What a workload asks, without names and notes."""
    kept = workload.model_dump()["stages"]
    for stage in kept:
        stage["name"] = ""
        for one in stage["streams"]:
            one["name"] = ""
            one["lines"] = sorted(one["lines"], key=repr)
    return list(kept)


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("rw=randread", {"read_percent": 100, "random_percent": 100, "size_bytes": 4096}),
        ("rw=write\nbs=128k", {"read_percent": 0, "random_percent": 0, "size_bytes": 131072}),
        ("rw=randrw\nrwmixread=70\nbs=8k", {"read_percent": 70, "random_percent": 100, "size_bytes": 8192}),
        ("rw=randrw\nrwmixwrite=70", {"read_percent": 30}),
        ("rw=randrw\nrwmixread=70\nrwmixwrite=80", {"read_percent": 20}),
        ("rw=randrw\nrwmixwrite=80\nrwmixread=70", {"read_percent": 70}),
        ("rw=randread\npercentage_random=30", {"random_percent": 30}),
        ("rw=randread\nbs=4k\nblockalign=512", {"align_bytes": 512}),
        ("rw=randwrite\niodepth=1\nthinktime=1500\nthinktime_blocks=8", {"delay_ms": 1.5, "burst_io_count": 8}),
        ("readwrite=randread\nblocksize=0x2000 ; eight", {"size_bytes": 8192}),
        ("rw=randread\nkb_base=1000\nbs=4kib", {"size_bytes": 4096}),
    ],
)
def test_a_job_is_a_stream_of_one_line(keys: str, expected: dict[str, object]) -> None:
    (line,) = stream(keys).lines
    assert {key: getattr(line, key) for key in expected} == expected


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("rw=randread\niodepth=32\nnumjobs=4", {"queue_depth": 32, "thread_count": 4}),
        ("rw=randread\nioengine=psync\niodepth=32", {"queue_depth": 1}),
        ("rw=randtrim\nbs=64k", {"operation": "trim"}),
        ("rw=rw", {"cursor": "fio"}),
        ("rw=randwrite\npercentage_random=30", {"cursor": "fio"}),
        ("rw=rw\nbs=4k,64k", {"cursor": "fio"}),
        ("rw=randread\nrate_iops=500\nnumjobs=4", {"rate": Rate(ios_per_s=2000)}),
        ("rw=write\nrate=1m,2m\nrate_process=poisson", {"rate": Rate(bytes_per_s=2 << 20, arrivals="poisson")}),
        ("rw=write\noffset=1g\nsize=50%", {"start_bytes": 1 << 30, "size_percent": 50}),
        (
            "rw=write\nbuffer_compress_percentage=40",
            {"data": Content(kind="compressible", stored_percent=60)},
        ),
    ],
)
def test_a_job_says_demand_place_rate_and_data(keys: str, expected: dict[str, object]) -> None:
    only = stream(keys)
    assert {key: getattr(only, key) for key in expected} == expected


def test_sizes_have_their_shares_also_where_reads_and_writes_differ() -> None:
    lines = stream("rw=randrw\nrwmixread=70\nbssplit=4k/50:64k/,8k\nblockalign=4k").lines
    found = {(line.size_bytes, line.percent, line.read_percent, line.align_bytes) for line in lines}
    assert found == {(4096, 35, 100, 4096), (65536, 35, 100, 4096), (8192, 30, 0, 4096)}


def test_a_stonewall_begins_a_stage_and_clones_that_keep_a_place_are_streams() -> None:
    workload = read(
        TIMED + "[a]\nrw=read\nnumjobs=3\noffset_increment=1g\n[b]\nrw=randread\n[c]\nstonewall\nrw=write\n"
    )
    assert [[one.name for one in stage.streams] for stage in workload.stages] == [["a.0", "a.1", "a.2", "b"], ["c"]]
    assert [one.start_bytes for one in workload.stages[0].streams] == [None, 1 << 30, 2 << 30, None]


def test_globals_hold_for_the_jobs_behind_them_and_the_last_value_counts() -> None:
    workload = read(TIMED + "[a]\nrw=read\n[global]\nbs=64k\nbs=8k\n[b]\nrw=read\n")
    assert [one.lines[0].size_bytes for one in workload.stages[0].streams] == [4096, 8192]


def test_of_two_keys_for_one_value_the_last_holds_also_behind_the_globals() -> None:
    (a,), (b,) = (
        stage.streams
        for stage in read(
            HEAD + "runtime=1\nnorandommap\nrwmixread=70\nrw=randrw\n[a]\nrwmixwrite=80\n[b]\nstonewall\n"
        ).stages
    )
    assert (a.lines[0].read_percent, b.lines[0].read_percent) == (20, 70)
    with pytest.raises(PlanError, match="page cache"):
        read(HEAD + "[a]\nbuffered=1\n")
    assert read("[global]\nbuffered=1\n[a]\ndirect=1\n").stages


@pytest.mark.parametrize(
    ("jobs", "place", "reason"),
    [
        (
            "[a]\nfilename=/dev/sda\n[b]\nfilename=/dev/sdb\n",
            "x.fio:6 [b] filename",
            "is /dev/sdb, and [a] is for /dev/sda",
        ),
        ("[/dev/sda]\n[/dev/sdb]\n", "x.fio:4 [/dev/sdb] filename", "is /dev/sdb, and [/dev/sda] is for /dev/sda"),
        ("[/dev/sda]\n[b]\nfilename=/dev/sdb\n", "x.fio:5 [b] filename", "is /dev/sdb, and [/dev/sda]"),
        ("[a]\nnumjobs=4\n", "x.fio:3 [a] filename", "fio makes 4 files, a file per clone"),
        ("[a]\n[b]\nstonewall\n", "x.fio:4 [b] filename", "fio makes a file in addition to [a]"),
        ("[a]\nfilename=/dev/sda\n[b]\n", "x.fio:5 [b] filename", "fio makes a file in addition to /dev/sda"),
    ],
)
def test_jobs_of_several_drives_or_files_are_refused_by_name(jobs: str, place: str, reason: str) -> None:
    with pytest.raises(PlanError) as caught:
        read(f"[global]\ndirect=1\n{jobs}")
    assert (caught.value.thing, reason in caught.value.reason) == (place, True), caught.value


def test_jobs_of_one_drive_are_read_however_it_is_named() -> None:
    colon = "filename=/dev/disk/by-path/pci-0000\\:01\\:00.0-nvme-1\n"
    found = ["[a]\n", "[/dev/sda]\nnumjobs=2\n", "[/dev/sda]\n[b]\nfilename=/dev/sda\n"]
    for one in (*found, f"[a]\n{colon}[b]\nstonewall\n{colon}"):
        assert read(f"[global]\ndirect=1\nruntime=1\nrw=randread\n{one}").stages


@pytest.mark.parametrize(
    ("keys", "place", "reason"),
    [
        (
            "rw=randread\niodepth=4096\nnumjobs=1000\n",
            "x.fio:8 [j]",
            "keeps 4,096,000 I/Os outstanding, more than 65,536",
        ),
    ],
)
def test_what_no_run_does_is_refused_when_the_file_is_read(keys: str, place: str, reason: str) -> None:
    with pytest.raises(PlanError) as caught:
        stream(keys)
    assert (caught.value.thing, reason in caught.value.reason) == (place, True), caught.value


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("rw=write\nsize=1g\nio_size=4g", {"amount_bytes": 4 << 30}),
        ("rw=write\nsize=1g\nloops=2", {"amount_bytes": 2 << 30}),
        ("rw=write", {"amount_fills": 1.0}),
        ("rw=write\nruntime=2m\nramp_time=500ms", {"time_s": 120.0, "ramp_up_s": 0.5}),
    ],
)
def test_a_stage_ends_as_its_job_does(keys: str, expected: dict[str, object]) -> None:
    (stage,) = read(f"{HEAD}[j]\n{keys}\n").stages
    assert {key: getattr(stage, key) for key in expected} == expected


def test_what_changes_nothing_is_named_with_its_line() -> None:
    workload = read(TIMED + "[j]\nrw=randread\nfilename=/dev/sdx\ngroup_reporting\nruntime=5\n")
    assert "line 10 [j] filename: the drive is an argument of Assay" in workload.left_out
    assert "line 11 [j] group_reporting: sets what fio reports" in workload.left_out
    pure = read(TIMED + "[j]\nrw=write\nrwmixread=70\nruntime=5\n").left_out
    assert "line 10 [j] rwmixread: has no effect on a job that only writes" in pure
    untimed = read(HEAD + "[j]\nrw=randread\nruntime=5\n").left_out
    assert any(note.startswith("line 7 [j] time_based is missing") for note in untimed)
    assert any("norandommap is missing" in note for note in untimed)


@pytest.mark.parametrize(
    ("jobs", "place", "reason", "remedy"),
    [
        ("rw=read\n", "x.fio:1", "before any section", "[global]"),
        ("[j]\niodeth=3\n", "x.fio:2 [j] iodeth", "is no key", 'did you mean "iodepth"?'),
        ("[j]\nexec_prerun=rm\n", "x.fio:2 [j] exec_prerun", "would run a command", "remove it"),
        ("[j]\ninclude other.fio\n", "x.fio:2 [j] include other.fio", "another file", "copy its lines"),
        ("[j]\nbs=${SIZE}\n", "x.fio:2 [j] bs", "holds a variable", "write its value"),
        ("[j]\nsize=$mb_memory\n", "x.fio:2 [j] size", "holds a variable", "write its value"),
        ("[j]\nioengine=exec\ndirect=1\n", "x.fio:2 [j] ioengine", "does not reach a block device", "io_uring"),
        (
            "[j]\nioengine=external:x.so\ndirect=1\n",
            "x.fio:2 [j] ioengine",
            "does not reach a block device",
            "io_uring",
        ),
        ("[j]\nrw=randread\n", "x.fio:1 [j] direct", "page cache", "direct=1"),
        ("[j]\ndirect=1\nrandom_distribution=zipf:1.2\n", "x.fio:3 [j] random_distribution", "'zipf'", "remove it"),
        (
            "[j]\ndirect=1\nrw=randread\nrandom_distribution=zoned:x/5\n",
            "x.fio:4 [j] random_distribution",
            "is 'x'",
            "zoned:60",
        ),
        (
            "[j]\ndirect=1\nrw=randread\nnorandommap\noffset=100%\n",
            "x.fio:5 [j] offset",
            "is 100, and must be less",
            "offset",
        ),
        ("[j]\ndirect=1\nrw=randread\nrandom_distribution=zoned:50/5\n", "x.fio:1 [j]", "must sum to 100", "correct"),
        ("[j]\ndirect=1\nrw=trimwrite\n", "x.fio:3 [j] rw", "'trimwrite'", "choose from"),
        ("[j]\nfilename=/dev/a:/dev/b\n", "x.fio:2 [j] filename", "is a list", "single drive"),
        ("[j]\ndirect=1\nstartdelay=3\n", "x.fio:3 [j] startdelay", "different times", "stonewall"),
        ("[j]\ndirect=1\nbs=0\n", "x.fio:3 [j] bs", "size of 0 bytes", "multiples of 512"),
        ("[j]\ndirect=1\nbs=1000\n", "x.fio:3 [j] bs", "size of 1000 bytes", "multiples of 512"),
        ("[j]\ndirect=1\nbs=4 k\n", "x.fio:3 [j] bs", "it ignores a unit after a blank", "write 4k"),
        ("[j]\ndirect=1\nbs=4KiBs\n", "x.fio:3 [j] bs", "unknown unit", "write k, m, g"),
        ("[j]\ndirect=1\nsize=99999999999999999999\n", "x.fio:3 [j] size", "is '9999", "write a size"),
        ("[j]\ndirect=1\nsize=9999999999999p\n", "x.fio:3 [j] size", "more than a drive can have", "smaller"),
        ("[j]\ndirect=1\nsize=1k\n", "x.fio:3 [j] size", "smaller than an I/O", "larger"),
        ("[j]\ndirect=1\nfilename=x\nnumjobs=100000\n", "x.fio:4 [j] numjobs", "is '100000'", "from 1 to 1024"),
        ("[j]\ndirect=1\niodepth=0\n", "x.fio:3 [j] iodepth", "is '0'", "from 1 to 4096"),
        ("[j]\ndirect=1\nruntime=-1\n", "x.fio:3 [j] runtime", "is '-1'", "a time"),
        ("[j]\ndirect=1\nruntime=2sec\n", "x.fio:3 [j] runtime", "unknown unit", "d, h, m"),
        ("[j]\ndirect=1\nbssplit=4k/60:8k/60\n", "x.fio:3 [j] bssplit", "sum to 120", "sum to 100"),
        ("[j]\ndirect=1\nrw=randread\nbssplit=4k/50:8k/50\n", "x.fio:1 [j] norandommap", "shortens", "add"),
        ("[j]\ndirect=1\nioengine=libaio\niodepth=8\nthinktime=9\n", "x.fio:5 [j] thinktime", "outstanding", "rate"),
        ("[j]\ndirect=1\nrw=randrw\nrate=1m\n", "x.fio:4 [j] rate", "separately", "separate jobs"),
        (
            "[global]\nfilename=x\ndirect=1\n[j]\nruntime=1\n[k]\nruntime=2\n",
            "x.fio:7 [k] runtime",
            "differs",
            "stonewall",
        ),
        ("[global]\nfilename=x\ndirect=1\n[j]\n[k]\n", "x.fio:5 [k] runtime", "different times", "time_based"),
        ("[j]\ndirect=1\nfilename=x\nnumjobs=65\nruntime=1\n", "x.fio:4 [j] numjobs", "more than 64 streams", "fewer"),
        ("[j\ndirect=1\n", "x.fio:1", "is no head of a section", "write [NAME]"),
        ("; nothing\n", "x.fio", "holds no job", "write a section"),
    ],
)
def test_what_cannot_be_repeated_is_refused_by_name(jobs: str, place: str, reason: str, remedy: str) -> None:
    with pytest.raises(PlanError) as caught:
        read(jobs)
    assert caught.value.thing == place
    assert reason in caught.value.reason
    assert remedy in caught.value.remedy


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"operation": "flush"}, "flushes"),
        ({"rate": Rate(ios_per_s=100, end_factor=2)}, "rate that changes"),
        ({"rate": Rate(ios_per_s=100.5)}, "is 100.5"),
        ({"rate": Rate(ios_per_s_per_tb=100)}, "per TB"),
        ({"data": Content(kind="stamped")}, "stamped"),
        ({"thread_count": 2, "lines": (Line(size_bytes=4096, random_percent=50),)}, "by the rule 'shared'"),
        ({"lines": (Line(size_bytes=4096, random_percent=0, read_percent=50),)}, "by the rule 'shared'"),
        ({"lines": (Line(size_bytes=4096, read_percent=33.5),)}, "is 33.5 per cent"),
        ({"lines": (Line(size_bytes=4096, random_percent=0, align_bytes=8192),)}, "leave the grid of 8192"),
        ({"queue_depth": 2, "lines": (Line(size_bytes=4096, delay_ms=3),)}, "several I/Os outstanding"),
        (
            {"lines": (Line(percent=50, size_bytes=4096), Line(percent=50, size_bytes=8192, random_percent=0))},
            "differ in random_percent",
        ),
    ],
)
def test_what_fio_cannot_do_is_refused_with_stage_and_stream(change: dict[str, object], reason: str) -> None:
    plain = {"name": "s", "lines": (Line(size_bytes=4096),)}
    workload = Workload(stages=(Stage(name="one", time_s=1, streams=(Stream.model_validate(plain | change),)),))
    with pytest.raises(UsageError) as caught:
        fio.job_text(workload, filename="/dev/x")
    assert "stage one, stream s" in caught.value.thing
    assert reason in caught.value.reason


def test_a_stage_that_only_waits_and_a_name_that_fio_would_take_apart_are_refused() -> None:
    waits = Workload(stages=(Stage(name="one", time_s=1, streams=()),))
    with pytest.raises(UsageError, match="only waits"):
        fio.job_text(waits, filename="/dev/x")
    with pytest.raises(UsageError, match="cannot stand in a job file"):
        fio.job_text(waits, filename="/dev/x\nexec_prerun=x")


@st.composite
def jobs(draw: st.DrawFn) -> str:
    """A job of each kind that can be read."""
    word = draw(st.sampled_from(["read", "write", "trim", "rw", "randread", "randwrite", "randtrim", "randrw"]))
    keys = [f"rw={word}"]
    if draw(st.booleans()):
        share = draw(st.integers(1, 99))
        keys.append(f"bssplit=4k/{share}:{draw(st.sampled_from(['8k', '64k', '12k']))}/{100 - share}")
    else:
        keys.append(f"bs={draw(st.sampled_from(['512', '4k', '128k', '4k,4k', '0x1000']))}")
    if word.endswith("rw"):
        keys.append(f"rwmixread={draw(st.integers(0, 100))}")
    elif draw(st.booleans()):
        keys.append(draw(st.sampled_from(["rate=1m", "rate_iops=77", "rate_iops=9\nrate_process=poisson"])))
    if word.startswith("rand") and draw(st.booleans()):
        keys.append(f"percentage_random={draw(st.integers(1, 100))}")
    keys.append(f"numjobs={draw(st.integers(1, 3))}")
    paused = not any(key.startswith("rate") for key in keys) and draw(st.booleans())
    keys.append(f"thinktime={draw(st.integers(1, 9999))}" if paused else f"iodepth={draw(st.integers(1, 64))}")
    keys.append(draw(st.sampled_from(["", "offset=1g", "offset=10%", "size=25%", "size=8g\noffset=4m"])))
    keys.append(draw(st.sampled_from(["", "buffer_compress_percentage=30"])))
    return "\n".join(keys) + "\n"


@st.composite
def files(draw: st.DrawFn) -> str:
    """Stages of jobs."""
    text = HEAD + "norandommap\n"
    for stage in range(draw(st.integers(1, 3))):
        end = f"time_based\nruntime={draw(st.integers(1, 5000))}ms\nramp_time={draw(st.integers(0, 3))}\n"
        for job in range(draw(st.integers(1, 3))):
            text += f"[s{stage}-{job}]\n{'stonewall' if stage and not job else ''}\n{end}{draw(jobs())}"
    return text


@MANY
@given(files())
def test_a_file_that_was_read_is_written_with_the_same_meaning(text: str) -> None:
    try:
        first = read(text)
    except PlanError:
        return
    again = read(fio.job_text(first, filename="/dev/x", ioengine="libaio"))
    assert meaning(first) == meaning(again)


@MANY
@given(files())
def test_a_file_that_is_read_is_one_that_a_run_takes(text: str) -> None:
    try:
        workload = read(text)
    except PlanError:
        return
    keys = {"drive": "sim:x", "studies": ["workload"], "workload": workload.model_dump(exclude_none=True)}
    assert planned_suite(keys)


@pytest.mark.skipif(FIO is None, reason="SKIPPED: needs fio to ask whether it takes what is written")
def test_fio_takes_every_kind_of_job_that_is_written(tmp_path: Path) -> None:
    shown = TIMED + "".join(
        f"[{number}]\n{keys}\n"
        for number, keys in enumerate(
            [
                "rw=randrw\nrwmixread=70\nbssplit=4k/50:64k/,8k\nblockalign=4k\niodepth=8",
                "rw=rw\nrwmixread=30\nbs=64k",
                "rw=randtrim\nbs=64k\nrate_iops=50\nrate_process=poisson",
                "rw=write\noffset=10%\nsize=20%\nbuffer_compress_percentage=40",
                "rw=randread\nthinktime=100\npercentage_random=30\nramp_time=0",
                "rw=read\nnumjobs=3\noffset_increment=1g\nsize=1g\nrate=1m",
            ]
        )
    )
    image = tmp_path / "image"
    image.write_bytes(b"")
    os.truncate(image, 8 << 30)
    for name, text in {"many": shown, "fills": HEAD + "[j]\nrw=write\nsize=25%\n"}.items():
        path = tmp_path / f"{name}.fio"
        path.write_text(fio.job_text(read(text), filename=str(image)), "utf-8")
        done = subprocess.run([str(FIO), "--parse-only", str(path)], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, ""), path.read_text("utf-8")


def test_a_file_of_a_million_lines_or_of_bytes_is_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "x.fio"
    for content, reason in ((b"[a]\n" * 300_000, "larger than 1 MiB"), (b"\xff\xfe[a]", "is not UTF-8")):
        path.write_bytes(content)
        with pytest.raises(PlanError, match=reason):
            fio.read_jobs(path)
    path.write_text("[a]\ndirect=1\nfilename=x\nruntime=1\n" * 10_000, "utf-8")
    with pytest.raises(PlanError, match="64 streams"):
        fio.read_jobs(path)
