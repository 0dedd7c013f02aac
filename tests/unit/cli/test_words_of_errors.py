"""What is said of input that cannot be used: our own words, the nearest known one, and one fault a line."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING, Any, get_args

import click
import pytest
from assay import cli
from assay.cli import _COMMANDS, assay, failure
from assay.cli.failure import worded
from assay.cli.run import _again
from assay.dut.real import identity
from assay.dut.simulated.model import parse_simulated
from assay.engine.records import DriveIdentity
from assay.errors import AssayError, DriveNotFoundError, PlanError, StoreError, UsageError, ValueRangeError
from assay.procedures.registry import SUITES
from assay.run.plan_file import Plan, load_plan
from assay.spec.model_faults import fault_words, model_faults
from assay.spec.nearest import did_you_mean, nearest
from assay.tools.simfit import left_alone, read_targets
from click.testing import CliRunner
from pydantic import BaseModel, Field, TypeAdapter, ValidationError
from pydantic_core.core_schema import ErrorType

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

RAW = ("Input should", "Value error", "Extra inputs", "Field required", "constrained-str", "valid string", "pydantic")

PATHS = ("/dev/sda", "/dev/sdb")

PLAN = """schema = 1
drive = "sim:client-2011"
seeed = 7
suite = "clinet"
scale = nan
[iops]
thread_count = 0
[wsat]
workloads = ["foo"]
[dirth]
patterns = [3]
[data]
kind = "compressable"
[report]
sponsor = 5
"""


@pytest.mark.parametrize(
    ("word", "known", "found"),
    [
        ("sdb", ["/dev/sda", "/dev/sdb"], "/dev/sdb"),
        ("clinet", ["basic", "client"], "client"),
        ("client-2011", ["sim:client-2011", "sim:client-2013"], "sim:client-2011"),
        ("seeed", ["drive", "seed"], "seed"),
        ("IOPS ", ["iops", "tp"], "iops"),
        ("x" * 100_000, ["iops"], None),
        ("", ["iops"], None),
        ("iops", [], None),
        ("--format", ["--out", "--json"], None),
        ("--jsn", ["--out", "--json"], "--json"),
    ],
)
def test_the_nearest_known_word(word: str, known: list[str], found: str | None) -> None:
    assert nearest(word, known) == found
    assert did_you_mean(word, known, "none") == (f'did you mean "{found}"?' if found else "none")


def test_the_faults_of_a_plan_are_one_a_line_in_the_order_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(PLAN)
    with pytest.raises(ValueRangeError) as caught:
        load_plan(path, {"scale": 2.0})
    lines = [line.removeprefix(f"{path}:") for line in str(caught.value).split("\n")]
    assert lines == [
        "--scale: is 2, and must be at most 1; give a value inside the range",
        '3:1 seeed: is not known here; did you mean "seed"?',
        f'4:1 suite: is "clinet", none of {", ".join(SUITES)}; did you mean "client"?',
        "7:1 iops.thread_count: is 0, and must be at least 1; give a value inside the range",
        '9:14 wsat.workloads.0: is "foo", none of rnd-4k-write, oltp, vod, metadata, composite; choose a listed value',
        "11:13 dirth.patterns.0: is 3, not a text or a table; correct it",
        (
            '13:1 data.kind: is "compressable", none of random, compressible, stamped, repeating, addressed, file; '
            'did you mean "compressible"?'
        ),
        "15:1 report.sponsor: is 5, not a text; correct it",
    ]
    assert [type(one) for one in caught.value.further] == [PlanError] * 7


def test_an_option_is_named_once_and_as_it_was_given() -> None:
    with pytest.raises(ValueRangeError) as caught:
        load_plan(None, {"drive": "sim:x", "tests": ("iopps",), "io_time_limit_seconds": 0}, {"thread_count": 0})
    assert [one.thing for one in (caught.value, *caught.value.further)] == [
        "--test",
        "--thread-count",
        "--io-time-limit",
    ]


BOUNDS = dict.fromkeys(("gt", "ge", "lt", "le", "min_length", "max_length", "actual_length"), 3)


@pytest.mark.parametrize("kind", get_args(ErrorType))
def test_no_kind_of_fault_has_words_of_the_library(kind: str) -> None:
    context = {**BOUNDS, "expected": "'a' or 'b'", "error": ValueError("is odd")}
    reason, remedy = fault_words({"type": kind, "loc": ("key",), "msg": RAW[0], "input": [1, 2], "ctx": context})
    assert reason
    assert remedy
    assert not any(word in reason for word in RAW)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"name": "x" * 9, "size": "y"}, ["name: is longer than 8 characters", 'size: is "y", not a whole number']),
        ({"size": 1}, ["name: is missing; add it"]),
        ({"name": "x", "size": 10**30}, ["size: is 1000000000000000000000000000000, and must be less than 5"]),
        ({"name": "x", "size": None}, ["size: is None, not a whole number"]),
        ({"name": {"a": 1}}, ["name: is a table, not a text", "size: is missing; add it"]),
    ],
)
def test_a_fault_says_what_stands_there(table: dict[str, Any], said: list[str]) -> None:
    class Form(BaseModel):
        name: str = Field(max_length=8)
        size: int = Field(lt=5)

    with pytest.raises(ValidationError) as caught:
        TypeAdapter(Form).validate_python(table)
    found = [f"{one.key}: {one.reason}; {one.remedy}" for one in model_faults(caught.value, Form, table)]
    assert [line[: len(words)] for line, words in zip(found, said, strict=True)] == said


@pytest.mark.parametrize(
    ("content", "taken_for", "said"),
    [
        ('market = "Client"\n', "plan", "is an edition; name it with --edition"),
        ("[parameters]\n", "plan", "describes a simulated drive; name it as the drive sim:"),
        ('[[faults]]\nkind = "gone"\n', "plan", "is a file of faults; name it as in sim:NAME?faults="),
        ('drive = "sim:x"\n', "edition", "is a plan; run it with assay run"),
        ('drive = "sim:x"\n', "drive", "is a plan; run it with assay run"),
    ],
)
def test_a_file_of_another_kind_is_told_by_what_it_is(content: str, taken_for: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "file.toml"
    path.write_text(content)
    read: dict[str, Callable[[], object]] = {
        "plan": lambda: load_plan(path, {}),
        "edition": lambda: load_plan(None, {"drive": "sim:client-2011", "edition": str(path)}),
        "drive": lambda: parse_simulated(f"sim:{path}"),
    }
    with pytest.raises(PlanError) as caught:
        read[taken_for]()
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (["plan", "x", "--suit", "client"], '--suit: is no option of assay plan; did you mean "--suite"?'),
        (["plan", "x", "--zzz"], "--zzz: is no option of assay plan; see assay plan --help"),
        (["plan", "x", "--seed", "x"], '--seed: is "x", not a whole number; see assay plan --help'),
        (["plan", "x", "--seed"], "--seed: needs a value; see"),
        (["plan", "x", "--file-target=3"], "--file-target: takes no value; see"),
        (["plan", "x", "--capture", "tims"], '--capture: is "tims", none of none, times, addresses; did you mean'),
        (["plan"], "DRIVE|PLAN.toml ...: is missing; give it; see assay plan --help"),
        (["plan", "x", "--suite", "clinet"], '--suite: is "clinet", none of basic'),
        (["crosscheck", "x", "--seconds", "0"], "--seconds: is 0.0, and must be at least 0.1 and at most 3600; give"),
        (["run", "x", "--max-drive-writes", "0"], "--max-drive-writes: is 0.0, and must be more than 0; give"),
        (["fit", "x"], "--against: is missing; give it; see assay fit --help"),
        (["report", "a", "b"], "assay report: takes no further word: b; see assay report --help"),
        (["plann"], 'plann: is no command of assay; did you mean "plan"?'),
        (["--zzz"], "--zzz: is no option of assay; see assay --help"),
    ],
)
def test_a_wrong_command_line_is_told_in_our_words(line: list[str], said: str) -> None:
    with pytest.raises((click.ClickException, UsageError)) as caught:
        assay(line, prog_name="assay", standalone_mode=False)
    error = caught.value
    text = str(error if isinstance(error, AssayError) else worded(error))  # type: ignore[arg-type]
    assert text.startswith(said)


def test_faults_are_json_where_json_was_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(failure.sys, "argv", ["assay", "plan", "--json"])
    second = UsageError("b", "is bad", "mend it")
    with pytest.raises(SystemExit) as caught:
        failure.fail(UsageError("a", "is odd", "even it", further=(second,)))
    told = json.loads(capsys.readouterr().err)
    assert (caught.value.code, told["exit_code"], told["thing"]) == (2, 2, "a")
    assert [one["thing"] for one in told["further"]] == ["b"]


@pytest.mark.parametrize(("shown", "traced"), [("", False), ("1", True)])
def test_a_defect_of_the_program_is_one_line_and_a_file(
    shown: str, traced: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(failure.sys, "argv", ["assay", "drives"])
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("ASSAY_TRACEBACK", shown)
    try:
        {}["東"]
    except KeyError as error:
        with pytest.raises(SystemExit) as caught:
            failure.fail_internal(error)
    (kept,) = tmp_path.iterdir()
    told = capsys.readouterr().err.splitlines()
    assert caught.value.code == 70
    assert told[-1].startswith("assay: internal error: KeyError in this program")
    assert told[-1].endswith(str(kept))
    assert (len(told) > 1, "Traceback" in told[0]) == (traced, traced)
    assert "test_words_of_errors.py" in kept.read_text("utf-8")


def test_a_real_drive_is_offered_by_its_own_name_only(monkeypatch: pytest.MonkeyPatch) -> None:
    drives = [
        DriveIdentity(id=path, path=path, kind="block", capacity_bytes=1, logical_block_bytes=512) for path in PATHS
    ]
    monkeypatch.setattr(identity, "disks", lambda: iter(drives))
    said = {"sdb": 'did you mean "/dev/sdb"?', "sdc": "run assay drives", "hdd-15": 'did you mean "sim:hdd-15k"?'}
    for target, remedy in said.items():
        with pytest.raises(DriveNotFoundError) as caught:
            identity.identify(target, file_target=False)
        assert caught.value.remedy.startswith(remedy)


def test_workers_that_are_ended_say_nothing() -> None:
    script = """
import signal, time
from assay import cli
from assay.cli.fit import quiet_pool
signal.signal(signal.SIGTERM, cli._interrupt)
with quiet_pool(2) as pool:
    pool.map_async(time.sleep, [60, 60])
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_cause_of_an_error_is_kept_in_a_file(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(failure.sys, "argv", ["assay", "report"])
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    error = StoreError("report.pdf", "the typesetter ended with code 1", "render the others")
    error.__cause__ = RuntimeError("panicked")
    with pytest.raises(SystemExit) as caught:
        failure.fail(error)
    (kept,) = tmp_path.iterdir()
    said = f"assay: report.pdf: the typesetter ended with code 1; render the others; details are in {kept}\n"
    assert (caught.value.code, capsys.readouterr().err) == (6, said)
    assert "RuntimeError: panicked" in kept.read_text("utf-8")


def test_memory_that_is_used_up_is_said_in_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        failure.fail_system(MemoryError())
    assert (caught.value.code, capsys.readouterr().err.count("\n")) == (1, 1)


def test_what_is_to_be_run_again_has_neither_its_folder_nor_its_consent() -> None:
    given = ["run", "/dev/x y", "--out", "a", "--suite", "client", "--yes-destroy=ID", "--out=b", "--yes-destroy", "ID"]
    assert _again(given) == "assay run '/dev/x y' --suite client"


def test_what_a_drive_is_not_fitted_to_is_said(tmp_path: Path) -> None:
    matrix, figures = tmp_path / "m.csv", tmp_path / "f.csv"
    matrix.write_text("block_kib,read_pct,iops\n4,0,3000\n4,100\n")
    figures.write_text("figure,value\nwsat_fob_iop,3\nfoo,5\nwsat_steady_iops\n")
    assert left_alone(matrix, figures) == [
        f"{matrix}: no number in line 3: left out",
        f'{figures}:2 wsat_fob_iop: left out; did you mean "wsat_fob_iops"?',
        f"{figures}:3 foo: left out; a drive is fitted to others",
    ]
    assert read_targets(matrix, figures) == {"iops_4_0": 3000.0}
    matrix.write_text("block_kib,read_pct,iops\nx,0,1\n4,y,1\nnan,0,1\n4,0,1\n")
    with pytest.raises(UsageError) as caught:
        read_targets(matrix)
    assert [one.thing.rpartition(":")[2] for one in (caught.value, *caught.value.further)] == ["2", "3", "4"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"tests": ("lat", "lat")}, "--test: names lat twice; name it once"),
        ({"pin": "x"}, '--pin: is "x", which names no CPUs; give auto'),
        ({"data": "compressable:0.5"}, '--data: is "compressable", none of random'),
        ({"data": "compressible:x"}, '--data: is "x", not a number'),
    ],
)
def test_an_option_that_cannot_be_meant(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueRangeError) as caught:
        load_plan(None, {"drive": "sim:client-2011", **options})
    assert str(caught.value).startswith(said)
    assert Plan.model_fields


@pytest.mark.parametrize(
    ("raised", "code", "said"),
    [
        (
            KeyError("x"),
            70,
            "assay: internal error: KeyError in this program, not in its input; report it with the file",
        ),
        (MemoryError(), 1, "assay: memory: is used up"),
        (OSError(28, "No space left on device", "/x"), 1, "assay: /x: No space left on device"),
        (UsageError("a", "is odd", "even it"), 2, "assay: a: is odd; even it"),
        (click.Abort(), 130, "assay: interrupted"),
    ],
)
def test_whatever_a_command_raises_ends_in_one_line(
    raised: BaseException,
    code: int,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(**_: object) -> None:
        raise raised

    monkeypatch.setattr(cli, "assay", fail)
    monkeypatch.setattr(cli.signal, "signal", lambda *_: None)
    monkeypatch.setattr(failure, "_kept", lambda _: "file")
    monkeypatch.setattr(sys, "argv", ["assay", "plan"])
    monkeypatch.setattr(sys, "stdout", sys.stdout)
    with pytest.raises(SystemExit) as caught:
        cli.main()
    told = capsys.readouterr().err
    assert (caught.value.code, told.count("\n")) == (code, 1)
    assert told.startswith(said)


def test_the_help_lists_each_command_once() -> None:
    lines = CliRunner().invoke(assay, ["--help"]).stdout.splitlines()
    words = [line.split() for line in lines if line.startswith("  ")]
    assert sorted(line[1] for line in words if line[0] == "assay") == sorted(_COMMANDS)
    assert not {line[0] for line in words} & set(_COMMANDS)
