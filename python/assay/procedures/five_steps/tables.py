"""The tables of the five steps, printed and as data."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from assay.engine.records import Cell
from assay.pages.model import DataTable, Table
from assay.pages.printed import NOT_AVAILABLE, mix_label, one_decimal, or_na, rate_or_na
from assay.procedures.five_steps.plan import COMPOSITE
from assay.procedures.five_steps.workloads import LOADS
from assay.spec.units import kib_label, kib_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from assay.procedures.five_steps.result import FiveSteps, StepVerdict
    from assay.procedures.five_steps.settings import FiveStepsSettings
    from assay.procedures.studies.readings import Change


def verdict_table(verdicts: Sequence[StepVerdict], not_run: Iterable[tuple[str, str]]) -> Table:
    """Every step with its rule; the source states none."""
    rows = tuple((one.name, one.word, one.finding.reason, one.rule) for one in verdicts)
    notes = (
        "The five steps come from the source, the rules and their limits do not: a plan may state others.",
        *(f"{label} not run: it {reason}." for label, reason in not_run),
    )
    return Table(caption="Verdict per Step", columns=("Step", "Verdict", "Found", "Rule"), rows=rows, notes=notes)


def surface_table(settings: FiveStepsSettings, matrix: dict[Cell, float]) -> Table:
    """IOPS of every cell: sizes down, mixes across."""
    sizes, mixes = sorted(settings.sizes_bytes), sorted(settings.read_pcts)
    return Table(
        caption="IOPS Surface",
        spanner="IOPS by read/write mix",
        columns=("Block Size (KiB)", *(mix_label(mix) for mix in mixes)),
        rows=tuple(
            (kib_label(size), *(rate_or_na(matrix.get(Cell(read_pct=mix, transfer_bytes=size))) for mix in mixes))
            for size in sizes
        ),
    )


def change_table(change: Change | None, recovered_share: float) -> Table:
    """Sequential writes before the random ones, behind them, and when they are back."""
    columns = ("Before (MB/s)", "After (MB/s)", "Drop", "Lowest of before", "Recovered after (min)")
    row = (NOT_AVAILABLE,) * len(columns)
    if change:
        recovered = "not recovered" if change.recovery_minutes is None else f"{change.recovery_minutes:.4g}"
        drop, lowest = (f"{share * 100:.1f} %" for share in (change.drop_share, change.lowest_share))
        row = (one_decimal(change.before), one_decimal(change.after), drop, lowest, recovered)
    note = (
        "Before: the pass of sequential writes ahead of the random ones. After: the first pass behind them. Recovered: "
        f"the end of the first sample at {recovered_share * 100:g} % of before."
    )
    return Table(caption="Sequential, Random, Sequential", columns=columns, rows=(row,), notes=(note,))


def composite_table(found: FiveSteps) -> Table:
    """IOPS of every workload at every load."""
    stages = found.study.variants[COMPOSITE].stages
    names = tuple(dict.fromkeys(one.series for one in stages))
    rates = {(one.series, one.place): one.settled.iops if one.settled else None for one in stages}
    return Table(
        caption="Composite Workloads",
        spanner="IOPS by outstanding I/Os",
        columns=("Workload", *(f"{load}" for load in LOADS)),
        rows=tuple((name, *(rate_or_na(rates.get((name, float(load)))) for load in LOADS)) for name in names),
    )


def five_steps_data(found: FiveSteps, suffix: str) -> Iterator[DataTable]:
    """Verdicts, surface, samples until steady and the change, unrounded."""
    verdicts = ((one.name, one.word, one.finding.measured, one.finding.limit) for one in found.verdicts)
    yield _table("verdicts", suffix, ("step", "verdict", "measured", "limit"), verdicts)
    cells = ((kib_value(cell.transfer_bytes), cell.read_pct, iops) for cell, iops in found.matrix.items())
    yield _table("surface", suffix, ("block_kib", "read_pct", "iops"), cells)
    samples = found.samples
    columns = (samples.minutes, samples.iops, samples.latency_ms_mean, samples.latency_ms_max)
    names = ("minute", "iops", "latency_ms_mean", "latency_ms_max")
    yield _table("until_steady", suffix, names, zip(*columns, strict=True))
    seconds = found.study.variants[2].stages[0]
    rows = zip(seconds.seconds, seconds.second_iops, seconds.latency_ms_max_second, strict=True)
    yield _table("seconds", suffix, ("second", "iops", "latency_ms_max"), rows)
    change = asdict(found.change) if found.change else {}
    yield _table("change", suffix, tuple(change) or ("label",), [tuple(change.values())] if change else [])


def _table(name: str, suffix: str, columns: tuple[str, ...], rows: Any) -> DataTable:
    found = tuple(tuple(map(or_na, row)) for row in rows)
    return DataTable(name=f"study_five_steps_{name}{suffix}", columns=columns, rows=found)
