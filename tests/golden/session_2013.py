"""The tables of the published session of 2013, and tests that run to their end on rates that are given.

In ``played`` no drive takes part: the course of a test of ``pts-e-1.1`` is followed at full length, and every step that
it asks for is answered with a record of the rates that the caller states. What is stored of it goes to the functions of
``assay.results`` as a run folder would.
"""

from __future__ import annotations

import csv
import tomllib
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.dut.dut import Answers
from assay.engine.records import IDLE, Cell, PurgeRecord, StepRecord, StepSequence, StoredTest
from assay.plan.procedure import Context
from assay.plan.until import RoundOutcome
from assay.run.plan_file import load_plan
from assay.run.run import run_plan
from assay.run.store.read import read_run
from assay.spec.units import SECOND_NS
from demand_run import demand_drive, planned_demand
from report_run import START_NS, stored_sequence, synthetic_direction, synthetic_step

if TYPE_CHECKING:
    from collections.abc import Callable

    from assay.engine.records import DirectionRecord, Ending, StepSpec, StoredRun, StoredSequence
    from assay.plan.procedure import PlannedTest
    from assay.plan.until import Action

SESSION: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


def _published(name: str) -> list[dict[str, str]]:
    with (Path(__file__).parents[2] / "published" / f"client-2013_{name}.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


CLIENT = {f"iops_{row['block_kib']}_{row['read_pct']}": float(row["iops"]) for row in _published("iops")}
CLIENT |= {row["figure"]: float(row["value"]) for row in _published("figures")}
"""What the session prints of its unnamed client drive, by name, such as ``iops_8_65``."""

MLC_A_VALUES = (3445.45, 3011.86, 3147.05, 2903.05, 3227.82)
MLC_A_BOX = {
    "average": "3147.0",
    "excursion_allowed": "629.4",
    "excursion_measured": "542.4",
    "slope_allowed": "314.7",
    "slope_measured": "217.6",
}
"""The Steady State Determination Data of MLC-A of 2012, and five values that give it (``test_window_mlc_a``)."""


@dataclass(frozen=True, slots=True)
class Rates:
    """What a step is answered with: completions per second, average and maximum response time in ms."""

    iops: float
    latency_ms_mean: float = 1.0
    latency_ms_max: float = 10.0


@dataclass(frozen=True, slots=True)
class Played:
    """A test that ran to its end. actions : all that it asked for, in order, but for the verdicts."""

    test: StoredTest
    actions: tuple[Action, ...]

    def asked(self, stage: str, index: int | None = None) -> list[StepSpec]:
        """The steps of a stage as they were asked, in order."""
        return [step for sequence in self.test.stage(stage, index) for step in sequence.asked]


def planned_tests(name: str, **keys: Any) -> tuple[PlannedTest, ...]:
    """What ``pts-e-1.1`` makes of a test, at full length."""
    return planned_demand(name, **keys).tests


def played(planned: PlannedTest, answer: Callable[[StepSequence, StepSpec, int], Rates]) -> Played:
    """Follow a test to its end.

    answer : the rates of a step, from its sequence, from what was asked, and from its number among the steps of its
    stage, from 1. Steps of idle time are not asked for.
    """
    sequences: list[StoredSequence] = []
    actions: list[Action] = []
    verdict: RoundOutcome | None = None
    counts: Counter[str] = Counter()
    now_ns = 0
    course = planned.run(planned.settings, Context(drive=demand_drive(), seed=1))
    sent: Any = None
    while True:
        try:
            action = course.send(sent)
        except StopIteration as done:
            ending: Ending = done.value
            break
        sent = None
        if isinstance(action, RoundOutcome):
            verdict = action if action.window else verdict
            continue
        actions.append(action)
        if isinstance(action, StepSequence):
            sent = []
            for spec in action.steps:
                counts[action.stage] += 1
                rates = Rates(0) if spec.demand == IDLE else answer(action, spec, counts[action.stage])
                sent.append(_record(spec, rates, now_ns))
                now_ns += sent[-1].span_ns
            sequences.append(stored_sequence(action, sent))
    test = StoredTest(
        settings=planned.settings,
        started_wall_ns=START_NS,
        ended_wall_ns=START_NS + now_ns,
        purge=PurgeRecord(method="simulated purge", proof="every mapping is gone", deviation=None, span_ns=10**9),
        sequences=tuple(sequences),
        verdict=verdict.window if verdict else None,
        window_stage=verdict.stage if verdict else "",
        window_indexes=verdict.covered if verdict else (),
        ended=ending.reason,
    )
    return Played(test, tuple(actions))


def simulated(
    name: str, folder: Path, scale: float, drive: str = "sim:client-2011?capacity=1GB", *, write_cache: str = "edition"
) -> StoredRun:
    """Run a test of ``pts-e-1.1`` on a simulated drive, every time scaled, and read it back with its histograms."""
    plan = load_plan(
        None,
        {"drive": drive, "edition": "pts-e-1.1", "seed": 1, "tests": [name], "scale": scale}
        | {"write_cache": write_cache},
    )
    outcome = run_plan(plan, out=folder / "run", answers=Answers(), show=lambda _: None)
    return read_run(outcome.folder, histograms=True)


def _record(spec: StepSpec, rates: Rates, start_ns: int) -> StepRecord:
    span_ns = spec.stop.time_ns or 0
    count = round(rates.iops * span_ns / SECOND_NS)
    reads = round(count * spec.pattern.read_share)
    size = sum(size * share for size, share in spec.pattern.sizes)
    # A published mean is rounded: no more I/Os are outstanding than were asked for.
    held_ns = spec.demand.thread_count * spec.demand.queue_depth * span_ns
    mean_ns = min(rates.latency_ms_mean * 10**6, held_ns / max(count, 1))
    read, write = _side(reads, size, rates, mean_ns), _side(count - reads, size, rates, mean_ns)
    return replace(
        synthetic_step(Cell(read_pct=0, transfer_bytes=4096), 0),
        label=spec.label,
        span_ns=span_ns,
        start_ns=start_ns,
        start_wall_ns=START_NS + start_ns,
        read=read,
        write=write,
        # By Little's law, with nothing in flight at the ends of the window.
        outstanding_ns=read.latency_ns_sum + write.latency_ns_sum,
        carried_in_ns=0,
        carried_out_ns=0,
        first_submission_ns=start_ns if count else None,
        last_submission_ns=start_ns + span_ns if count else None,
    )


def _side(count: int, size: float, rates: Rates, mean_ns: float) -> DirectionRecord:
    return replace(
        synthetic_direction(count, 1),
        window_bytes=round(count * size),
        latency_ns_sum=int(count * mean_ns),
        latency_ns_max=round(rates.latency_ms_max * 10**6) if count else None,
    )
