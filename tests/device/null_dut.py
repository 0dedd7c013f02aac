"""A device under test of known answer times: the kernel's timers, behind the product's own runner, watch and summary.

As a script it runs a write stream on it for every line of standard input, a JSON object as of ``Wish``. It prints
``begun`` when the stream begins, and its numbers as a JSON list when it has ended.
"""

from __future__ import annotations

import ctypes
import json
import signal
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.dut.dut import Answers, Dut
from assay.dut.real.host_watch import HostWatch
from assay.dut.real.placement import place_threads
from assay.engine.records import Demand, DriveCondition, HostCalibration, PurgeRecord
from assay.engine.stimulus import Stimulus
from assay.host.calibration import calibrate_host
from assay.report import records_of_tests
from assay.results.host_part import is_calm
from assay.run import run
from assay.run.plan_file import load_plan
from assay.run.store.read import read_run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records import DriveIdentity
    from assay.run.progress import Progress

_SET_DEATH_SIGNAL = 1
PLAN = """
schema = 1
drive = "sim:client-2011?capacity=1GB"
seed = 1
studies = ["workload"]
[workload]
prepare_fills = 0
"""
STAGE = """
[[workload.stages]]
name = "stage-{number}"
time_s = {seconds}
[[workload.stages.streams]]
name = "writes"
thread_count = {thread_count}
queue_depth = {queue_depth}
lines = [{{ size_bytes = 4096, read_percent = 0 }}]
"""


@dataclass(frozen=True, kw_only=True)
class Wish:
    """Stages of a stream of writes. calibrates : the host is calibrated anew, whatever runs on it; else once."""

    answer_ns: int
    thread_count: int = 1
    queue_depth: int = 8
    seconds: int = 1
    stage_count: int = 1
    calibrates: bool = False


@dataclass(frozen=True, kw_only=True)
class Number:
    """A number as the summary has it. key : of stage and number: ``stage-1 iops``."""

    key: str
    stat: str
    value: float | None
    bound: float | None
    mark: str | None


def numbers_of(wish: Wish, begun: Any = lambda: None) -> list[Number]:
    """What the product says of one stream. begun : called when its sequence begins."""

    def show(progress: Progress) -> None:
        if progress.phase and progress.phase != "purge":
            begun()

    with tempfile.TemporaryDirectory() as scratch:
        folder, plan = Path(scratch) / "run", Path(scratch) / "plan.toml"
        plan.write_text(plan_text(wish), "utf-8")
        with _in_place_of_the_drive(wish):
            run.run_plan(load_plan(plan, {}), out=folder, answers=Answers(), show=show)
        (report,) = records_of_tests(read_run(folder, histograms=True))
    return [
        Number(
            key=f"{dict(measure.cell)['stage']} {measure.key}",
            stat=measure.stat,
            value=None if measure.value is None else float(measure.value),
            bound=measure.bound,
            mark=measure.mark,
        )
        for measure in report.measures
    ]


def plan_text(wish: Wish) -> str:
    """The plan file of a wish."""
    stages = [STAGE.format(number=number, **asdict(wish)) for number in range(1, wish.stage_count + 1)]
    return "".join([PLAN, *stages])


@contextmanager
def _in_place_of_the_drive(wish: Wish) -> Iterator[None]:
    """The run opens timers instead of the simulated drive that its plan names."""

    @contextmanager
    def opened(_plan: object, drive: DriveIdentity, *_: object, **__: object) -> Iterator[Dut]:
        threads, cpus = wish.thread_count, place_threads(drive, wish.thread_count).cpus
        with Stimulus.null(seed=1, answer_ns=wish.answer_ns, thread_count=threads, cpus=cpus) as stimulus:
            yield null_dut(drive, stimulus)

    kept = run.open_dut, run.calibrate_host
    run.open_dut = opened
    if not wish.calibrates:
        run.calibrate_host = lambda *_, cpus, **__: _calibration(wish.thread_count, wish.queue_depth, cpus)
    try:
        yield
    finally:
        run.open_dut, run.calibrate_host = kept


@cache
def _calibration(thread_count: int, queue_depth: int, cpus: tuple[int, ...]) -> HostCalibration:
    """One of a quiet host, where there is one within twenty tries."""
    tried = None
    for _ in range(20):
        tried = calibrate_host([Demand(thread_count=thread_count, queue_depth=queue_depth)], cpus=cpus)
        if is_calm(tried):
            break
    assert tried
    return tried


def null_dut(drive: DriveIdentity, stimulus: Stimulus) -> Dut:
    """Timers that are watched as a real drive is."""

    def refused(*_: object) -> None:
        raise AssertionError("timers have no data and no settings")

    return Dut(
        identity=drive,
        stimulus=stimulus,
        purge=lambda _: PurgeRecord(method="none", proof="timers hold no data", deviation=None, span_ns=0),
        unchanged=lambda: None,
        heat=lambda: None,
        condition=DriveCondition,
        trim=refused,
        set_write_cache=refused,
        watch_host=lambda: HostWatch(cpus=stimulus.cpus),
    )


def main() -> None:
    """Serve wishes until standard input ends, or the process that started this."""
    ctypes.CDLL(None).prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)
    for line in sys.stdin:
        begun: list[bool] = []

        def begin(begun: list[bool] = begun) -> None:
            if not begun:
                begun.append(True)
                _say("begun")

        _say(json.dumps([asdict(number) for number in numbers_of(Wish(**json.loads(line)), begin)]))


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
