"""The command line as a user meets it: exit codes, one-line errors, Ctrl-C."""

import json
import os
import re
import shutil
import signal
import subprocess
from importlib import resources
from pathlib import Path

import pytest
from on_terminal import ASSAY
from same_process import assay

DRIVE = "sim:client-2011?capacity=1GB"


@pytest.mark.parametrize(
    ("code", "words", "arguments"),
    [
        (2, "/dev/not-there", ["run", "/dev/not-there"]),
        (2, "--file-target", ["run", "{file}"]),
        (2, "is a character device", ["run", "/dev/null"]),
        (2, "is a directory", ["run", "{folder}", "--file-target"]),
        (2, "no simulated drive", ["run", "sim:none"]),
        (2, "capacity", ["run", "sim:client-2011?capacity=lots"]),
        (2, "128 MB to 16 TB", ["run", "sim:client-2011?capacity=1MB", "--scale", "0.01"]),
        (2, "128 MB to 16 TB", ["plan", "sim:client-2011?capacity=1000000001"]),
        (2, "scale", ["plan", DRIVE, "--scale", "0"]),
        (2, "edition", ["plan", DRIVE, "--profile", ""]),
        (2, "--test: ", ["plan", DRIVE, "--test", ","]),
        (
            2,
            "outstanding",
            ["plan", DRIVE, "--test", "wsat", "--thread-count", "1024", "--queue-depth", "4096"],
        ),
        (2, "--thread-count: is 0", ["run", DRIVE, "--thread-count", "0"]),
        (2, "--queue-depth: is 1000000", ["run", DRIVE, "--queue-depth", "1000000"]),
        (2, "--scale: is -1", ["run", DRIVE, "--scale", "-1"]),
        (2, "edition", ["run", DRIVE, "--profile", "pts-x"]),
        (2, "--test: ", ["run", DRIVE, "--test", "nonsense"]),
        (2, "several drives or plans", ["run", DRIVE, DRIVE]),
        (2, "not a simulated drive of flash", ["fit", "sim:hdd-15k", "--against", "{file}"]),
        (2, "is not a simulated drive of flash", ["fit", "/dev/loop2", "--against", "{file}"]),
        (2, "exists already", ["fit", DRIVE, "--against", "{file}", "--out", "{file}"]),
        (2, "is a regular file; add --file-target to test it as a drive", ["plan", "{file}"]),
        (2, "--edition pts-c-2.0 or pts-e-1.1", ["plan", DRIVE, "--test", "hir"]),
        (2, "--pin: is a choice for real drives only", ["plan", DRIVE, "--test", "lat", "--pin", "0"]),
        (2, "--all-namespaces: is a choice for NVMe", ["run", DRIVE, "--test", "wsat", "--all-namespaces", "2"]),
        (2, 'did you mean "--suite"?', ["plan", DRIVE, "--suit", "client"]),
        (2, '{"error": "usage", "thing": "--foo"', ["plan", DRIVE, "--foo", "--json"]),
        (3, "19.33 GB", ["run", DRIVE, "--test", "iops,tp"]),
        (6, "cannot be written", ["run", DRIVE, "--scale", "0.01", "--out", "/proc/not-there"]),
        (6, "is not empty", ["run", DRIVE, "--scale", "0.01", "--out", "{folder}"]),
        (6, "no run folder", ["report", "{folder}"]),
        (6, "no run folder", ["show", "{folder}"]),
    ],
)
def test_bad_input_is_one_line_with_its_exit_code(code: int, words: str, arguments: list[str], tmp_path: Path) -> None:
    file = tmp_path / "file.img"
    file.write_bytes(bytes(4096))
    filled = [text.format(file=file, folder=tmp_path) for text in arguments]
    done = assay(*filled, cwd=tmp_path)
    assert (done.returncode, words in done.stderr, done.stderr.count("\n")) == (code, True, 1), done.stderr
    assert "Traceback" not in done.stderr


def test_a_plan_that_is_not_called_so_is_not_taken_for_a_target(tmp_path: Path) -> None:
    (tmp_path / "plan.txt").write_text(f'drive = "{DRIVE}"\n')
    done = assay("plan", "plan.txt", cwd=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "rename it to plan.toml" in done.stderr


def test_names_of_tests_may_have_blanks_and_letters_of_any_case(tmp_path: Path) -> None:
    done = assay("plan", "sim:client-2011?capacity=32GB", "--test", "LAT, wsat", "--json", cwd=tmp_path)
    assert [test["test"] for test in json.loads(done.stdout)["tests"]] == ["lat", "wsat"]


@pytest.mark.parametrize(
    ("matrix", "tests", "words"),
    [
        ("4,0,3190", '["iops"]', "leaves out wsat, tp-1024, lat"),
        ("3,133,5", '["wsat", "iops", "tp", "lat"]', "has not: 3 KiB at 133 % of reads"),
        ("four,0,5", '["wsat", "iops", "tp", "lat"]', "without a block size in KiB"),
    ],
)
def test_what_a_drive_model_cannot_be_fitted_to_is_said_in_a_line(
    matrix: str, tests: str, words: str, tmp_path: Path
) -> None:
    (tmp_path / "m.csv").write_text(f"block_kib,read_pct,iops\n{matrix}\n")
    (tmp_path / "p.toml").write_text(f'schema = 1\ndrive = "sim:client-2011?capacity=32GB"\ntests = {tests}\n')
    arguments = ["--against", str(tmp_path / "m.csv"), "--plan", str(tmp_path / "p.toml"), "--evaluations", "0"]
    done = assay("fit", "sim:client-2011?capacity=32GB", *arguments, cwd=tmp_path)
    assert (done.returncode, words in done.stderr, done.stderr.count("\n")) == (2, True, 1), done.stderr


def test_a_run_prints_the_report_and_can_be_rendered_and_listed(tmp_path: Path) -> None:
    out = tmp_path / "runs" / "one"
    done = assay(
        "run", DRIVE, "--test", "iops", "--scale", "0.01", "--seed", "1", "--json", "--out", str(out), cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    outcome = json.loads(done.stdout)
    assert all(Path(path).stat().st_size for path in outcome["report"])
    assert json.loads(assay("show", str(out), "--json").stdout) == outcome
    assert (out / "report/iops_matrix.csv").read_text().startswith("block_kib,read_pct,iops,")
    results = json.loads(assay("report", str(out), "--json").stdout)
    assert results
    listed = json.loads(assay("runs", "--json", cwd=tmp_path).stdout)
    assert [(run["run"], run["drive"]) for run in listed] == [("runs/one", DRIVE)]


def slow_drive(folder: Path) -> str:
    """A drive that takes 0.1 s for every write, one after another: a cell of 60 ms sees none of them complete."""
    model = (resources.files("assay.dut.simulated") / "models/client-2011.toml").read_text("utf-8")
    slow, count = re.subn(r"(write_command_ns = \{ value = )[\d_]+", r"\g<1>100_000_000", model)
    assert count == 1
    (folder / "slow.toml").write_text(slow, "utf-8")
    return f"sim:{folder / 'slow.toml'}?capacity=1GB"


def test_a_run_without_a_completion_in_a_tracked_cell_ends_at_once_withheld_and_says_so(tmp_path: Path) -> None:
    options = ("--test", "iops", "--profile", "pts-e-2.0", "--scale", "0.001", "--seed", "1")
    out = tmp_path / "runs" / "slow"
    done = assay("run", slow_drive(tmp_path), *options, "--out", str(out), cwd=tmp_path)
    assert done.returncode == 5, done.stderr
    said = "no I/O of RND 4KiB 0/100 completed within a step of 0.06 s"
    assert f"WITHHELD: {said}" in done.stdout
    assert re.search(r"iops round 1: .* NO I/O COMPLETED in RND 4KiB 0/100", done.stderr)
    assert "round 2" not in done.stdout
    assert "average 0" not in done.stdout
    (listed,) = json.loads(assay("runs", "--json", cwd=tmp_path).stdout)
    assert [one["test"] for one in listed["withheld"]] == ["iops"]
    assert (
        "no I/O completed, so that nothing can be judged, RESULTS WITHHELD: " + said
        in assay("runs", cwd=tmp_path).stdout
    )
    html = (out / "report/report.html").read_text("utf-8")
    assert html.count(f"NO HEADLINE: {said}") >= html.count('class="page')
    assert {row.split(",")[2] for row in (out / "report/iops_matrix.csv").read_text().splitlines()[1:]} == {"n/a"}


def test_json_names_every_reason_not_to_exit_with_0(tmp_path: Path) -> None:
    options = ("--test", "iops", "--profile", "pts-e-2.0", "--scale", "0.001", "--seed", "1")
    done = assay("run", slow_drive(tmp_path), *options, "--json", "--out", str(tmp_path / "run"))
    found = json.loads(done.stdout)
    assert (done.returncode, found["exit_code"], found["exit_codes"]) == (5, 5, [5, 7])
    (test,) = found["tests"]
    assert (test["name"], test["ended"], test["verdict"]["missed"]) == ("iops", "no-completions", True)
    assert "no I/O of RND 4KiB 0/100 completed" in test["verdict"]["reason"]


@pytest.fixture(scope="module")
def logged(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A run whose output goes into a log: its folder and what it said on standard error."""
    out = tmp_path_factory.mktemp("logged") / "run"
    done = assay("run", DRIVE, "--test", "iops", "--scale", "0.01", "--seed", "1", "--out", str(out))
    assert done.returncode == 0, done.stderr
    assert done.stdout.rstrip().endswith("report.pdf")
    return out, done.stderr


@pytest.mark.parametrize("name", ["journal.jsonl", "series/000001.parquet", "histograms/000001.parquet"])
def test_a_folder_that_was_tampered_with_exits_5(name: str, tmp_path: Path, logged: tuple[Path, str]) -> None:
    out = Path(shutil.copytree(logged[0], tmp_path / "run"))
    content = bytearray((out / name).read_bytes())
    content[len(content) // 2] ^= 1
    (out / name).write_bytes(bytes(content))
    for command in ("report", "show"):
        done = assay(command, str(out))
        assert (done.returncode, "Traceback" in done.stderr) == (5, False), done.stderr
        assert "the run was changed or damaged" in done.stderr


def test_a_log_gets_plain_lines(logged: tuple[Path, str]) -> None:
    _, said = logged
    assert "\x1b" not in said
    assert all(re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d ", line) for line in said.splitlines())
    value, limit = r"RND 4KiB 0/100 [\d,.]+ IOPS", r"[\d,.]+ of [\d,.]+ allowed"
    cells = "56 cells in 33.6 s of simulated time"
    assert re.search(rf"iops round 1: {cells}; {value}; 1 of the 5 rounds that a verdict takes", said)
    verdict = rf"(steady|not steady yet); average [\d,.]+ IOPS, excursion {limit}( \(too wide\))?, slope {limit}"
    assert re.search(rf"iops round 5: {cells}; {value}; {verdict}", said)
    assert re.search(r"iops preconditioning done: [\d.]+ GB in .* of simulated time, [\d,]+ MB/s", said)
    assert "iops ended: " in said
    assert "report: pdf, format 5 of 5" in said


def test_plan_touches_nothing_and_tells_what_would_be_written(tmp_path: Path) -> None:
    done = assay("plan", "sim:client-2011?capacity=32GB", "--test", "iops", cwd=tmp_path)
    assert "64.00 GB of preconditioning, and 4 h 40 min to 23 h 20 min of rounds" in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_drives_lists_the_simulated_ones_with_sources() -> None:
    listed = json.loads(assay("drives", "--json").stdout)
    simulated = [drive for drive in listed if drive["kind"] == "simulated"]
    assert set(simulated[0]) == {"id", "path", "model_number", "serial", "capacity_bytes", "kind", "refusals"}
    described = json.loads(assay("drives", "--json", "--describe", "sim:client-2011").stdout)
    assert all(datum["source"] for datum in described["parameters"].values())


def cpu_s(pid: int) -> float:
    """Processor time of a process, of all its threads, in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(") ")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_within_five_seconds_and_says_how_to_run_again(number: signal.Signals, tmp_path: Path) -> None:
    command = [ASSAY, "run", "sim:client-2011?capacity=32GB", "--test", "iops", "--out", str(tmp_path / "run")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        while "round" not in process.stderr.readline():
            assert process.poll() is None
        # Suspended, it spends no time before the signal, which comes first when it goes on.
        process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, process.pid, os.WSTOPPED)
        before_s = cpu_s(process.pid)
        process.send_signal(number)
        process.send_signal(signal.SIGCONT)
        error = process.stderr.read()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        # Of processor time, which a busy host does not lengthen.
        assert cpu_s(process.pid) - before_s < 5
    assert process.returncode == 130
    (last,) = (line for line in error.splitlines() if line.startswith("assay: "))
    assert "assay run" in last
    assert (tmp_path / "run/journal.jsonl").read_text().count('"reason":"interrupted"') == 1
