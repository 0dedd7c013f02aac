"""Every cell of the last rounds of a test loop, one table per quantity, for the disclosure on screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.procedures.families.loop.result import complete_rounds
from assay.procedures.families.loop.settings import LoopSettings
from assay.results import (
    cell_label,
    effective_queue_depth,
    error_count,
    holds_queue_depth,
    max_latency_ns,
    mean_latency_ns,
    thread_spread,
)
from assay.spec.steady import WINDOW_ROUNDS
from assay.summary.pages.model import Table
from assay.words.printed import UNKNOWN, milliseconds_label, utc

if TYPE_CHECKING:
    from collections.abc import Callable

    from assay.engine.records import StepRecord, StoredTest


def cell_tables(test: StoredTest) -> tuple[Table, ...]:
    """Queue depth, response times, failures and gaps of every cell in the last five rounds."""
    name = test.settings.test_label
    demand = test.settings.demand

    def closed_or_held(record: StepRecord) -> bool:
        return demand.arrivals_per_s is not None or holds_queue_depth(record, demand)

    contents: tuple[tuple[str, Callable[[StepRecord], str]], ...] = (
        (
            "effective queue depth (I/Os outstanding on the drive, mean; ! where off by more than 0.5 %)",
            lambda r: f"{effective_queue_depth(r):,.2f}{'' if closed_or_held(r) else ' !'}",
        ),
        ("average response time (ms)", lambda r: milliseconds_label(mean_latency_ns(r))),
        ("maximum response time (ms)", lambda r: milliseconds_label(max_latency_ns(r))),
        ("failed and short I/Os", lambda r: f"{error_count(r):,}"),
        ("longest time without a submission (ms)", lambda r: milliseconds_label(r.submission_gap_ns_max)),
        ("I/Os of the threads apart, most less fewest over mean (%)", lambda r: _spread(r, test)),
    )
    return tuple(_cell_table(f"{name}: {title}", test, printed) for title, printed in contents)


def _spread(record: StepRecord, test: StoredTest) -> str:
    spread = thread_spread(record, test.settings.demand)
    return UNKNOWN if spread is None else f"{float(100 * spread):.2f}"


def _cell_table(caption: str, test: StoredTest, printed: Callable[[StepRecord], str]) -> Table:
    """Print one quantity of every cell in each of the last five rounds, averaging nothing over rounds."""
    rounds = complete_rounds(test)[-WINDOW_ROUNDS:]
    cells = test.settings_as(LoopSettings).cells
    return Table(
        caption=caption,
        columns=("Cell", *(f"Round {round_.index}" for round_ in rounds)),
        rows=tuple(
            (
                cell_label(cell, test.settings_as(LoopSettings).access),
                *(printed(round_.cells[index]) for round_ in rounds),
            )
            for index, cell in enumerate(cells)
        ),
        folded=True,
        notes=(f"Started {utc(test.started_wall_ns)}, ended {utc(test.ended_wall_ns)}.",),
    )
