"""Tables of studies as printed: values per stage, grids, changes, stability, maps of demands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.procedures.studies.figures import Y_TITLES
from assay.procedures.studies.readings import BAND_SHARE, KNEE_SHARE, TOO_FEW
from assay.procedures.studies.result import settled_samples
from assay.spec.units import GB
from assay.summary.pages.model import Table
from assay.words.printed import (
    NOT_APPLICABLE,
    NOT_AVAILABLE,
    milliseconds_or_na,
    milliseconds_text,
    one_decimal,
    percent,
)

if TYPE_CHECKING:
    from assay.procedures.studies.readings import Stability
    from assay.procedures.studies.result import StageResult, StudyResult, VariantResult
    from assay.procedures.studies.settings import StudySettings

_STAGE_COLUMNS = (
    "Variant", "Accesses", "IOPS", "Least - greatest", "MB/s", "ART (ms)", "MRT (ms)", "Effective OIO", "Asked OIO",
    "Written (GB)", "Of the first variant",
)  # fmt: skip
_CHANGE_COLUMNS = (
    "Variant", "Stage", "Before (MB/s)", "After (MB/s)", "Drop", "Lowest of before", "Recovered after (min)",
)  # fmt: skip
_STABILITY_COLUMNS = (
    "Variant", "Median IOPS", "Score", "Coefficient of variation", "Worst second", "IOPS in it", "Of the median",
    "MRT (ms)", "Seconds",
)  # fmt: skip


def study_tables(settings: StudySettings, result: StudyResult) -> tuple[Table, ...]:
    """Print what the reading of a study asks."""
    match settings.reading:
        case "change":
            return (_changes(settings, result),)
        case "stability":
            return (_stability(result),)
        case "demand":
            return tuple(_demand(variant) for variant in result.variants)
        case "grid":
            return tuple(_grid(plot.x_title, plot.variable, result) for plot in settings.plots)
        case "stages":
            return (_stages(settings, result),)


def _stages(settings: StudySettings, result: StudyResult) -> Table:
    rows = tuple(
        (variant.label, stage.label, *_values(stage, settings.settled_share), _share(stage.share))
        for variant in result.variants
        for stage in variant.stages
    )
    share = settings.settled_share
    samples = "all samples" if share == 1 else f"the last {percent(share)} of the samples"
    notes = (
        f"Values are over {samples} of a stage, least and greatest IOPS of one of these; written is in all of it.",
        "Of the first variant: the IOPS against those of the first variant with the same accesses.",
    )
    return Table(caption="Values per variant", columns=_STAGE_COLUMNS, rows=rows, notes=notes)


def _grid(x_title: str, variable: str, result: StudyResult) -> Table:
    """One variable: a row per place, a column per variant."""
    places = sorted({stage.place for variant in result.variants for stage in variant.stages if stage.place is not None})
    columns = [{stage.place: stage for stage in variant.stages} for variant in result.variants]
    rows = tuple((f"{place:g}", *(_cell(column.get(place), variable) for column in columns)) for place in places)
    error = result.outstanding_error
    notes = ("Largest difference of effective from asked OIO: " + _percent_or_na(error) + ".",)
    head = (x_title, *(f"{variant.label}: {Y_TITLES[variable]}" for variant in result.variants))
    return Table(caption=Y_TITLES[variable], columns=head, rows=rows, notes=notes if variable == "iops" else ())


def _cell(stage: StageResult | None, variable: str) -> str:
    if stage is None or stage.settled is None:
        return NOT_AVAILABLE
    return one_decimal(stage.settled.iops) if variable == "iops" else milliseconds_or_na(stage.settled.latency_ms_mean)


def _changes(settings: StudySettings, result: StudyResult) -> Table:
    rows: list[tuple[str, ...]] = [
        (
            variant.label,
            f"{change.number}: {change.label}",
            one_decimal(change.before),
            one_decimal(change.after),
            f"{change.drop_share * 100:.1f} %",
            f"{change.lowest_share * 100:.1f} %",
            "not recovered" if change.recovery_minutes is None else f"{change.recovery_minutes:.4g}",
        )
        for variant in result.variants
        for change in variant.changes
    ]
    rows += [
        (variant.label, *(NOT_AVAILABLE,) * (len(_CHANGE_COLUMNS) - 1))
        for variant in result.variants
        if not variant.changes
    ]
    notes = (
        "Before: mean of the first stage with the same accesses. After: mean of as many first samples of this stage.",
        f"Recovered: the end of the first sample at {percent(settings.recovered_share)} of before.",
    )
    return Table(caption="The stage that comes again", columns=_CHANGE_COLUMNS, rows=tuple(rows), notes=notes)


def _stability(result: StudyResult) -> Table:
    rows = tuple(_stability_row(variant.label, one) for variant in result.variants for one in variant.stability)
    notes = (
        f"Score: share of the seconds whose IOPS lie within {percent(BAND_SHARE)} of their median; n/a: {TOO_FEW}.",
        "Coefficient of variation: sample standard deviation over mean of the IOPS of all seconds; n/a with the score.",
    )
    return Table(caption="Stability from second to second", columns=_STABILITY_COLUMNS, rows=rows, notes=notes)


def _stability_row(label: str, stability: Stability | None) -> tuple[str, ...]:
    if stability is None:
        return (label, *(NOT_AVAILABLE,) * (len(_STABILITY_COLUMNS) - 1))
    return (
        label,
        one_decimal(stability.median),
        NOT_AVAILABLE if stability.score is None else f"{stability.score * 100:.1f} %",
        NOT_AVAILABLE if stability.score is None else f"{stability.variation * 100:.2f} %",
        f"{stability.worst_second:,}",
        one_decimal(stability.worst),
        _percent_or_na(stability.worst / stability.median if stability.score is not None else None),
        milliseconds_or_na(stability.latency_ms_max),
        f"{stability.count:,}",
    )


def _demand(variant: VariantResult) -> Table:
    """IOPS and response time of every cell, threads down and depths across, and the proposal."""
    cells = {(stage.demand.thread_count, stage.demand.queue_depth): stage for stage in variant.stages}
    threads, depths = (sorted({key[index] for key in cells}) for index in (0, 1))
    rows = tuple((f"TC {tc}", *(_demand_cell(cells.get((tc, qd))) for qd in depths)) for tc in threads)
    columns = (f"{variant.label}: IOPS / ART (ms)", *(f"QD {depth}" for depth in depths))
    return Table(caption=variant.label, columns=columns, rows=rows, notes=(_proposed(variant),))


def _demand_cell(stage: StageResult | None) -> str:
    if stage is None or stage.settled is None:
        return NOT_AVAILABLE
    return f"{stage.settled.iops:,.0f} / {milliseconds_or_na(stage.settled.latency_ms_mean)}"


def _proposed(variant: VariantResult) -> str:
    result = variant.proposal
    if result is None:
        return f"Proposed for {variant.label}: n/a."
    demand = result.demand
    return (
        f"Proposed for {variant.label}: TC {demand.thread_count} x QD {demand.queue_depth}: {result.iops:,.0f} IOPS, "
        f"{result.share * 100:.1f} % of the highest, at {milliseconds_text(result.latency_ms_mean)} ms. "
        f"Rule: of the cells at {percent(KNEE_SHARE)} of the highest IOPS that of the lowest total OIO, then of the "
        "lowest response time."
    )


def _values(stage: StageResult, share: float) -> tuple[str, ...]:
    settled, samples = stage.settled, settled_samples(stage, share)
    if settled is None:
        return (NOT_AVAILABLE,) * 8
    return (
        one_decimal(settled.iops),
        f"{one_decimal(min(samples))} - {one_decimal(max(samples))}",
        one_decimal(settled.mb_per_s),
        milliseconds_or_na(settled.latency_ms_mean),
        milliseconds_or_na(settled.latency_ms_max),
        f"{settled.outstanding:,.2f}",
        f"{settled.asked:,}",
        one_decimal(stage.written_bytes / GB),
    )


def _share(share: float | None) -> str:
    return NOT_APPLICABLE if share is None else f"{share * 100:,.1f} %"


def _percent_or_na(share: float | None) -> str:
    return NOT_AVAILABLE if share is None else f"{share * 100:,.2f} %"
