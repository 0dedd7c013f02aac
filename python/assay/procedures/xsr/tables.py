"""The tables of numbers of cross stimulus recovery."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from assay.summary import columns as of
from assay.summary.table import Column, Lines, table_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.procedures.xsr.result import CrossStimulusResult, GroupResult
    from assay.results.step import Sample
    from assay.summary.table import Declared, ResultTable


class _Sample(NamedTuple):
    number: int
    group: GroupResult
    sample: Sample


class _Group(NamedTuple):
    number: int
    group: GroupResult


_SAMPLES: Declared[_Sample] = (
    (of.GROUP, lambda sample: sample.number),
    (of.LABEL, lambda sample: sample.group.label),
    (of.MINUTE, lambda sample: sample.sample.minute),
    (of.IOPS, lambda sample: sample.sample.iops),
    (of.MB_PER_S, lambda sample: sample.sample.throughput),
    (of.MEAN, lambda sample: sample.sample.latency_ms_mean),
    (of.MAXIMUM, lambda sample: sample.sample.latency_ms_max),
)
_GROUPS: Declared[_Group] = (
    (of.GROUP, lambda group: group.number),
    (of.LABEL, lambda group: group.group.label),
    (Column("mean_mb_per_s", "Mean", "MB/s"), lambda group: group.group.mean_mb_per_s),
    (Column("end_mb_per_s", "At its end", "MB/s"), lambda group: group.group.end_mb_per_s),
    (
        Column("latency_ms_mean_peak", "Largest mean response time", "ms"),
        lambda group: group.group.latency_ms_mean_peak,
    ),
    (Column("latency_ms_max_peak", "Largest response time", "ms"), lambda group: group.group.latency_ms_max_peak),
    (Column("drop_share", "Drop"), lambda group: group.group.drop_share),
)


def cross_stimulus_tables(result: CrossStimulusResult, stem: str, suffix: str) -> Iterator[ResultTable]:
    """Every sample, and the groups. stem, suffix : begin and end of the names of their files."""
    groups = [_Group(number, group) for number, group in enumerate(result.groups, 1)]
    samples = (_Sample(*group, sample) for group in groups for sample in group.group.samples.each())
    lines = Lines(of.MINUTE.key, of.MB_PER_S.key, by=(of.GROUP.key, of.LABEL.key))
    yield table_of(f"{stem}_samples{suffix}", "Samples", _SAMPLES, samples, lines=(lines,))
    yield table_of(f"{stem}_groups{suffix}", "Access groups", _GROUPS, groups, section="results")
