"""The progress of a run in words: amounts, times and figures, and a line for all that began, ended or was judged."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

from assay.spec.steady import WINDOW_ROUNDS
from assay.spec.units import MINUTE_NS, SECOND_NS, count_label, duration_label, gigabytes, gigabytes_label, rate_label
from assay.words.outcomes import ending_label
from assay.words.text import text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records import Ending, SteadyVerdict, StepRecord
    from assay.plan.until import RoundOutcome
    from assay.run.progress import PhaseEnd, Progress, TimeLeft
    from assay.run.store.progress_file import KeptLeft


_HOUR_NS, _DAY_NS = 60 * MINUTE_NS, 24 * 60 * MINUTE_NS


def stamp() -> str:
    """Now, as ISO 8601 has it, with date and zone. Worked: ``2026-11-22T16:40:03+00:00``."""
    return time_label(time.time_ns())


def time_label(wall_ns: int) -> str:
    """An instant in the zone of this host, as ISO 8601 has it."""
    text = time.strftime("%Y-%m-%dT%H:%M:%S%z", time.localtime(wall_ns // SECOND_NS))
    return f"{text[:-2]}:{text[-2:]}"


def span_label(time_ns: int) -> str:
    """A time of the clock, as exact as one wants it, rounded up.

    Worked: 44.2 s -> ``"45 s"``, 67.2 s -> ``"1 min 8 s"``, 44.2 min -> ``"45 min"``, 90 min -> ``"1 h 30 min"``,
    50 h 1 min -> ``"2 d 3 h"``.
    """
    if time_ns <= 10 * MINUTE_NS:
        seconds = -(-time_ns // SECOND_NS)
        return _two(seconds // 60, "min", seconds % 60, "s") if seconds >= 60 else f"{seconds} s"  # noqa: PLR2004
    minutes = -(-time_ns // MINUTE_NS)
    if minutes < 60:  # noqa: PLR2004 - minutes of an hour
        return f"{minutes} min"
    if time_ns < 2 * _DAY_NS:
        return _two(minutes // 60, "h", minutes % 60, "min")
    hours = -(-time_ns // _HOUR_NS)
    return _two(hours // 24, "d", hours % 24, "h")


def left_label(left: TimeLeft | KeptLeft | None) -> str:
    """Bounds of the time left. Worked: ``"44 min"``, ``"5 h to 18 h"``, ``"5 h or more"``, ``"unknown"``."""
    if left is None:
        return "unknown"
    first = span_label(left.earliest_ns)
    if left.latest_ns is None:
        return f"{first} or more" if left.earliest_ns else "unknown"
    last = span_label(left.latest_ns)
    return first if first == last else f"{first} to {last}"


def still_left(left: TimeLeft | KeptLeft | None) -> str:
    """The time left as part of a line. Worked: ``"5 h to 18 h left"``, ``"time left unknown"``."""
    label = left_label(left)
    return "time left unknown" if label == "unknown" else f"{label} left"


def percent_label(share: float | None) -> str:
    """A share as whole percent, never 100 before the end. Worked: 0.996 -> ``"99 %"``, None -> the empty text."""
    return "" if share is None else f"{_whole_percent(share)} %"


def _whole_percent(share: float) -> int:
    return min(int(share * 100), 100)


def shares_label(progress: Progress) -> str:
    """Bounds of the share of the run that is done. Worked: ``"25 to 50 %"``; equal ones -> ``"25 %"``."""
    if progress.run_shares is None:
        return ""
    first, last = map(_whole_percent, progress.run_shares)
    return f"{last} %" if first == last else f"{first} to {last} %"


def figures_label(progress: Progress) -> str:
    """Present rate and response time. Worked: 29,876.4 IOPS at 0.2677 ms -> ``"29,876 IOPS, 0.268 ms"``."""
    if progress.iops is None:
        return ""
    latency = "" if progress.latency_ms is None else f", {progress.latency_ms:.3f} ms"
    return f"{progress.iops:,.0f} IOPS{latency}"


def extent_label(progress: Progress) -> str:
    """How much of a sequence is done, of how much. Worked: ``"16.0 of 64.0 GB"``, ``"12 min of 56 min"``."""
    whole, done = _whole_label(progress), progress.done
    if progress.whole.amount_bytes:
        return f"{gigabytes(done.amount_bytes):,.1f} of {whole}"
    return f"{span_label(done.time_ns)} of {whole}" if whole else ""


def _whole_label(progress: Progress) -> str:
    """The length of a sequence; virtual time is named as such. Worked: ``"64.0 GB"``, ``"56 min simulated"``."""
    whole = progress.whole
    if whole.amount_bytes:
        return gigabytes_label(whole.amount_bytes, 1)
    return f"{span_label(whole.time_ns)}{' simulated' if progress.virtual else ''}" if whole.time_ns else ""


def phase_rate_label(progress: Progress) -> str:
    """The rate of an amount so far, in the drive's time. Worked: 16 GB in 32 s -> ``"500 MB/s"``."""
    if progress.whole.time_ns or not progress.done.amount_bytes or not progress.device_ns:
        return ""
    return rate_label(progress.done.amount_bytes * SECOND_NS / progress.device_ns)


def _two(large: int, unit: str, small: int, part: str) -> str:
    return f"{large} {unit}" + (f" {small} {part}" if small else "")


_DIGITS = 5
"""That the average of a verdict is shown with; what is compared with it has the same decimals."""


def event_lines(progress: Progress, *, cells: bool = False) -> Iterator[str]:
    """The lines of an event. cells : each cell of what ended, too."""
    if progress.advice:
        yield progress.advice
    elif progress.judged:
        if cells:
            yield from _cell_lines(progress, progress.name, progress.judged.steps)
        line = judged_line(progress.judged, progress.name, virtual=progress.virtual)
        yield f"{progress.test} {line}{_run_left(progress)}"
    elif progress.phase_end:
        if cells:
            yield from _cell_lines(progress, progress.phase_end.name, progress.phase_end.steps)
        yield f"{progress.test} {_end_line(progress.phase_end, virtual=progress.virtual)}{_run_left(progress)}"
    elif progress.ending:
        yield f"{progress.test} ended: {_ending_label(progress.ending, progress.verdict)}"


def begin_line(progress: Progress) -> str:
    """That a phase begins, and what is known of its length.

    Worked: ``iops (test 1 of 2): preconditioning, 64.0 GB; run: 4 h to 20 h left``, then
    ``iops (test 1 of 2): rounds of 56 cells, 56 min each; run: 4 h to 20 h left``.
    """
    whole = _whole_label(progress)
    what = f"{progress.name}{f', {whole}' if whole else ''}"
    if progress.phase == "round":
        what = f"rounds of {progress.step_count} cells, {whole} each"
    elif progress.phase == "sample":
        what = "samples"
    return f"{progress.test} (test {progress.number} of {progress.count}): {what}{_run_left(progress)}"


def still_line(progress: Progress) -> str:
    """How far a long phase is. Worked: ``iops preconditioning: 25 %, 16.0 of 64.0 GB, 500 MB/s, 97 s left``."""
    facts = [percent_label(progress.share), extent_label(progress), progress.step, phase_rate_label(progress)]
    left = f"{left_label(progress.left)} left" if progress.left else f"{span_label(progress.unit_elapsed_ns)} so far"
    return f"{progress.test} {progress.name}: {', '.join(filter(None, [*facts, left]))}{_run_left(progress)}"


def judged_line(judged: RoundOutcome, name: str, *, virtual: bool = False) -> str:
    """The outcome of a round, or of samples: tracked values with their unit, and what is missing until steady.

    name : of the sequence. virtual : the drive's time is not that of the clock.
    """
    is_round = judged.stage == "round"
    span = duration_label(sum(step.span_ns for step in judged.steps))
    counted = count_label(len(judged.steps), "cell" if is_round else "sample")
    parts = [f"{name}: {counted} in {span}{' of simulated time' if virtual else ''}"]
    if judged.void:
        parts.append(f"VOID: {text(judged.void)}")
    if judged.silent:
        return "; ".join([*parts, f"NO I/O COMPLETED in {judged.silent.label}, the results are withheld"])
    parts += [f"{value.label} {value_label(value.value, value.unit)}" for value in judged.values]
    return "; ".join([*parts, *_missing(judged)])


def tracked_lines(judged: RoundOutcome) -> Iterator[str]:
    """Each tracking variable of a verdict with its bounds, or of a round before one."""
    unit = judged.values[0].unit if judged.values else ""
    if judged.window is None:
        yield from (f"{value.label}: {value_label(value.value, value.unit)}" for value in judged.values)
        return
    latest = {value.label: f"{value_label(value.value, unit)}, " for value in judged.values}
    for label, verdict in judged.window.verdicts.items():
        yield f"{label}: {latest.get(label, '')}{bounds_label(verdict)}"


def bounds_label(verdict: SteadyVerdict) -> str:
    """The measured and the allowed values, in short. Worked: ``excursion 9,155 <= 13,378, slope 7,041 > 6,689``."""
    decimals = _decimals(verdict.average)
    pairs = (
        ("excursion", verdict.excursion_measured, verdict.excursion_allowed),
        ("slope", verdict.slope_measured, verdict.slope_allowed),
    )
    return ", ".join(
        f"{name} {measured:,.{decimals}f} {'<=' if measured <= allowed else '>'} {allowed:,.{decimals}f}"
        for name, measured, allowed in pairs
    )


def verdict_label(verdict: SteadyVerdict, unit: str = "") -> str:
    """A verdict with as many decimals throughout as give its average five digits.

    Worked: ``average 83,715 IOPS, excursion 25,911 of 16,743 allowed (too wide), slope 8,371 of 8,372 allowed``; five
    decimals for an average of 0.31036.
    """
    decimals = _decimals(verdict.average)

    def text(value: float) -> str:
        return f"{value:,.{decimals}f}"

    wide = " (too wide)" if verdict.excursion_measured > verdict.excursion_allowed else ""
    steep = " (too steep)" if verdict.slope_measured > verdict.slope_allowed else ""
    return (
        f"average {text(verdict.average)}{f' {unit}' if unit else ''}, "
        f"excursion {text(verdict.excursion_measured)} of {text(verdict.excursion_allowed)} allowed{wide}, "
        f"slope {text(verdict.slope_measured)} of {text(verdict.slope_allowed)} allowed{steep}"
    )


def value_label(value: float, unit: str) -> str:
    """Worked: 3189.96 IOPS -> ``"3,190.0 IOPS"``, 0.31036 ms -> ``"0.31036 ms"``."""
    return f"{value:,.{_decimals(value)}f} {unit}"


def _missing(judged: RoundOutcome) -> Iterator[str]:
    """Conditions of steady state that this round does not meet yet."""
    if judged.window is None:
        noun = "rounds" if judged.stage == "round" else "samples"
        yield f"{judged.gathered} of the {WINDOW_ROUNDS} {noun} that a verdict takes"
        return
    yield "steady" if judged.window.reached else "not steady yet"
    unit = judged.values[0].unit if judged.values else ""
    several = len(judged.window.verdicts) > 1
    for label, verdict in judged.window.verdicts.items():
        yield f"{f'{label} ' if several else ''}{verdict_label(verdict, unit)}"


def _decimals(value: float) -> int:
    return max(_DIGITS - 1 - math.floor(math.log10(abs(value))), 0) if value else 0


def _end_line(end: PhaseEnd, *, virtual: bool) -> str:
    """A phase that ended. Worked: ``preconditioning done: 64.0 GB in 2 min 8 s, 500 MB/s``; ``purge done in 4 s``."""
    amount = f": {gigabytes_label(end.amount_bytes, 1)}" if end.amount_bytes else ""
    rate = f", {rate_label(end.amount_bytes * SECOND_NS / end.span_ns)}" if end.amount_bytes and end.span_ns else ""
    own = " of simulated time" if virtual else ""
    span_s = f"{end.span_ns / SECOND_NS:.3g} s"
    return f"{end.name} done{amount} in {span_s if end.span_ns < MINUTE_NS else duration_label(end.span_ns)}{own}{rate}"


def _ending_label(ending: Ending, verdict: str) -> str:
    """Why a test ended, and what its last verdict was. Worked: ``"its time is over; not steady in its last verdict"``.

    A test whose length is settled beforehand, and which takes no verdict, has run whole.
    """
    text = ending_label(ending.reason)
    if ending.reason == "time" and not verdict:
        text = "all of it ran"
    if ending.detail:
        return f"{text} ({ending.detail})"
    of_itself = ending.reason not in {"time", "amount"}
    return text if of_itself or not verdict else f"{text}; {verdict}"


def _cell_lines(progress: Progress, where: str, steps: tuple[StepRecord, ...]) -> Iterator[str]:
    """Each cell of a sequence. Worked: ``iops round 3, cell 1 of 56, RND 1024KiB 100/0: 276.30 IOPS, 28.947 ms``."""
    from assay.results.step import iops, latency_count, mean_latency_ns  # noqa: PLC0415

    for number, step in enumerate(steps, 1):
        late = f", {float(mean_latency_ns(step) or 0) / 1e6:,.3f} ms" if latency_count(step) else ""
        figures = f"{value_label(float(iops(step)), 'IOPS')}{late}" if step.span_ns else "cut short"
        yield f"{progress.test} {where}, cell {number} of {len(steps)}, {step.label}: {figures}"


def _run_left(progress: Progress) -> str:
    """Share and time left of the run. Worked: ``"; run: 25 to 50 %, 1 h to 3 h left"``; empty where it is unknown."""
    left = left_label(progress.run_left)
    if left == "unknown":
        return ""
    shares = shares_label(progress)
    return f"; run: {f'{shares}, ' if shares else ''}{left} left"
