"""A run that was cut short goes on at its next test, on the same drive by the same plan, and shows the break."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import assay
import pytest
from assay.archive.rendering import stored_run, whole_run
from assay.archive.verify import verify_run
from assay.cli import assay as command
from assay.dut.dut import Answers, find_drive
from assay.dut.real.platform import describe_platform
from assay.errors import AssayError, FolderBusyError, StoreError, UsageError
from assay.procedures.editions import load_edition
from assay.procedures.run_findings import run_findings
from assay.report import build_report, records_of_tests
from assay.run.plan_file import load_plan
from assay.run.run import differences, resume_run, resumed_plan, run_plan
from assay.run.store.journal import read_journal
from assay.run.store.write import RunWriter
from assay.words.text import text
from click.testing import CliRunner

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from assay.run.plan_file import Plan
    from assay.run.progress import Progress
    from assay.run.run import Outcome

KEYS = {"drive": "sim:ideal?capacity=1GB", "edition": "pts-e-1.1", "seed": 1, "scale": 0.001}
TESTS = ["lat", "iops", "wsat"]
_RUN = """
import sys
from assay.cli import main
main()
"""


def journal_text(folder: Path) -> str:
    path = folder / "journal.jsonl"
    return path.read_text("utf-8") if path.exists() else ""


def killed(folder: Path) -> None:
    """A run of three tests in a process of its own, killed in the second."""
    arguments = [str(KEYS["drive"]), "--edition", "pts-e-1.1", "--seed", "1", "--scale", "0.001", "--no-report"]
    tests = [text for test in TESTS for text in ("--test", test)]
    process = subprocess.Popen(
        [sys.executable, "-c", _RUN, "run", *arguments, *tests, "--quiet", "--out", str(folder)],
        stderr=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    while process.poll() is None:
        _, begun, behind = journal_text(folder).rpartition('"procedure":"iops"')
        if begun and '"kind":"steps"' in behind:
            break
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL


@pytest.fixture(scope="module")
def cut(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cut") / "run"
    killed(folder)
    return folder


def copied(cut: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    shutil.copytree(cut, folder)
    return folder


def resumed(folder: Path, plan: Plan | None = None, show: Callable[[Progress], None] = lambda _: None) -> Outcome:
    outcome = resume_run(folder, plan or resumed_plan(folder), answers=Answers(), show=show)
    assert verify_run(folder).answers == ()
    return outcome


def test_a_run_killed_in_its_second_test_goes_on_there_and_shows_the_break(cut: Path, tmp_path: Path) -> None:
    folder = copied(cut, tmp_path)
    before = (folder / "journal.jsonl").read_bytes()
    shown: list[Progress] = []
    outcome = resumed(folder, show=shown.append)
    assert (outcome.exit_code, [one.test for one in outcome.tests]) == (0, TESTS)
    # Also before the first sequence.
    assert all(progress.virtual for progress in shown)
    # Those that ran before are counted.
    numbers = dict.fromkeys((one.test, one.number, one.count) for one in shown if one.test)
    assert list(numbers) == [(name, place, len(TESTS)) for place, name in enumerate(TESTS, 1)][1:]
    # Nothing that was written is another now, and the chain holds from the first line to the last.
    assert (folder / "journal.jsonl").read_bytes().startswith(before[: before.rindex(b"\n") + 1])
    run = stored_run(folder)
    assert [test.settings.test for test in run.tests] == TESTS
    (found,) = run.breaks
    assert (found.test, found.ended, found.changed) == ("iops", None, ())
    assert found.sequence_count >= 1
    assert (run.journal is not None and run.journal.complete, len(run.conditions)) == (True, 2)
    tests = records_of_tests(run)
    (line,) = [one for one in run_findings(run, tests) if one.kind == "resumed"]
    words = text(line.what)
    assert "IOPS was cut short (its process ended) after" in words
    assert "simulated drive began anew" in words
    assert whole_run(run).results.breaks == (words,)
    texts = str(build_report(run))
    assert texts.count(words) >= 3
    # A test that ran whole before or after is of one part alone, and so are the tables that Python gets.
    assert assay.load(folder).tests["iops"].arrow.series["sequence"].to_pylist()[-1] == len(run.tests[1].sequences) - 1


def test_the_numbers_are_those_of_a_run_of_these_tests(cut: Path, tmp_path: Path) -> None:
    folder = copied(cut, tmp_path)
    resumed(folder)
    plan = load_plan(None, {**KEYS, "tests": TESTS})
    run_plan(plan, out=tmp_path / "whole", answers=Answers(), show=lambda _: None)
    then, now = (records_of_tests(stored_run(path)) for path in (tmp_path / "whole", folder))
    assert now[0].measures == then[0].measures
    assert [len(one.test.sequences) for one in now] == [len(one.test.sequences) for one in then]


def test_a_torn_last_line_is_cut_off_and_counted(cut: Path, tmp_path: Path) -> None:
    folder = copied(cut, tmp_path)
    with (folder / "journal.jsonl").open("ab") as file:
        whole = file.tell()
        file.write(b'{"seq":')
    torn = (folder / "journal.jsonl").stat().st_size - whole
    resumed(folder)
    assert stored_run(folder).breaks[0].torn_bytes == torn


def test_a_run_can_be_resumed_more_than_once(cut: Path, tmp_path: Path) -> None:
    folder = copied(cut, tmp_path)

    def stop(progress: Progress) -> None:
        if progress.test == "wsat":
            raise KeyboardInterrupt

    with pytest.raises(AssayError, match="assay run --resume"):
        resume_run(folder, resumed_plan(folder), answers=Answers(), show=stop)
    resumed(folder)
    run = stored_run(folder)
    assert [(one.test, one.ended) for one in run.breaks] == [("iops", None), ("wsat", "interrupted")]
    assert [test.settings.test for test in run.tests] == TESTS


def test_an_interrupt_right_behind_a_test_ends_it_once(tmp_path: Path) -> None:
    def stop(progress: Progress) -> None:
        if progress.ending:
            raise KeyboardInterrupt

    folder = tmp_path / "run"
    with pytest.raises(AssayError, match="stopped"):
        run_plan(load_plan(None, {**KEYS, "tests": ["lat"]}), out=folder, answers=Answers(), show=stop)
    ends = [json.loads(line)["data"] for line in journal_text(folder).splitlines() if '"test_ended"' in line]
    assert len(ends) == 1
    assert ends[0]["reason"] != "interrupted"
    assert verify_run(folder).answers == ()


def test_a_finished_run_is_refused(cut: Path, tmp_path: Path) -> None:
    folder = copied(cut, tmp_path)
    resumed(folder)
    content = (folder / "journal.jsonl").read_bytes()
    with pytest.raises(UsageError, match="every test of it ran to its end"):
        resumed(folder)
    assert (folder / "journal.jsonl").read_bytes() == content


def test_another_plan_or_drive_is_refused_with_every_difference(cut: Path) -> None:
    other = {**KEYS, "drive": "sim:ideal?capacity=2GB", "scale": 0.002, "tests": ["lat", "iops"]}
    content = journal_text(cut)
    with pytest.raises(UsageError) as found:
        resumed(cut, load_plan(None, other))
    lines = str(found.value).splitlines()
    for what in ("plan: drive", "plan: scale", "plan: tests", "drive: id", "drive: capacity_bytes"):
        assert any(f": {what}: was " in line for line in lines), what
    assert journal_text(cut) == content


def test_another_firmware_version_edition_or_host_is_a_difference(cut: Path) -> None:
    run, plan, platform = stored_run(cut), resumed_plan(cut), describe_platform()
    drive, edition = find_drive(plan), load_edition(plan.edition_name)
    assert list(differences(run, plan, drive, edition, platform)) == []
    other = replace(platform, tool_version="9", host_id="x")
    found = differences(run, plan, replace(drive, firmware="2"), edition.model_copy(update={"title": "x"}), other)
    assert [what for what, _, _ in found] == [
        "edition: title",
        "drive: firmware",
        "tool: tool_version",
        "tool: host_id",
    ]


def test_another_kernel_is_a_deviation_that_the_label_names(cut: Path, tmp_path: Path) -> None:
    folder = copied(cut, tmp_path)
    run = stored_run(folder)
    entries = read_journal(folder, (folder / "run.json").read_bytes())
    with RunWriter(folder, None, entries) as writer:
        writer.note("resumed", torn_bytes=0, changed=["kernel: 1 before, 2 after"])
    line = "the test system changed where the run was resumed: kernel: 1 before, 2 after"
    again = stored_run(folder)
    assert (line in again.deviations, line in run.deviations) == (True, False)
    # The test that was cut short is gone from the results at once.
    assert [test.settings.test for test in again.tests] == ["lat"]


def test_a_run_whose_drive_failed_is_refused(tmp_path: Path) -> None:
    plan = load_plan(None, {**KEYS, "tests": ["lat"]})
    run_plan(plan, out=tmp_path / "run", answers=Answers(), show=lambda _: None)
    entries = read_journal(tmp_path / "run", (tmp_path / "run/run.json").read_bytes())
    with RunWriter(tmp_path / "run", None, entries) as writer:
        writer.note("test_started", settings=_settings(tmp_path / "run"))
        writer.note("test_ended", reason="device-failure")
    with pytest.raises(UsageError, match="the drive failed in lat"):
        resumed(tmp_path / "run")


def _settings(folder: Path) -> object:
    lines = map(json.loads, journal_text(folder).splitlines())
    return next(line["data"]["settings"] for line in lines if line["kind"] == "test_started")


def test_while_the_run_goes_on_and_once_somebody_else_resumed_it_nothing_is_written(cut: Path, tmp_path: Path) -> None:
    folder = copied(cut, tmp_path)
    entries = read_journal(folder, (folder / "run.json").read_bytes())
    with RunWriter(folder, None, entries) as writer:
        with pytest.raises(FolderBusyError):
            resumed(folder)
        writer.note("resumed", torn_bytes=0, changed=[])
    with pytest.raises(StoreError, match="was written to since"):
        RunWriter(folder, None, entries)


def test_a_file_target_goes_on_with_the_same_file_alone(tmp_path: Path) -> None:
    target = tmp_path / "drive"
    with target.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, 64 << 20)
    # A busy host keeps a file silent for seconds.
    patient = {"stall_limit_seconds": 3600.0, "io_time_limit_seconds": 3600.0}
    keys = {**KEYS, "drive": str(target), "file_target": True, "tests": ["lat", "iops"], "scale": 0.0001, **patient}
    plan, folder = load_plan(None, keys), tmp_path / "run"
    answers = Answers(confirmation=str(target))

    def stop(progress: Progress) -> None:
        if progress.test == "iops":
            raise KeyboardInterrupt

    try:
        run_plan(plan, out=folder, answers=answers, show=stop)
    except AssayError as error:
        if error.slug != "interrupted":
            pytest.skip(f"no file target here: {error}")
    outcome = resume_run(folder, resumed_plan(folder), answers=answers, show=lambda _: None)
    assert [one.test for one in outcome.tests] == ["lat", "iops"]
    assert stored_run(folder).breaks[0].ended == "interrupted"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--out", "x"], "contradicts --resume"),
        (["--scale", "0.5", "--seed", "3"], "--scale: cannot change the plan"),
        (["--test", "lat"], "--test: cannot change the plan"),
    ],
)
def test_options_that_change_the_plan_are_refused(arguments: list[str], words: str, cut: Path) -> None:
    done = CliRunner().invoke(command, ["run", "--resume", str(cut), *arguments], standalone_mode=False)
    assert words in str(done.exception)


def test_the_command_goes_on_and_shows_all_tests(cut: Path, tmp_path: Path) -> None:
    folder = copied(cut, tmp_path)
    done = CliRunner().invoke(command, ["run", "--resume", str(folder), "--no-report"], standalone_mode=False)
    assert (done.return_value, "resumed" in done.stdout, "IOPS was cut short" in done.stdout) == (0, True, True)
