"""What a measurement loses while 200 browsers watch it and ten reports wait: pairs with and without ``assay serve``.

Goal: random reads, queue depth 1, on a file of known service times of 5 ms: the median of the pairs' differences of
IOPS below 1 %, and no more marks than without; events at most 1 s late (p99), from the time of a line to its arrival;
the server below 200 MB. Each measurement is an ``assay run`` with its watch of the host, each server a process; the
browsers are a process at idle priority. Their delays are those of the server and of that process. Stated is the memory
of the server's child, which renders once the last measurement has ended. Non-goals: the load of opening many pages at
once; a rate of a drive. Needs root and /dev/fuse. ``--smoke`` takes a short pair with few browsers.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from assay.archive.index.folders import address_of
from assay.archive.index.location import named_place
from assay.archive.index.read import reading
from assay.archive.index.search import Query, find_runs
from assay.cli.index import update
from assay.results.host import sequence_host
from assay.run.store import PROGRESS
from assay.run.store.read import read_run
from assay.spec.units import MILLISECOND_NS
from synthetic_runs import synthetic_runs
from timed_file import Service, missing, timed_file
from web_server import LINE, peak_bytes, state_variables, web_server

if TYPE_CHECKING:
    from collections.abc import Iterator

    from web_server import WebServer

SERVICE_NS = 5 * MILLISECOND_NS
FILE_BYTES = 64 << 20
JOB = "[reads]\nfilename=/drive\ndirect=1\ntime_based\nruntime={seconds}\nrw=randread\nbs=4k\niodepth=1\n"
LOSS_MAX, DELAY_MS_MAX, SERVER_BYTES_MAX = 0.01, 1000.0, 200 * 10**6
WITHHELD = 5
SETTLE_S = 3.0
"""Before each measurement: a server that was started brings its index up meanwhile."""
CHILD_S = 15.0
"""At the end, while the child renders."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A measurement. iops : None where it is withheld. marks : of its numbers, and findings on the host."""

    iops: float | None
    marks: tuple[str, ...]


@dataclass(slots=True)
class Load:
    """What the servers and the browsers of all measurements took."""

    delays_ms: list[float] = field(default_factory=list)
    states: dict[str, int] = field(default_factory=dict)
    server_bytes: int = 0
    child_bytes: int = 0


def main() -> None:
    """Print a line per pair, and what was aimed at."""
    options = _options()
    if (reason := missing()) is not None:
        print(f"skipped: {reason}")
        return
    print(f"{os.cpu_count()} CPUs, load average {os.getloadavg()[0]:.1f}")
    load, pairs = Load(), []
    with tempfile.TemporaryDirectory() as name, timed_file(Service(service_ns=SERVICE_NS), FILE_BYTES) as file:
        waiting = prepare(Path(name), options)
        trial = Trial(folder=Path(name), drive=file.path, viewers=options.viewers, waiting=waiting, load=load)
        for number in range(options.pairs):
            pairs.append(trial.pair(number, last=number == options.pairs - 1))
            show_pair(*pairs[-1])
    missed = judge(pairs, load)
    if missed and not options.smoke:
        sys.exit(f"missed: {', '.join(missed)}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=20, help="of each measurement")
    parser.add_argument("--viewers", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=10, help="reports that wait")
    parser.add_argument("--smoke", action="store_true")
    options = parser.parse_args()
    if options.smoke:
        options.pairs, options.seconds, options.viewers, options.jobs = 1, 4, 20, 2
    return options


def prepare(folder: Path, options: argparse.Namespace) -> list[str]:
    """Write the workload, and make the runs whose reports will wait; their addresses."""
    variables = state_variables(folder)
    (folder / "job.fio").write_text(JOB.format(seconds=options.seconds), "ascii")
    assay(variables, "run", "sim:ideal?capacity=1GB", "--test", "tp", "--scale", "0.01", "--seed", "1",
        "--no-report", "--out", str(folder / "first"))  # fmt: skip
    synthetic_runs(folder / "first", folder / "runs", options.jobs)
    index = named_place(variables["ASSAY_INDEX"])
    update(index, [folder / "runs"])
    with reading(index) as reader:
        return [run.address for run in find_runs(reader, Query()).runs] if reader else []


def assay(variables: dict[str, str], *arguments: str) -> str:
    """Run a command; what it prints. Ends the program where it fails, but for results that are withheld."""
    command = [*LINE, *arguments]
    done = subprocess.run(command, env=os.environ | variables, capture_output=True, text=True, check=False)
    if done.returncode not in {0, WITHHELD}:
        sys.exit(f"{' '.join(arguments)}: exit code {done.returncode}: {done.stderr}")
    return done.stdout


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """Measurements of a drive into ``folder/runs``. waiting : addresses of runs whose reports wait meanwhile."""

    folder: Path
    drive: str
    viewers: int
    waiting: list[str]
    load: Load

    def pair(self, number: int, *, last: bool) -> tuple[Measured, Measured]:
        """A measurement without and with the load, which begins every second pair."""
        turns = [False, True] if number % 2 == 0 else [True, False]
        measured = {}
        for loaded in turns:
            with web_server(self.folder) if loaded else nullcontext() as server:
                time.sleep(SETTLE_S)
                out = self.folder / "runs" / f"measured-{number}-{loaded:d}"
                measured[loaded] = self._measured(out, server)
                if server:
                    self.load.server_bytes = max(self.load.server_bytes, peak_bytes(server.process.pid))
                    if last:
                        self.load.child_bytes = child_bytes(server)
        return measured[False], measured[True]

    def _measured(self, out: Path, server: WebServer | None) -> Measured:
        variables = state_variables(self.folder)
        command = [*LINE, "run", self.drive, "--file-target", "--fio", str(self.folder / "job.fio"), "--no-purge",
            "--acknowledge", "unknown-backing", "--yes-destroy", self.drive, "--seed", "1", "--no-report",
            "--out", str(out)]  # fmt: skip
        with (
            (self.folder / "run.log").open("w+", encoding="utf-8") as log,
            subprocess.Popen(command, env=os.environ | variables, stdout=log, stderr=log) as run,
        ):
            with self._watched(out, server, run) if server else nullcontext():
                run.wait()
            if run.returncode not in {0, WITHHELD}:
                sys.exit(f"assay run: exit code {run.returncode}: {(self.folder / 'run.log').read_text('utf-8')}")
        return measured(out, json.loads(assay(variables, "show", "--json", str(out))))

    @contextmanager
    def _watched(self, out: Path, server: WebServer, run: subprocess.Popen[bytes]) -> Iterator[None]:
        """Have the run watched, as soon as it has progress, until the block ends."""
        wish = {"port": server.port, "token": server.link().partition("#")[2], "run": address_of(out)}
        wish |= {"count": self.viewers, "waiting": self.waiting}
        while run.poll() is None and not (out / PROGRESS).exists():
            time.sleep(0.1)
        command = [sys.executable, str(Path(__file__).parents[1] / "tools/web_viewers.py"), json.dumps(wish)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as viewers:
            state = viewers.stdout.readline().strip() if viewers.stdout else ""
            yield
            seen = json.loads(viewers.communicate()[0])
        if state != "ready" or seen["errors"]:
            sys.exit(f"the viewers did not begin: {state}, {seen['errors'][:3]}")
        self.load.delays_ms += seen["delays_ms"]
        for name, count in seen["states"].items():
            self.load.states[name] = self.load.states.get(name, 0) + count


def measured(out: Path, shown: dict[str, Any]) -> Measured:
    """What a run shows of its rate, and each mark that the host left."""
    numbers = [measure for measure in shown["tests"][0]["measures"] if measure["quoted"]]
    rates = [number["value"] for number in numbers if number["unit"] == "IOPS"]
    marks = [f"{number['unit']}: {number['mark']}" for number in numbers if number["mark"]]
    for sequence in (sequence for test in read_run(out).tests for sequence in test.sequences):
        marks += [finding.words for finding in sequence_host(sequence) if finding.level != "pass"]
    verdict = shown["tests"][0]["verdict"]
    withheld = verdict["reason"] if verdict["state"] in {"withheld", "cut-short"} else None
    return Measured(
        iops=rates[0] if rates and not withheld else None, marks=(*marks, *([withheld] if withheld else []))
    )


def child_bytes(server: WebServer) -> int:
    """Memory of the child that renders now, at its largest; 0 where it was not seen."""
    until_s, most = time.monotonic() + CHILD_S, 0
    while time.monotonic() < until_s:
        for pid in server.children():
            try:
                most = max(most, peak_bytes(pid))
            except (OSError, ValueError):
                continue
        time.sleep(0.1)
    return most


def difference(without: Measured, loaded: Measured) -> float | None:
    """Relative change of IOPS. Worked: 199.1 without and 198.9 with -> -0.0010; None where either is withheld."""
    return loaded.iops / without.iops - 1 if loaded.iops and without.iops else None


def show_pair(without: Measured, loaded: Measured) -> None:
    """Print both rates, their difference and their marks."""
    change = difference(without, loaded)
    rates = " and ".join("withheld" if each.iops is None else f"{each.iops:.2f}" for each in (without, loaded))
    print(f"IOPS without and with: {rates}" + ("" if change is None else f", {change:+.3%}"))
    for name, each in (("without", without), ("with", loaded)):
        for mark in each.marks:
            print(f"  {name}: {mark}")


def judge(pairs: list[tuple[Measured, Measured]], load: Load) -> list[str]:
    """Print the figures beside their aims; the names of those that are missed."""
    changes = [change for pair in pairs if (change := difference(*pair)) is not None]
    loss = abs(statistics.median(changes)) if changes else float("inf")
    marks = [sum(len(pair[at].marks) for pair in pairs) for at in (0, 1)]
    late_ms = np.percentile(load.delays_ms, (50, 99, 100)) if load.delays_ms else np.full(3, np.inf)
    print(f"difference of IOPS, median of {len(changes)} pairs: {loss:.3%} (aim below {LOSS_MAX:.0%})")
    print(f"marks without viewers: {marks[0]}, with: {marks[1]}")
    print(f"delay of {len(load.delays_ms):,} events: median {late_ms[0]:.0f} ms, p99 {late_ms[1]:.0f} ms, "
        f"maximum {late_ms[2]:.0f} ms (aim p99 at most {DELAY_MS_MAX:.0f} ms)")  # fmt: skip
    print(f"states of waiting reports: {load.states}")
    print(f"server: {load.server_bytes / 1e6:.0f} MB (aim below {SERVER_BYTES_MAX / 1e6:.0f} MB), "
        f"child: {load.child_bytes / 1e6:.0f} MB")  # fmt: skip
    aims = {
        "difference of IOPS": loss < LOSS_MAX,
        "marks": marks[1] <= marks[0],
        "delay of events": late_ms[1] <= DELAY_MS_MAX,
        "memory of the server": load.server_bytes < SERVER_BYTES_MAX,
        "reports waited": set(load.states) == {"held"},
    }
    return [name for name, met in aims.items() if not met]


if __name__ == "__main__":
    main()
