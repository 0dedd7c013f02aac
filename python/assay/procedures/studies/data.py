"""The tables of numbers of studies: samples, settled values of stages, and what the reading of a study found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from assay.procedures.studies.readings import Change, Stability
from assay.summary import columns as of
from assay.summary.columns import field_columns
from assay.summary.table import Column, Lines, Pivot, table_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from assay.procedures.studies.result import StageResult, StageValues, StudyResult, VariantResult
    from assay.procedures.studies.settings import StudySettings
    from assay.results.step import Sample
    from assay.summary.table import Declared, Raw, ResultTable


class _Stage(NamedTuple):
    variant: VariantResult
    stage: StageResult


class _StageSample(NamedTuple):
    variant: VariantResult
    stage: StageResult
    sample: Sample


class _Second(NamedTuple):
    variant: VariantResult
    stage: StageResult
    place: int


class _Found(NamedTuple):
    variant: VariantResult
    found: Any


def _settled(fill: Callable[[StageValues], Raw]) -> Callable[[_Stage], Raw]:
    return lambda stage: None if stage.stage.settled is None else fill(stage.stage.settled)


_WHOSE: Declared[_Stage | _StageSample | _Second] = (
    (of.VARIANT, lambda one: one.variant.label),
    (of.ACCESSES, lambda one: one.stage.label),
)
_SAMPLES: Declared[_StageSample] = (
    *_WHOSE,
    *of.SAMPLE_COLUMNS,
)
_SECONDS: Declared[_Second] = (
    *_WHOSE,
    (of.SECOND, lambda second: second.stage.seconds[second.place]),
    (of.IOPS, lambda second: second.stage.second_iops[second.place]),
    (of.MAXIMUM, lambda second: second.stage.latency_ms_max_second[second.place]),
)
_STAGES: Declared[_Stage] = (
    *_WHOSE,
    (of.THREADS, lambda stage: stage.stage.demand.thread_count),
    (of.DEPTH, lambda stage: stage.stage.demand.queue_depth),
    (
        Column("place", "Position"),
        lambda stage: stage.variant.place if stage.stage.place is None else stage.stage.place,
    ),
    (of.IOPS, _settled(lambda stage: stage.iops)),
    (of.MB_PER_S, _settled(lambda stage: stage.mb_per_s)),
    (of.MEAN, _settled(lambda stage: stage.latency_ms_mean)),
    (of.MAXIMUM, _settled(lambda stage: stage.latency_ms_max)),
    (of.DEPTH_FOUND, _settled(lambda stage: stage.outstanding)),
    (of.TOTAL_OIO, _settled(lambda stage: stage.asked)),
    (Column("iops_share", "Of the first variant"), lambda stage: stage.stage.share),
    (Column("written_bytes", "Written", "B"), lambda stage: stage.stage.written_bytes),
)


def study_data(settings: StudySettings, result: StudyResult, suffix: str) -> Iterator[ResultTable]:
    """The tables of a study, unrounded."""
    name = settings.test.replace("-", "_")
    stages = [_Stage(variant, stage) for variant in result.variants for stage in variant.stages]
    samples = (_StageSample(*stage, sample) for stage in stages for sample in stage.stage.samples.each())
    by = (of.VARIANT.key, of.ACCESSES.key)
    lines = Lines(of.MINUTE.key, of.IOPS.key, by=by)
    yield table_of(f"{name}_samples{suffix}", "Samples", _SAMPLES, samples, lines=(lines,))
    yield _stage_table(settings, f"{name}_stages{suffix}", stages)
    if settings.reading == "change":
        changes = (_Found(variant, change) for variant in result.variants for change in variant.changes)
        yield _reading(f"{name}_changes{suffix}", "Changes", Change, changes)
    if settings.reading == "stability":
        results = (_Found(variant, one) for variant in result.variants for one in variant.stability if one)
        yield _reading(f"{name}_stability{suffix}", "Stability from second to second", Stability, results)
        seconds = (_Second(*stage, place) for stage in stages for place in range(len(stage.stage.seconds)))
        lines = Lines(of.SECOND.key, of.IOPS.key, by=by)
        yield table_of(f"{name}_seconds{suffix}", "Seconds", _SECONDS, seconds, lines=(lines,))


def _stage_table(settings: StudySettings, key: str, stages: Sequence[_Stage]) -> ResultTable:
    """Settled values; of a grid of places or demands as it is printed."""
    axes = {"grid": (("place",), of.VARIANT.key), "demand": ((of.VARIANT.key, of.THREADS.key), of.DEPTH.key)}
    drawn = {
        "grid": Lines("place", of.IOPS.key, by=(of.VARIANT.key,)),
        "demand": Lines(of.DEPTH.key, of.IOPS.key, by=(of.THREADS.key,), each=of.VARIANT.key),
    }
    down, across = axes.get(settings.reading, ((), ""))
    pivots = tuple(Pivot(down, across, value) for value in (of.IOPS.key, of.MEAN.key) if across)
    lines = (drawn[settings.reading],) if settings.reading in drawn else ()
    return table_of(key, "Settled values", _STAGES, stages, pivots=pivots, lines=lines, section="results")


def _reading(key: str, title: str, kind: type[Change | Stability], findings: Iterable[_Found]) -> ResultTable:
    columns: Declared[_Found] = (
        (of.VARIANT, lambda finding: finding.variant.label),
        *((column, _of_found(fill)) for column, fill in field_columns(kind)),
    )
    return table_of(key, title, columns, findings, section="results")


def _of_found(fill: Callable[[Any], Raw]) -> Callable[[_Found], Raw]:
    return lambda finding: fill(finding.found)
