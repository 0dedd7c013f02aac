"""What a simulated drive is fitted to, and the same values as a drive model gives them."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING

from assay.engine.pattern import leading_range, random_pattern, segmented_range
from assay.engine.records import DriveIdentity, StepSpec, StopRule
from assay.engine.stimulus import Stimulus
from assay.errors import UsageError, joined
from assay.procedures.editions import load_edition
from assay.procedures.families.loop.plan import LoopSettings
from assay.procedures.families.loop.run import preconditioning, round_sequence
from assay.results.step import effective_queue_depth, iops, mean_latency_ns, rate_count
from assay.run.planning import plan_suite
from assay.spec.files import open_named
from assay.spec.nearest import did_you_mean
from assay.spec.units import KIB, MB, MIB, MILLISECOND_NS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from assay.dut.simulated.model import DriveModel
    from assay.engine.records import ActiveRange, Demand, StepRecord
    from assay.run.plan_file import Plan


FIGURES = (
    "wsat_fob_iops",
    "wsat_steady_iops",
    "tp_1024_read_mb_per_s",
    "tp_1024_write_mb_per_s",
    "lat_4_100_average_ms",
    "lat_4_0_average_ms",
)
"""Figures outside the matrix that a drive is fitted to; others in a file are left alone."""

_FILE_BYTES_MAX = 1 << 20
_FORM = "see docs/formats/run-folder.md for its form"


@dataclass(frozen=True, slots=True)
class _Row:
    """One row of a CSV file with the line that it ends on."""

    line: int
    cells: Mapping[str, str]


def read_targets(matrix: Path, figures: Path | None = None) -> dict[str, float]:
    """Read published values by name: ``iops_4_0`` is RND 4 KiB 0/100.

    matrix : CSV with the columns ``block_kib``, ``read_pct``, ``iops``, as ``report/iops_matrix.csv`` has them; cells
        without a number are left out. figures : CSV with the columns ``figure``, ``value``.
    Raises UsageError naming file and line where it cannot be read or holds no value.
    """
    result = _cells(matrix, _rows(matrix, ("block_kib", "read_pct", "iops")))
    for row in _rows(figures, ("figure", "value")) if figures is not None else ():
        if row.cells["figure"] in FIGURES:
            result[row.cells["figure"]] = row.cells["value"]
    targets = {name: value for name, text in result.items() if (value := _positive(text)) is not None}
    if not targets:
        raise UsageError(str(matrix), "holds no value to fit to", "name a matrix with numbers")
    return targets


def left_alone(matrix: Path, figures: Path | None = None) -> list[str]:
    """Values of the files that a drive is not fitted to, a line for each kind. Raises as ``read_targets``."""
    rows = _rows(matrix, ("block_kib", "read_pct", "iops"))
    empty = [str(row.line) for row in rows if _positive(row.cells["iops"]) is None]
    lines = [f"{matrix}: no number in line {', '.join(empty)}: left out"] if empty else []
    for row in _rows(figures, ("figure", "value")) if figures is not None else ():
        name = row.cells["figure"]
        if name not in FIGURES:
            meant = did_you_mean(name, FIGURES, "a drive is fitted to others")
            lines.append(f"{figures}:{row.line} {name[:80]}: left out; {meant}")
    return lines


def cell_name(block_kib: float, read_pct: int) -> str:
    """The name of a cell of the matrix. Worked: ``cell_name(0.5, 100)`` is ``"iops_0.5_100"``."""
    return f"iops_{block_kib:g}_{read_pct}"


def log_errors(simulated: Mapping[str, float], targets: Mapping[str, float]) -> dict[str, float]:
    """The natural logarithm of simulated over published, by name. Worked: 110 for 100 is 0.0953."""
    return {name: math.log(max(simulated[name], 1e-9) / value) for name, value in targets.items()}


def _rows(path: Path, columns: Sequence[str]) -> list[_Row]:
    """The rows of a file of at most 1 MiB, each with a text in every one of these columns."""
    text = _text(path)
    reader = csv.DictReader(io.StringIO(text, newline=""), restval="")
    try:
        missing = [name for name in columns if name not in (reader.fieldnames or ())]
        if missing:
            raise UsageError(str(path), f"has no column {missing[0]}", _FORM)
        return [_Row(reader.line_num, row) for row in reader]
    except csv.Error:
        raise UsageError(f"{path}:{reader.line_num + 1}", "is no row of a CSV file", _FORM) from None


def _text(path: Path) -> str:
    try:
        with open_named(path) as file:
            raw = file.read(_FILE_BYTES_MAX + 1)
        text = raw.decode("utf-8-sig")
    except OSError as error:
        raise UsageError(str(path), error.strerror or "cannot be read", "name a CSV file that can be read") from None
    except UnicodeDecodeError:
        raise UsageError(str(path), "is not UTF-8 text", "name a CSV file") from None
    if len(raw) > _FILE_BYTES_MAX:
        raise UsageError(str(path), "is larger than 1 MiB", "name a CSV file of published figures")
    return text


def _cells(path: Path, rows: Sequence[_Row]) -> dict[str, str]:
    """The rates of a matrix by the names of its cells. Raises UsageError with a line for each row at fault."""
    cells: dict[str, str] = {}
    faults: list[UsageError] = []
    for row in rows:
        try:
            cells[_cell(row.cells)] = row.cells["iops"]
        except ValueError:
            reason = "has a row without a block size in KiB or a share of reads in percent"
            faults.append(UsageError(f"{path}:{row.line}", reason, _FORM))
    if faults:
        raise joined(faults, str(path))
    return cells


def _cell(cells: Mapping[str, str]) -> str:
    block_kib, read_pct = float(cells["block_kib"]), int(cells["read_pct"])
    if not math.isfinite(block_kib):
        raise ValueError(block_kib)
    return cell_name(block_kib, read_pct)


def _positive(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and value > 0 else None


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
    """Values that a drive model gives in the rig's tests on ``scaled_bytes``, as ``read_targets`` names them.

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
