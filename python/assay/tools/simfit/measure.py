"""Runs the published tests on a drive model, scaled down: the same sequences, a smaller drive, shorter cells."""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING

from assay.engine.pattern import leading_range, random_pattern, segmented_range
from assay.engine.records import DriveIdentity, StepSpec, StopRule
from assay.engine.stimulus import Stimulus
from assay.errors import UsageError
from assay.procedures.editions import load_edition
from assay.procedures.families.loop.plan import LoopSettings
from assay.procedures.families.loop.run import preconditioning, round_sequence
from assay.results.step import effective_queue_depth, iops, mean_latency_ns, rate_count
from assay.run.planning import plan_suite
from assay.spec.units import KIB, MB, MIB, MILLISECOND_NS
from assay.tools.simfit.targets import cell_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.dut.simulated.model import DriveModel
    from assay.engine.records import ActiveRange, Demand, StepRecord
    from assay.run.plan_file import Plan

SCALED_BYTES = 1_000_000_000
FEW = 300
"""With fewer completions in a cell its rate is taken from Little's law, which counts I/Os in part."""

CELL_SHARE = 0.25
LARGE_BYTES = 32 * KIB
"""Cells of smaller transfers may be shorter still, so that a drive model takes below a second."""

_PAGE = 4 * KIB
_LOOPS = ("iops", "tp-1024", "lat")
_ROUNDS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Rig:
    """The tests that a drive model is put through.

    capacity_bytes : of the published drive. tests : loop settings at that capacity.
    """

    capacity_bytes: int
    tests: dict[str, LoopSettings]
    wsat_demand: Demand

    @classmethod
    def of(cls, plan: Plan, capacity_bytes: int, block: int = 512) -> Rig:
        """The rig of a plan: its demands, its edition's cells and ranges. ``block`` : logical block of the drive.

        Raises UsageError where the plan leaves out a test that a drive model is put through.
        """
        drive = DriveIdentity(
            id="sim:", path="sim:", kind="simulated", capacity_bytes=capacity_bytes, logical_block_bytes=block
        )
        planned = plan_suite(load_edition(plan.edition_name), plan, drive).tests
        settings = [test.settings for test in planned]
        loops = {setting.test: setting for setting in settings if isinstance(setting, LoopSettings)}
        wsat = next((setting.demand for setting in settings if setting.test == "wsat"), None)
        missing = [name for name in _LOOPS if name not in loops]
        if wsat is None or missing:
            reason = (
                f"leaves out {', '.join(missing if wsat else ['wsat', *missing])}, which a drive model is put through"
            )
            raise UsageError("plan to fit with", reason, "name the tests wsat, iops, tp and lat, or none of them")
        return cls(capacity_bytes=capacity_bytes, tests=loops, wsat_demand=wsat)

    def check(self, targets: Mapping[str, float]) -> None:
        """Raise UsageError for cells that the edition's test does not have. Worked: 3 KiB at 133 % of reads."""
        known = {cell_name(cell.transfer_bytes / KIB, cell.read_pct) for cell in self.tests["iops"].cells}
        unknown = [name for name in targets if name.startswith("iops_") and name not in known]
        if unknown:
            cells = ", ".join(f"{name.split('_')[1]} KiB at {name.split('_')[2]} % of reads" for name in unknown[:3])
            more = f" and {len(unknown) - 3} more" if unknown[3:] else ""
            reason = f"holds cells that the edition's IOPS test has not: {cells}{more}"
            raise UsageError("matrix to fit to", reason, "leave these rows out, or name another edition in the plan")


def measured(
    drive_model: DriveModel, rig: Rig, scaled_bytes: int = SCALED_BYTES, cell_share: float = CELL_SHARE
) -> dict[str, float]:
    """What a drive model gives in the rig's tests on a drive of ``scaled_bytes``, by the names of ``read_targets``.

    Durations and amounts shrink with the capacity, cells of small transfers by ``cell_share`` besides; parameters with
    a size of their own (buffer, batch) do not.
    """
    # Housekeeping that comes once in many scaled cells would be luck, not a figure.
    small = drive_model.replaced(capacity_bytes=scaled_bytes, stall_every_bytes=0)
    result: dict[str, float] = {}
    for phase in (_Scaled.saturation, _Scaled.iops, _Scaled.throughput, _Scaled.latency):
        # Each on a drive of its own: one that stopped answering in a test is of no use to the next.
        with Stimulus.simulated(small, seed=1, epoch_wall_ns=0) as stimulus:
            result |= phase(_Scaled(stimulus, rig, small, cell_share))
    return result


class _Scaled:
    """A scaled drive on its way through the tests."""

    def __init__(self, stimulus: Stimulus, rig: Rig, small: DriveModel, cell_share: float) -> None:
        self._stimulus, self._rig, self._bytes = stimulus, rig, small.capacity_bytes
        self._cell_share = cell_share
        self._over_provisioning = small["over_provisioning"]
        self._share = small.capacity_bytes / rig.capacity_bytes
        self._identity = DriveIdentity(
            id="sim:", path="sim:", kind="simulated", capacity_bytes=small.capacity_bytes, logical_block_bytes=512
        )

    def saturation(self) -> dict[str, float]:
        pages = self._bytes // _PAGE
        fresh = self._write(pages // 20)
        self._stimulus.purge_simulated()
        self._fill("iops")
        # What a sequential fill leaves free is used up before collection begins.
        self._write(round(pages * max(0.75, 1.5 * self._over_provisioning)))
        return {"wsat_fob_iops": _rate(fresh), "wsat_steady_iops": _rate(self._write(pages // 10))}

    def iops(self) -> dict[str, float]:
        rounds = self._rounds("iops", _ROUNDS)[1:]
        cells = self._rig.tests["iops"].cells
        return {
            cell_name(cell.transfer_bytes / KIB, cell.read_pct): fmean(_rate(round_[index]) for round_ in rounds)
            for index, cell in enumerate(cells)
        }

    def throughput(self) -> dict[str, float]:
        self._fill("tp-1024")
        full = self._rig.tests["tp-1024"]
        outstanding = full.demand.thread_count * full.demand.queue_depth
        # By count, since a scaled minute is shorter than a deep queue of large transfers; by many, since each step
        # begins while those of the step before are still in the drive.
        stop = StopRule(io_count=max(12 * outstanding, FEW))
        sequence = [replace(step, stop=stop) for step in round_sequence(full, self._range(full), 1).steps]
        # A drive that takes more than half a minute for one transfer is given up by the engine.
        reads, *_, writes = self._stimulus.run([*sequence, *sequence])
        return {
            "tp_1024_read_mb_per_s": _rate(reads) * MIB / MB,
            "tp_1024_write_mb_per_s": _rate(writes) * MIB / MB,
        }

    def latency(self) -> dict[str, float]:
        last = self._rounds("lat", 2)[-1]
        cells = self._rig.tests["lat"].cells
        result = {(cell.transfer_bytes, cell.read_pct): last[index] for index, cell in enumerate(cells)}
        return {
            "lat_4_100_average_ms": (mean_latency_ns(result[_PAGE, 100]) or 0) / MILLISECOND_NS,
            "lat_4_0_average_ms": (mean_latency_ns(result[_PAGE, 0]) or 0) / MILLISECOND_NS,
        }

    def _rounds(self, test: str, count: int) -> list[list[StepRecord]]:
        self._fill(test)
        full = self._rig.tests[test]
        sequence = [self._shortened(step) for step in round_sequence(full, self._range(full), 1).steps]
        return [self._stimulus.run(sequence) for _ in range(count)]

    def _shortened(self, step: StepSpec) -> StepSpec:
        small = step.pattern.sizes[0][0] < LARGE_BYTES
        span_ns = (step.stop.time_ns or 0) * self._share * (self._cell_share if small else 1.0)
        return replace(step, stop=StopRule(time_ns=round(span_ns)))

    def _fill(self, test: str) -> None:
        """Precondition a fresh drive, as before each test."""
        full = self._rig.tests[test]
        settings = replace(full, preconditioning_bytes=round(full.preconditioning_bytes * self._share))
        self._stimulus.run(preconditioning(settings, self._identity).steps)

    def _range(self, settings: LoopSettings) -> ActiveRange:
        """The share of the drive that it is at full capacity, in segments of equal size."""
        if settings.segment_count is None:
            return leading_range(self._bytes)
        count = max(round(settings.segment_count * self._share), 1)
        return segmented_range(self._bytes, count, 8 * MIB, 1)

    def _write(self, count: int) -> StepRecord:
        pattern = random_pattern(_PAGE, 0.0, self._rig.tests["iops"].data)
        step = StepSpec(
            label="fill",
            pattern=pattern,
            demand=self._rig.wsat_demand,
            active_range=leading_range(self._bytes),
            stop=StopRule(io_count=count),
        )
        return self._stimulus.run([step])[0]


def _rate(record: StepRecord) -> float:
    """I/Os per second; by Little's law where too few completed to count them."""
    latency_ns = mean_latency_ns(record)
    if rate_count(record) >= FEW or not latency_ns:
        return float(iops(record))
    return effective_queue_depth(record) / latency_ns * 1e9
