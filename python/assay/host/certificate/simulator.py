"""The reference that every host has: a simulated drive, which must do the very same thing each time."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from assay.dut.simulated.model import parse_simulated
from assay.engine.pattern import cell_pattern, fill_pattern, leading_range
from assay.engine.records import DataPattern, Demand, StepRecord, StepSpec, StopRule
from assay.engine.stimulus import Stimulus
from assay.results.step import completed_count
from assay.spec.units import KIB

if TYPE_CHECKING:
    from collections.abc import Sequence

DRIVE = "sim:client-2011?capacity=256MB&seed=1"
_SEED = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatorRun:
    """What one run of the fixed sequence left behind.

    sequence : SHA-256 of drive and sequence; only runs of the same are alike. state : SHA-256 of the drive's state.
    outcome : SHA-256 of every count, sum and histogram of response times. io_count : I/Os completed.
    """

    sequence: str
    state: str
    outcome: str
    io_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatorCheck:
    """The sequence run twice, and whether both equal each other and the newest earlier one of the same build.

    earlier_wall_ns : date of the certificate of that one, None where there is none; earlier : what it holds.
    """

    first: SimulatorRun
    second: SimulatorRun
    earlier_wall_ns: int | None = None
    earlier: SimulatorRun | None = None

    @property
    def is_exact(self) -> bool:
        """Whether every run left the very same behind."""
        return self.first == self.second and self.earlier in (None, self.first)


def run_simulator() -> SimulatorRun:
    """Fill a small simulated drive, write it over at random, then read and write in turn; what that left behind.

    Nothing of this host enters it: time is virtual and the seed is fixed.
    """
    drive_model = parse_simulated(DRIVE).drive_model
    steps = _program(drive_model.capacity_bytes)
    with Stimulus.simulated(drive_model, seed=_SEED, epoch_wall_ns=0) as stimulus:
        records = stimulus.run(steps)
        state = stimulus.state_hash()
    return SimulatorRun(
        sequence=_digest(repr((drive_model, steps))),
        state=state,
        outcome=_digest(json.dumps([_virtual(record) for record in records], sort_keys=True)),
        io_count=sum(map(completed_count, records)),
    )


def _program(capacity_bytes: int) -> list[StepSpec]:
    everything = leading_range(capacity_bytes)
    deep = Demand(thread_count=1, queue_depth=32)
    patterns = (
        fill_pattern(128 * KIB, DataPattern()),
        cell_pattern("random", 4 * KIB, 0.0, DataPattern()),
        cell_pattern("random", 8 * KIB, 0.65, DataPattern()),
        cell_pattern("sequential", 128 * KIB, 1.0, DataPattern()),
    )
    return [
        StepSpec(
            label=f"simulator {index}",
            pattern=pattern,
            demand=deep,
            active_range=everything,
            stop=StopRule(amount_bytes=capacity_bytes),
        )
        for index, pattern in enumerate(patterns)
    ]


def _virtual(record: StepRecord) -> dict[str, object]:
    """A record without what the host adds: the CPU time that it cost."""
    return {key: value for key, value in asdict(record).items() if key != "cpu_ns"}


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def check_simulator(earlier: Sequence[tuple[int, SimulatorRun]]) -> SimulatorCheck:
    """Run the sequence twice and hold both against the newest earlier run of the same sequence.

    earlier : dates and runs of certificates of the same build, the newest first.
    """
    first, second = run_simulator(), run_simulator()
    known = next(((when, run) for when, run in earlier if run.sequence == first.sequence), (None, None))
    return SimulatorCheck(first=first, second=second, earlier_wall_ns=known[0], earlier=known[1])
