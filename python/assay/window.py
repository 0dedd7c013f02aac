"""Every value that will be printed, computed from step records.

Rates count completions inside [0, T] only, are exact rationals, and a mixed cell's rate is the sum of
its reads and writes.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from assay.errors import VerificationError
from assay.records import MeasurementWindow
from assay.steady import WINDOW_ROUNDS, steady_state
from assay.units import MB, MILLISECOND_NS, SECOND_NS, kib_label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.records import Access, Cell, DirectionRecord, LoopSettings, Round, StepRecord, StoredTest


def cell_label(cell: Cell, access: Access = "random") -> str:
    """Name a cell as the specification does. Worked: ``"RND 64KiB 65/35"``, ``"SEQ 1024KiB 0/100"``."""
    prefix = {"random": "RND", "sequential": "SEQ"}[access]
    return f"{prefix} {kib_label(cell.transfer_bytes)}KiB {cell.read_pct}/{100 - cell.read_pct}"


def iops(record: StepRecord) -> Fraction:
    """Completed I/Os per second of a step, reads plus writes.

    Worked: 90 reads and 30 writes completed in a window of 60 s -> 2.
    """
    return _per_second(record.read.window_io_count + record.write.window_io_count, record)


def throughput(record: StepRecord) -> Fraction:
    """Megabytes (base 10) per second of a step, reads plus writes.

    Worked: 60 GB completed in a window of 60 s -> 1000.
    """
    return _per_second(record.read.window_bytes + record.write.window_bytes, record) / MB


def response_time(record: StepRecord) -> Fraction:
    """Average response time of a step in ms, weighted by completions; zero where none completed.

    Worked: 3 reads summing to 3 ms and 1 write of 5 ms -> 2.
    """
    total_ns = record.read.latency_ns_sum + record.write.latency_ns_sum
    return Fraction(total_ns, max(_completed(record), 1) * MILLISECOND_NS)


_VARIABLES = {"iops": iops, "throughput": throughput, "latency": response_time}


def effective_queue_depth(record: StepRecord) -> float:
    """Mean number of I/Os outstanding on the drive over [0, T]. Worked: 480 I/O x s in 60 s -> 8.0."""
    return record.outstanding_ns / max(record.span_ns, 1)


def holds_queue_depth(record: StepRecord, settings: LoopSettings) -> bool:
    """Whether the outstanding I/Os were, on average, within 2 % of TC x QD.

    Worked: 7.84 of 8 is held, 7.8 is not.
    """
    asked = settings.demand.thread_count * settings.demand.queue_depth
    return abs(record.outstanding_ns - asked * record.span_ns) * 50 <= asked * record.span_ns


def mean_latency_ns(record: StepRecord) -> float | None:
    """Average response time of a step in ns, weighted by completions; None where none completed.

    Worked: 3 reads summing to 300 ns and 1 write of 500 ns -> 200.0.
    """
    return float(response_time(record) * MILLISECOND_NS) if _completed(record) else None


def max_latency_ns(record: StepRecord) -> int | None:
    """Largest response time of a step in ns, over reads and writes; None where none completed."""
    return max((d.latency_ns_max for d in (record.read, record.write) if d.latency_ns_max is not None), default=None)


def error_count(record: StepRecord) -> int:
    """Failed and short I/Os of a step. Worked: errors {5: 2} on reads and {61: 1} on writes -> 3."""
    return sum(record.read.errors.values()) + sum(record.write.errors.values())


def issued_bytes(direction: DirectionRecord) -> int:
    """Bytes that a step moved in one direction, window and tail."""
    return direction.window_bytes + direction.tail_bytes


def cell_values(round_: Round, settings: LoopSettings) -> dict[Cell, Fraction]:
    """The test's variable (IOPS, MB/s or ms) in every cell of one round."""
    value = _VARIABLES[settings.variable]
    return {cell: value(record) for cell, record in zip(settings.cells, round_.cells, strict=True)}


def measurement_window(rounds: Sequence[Round], settings: LoopSettings) -> MeasurementWindow | None:
    """Judge the last five rounds by all tracking cells at once.

    rounds : the complete rounds so far, in order. Returns None before the fifth.
    Source: PTS-E 1.1 IOPS pseudo code step 3; PTS 2.0.2 section 7.2 (three cells at once).
    """
    last = rounds[-WINDOW_ROUNDS:]
    if len(last) < WINDOW_ROUNDS:
        return None
    by_round = [cell_values(round_, settings) for round_ in last]
    indexes = tuple(round_.index for round_ in last)
    verdicts = {
        cell_label(cell, settings.access): steady_state(
            indexes,
            [values[cell] for values in by_round],
            range_limit=_limit(settings.range_limit),
            slope_limit=_limit(settings.slope_limit),
        )
        for cell in settings.tracking
    }
    return MeasurementWindow(
        rounds=indexes, verdicts=verdicts, reached=all(verdict.steady for verdict in verdicts.values())
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopResult:
    """All values of the pages of a loop test, in its own variable: IOPS, MB/s or ms.

    rounds : the real numbers of the complete rounds. by_round : the variable of every cell in each of them.
    window : the last five of them, None where fewer ran. matrix : average over the window per cell; empty where
    there is no window or the result is withheld. error_count : failed I/Os in everything that was stored.
    withheld : why no result may be printed whatever the rounds say, None where it may.
    """

    rounds: tuple[int, ...]
    by_round: dict[Cell, tuple[float, ...]]
    window: MeasurementWindow | None
    matrix: dict[Cell, float]
    error_count: int
    withheld: str | None


def loop_result(test: StoredTest) -> LoopResult:
    """Compute every value that a loop test's pages print from the stored steps.

    Raises VerificationError where the verdict in the run folder is not the one its rounds give.
    Worked: five rounds of 100, 110, 90, 100, 100 IOPS in a cell -> matrix 100.0.
    """
    complete = complete_rounds(test)
    _verify(test, complete)
    tables = [cell_values(round_, test.settings) for round_ in complete]
    steps = [*test.preconditioning, *(cell for round_ in test.rounds for cell in round_.cells)]
    errors = sum(error_count(step) for step in steps)
    window, withheld = measurement_window(complete, test.settings), _withheld(test, errors)
    return LoopResult(
        rounds=tuple(round_.index for round_ in complete),
        by_round={cell: tuple(float(table[cell]) for table in tables) for cell in test.settings.cells},
        window=window,
        matrix=_window_average(tables, test.settings) if window and not withheld else {},
        error_count=errors,
        withheld=withheld,
    )


def complete_rounds(test: StoredTest) -> tuple[Round, ...]:
    """The stored rounds that may enter a verdict; others were cut short or saw an I/O fail."""
    return tuple(round_ for round_ in test.rounds if is_complete(round_.cells, test.settings))


def is_complete(cells: Sequence[StepRecord], settings: LoopSettings) -> bool:
    """Whether a round may enter a verdict: every cell ran to its stop rule and no I/O failed."""
    ended = all(record.ended == "stop-rule" and not error_count(record) for record in cells)
    return ended and len(cells) == len(settings.cells)


def _withheld(test: StoredTest, errors: int) -> str | None:
    if errors:
        return f"{errors} I/O error{'' if errors == 1 else 's'} in the test"
    return None if test.ended in {"steady", "round-limit"} else "the test did not run to its end"


def _verify(test: StoredTest, complete: Sequence[Round]) -> None:
    if test.verdict is None:
        return
    judged = [round_ for round_ in complete if round_.index in test.verdict.rounds]
    if measurement_window(judged, test.settings) != test.verdict:
        raise VerificationError("stored verdict", "differs from the one its rounds give", "do not trust this run")


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyMaxima:
    """Maximum response times in ms. by_round : of every cell in each round. largest : of the window.

    mean_of_maxima : the mean of the window's five maxima, which is no maximum. Empty where there is no result.
    """

    by_round: dict[Cell, tuple[float, ...]]
    largest: dict[Cell, float]
    mean_of_maxima: dict[Cell, float]


def latency_maxima(test: StoredTest, result: LoopResult) -> LatencyMaxima:
    """The maximum response time of every cell, per round and over the window.

    Worked: maxima of 1, 2, 3, 4 and 10 ms in the window -> largest 10, mean of maxima 4.
    """
    cells, rounds = test.settings.cells, complete_rounds(test)
    by_round = {
        cell: tuple((max_latency_ns(round_.cells[place]) or 0) / MILLISECOND_NS for round_ in rounds)
        for place, cell in enumerate(cells)
    }
    last = {cell: by_round[cell][-WINDOW_ROUNDS:] for cell in cells if result.matrix}
    return LatencyMaxima(
        by_round=by_round,
        largest={cell: max(values) for cell, values in last.items()},
        mean_of_maxima={cell: sum(values) / len(values) for cell, values in last.items()},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramAudit:
    """What a program issued against what the drive's own counters say, over the whole program with its tail.

    name : ``preconditioning`` or ``round n``. read_bytes, write_bytes : issued and counted; counted is None where
    the drive has no counters. gap_ns : time without any I/O before the program, None for the first.
    """

    name: str
    read_bytes: tuple[int, int | None]
    write_bytes: tuple[int, int | None]
    gap_ns: int | None


def program_audits(test: StoredTest) -> tuple[ProgramAudit, ...]:
    """Hold every program of a test against the drive's counters, in the order they ran.

    Worked: a round of 10 MB written whose counters moved by 10 MB -> ``write_bytes`` is (10000000, 10000000).
    """
    programs = [("preconditioning", test.preconditioning)] if test.preconditioning else []
    programs += [(f"round {round_.index}", round_.cells) for round_ in test.rounds if round_.cells]
    befores = [None, *(steps[-1] for _, steps in programs)]
    return tuple(_program_audit(name, steps, before) for (name, steps), before in zip(programs, befores, strict=False))


def _program_audit(name: str, steps: Sequence[StepRecord], before: StepRecord | None) -> ProgramAudit:
    first, last = steps[0].counters_before, steps[-1].counters_after
    begun, ended = steps[0].first_submission_ns, before.last_submission_ns if before else None
    return ProgramAudit(
        name=name,
        read_bytes=(
            sum(issued_bytes(step.read) for step in steps),
            last.read_bytes - first.read_bytes if first and last else None,
        ),
        write_bytes=(
            sum(issued_bytes(step.write) for step in steps),
            last.write_bytes - first.write_bytes if first and last else None,
        ),
        gap_ns=None if begun is None or ended is None else begun - ended,
    )


def _window_average(tables: list[dict[Cell, Fraction]], settings: LoopSettings) -> dict[Cell, float]:
    last = tables[-WINDOW_ROUNDS:]
    return {cell: float(sum(table[cell] for table in last) / WINDOW_ROUNDS) for cell in settings.cells}


def _per_second(count: int, record: StepRecord) -> Fraction:
    # A step that was cut at its very start has no span and no completion in it.
    return Fraction(count * SECOND_NS, max(record.span_ns, 1))


def _completed(record: StepRecord) -> int:
    return sum(direction.window_io_count + direction.tail_io_count for direction in (record.read, record.write))


def _limit(share: float) -> Fraction:
    # 0.20 in a profile means one fifth, not the nearest binary fraction.
    return Fraction(str(share))
