"""The tables of numbers of cross stimulus recovery."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from assay.summary import columns as of
from assay.summary.table import Column, Lines, table_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.procedures.xsr.result import CrossStimulusResult, GroupResult
    from assay.summary.table import Declared, ResultTable


class _Sample(NamedTuple):
    number: int
    group: GroupResult
    place: int


class _Group(NamedTuple):
    number: int
    group: GroupResult


_SAMPLES: Declared[_Sample] = (
    (of.GROUP, lambda one: one.number),
    (of.LABEL, lambda one: one.group.label),
    (of.MINUTE, lambda one: one.group.minutes[one.place]),
    (of.IOPS, lambda one: one.group.iops[one.place]),
    (of.MB_PER_S, lambda one: one.group.throughput[one.place]),
    (of.MEAN, lambda one: one.group.latency_ms_mean[one.place]),
    (of.MAXIMUM, lambda one: one.group.latency_ms_max[one.place]),
)
_GROUPS: Declared[_Group] = (
    (of.GROUP, lambda one: one.number),
    (of.LABEL, lambda one: one.group.label),
    (Column("mean_mb_per_s", "Mean", "MB/s"), lambda one: one.group.mean_mb_per_s),
    (Column("end_mb_per_s", "At its end", "MB/s"), lambda one: one.group.end_mb_per_s),
    (Column("latency_ms_mean_peak", "Largest mean response time", "ms"), lambda one: one.group.latency_ms_mean_peak),
    (Column("latency_ms_max_peak", "Largest response time", "ms"), lambda one: one.group.latency_ms_max_peak),
    (Column("drop_share", "Drop"), lambda one: one.group.drop_share),
)


def cross_stimulus_tables(result: CrossStimulusResult, stem: str, suffix: str) -> Iterator[ResultTable]:
    """Every sample, and the groups. stem, suffix : begin and end of the names of their files."""
    groups = [_Group(number, group) for number, group in enumerate(result.groups, 1)]
    samples = (_Sample(*one, place) for one in groups for place in range(len(one.group.minutes)))
    lines = Lines(of.MINUTE.key, of.MB_PER_S.key, by=(of.GROUP.key, of.LABEL.key))
    yield table_of(f"{stem}_samples{suffix}", "Samples", _SAMPLES, samples, lines=(lines,))
    yield table_of(f"{stem}_groups{suffix}", "Access groups", _GROUPS, groups, section="results")
