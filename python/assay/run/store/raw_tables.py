"""The tables of a test's sequences as they are stored, held against their digests like all that is read of a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay.engine.records import DIRECTIONS
from assay.results.histogram import lowest_ns
from assay.run.store.document import Steps, read_document
from assay.run.store.journal import read_journal, superseded
from assay.run.store.read import checked_table, read_steps
from assay.run.store.tables import HISTOGRAMS, SERIES, read_histograms, series_rows, series_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from assay.engine.records import StepRecord

    Reader = Callable[..., Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class RawTable:
    """The rows of one sequence. number : of the sequence in its test, from 0. labels : of its steps.

    name, stage, index, role : of the sequence. rows : as pyarrow has them, with the column ``step``.
    """

    number: int
    name: str
    stage: str
    index: int
    role: str
    labels: tuple[str, ...]
    rows: Any

    @classmethod
    def empty(cls, rows: Reader) -> RawTable:
        """One without rows, of the columns that ``rows`` reads."""
        content = series_table(()) if rows is raw_series else None
        result = rows((), content, name="empty")
        return cls(number=0, name="", stage="", index=0, role="", labels=(), rows=result)


def steps_of_tests(folder: Path) -> list[list[Steps]]:
    """The sequences of each test of a run that is in its results, in order, from the journal.

    Raises StoreError and VerificationError as the reader of runs.
    """
    lines = read_journal(folder, read_document(folder)[0]).lines
    left_out, tests, counts = superseded(lines), list[list[Steps]](), False
    for entry in lines:
        if entry.kind == "test_started":
            counts = entry.seq not in left_out
            tests += [[]] if counts else []
        elif entry.kind == "steps" and counts:
            tests[-1].append(read_steps(entry))
    return tests


def read_raw(folder: Path, sequences: Sequence[Steps], rows: Reader) -> Iterator[RawTable]:
    """The tables of one kind of a test, sequence by sequence.

    sequences : of the test. rows : ``raw_series`` or ``raw_histograms``, which reads a table.
    Raises StoreError and VerificationError naming the table that is not what was written.
    """
    kind = SERIES if rows is raw_series else HISTOGRAMS
    for number, steps in enumerate(sequences):
        for name in steps.tables:
            if name.startswith(f"{kind}/"):
                result = rows(steps.steps, checked_table(folder, name, steps), name=str(folder / name))
                yield RawTable(
                    number=number,
                    name=steps.name,
                    stage=steps.stage,
                    index=steps.index,
                    role=steps.role,
                    labels=tuple(step.label for step in steps.steps),
                    rows=result,
                )


def raw_series(steps: Sequence[StepRecord], content: bytes, *, name: str) -> Any:
    """Rows of ``step``, ``direction``, ``second`` and what completed in it."""
    table = series_rows(steps, content, name=name)
    place = table.column_names.index("direction")
    return table.set_column(place, "direction", table["direction"].cast("string"))


def raw_histograms(steps: Sequence[StepRecord], content: bytes | None, *, name: str) -> Any:
    """Rows of ``step``, ``direction``, the bounds of a bucket in ns, and how many I/Os fell in it.

    The lower bound belongs to a bucket, the upper one to the next. Worked: bucket 1,024 is 1,024 to 1,026 ns.
    """
    import numpy as np  # noqa: PLC0415 - with pyarrow, which is slow to import
    import pyarrow as pa  # noqa: PLC0415

    none: Any = np.array([], dtype=np.uint64)
    columns = (none, none, none, none)
    if content is not None:
        rows = read_histograms(content, step_count=len(steps), name=name)
        columns = (rows.step, rows.direction, rows.bucket, rows.count)
    step, direction, bucket, count = columns
    return pa.table(
        {
            "step": pa.array(step, type=pa.uint64()),
            "direction": pa.array([DIRECTIONS[one] for one in direction], type=pa.string()),
            "latency_ns_from": pa.array(lowest_ns(bucket)),
            "latency_ns_to": pa.array(lowest_ns(bucket + np.uint64(1))),
            "count": pa.array(count, type=pa.uint64()),
        }
    )
