"""What a trace is like, held against a plain count, and where a mapping puts its I/Os."""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pytest
from assay.errors import UsageError
from assay.workloads import traces
from assay.workloads.traces.mapping import scaled
from assay.workloads.traces.records import batch_of_lists
from assay.workloads.traces.stream_map import GapCounts, Regions

if TYPE_CHECKING:
    from collections.abc import Sequence

Row = tuple[int, int, int, int]
READ, WRITE, TRIM, FLUSH = traces.READ, traces.WRITE, traces.TRIM, traces.FLUSH


def batches(rows: Sequence[Row], size: int = 100) -> list[traces.Batch]:
    return [batch_of_lists(rows[at : at + size]) for at in range(0, len(rows), size)]


def some_rows(count: int, seed: int) -> list[Row]:
    """I/Os of all operations, some of them after each other."""
    draw = random.Random(seed)  # noqa: S311 - the same every time
    rows: list[Row] = []
    time = 0
    for _ in range(count):
        kind = draw.choices([READ, WRITE, TRIM, FLUSH], [5, 3, 1, 1])[0]
        size = draw.choice([512, 4096, 65536])
        behind = rows[-draw.randint(1, min(40, len(rows)))] if rows else (0, 0, 0, 0)
        offset = behind[2] + behind[3] if draw.random() < 0.5 else draw.randrange(1 << 16) * 512
        rows.append((time, kind, 0, 0) if kind == FLUSH else (time, kind, offset, size))
        time += draw.choice([0, 3, 1000, 5_000_000])
    return rows


@pytest.mark.parametrize("size", [1, 7, 100_000])
def test_facts_are_those_of_a_plain_count_whatever_the_batches(size: int) -> None:
    rows = some_rows(3000, 1)
    found = traces.stream_map(batches(rows, size))
    ends: dict[int, list[int]] = {kind: [] for kind in range(4)}
    sequential: Counter[str] = Counter()
    touched: set[int] = set()
    for _, kind, offset, length in rows:
        if kind != FLUSH:
            sequential[traces.OPERATIONS[kind]] += offset in ends[kind][-32:]
            ends[kind].append(offset + length)
            touched.update(range(offset // 512, (offset + length) // 512))
    names = traces.OPERATIONS
    assert found.io_count == {names[kind]: sum(row[1] == kind for row in rows) for kind in range(4)}
    assert found.io_bytes == {names[kind]: sum(row[3] for row in rows if row[1] == kind) for kind in range(4)}
    assert {name: found.sequential_count[name] for name in names} == {name: sequential[name] for name in names}
    assert (found.footprint_bytes, found.footprint_grain_bytes) == (len(touched) * 512, 1)
    assert found.end_bytes == max(row[2] + row[3] for row in rows)
    assert found.span_ns == rows[-1][0]
    expected = Counter(row[0] // found.interval_ns for row in rows)
    assert found.intensity == tuple(expected[index] for index in range(len(found.intensity)))
    assert sum(one.share for one in found.sizes) == pytest.approx(1)
    sizes = Counter((names[row[1]], row[3]) for row in rows)
    assert {(one.operation, one.length_bytes): one.io_count for one in found.sizes} == dict(sizes)


def test_the_worked_numbers_of_a_map_hold() -> None:
    found = traces.stream_map(batches([(0, READ, 0, 4096), (9, READ, 4096, 4096), (10, READ, 1 << 20, 4096)]))
    assert (found.sequential_count["read"], found.footprint_bytes) == (1, 12288)
    assert found.ios_per_s == 2e9 / 10
    assert found.sequential_share == pytest.approx(1 / 3)
    none = traces.stream_map([])
    assert (none.total_count, none.ios_per_s, none.sequential_share, none.intensity) == (0, None, None, ())


def test_many_sizes_are_summed_up_as_others() -> None:
    rows = [(0, READ, 0, 512 * (1 + index)) for index in range(100)]
    found = traces.stream_map(batches(rows))
    assert len(found.sizes) == 33
    assert [one.io_count for one in found.sizes if one.length_bytes is None] == [68]


def test_gaps_are_counted_within_a_per_cent() -> None:
    draw = random.Random(2)  # noqa: S311 - the same every time
    made = sorted(int(10 ** draw.uniform(0, 18)) for _ in range(5000))
    counts = GapCounts()
    counts.add(np.array(made, np.int64))
    for quantile, found in counts.quantiles().items():
        exact = made[max(0, int(np.ceil(quantile * len(made))) - 1)]
        assert exact <= found <= exact * (1 + 1 / 128)
    counts = GapCounts()
    counts.add(np.arange(1, 101))
    assert counts.quantiles()[0.5] == 50
    counts.add(np.array([(1 << 63) - 1], np.int64))
    assert counts.largest_ns == (1 << 63) - 1


def test_regions_are_exact_until_there_are_too_many_and_never_too_small() -> None:
    draw = random.Random(4)  # noqa: S311 - the same every time
    exact, coarse = Regions(), Regions(kept_max=50)
    starts = np.array([draw.randrange(1 << 30) for _ in range(3000)], np.int64)
    for at in range(0, 3000, 100):
        for regions in (exact, coarse):
            regions.add(starts[at : at + 100], starts[at : at + 100] + 700)
    (bytes_exact, one), (bytes_coarse, grain) = exact.result(), coarse.result()
    assert one == 1
    assert grain > 1
    assert bytes_exact <= bytes_coarse <= 1 << 30
    assert len(coarse.starts) <= 50


def placed(rule: str, rows: Sequence[Row], span: int, capacity: int, block: int = 512) -> list[tuple[int, int]]:
    """Offsets and lengths behind a mapping."""
    chosen = traces.mapping_for(rule, span_bytes=span, capacity_bytes=capacity, logical_block_bytes=block)  # type: ignore[arg-type]
    found = traces.mapped(batches(rows), chosen)
    return [pair for one in found for pair in zip(one.offset_bytes.tolist(), one.length_bytes.tolist(), strict=True)]


def test_a_mapping_puts_ios_where_its_rule_says() -> None:
    one = [(0, READ, 400 * 512, 1024), (1, FLUSH, 0, 0)]
    assert placed("scale", one, 1000 * 512, 500 * 512) == [(200 * 512, 1024), (0, 0)]
    assert placed("wrap", [(0, READ, 700 * 512, 512)], 1000 * 512, 500 * 512) == [(200 * 512, 512)]
    assert placed("keep", one, 1000 * 512, 1000 * 512)[0] == (400 * 512, 1024)
    assert placed("wrap", [(0, READ, 499 * 512, 2048)], 1000 * 512, 500 * 512) == [(496 * 512, 2048)], "moved in"
    assert placed("wrap", [(0, READ, 512, 512)], 1 << 20, 1 << 20, 4096) == [(0, 4096)], "whole blocks"
    assert placed("wrap", [(0, TRIM, 0, 1 << 40)], 1 << 40, 1 << 20) == [(0, 1 << 20)], "at most the drive"
    with pytest.raises(UsageError, match="goes up to byte 2048, and the drive has 1024; map it"):
        placed("keep", one, 2048, 1024)
    with pytest.raises(UsageError, match="cannot be mapped"):
        placed("scale", one, (1 << 63) - 1, 1024)


@pytest.mark.parametrize("rule", ["scale", "wrap"])
def test_no_mapping_leaves_the_drive_or_its_blocks(rule: str) -> None:
    rows = some_rows(2000, 9)
    span = max(row[2] + row[3] for row in rows)
    for capacity in (1 << 20, 10_000_000, 1 << 33):
        found = placed(rule, rows, span, capacity, 4096)
        assert all(offset % 4096 == length % 4096 == 0 for offset, length in found)
        assert all(offset >= 0 and offset + length <= capacity for offset, length in found)


def test_scaling_is_exact_to_the_block() -> None:
    draw = random.Random(6)  # noqa: S311 - the same every time
    for _ in range(300):
        below, above = draw.randrange(1, 1 << 40), draw.randrange(1, 1 << 40)
        values = [draw.randrange(below) for _ in range(20)]
        expected = [value * above // below for value in values]
        assert scaled(np.array(values, np.int64), above, below).tolist() == expected
