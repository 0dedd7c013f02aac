"""The tables of the five steps, printed and as data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.engine.records import Cell
from assay.procedures.five_steps.plan import COMPOSITE
from assay.procedures.five_steps.workloads import LOADS
from assay.procedures.studies.readings import Change
from assay.spec.units import kib_label, kib_value
from assay.summary import columns as of
from assay.summary.columns import field_columns
from assay.summary.pages.model import Table
from assay.summary.table import Column, Lines, Pivot, table_of, table_of_columns
from assay.words.printed import NOT_AVAILABLE, mix_label, one_decimal, rate_or_na

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from assay.procedures.five_steps.result import FiveSteps, StepVerdict
    from assay.procedures.five_steps.settings import FiveStepsSettings
    from assay.summary.table import Declared, ResultTable


def verdict_table(verdicts: Sequence[StepVerdict], not_run: Iterable[tuple[str, str]]) -> Table:
    """Every step with its rule; the source states none."""
    rows = tuple((verdict.name, verdict.word, verdict.finding.words, verdict.rule) for verdict in verdicts)
    notes = (
        "The five steps come from the source, the rules and their limits do not: a plan may state others.",
        *(f"{label} not run: it {reason}." for label, reason in not_run),
    )
    return Table(caption="Verdict per Step", columns=("Step", "Verdict", "Value", "Rule"), rows=rows, notes=notes)


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
        "Before: the sequential pass before the random writes. After: the first sequential pass after them. Recovered: "
        f"the end of the first sample at {recovered_share * 100:g} % of before."
    )
    return Table(caption="Sequential, Random, Sequential", columns=columns, rows=(row,), notes=(note,))


def composite_table(five_steps: FiveSteps) -> Table:
    """IOPS of every workload at every load."""
    stages = five_steps.study.variants[COMPOSITE].stages
    names = tuple(dict.fromkeys(stage.series for stage in stages))
    rates = {(stage.series, stage.place): stage.settled.iops if stage.settled else None for stage in stages}
    return Table(
        caption="Composite Workloads",
        spanner="IOPS by outstanding I/Os",
        columns=("Workload", *(f"{load}" for load in LOADS)),
        rows=tuple((name, *(rate_or_na(rates.get((name, float(load)))) for load in LOADS)) for name in names),
    )


_VERDICTS: Declared[StepVerdict] = (
    (Column("step", "Step", role="key"), lambda step_verdict: step_verdict.name),
    (Column("verdict", "Verdict"), lambda step_verdict: step_verdict.word),
    (Column("measured", "Measured"), lambda step_verdict: step_verdict.finding.measured),
    (Column("limit", "Limit"), lambda step_verdict: step_verdict.finding.limit),
)
_SURFACE: Declared[tuple[Cell, float]] = (
    (of.BLOCK_KIB, lambda one: kib_value(one[0].transfer_bytes)),
    (of.READ_PCT, lambda one: one[0].read_pct),
    (of.IOPS, lambda one: one[1]),
)


def five_steps_data(five_steps: FiveSteps, suffix: str) -> Iterator[ResultTable]:
    """Verdicts, surface, samples until steady and the change, unrounded."""
    yield table_of(_key("verdicts", suffix), "Verdict per step", _VERDICTS, five_steps.verdicts, section="results")
    pivot = Pivot((of.BLOCK_KIB.key,), of.READ_PCT.key, of.IOPS.key)
    surface = five_steps.matrix.items()
    yield table_of(_key("surface", suffix), "IOPS surface", _SURFACE, surface, pivots=(pivot,), section="results")
    samples = five_steps.saturation.samples
    columns = (
        (of.MINUTE, samples.minutes),
        (of.IOPS, samples.iops),
        (of.MEAN, samples.latency_ms_mean),
        (of.MAXIMUM, samples.latency_ms_max),
    )
    lines = (Lines(of.MINUTE.key, of.IOPS.key),)
    yield table_of_columns(_key("until_steady", suffix), "Samples until steady", columns, lines=lines)
    stage = five_steps.study.variants[2].stages[0]
    seconds = ((of.SECOND, stage.seconds), (of.IOPS, stage.second_iops), (of.MAXIMUM, stage.latency_ms_max_second))
    yield table_of_columns(_key("seconds", suffix), "Seconds", seconds, lines=(Lines(of.SECOND.key, of.IOPS.key),))
    change = (five_steps.change,) if five_steps.change else ()
    # Without a change nobody knows but its label.
    fields = field_columns(Change) if change else field_columns(Change)[:1]
    yield table_of(_key("change", suffix), "Sequential, random, sequential", fields, change, section="results")


def _key(name: str, suffix: str) -> str:
    return f"study_five_steps_{name}{suffix}"
