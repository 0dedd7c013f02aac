"""The seconds of every stream of a workload, for CSV files and the workbook."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from assay.engine.records import DIRECTIONS
from assay.spec.units import MB, SECOND_NS
from assay.summary import columns as of
from assay.summary.table import Column, table_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records import StoredTest
    from assay.summary.table import Declared, ResultTable


def seconds_table(key: str, test: StoredTest | None) -> ResultTable:
    """A row for each second, stream and direction. key : of the table. test : None where its results are withheld."""
    return table_of(key, "Streams by second", _COLUMNS, _seconds(test) if test else ())


class StreamSecond(NamedTuple):
    """A second of a stream in a measured stage. second : of its window, from 0. direction : one of ``DIRECTIONS``."""

    stage: str
    label: str
    second: int
    direction: str
    iops: int
    mb_per_s: float


def _seconds(test: StoredTest) -> Iterator[StreamSecond]:
    """The whole seconds of every stream, as the run folder has them.

    Worked: a window of 2.5 s of reads -> two seconds.
    """
    for sequence in test.sequences:
        table = sequence.series if sequence.role == "measure" else None
        if table is None or table.second is None or table.direction is None or table.byte_count is None:
            continue
        steps = {place: (spec.label, record.span_ns // SECOND_NS) for place, record, spec in sequence.result_steps}
        columns = (table.step, table.second, table.direction, table.io_count, table.byte_count)
        for step, second, direction, ios, moved in zip(*(column.tolist() for column in columns), strict=True):
            label, whole = steps.get(step, ("", 0))
            if second < whole:
                yield StreamSecond(sequence.name, label, second, DIRECTIONS[direction], ios, moved / MB)


_COLUMNS: Declared[StreamSecond] = (
    (Column("stage", "Stage", role="key"), attrgetter("stage")),
    (Column("label", "Stream", role="key"), attrgetter("label")),
    (of.SECOND, attrgetter("second")),
    (Column("direction", "Direction", role="key"), attrgetter("direction")),
    (of.IOPS, attrgetter("iops")),
    (of.MB_PER_S, attrgetter("mb_per_s")),
)
