"""Lines of ``live.bin`` held against the stored ``series`` tables of the same sequences."""

import io
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any, ClassVar

import pyarrow.parquet as pq
from assay.engine.live import LiveSecond
from assay.engine.records import StepRecord, StepSpec
from assay.run.store.live import LiveFile, LiveLine, LiveSums, SecondKey
from assay.run.store.tables import series_table
from assay.spec.units import SECOND_NS

Rows = dict[tuple[SecondKey, str], LiveSums]


class AllLines(LiveFile):
    """Remembers every line that is written, on a clock that passes a second at each look."""

    made: ClassVar[list["AllLines"]] = []

    def __init__(self, folder: Path, _: Any, *, virtual: bool) -> None:
        times = count(10**18, SECOND_NS)
        self.lines: list[LiveLine] = []
        super().__init__(folder, lambda: next(times), virtual=virtual)
        self.made.append(self)

    def close(self) -> None:
        """Write what is left, too, so that every second is in a line."""
        self._write()
        super().close()

    def _put(self, slot: int, line: LiveLine) -> None:
        if line.number and slot == 1 + (line.number - 1) % 3600:
            self.lines.append(line)
        super()._put(slot, line)


def stored_rows(tables: Mapping[int, bytes], asked: Mapping[int, Sequence[StepSpec]]) -> Rows:
    """What tables hold, by the place that a line has it at. Both by number of the sequence."""
    result: Rows = {}
    for sequence, table in tables.items():
        for row in pq.read_table(io.BytesIO(table)).to_pylist():
            step = row["step"]
            while asked[sequence][step].beside:
                step -= 1
            key = SecondKey(sequence, step, row["second"]), row["direction"]
            sums = LiveSums(row["io_count"], row["bytes"], row["latency_ns_sum"], row["latency_ns_max"])
            result[key] = result.get(key, LiveSums()).plus(sums)
    return result


def check_lines(lines: Sequence[LiveLine], rows: Rows) -> None:
    """Raise AssertionError unless every line is the sum of its rows, and every row is in a line."""
    rest = dict(rows)
    for line in lines:
        inside = [key for key in rest if line.first <= key[0] <= line.last]
        for direction in ("read", "write", "other"):
            expected = LiveSums()
            for key in inside:
                expected = expected.plus(rest[key]) if key[1] == direction else expected
            assert getattr(line, direction) == expected, f"{direction} of {line}"
        for key in inside:
            del rest[key]
    assert {key: sums for key, sums in rest.items() if sums.io_count} == {}


def check_seconds(seconds: Sequence[LiveSecond], records: Sequence[StepRecord]) -> None:
    """Raise AssertionError unless seconds of one sequence are the rows of its series table, step by step."""
    table = pq.read_table(io.BytesIO(series_table(records))).to_pylist()
    names = ("io_count", "bytes", "latency_ns_sum", "latency_ns_max")
    expected = {
        (row["step"], ("read", "write", "other").index(row["direction"]), row["second"]): tuple(
            row[name] for name in names
        )
        for row in table
        if row["io_count"]
    }
    assert {key: value for second in seconds for key, value in _points(second)} == expected
    for index, record in enumerate(records):
        covered = [second.covered_ns for second in seconds if second.step == index]
        assert sum(covered) in {record.span_ns, 0}
        assert all(part == SECOND_NS for part in covered[:-1])


def _points(second: LiveSecond) -> Iterator[tuple[tuple[int, int, int], tuple[int, ...]]]:
    for point in second.points:
        yield (point.step, point.direction, second.second), tuple(point[2:])
