"""The command line in a hostile surrounding: closed streams, pipes for files, texts that steer a terminal."""

import os
import shlex
import subprocess
from pathlib import Path

import pytest
from assay.errors import UsageError, joined
from assay.words.visible import visible
from every_kind import run_of
from on_terminal import ASSAY
from same_process import assay
from shown_errors import error_lines

DRIVE = "sim:client-2011?capacity=1GB"
MODEL = Path(__file__).parents[2] / "python/assay/dut/simulated/models/client-2011.toml"


def shell(line: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["/bin/bash", "-c", line], capture_output=True, text=True, check=False, cwd=cwd)


@pytest.mark.parametrize(
    ("command", "closed"),
    [
        ("drives", ">&-"),
        ("drives", "<&- >&-"),
        ("drives", ">&- 2>&-"),
        *((command, ">&-") for command in (f"plan '{DRIVE}'", "models", "--help", "drives --describe sim:client-2011")),
    ],
)
def test_a_closed_output_is_one_line_and_the_code_that_the_readme_has(
    command: str, closed: str, tmp_path: Path
) -> None:
    done = shell(f"{ASSAY} {command} {closed}", tmp_path)
    said = "" if "2>&-" in closed else "assay: standard output: is closed; send it to a file or to /dev/null\n"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", said)


def test_a_run_with_closed_streams_keeps_them_out_of_its_files(tmp_path: Path) -> None:
    done = shell(f"{ASSAY} run '{DRIVE}' --test lat --scale 0.01 --out run <&- >&-", tmp_path)
    assert (done.returncode, "standard output: is closed" in error_lines(done.stderr)) == (1, True)
    assert (tmp_path / "run/report/report.pdf").read_bytes().startswith(b"%PDF-")
    lines = (tmp_path / "run/journal.jsonl").read_bytes().splitlines()
    assert all(line.startswith(b"{") and line.endswith(b"}") for line in lines)


def test_a_reader_that_goes_away_is_no_reason_for_a_traceback(tmp_path: Path) -> None:
    done = shell(f"{ASSAY} drives | true; exit ${{PIPESTATUS[0]}}", tmp_path)
    assert done.returncode in {0, 1}
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("words", "command"),
    [
        ("is not a regular file", "plan pipe.toml"),
        ("is not a regular file", f"plan {DRIVE} --profile pipe.toml"),
        ("is not a regular file", "plan sim:pipe.toml"),
        ("is no regular file", "plan data.toml"),
        ("is no file in a folder", f"plan '{DRIVE}&state=pipe.toml'"),
        ("is not a regular file", "fit sim:client-2011 --against pipe.toml"),
        ("is not a regular file", "report folder"),
    ],
)
def test_a_pipe_is_not_waited_for(words: str, command: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.toml")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "folder/run.json")
    (tmp_path / "data.toml").write_text(f'drive = "{DRIVE}"\n[data]\nkind = "file"\npath = "pipe.toml"\n')
    done = assay(*shlex.split(command), cwd=tmp_path)
    assert done.returncode in {2, 6}
    assert words.replace("is no regular file", "regular file") in done.stderr
    assert done.stderr.count("\n") == 1


def test_texts_of_a_model_drive_model_steer_no_terminal(tmp_path: Path) -> None:
    text = MODEL.read_text("utf-8").replace('model = "', 'model = "\\u001b[2J\\u009b31m\\u202e\\n')
    (tmp_path / "drive_model.toml").write_text(text, "utf-8")
    for command in (["plan", "sim:drive_model.toml"], ["drives", "--describe", "sim:drive_model.toml"]):
        done = assay(*command, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert not set(done.stdout) & set("\x1b\x9b\u202e")
        assert r"\x1b[2J\x9b31m\u202e\n" in done.stdout
    done = assay("plan", "sim:\x1b[2J", cwd=tmp_path)
    assert (done.returncode, "\x1b" in done.stderr) == (2, False)


def test_a_drive_model_of_ones_own_needs_no_option_to_be_told_from_a_plan(tmp_path: Path) -> None:
    (tmp_path / "drive_model.toml").write_text(MODEL.read_text("utf-8"), "utf-8")
    plan = assay("plan", "sim:drive_model.toml", "--test", "lat", "--scale", "0.01", cwd=tmp_path)
    assert (plan.returncode, "sim:drive_model.toml" in plan.stdout) == (0, True)


def test_what_is_made_visible() -> None:
    assert visible("plain é 東") == "plain é 東"
    assert visible("a\x1b\r\n\udcff") == r"a\x1b\r\n\udcff"


def test_a_remedy_that_faults_of_one_thing_share_stands_once_and_at_the_end() -> None:
    faults = [
        UsageError(thing, reason, "mend it") for thing, reason in (("a", "is odd"), ("b", "is odd"), ("a", "is old"))
    ]
    assert str(joined(faults)).splitlines() == ["a: is odd", "b: is odd; mend it", "a: is old; mend it"]


def test_a_limit_of_writes_is_no_choice_for_a_simulated_drive(tmp_path: Path) -> None:
    done = assay("plan", DRIVE, "--max-drive-writes", "9", cwd=tmp_path)
    assert (done.returncode, "--max-drive-writes: is a choice for real drives only" in done.stderr) == (2, True)


def test_a_server_without_its_library_is_a_matter_of_usage(tmp_path: Path) -> None:
    (tmp_path / "uvicorn.py").write_text("raise ImportError(name='uvicorn')")
    done = shell(f"PYTHONPATH=. {ASSAY} serve .", tmp_path)
    assert (done.returncode, "lacks a library (uvicorn); install the wheel" in done.stderr) == (2, True), done.stderr


def test_a_deleted_journal_is_named_with_its_remedy(tmp_path: Path) -> None:
    run_of("lat", tmp_path / "run")
    (tmp_path / "run/journal.jsonl").unlink()
    done = assay("show", "run", cwd=tmp_path)
    said = "assay: run/journal.jsonl: No such file or directory; restore it from a copy or bundle of the run\n"
    assert (done.returncode, done.stderr) == (6, said)
