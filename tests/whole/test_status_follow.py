"""``assay status --follow`` prints the lines of a run until it ends."""

import json
import signal
import subprocess
import time
from pathlib import Path

from assay.cli.status import line_text, sums_label
from assay.run.store import LIVE, PROGRESS
from assay.run.store.live import LiveLine, LiveReader, LiveSums, SecondKey
from assay.run.store.lock import is_going
from assay.run.store.status import GoingRuns
from assay.spec.units import SECOND_NS
from on_terminal import ASSAY

LONG = [ASSAY, "run", "sim:client-2011?capacity=16GB", "--test", "iops", "--scale", "0.9", "--no-report", "--out"]
PLACE = SecondKey(1, 0, 0)


def wait_for_lines(folder: Path, count: int) -> None:
    reader, seen = LiveReader(folder), 0
    while seen < count:
        time.sleep(0.05)
        seen += len(reader.lines())


def test_a_line_says_rates_over_the_device_time_that_it_covers() -> None:
    sums = LiveSums(500, 500 * 4096, SECOND_NS, 5_000_000)
    assert sums_label(sums, SECOND_NS) == "500 IOPS, 2.05 MB/s, mean 2.00 ms, max 5.00 ms"
    line = LiveLine(1, 0, 10 * SECOND_NS, PLACE, PLACE, LiveSums(), sums, LiveSums())
    assert line_text(line).endswith("  write 50 IOPS, 0.20 MB/s, mean 2.00 ms, max 5.00 ms; 10.0 s of device time")
    none = LiveLine(1, 0, SECOND_NS, PLACE, PLACE, LiveSums(), LiveSums(), LiveSums())
    assert line_text(none).endswith("  no I/O completed")


def test_follow_prints_lines_until_the_run_ends_and_ctrl_c_ends_it_with_130(tmp_path: Path) -> None:
    folder = tmp_path / "runs/long"
    follow = [ASSAY, "status", "--follow", "--json", str(folder)]
    with subprocess.Popen([*LONG, str(folder)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
        try:
            while not (folder / PROGRESS).exists():
                time.sleep(0.05)
            wait_for_lines(folder, 2)
            (going,) = GoingRuns([tmp_path / "runs"]).look()
            assert (going.folder, going.state, going.progress.pid) == (folder, "running", run.pid)
            with subprocess.Popen(follow, stdout=subprocess.PIPE, text=True) as stopped:
                assert stopped.stdout
                assert json.loads(stopped.stdout.readline())["number"] == 1
                stopped.send_signal(signal.SIGINT)
                assert stopped.wait(timeout=20) == 130
            with subprocess.Popen(follow, stdout=subprocess.PIPE, text=True) as whole:
                assert whole.stdout
                first = json.loads(whole.stdout.readline())
                run.send_signal(signal.SIGINT)
                lines = [first, *map(json.loads, whole.stdout)]
            assert whole.returncode == 0
        finally:
            run.send_signal(signal.SIGINT)
            run.wait(timeout=60)
    numbers = [line["number"] for line in lines[:-1]]
    assert numbers == list(range(1, len(numbers) + 1))
    assert all(line["covered_ns"] >= SECOND_NS for line in lines[:-1])
    assert (lines[-1]["state"], lines[-1]["exit_code"]) == ("ended-early", 130)
    assert not (folder / LIVE).exists()


def test_a_run_that_was_killed_goes_on_no_more(tmp_path: Path) -> None:
    folder, runs = tmp_path / "runs/killed", GoingRuns([tmp_path / "runs", tmp_path / "none"])
    assert runs.look() == []
    with subprocess.Popen([*LONG, str(folder)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
        wait_for_lines(folder, 1)
        assert [going.folder for going in runs.look()] == [folder]
        run.kill()
    assert (runs.look(), is_going(folder), is_going(tmp_path / "none")) == ([], False, False)
    assert (folder / LIVE).exists()
    done = subprocess.run([ASSAY, "status", "--follow", str(folder)], capture_output=True, text=True, check=False)
    assert (done.returncode, "dead: its process was killed" in done.stdout) == (0, True)
