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
    from assay.summary.table import Declared, Raw, ResultTable


class _Stage(NamedTuple):
    variant: VariantResult
    stage: StageResult


class _Sample(NamedTuple):
    variant: VariantResult
    stage: StageResult
    place: int


class _Found(NamedTuple):
    variant: VariantResult
    found: Any


def _settled(fill: Callable[[StageValues], Raw]) -> Callable[[_Stage], Raw]:
    return lambda one: None if one.stage.settled is None else fill(one.stage.settled)


_WHOSE: Declared[_Stage | _Sample] = (
    (of.VARIANT, lambda one: one.variant.label),
    (of.ACCESSES, lambda one: one.stage.label),
)
_SAMPLES: Declared[_Sample] = (
    *_WHOSE,
    (of.MINUTE, lambda one: one.stage.minutes[one.place]),
    (of.IOPS, lambda one: one.stage.iops[one.place]),
    (of.MB_PER_S, lambda one: one.stage.throughput[one.place]),
    (of.MEAN, lambda one: one.stage.response[one.place]),
    (of.MAXIMUM, lambda one: one.stage.largest[one.place]),
)
_SECONDS: Declared[_Sample] = (
    *_WHOSE,
    (of.SECOND, lambda one: one.stage.seconds[one.place]),
    (of.IOPS, lambda one: one.stage.second_iops[one.place]),
    (of.MAXIMUM, lambda one: one.stage.latency_ms_max_second[one.place]),
)
_STAGES: Declared[_Stage] = (
    *_WHOSE,
    (of.THREADS, lambda one: one.stage.demand.thread_count),
    (of.DEPTH, lambda one: one.stage.demand.queue_depth),
    (Column("place", "Position"), lambda one: one.variant.place if one.stage.place is None else one.stage.place),
    (of.IOPS, _settled(lambda found: found.iops)),
    (of.MB_PER_S, _settled(lambda found: found.mb_per_s)),
    (of.MEAN, _settled(lambda found: found.latency_ms_mean)),
    (of.MAXIMUM, _settled(lambda found: found.latency_ms_max)),
    (of.DEPTH_FOUND, _settled(lambda found: found.outstanding)),
    (of.TOTAL_OIO, _settled(lambda found: found.asked)),
    (Column("iops_share", "Of the first variant"), lambda one: one.stage.share),
    (Column("written_bytes", "Written", "B"), lambda one: one.stage.written_bytes),
)


def study_data(settings: StudySettings, result: StudyResult, suffix: str) -> Iterator[ResultTable]:
    """The tables of a study, unrounded."""
    name = settings.test.replace("-", "_")
    stages = [_Stage(variant, stage) for variant in result.variants for stage in variant.stages]
    samples = (_Sample(*one, place) for one in stages for place in range(len(one.stage.minutes)))
    by = (of.VARIANT.key, of.ACCESSES.key)
    lines = Lines(of.MINUTE.key, of.IOPS.key, by=by)
    yield table_of(f"{name}_samples{suffix}", "Samples", _SAMPLES, samples, lines=(lines,))
    yield _stage_table(settings, f"{name}_stages{suffix}", stages)
    if settings.reading == "change":
        changes = (_Found(variant, one) for variant in result.variants for one in variant.changes)
        yield _reading(f"{name}_changes{suffix}", "Changes", Change, changes)
    if settings.reading == "stability":
        found = (_Found(variant, one) for variant in result.variants for one in variant.stability if one)
        yield _reading(f"{name}_stability{suffix}", "Stability from second to second", Stability, found)
        seconds = (_Sample(*one, place) for one in stages for place in range(len(one.stage.seconds)))
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


def _reading(key: str, title: str, kind: type[Change | Stability], found: Iterable[_Found]) -> ResultTable:
    columns: Declared[_Found] = (
        (of.VARIANT, lambda one: one.variant.label),
        *((column, _of_found(fill)) for column, fill in field_columns(kind)),
    )
    return table_of(key, title, columns, found, section="results")


def _of_found(fill: Callable[[Any], Raw]) -> Callable[[_Found], Raw]:
    return lambda one: fill(one.found)
