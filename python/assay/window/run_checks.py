"""Checks of what went on beside and between the programs of one test, one small function each, in one table.

``invalid`` withholds the test's results; what is found outside the programs that results come from only warns.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from assay.units import MILLISECOND_NS, SECOND_NS, milliseconds
from assay.window.audit import program_audits
from assay.window.events import disturbing, told
from assay.window.measured import counted_programs
from assay.window.step import max_latency_ns

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

    from assay.records import DriveState, StoredProgram, StoredTest

CheckLevel = Literal["pass", "warn", "invalid", "unknown"]
Answer = tuple[CheckLevel, str]
"""The level, and what was found."""

DURATION_PASS, DURATION_INVALID = 0.005, 0.02
GAP_NS_PASS, GAP_NS_INVALID = 1 * SECOND_NS, 5 * SECOND_NS
CLOCK_PPM_PASS, CLOCK_PPM_INVALID = 200, 1000
# Between two steps the clocks cannot come apart by more than this unless one of them is set.
CLOCK_STEP_NS, CLOCK_STEP_SHARE = 100 * MILLISECOND_NS, 0.001
# Reading both clocks of one instant is this exact on a busy host.
CLOCK_READ_NS = 10 * MILLISECOND_NS
_WELL = {None, "live", "running"}
_HOT = ("warning_temperature_minutes", "critical_temperature_minutes")


@dataclass(frozen=True, slots=True)
class RunCheck:
    """One check. number : of the integrity check that it is. limit : what passes, as printed."""

    number: str
    title: str
    limit: str
    answer: Callable[[StoredTest], Answer]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFinding:
    """What one check found of one test. level : ``pass``, ``warn``, ``invalid`` or ``unknown``."""

    number: str
    title: str
    level: CheckLevel
    evidence: str
    limit: str


def run_checks(test: StoredTest) -> tuple[RunFinding, ...]:
    """Let every check answer of one test, in the order of the table.

    Worked: a write cache that is enabled before round 3 and disabled behind it -> C12 ``invalid``,
    ``"enabled, disabled in round 3"``.
    """
    return tuple(
        RunFinding(number=check.number, title=check.title, level=level, evidence=evidence, limit=check.limit)
        for check in RUN_CHECKS
        for level, evidence in (check.answer(test),)
    )


def check_reason(test: StoredTest) -> str | None:
    """Why no result may be printed because of a check, None where it may: the first that is invalid.

    Worked: ``"write cache: enabled, disabled in round 3"``.
    """
    found = (f"{one.title.lower()}: {one.evidence}" for one in run_checks(test) if one.level == "invalid")
    return next(found, None)


def _drive_events(test: StoredTest) -> Answer:
    """Steps with resets and the like are void already, and in no result; this says that there were any."""
    watched = [program.drive for program in test.programs if program.drive]
    found = [(program, event) for program in test.programs for step in program.steps for event in disturbing(step)]
    bad = [
        f"controller {program.drive.after.controller} behind {program.name}"
        for program in test.programs
        if program.drive and program.drive.after.controller not in _WELL
    ]
    if bad:
        return "invalid", bad[0]
    level, errors = _bus_errors(test)
    if level == "invalid":
        return level, errors
    if found:
        program, event = found[0]
        return "warn", f"{len(found)} void what they befell, first {program.name}: {told(event)}"
    if level == "warn":
        return level, errors
    if not watched or any(one.log == "unknown" for one in watched):
        return "unknown", "the kernel's log could not be read" if watched else "nobody watched"
    lost = sum(one.lost_count for one in watched)
    return ("warn", f"none, but the kernel's log overran {lost} times") if lost else ("pass", "none")


def _bus_errors(test: StoredTest) -> Answer:
    for program in test.programs:
        if program.drive is None:
            continue
        before, after = program.drive.before.bus_errors, program.drive.after.bus_errors
        grown = {kind: count - before.get(kind, count) for kind, count in after.items()}
        shown = ", ".join(f"{count} {kind} errors of the bus" for kind, count in grown.items() if count > 0)
        if shown:
            grave = grown.get("fatal", 0) > 0 or grown.get("nonfatal", 0) > 0
            return ("invalid" if grave else "warn"), f"{shown} in {program.name}"
    return "pass", "none"


def _write_cache(test: StoredTest) -> Answer:
    """A study may switch it between two programs; it does not during one."""
    return _kept(test, _cache_label, across=not test.settings.switches_write_cache)


def _cache_label(state: DriveState) -> str | None:
    kernel, drive = state.write_cache, state.write_cache_drive
    if kernel == "unknown":
        return None if drive == "unknown" else drive
    return kernel if drive in {"unknown", kernel} else f"{kernel} to the kernel and {drive} in the drive"


def _queue(test: StoredTest) -> Answer:
    level, _ = _kept(test, lambda state: tuple(sorted(state.queue.items())) or None)
    known = [(program, state.queue) for program, state in _states(test) if state.queue]
    for program, queue in known:
        names = [name for name, text in sorted(queue.items()) if known[0][1].get(name) != text]
        if names:
            return level, f"{', '.join(names)} changed in {program.name}"
    return level, f"{len(known[0][1])} settings" if known else "not told"


def _link(test: StoredTest) -> Answer:
    level, shown = _kept(test, lambda state: state.link)
    # A slower slot may be what is wanted, and is told; a link that came up anew as something else never is.
    return ("warn" if level == "pass" and " of " in shown else level), shown


def _temperature(test: StoredTest) -> Answer:
    values = [state.temperature_c for _, state in _states(test) if state.temperature_c is not None]
    if test.conditions[1:]:
        first, last = (condition.health for condition in (test.conditions[0], test.conditions[-1]))
        minutes = sum(last[name] - first[name] for name in _HOT if name in first and name in last)
        if minutes > 0:
            return "invalid", f"{minutes} minutes at or above its warning temperature"
    if not values:
        return "unknown", "no sensor is told"
    return "pass", f"{min(values):g} to {max(values):g} degrees Celsius"


def _duration(test: StoredTest) -> Answer:
    measured = {id(program) for program in counted_programs(test)}
    found = [
        (abs(step.span_ns / spec.stop.time_ns - 1), id(program) in measured, program)
        for program in test.programs
        for step, spec in zip(program.steps, program.asked, strict=False)
        if spec.stop.time_ns and step.ended == "stop-rule"
    ]
    if not found:
        return "unknown", "nothing of a planned length ran to its end"
    worst, _, program = max(found, key=lambda one: one[0])
    limit = max((share for share, counts, _ in found if counts), default=0.0)
    level: CheckLevel = "invalid" if limit > DURATION_INVALID else "warn" if worst > DURATION_PASS else "pass"
    return level, f"at most {worst:.2%} from the plan" + ("" if level == "pass" else f", {program.name}")


def _gaps(test: StoredTest) -> Answer:
    """Time without a submission, less the slowest I/O before it: so long the drive may still have been at work."""
    programs = [program for program in test.programs if program.steps]
    measured = {id(program) for program in counted_programs(test)}
    slowest = [0, *(max_latency_ns(program.steps[-1]) or 0 for program in programs)]
    found = [
        (max(audit.gap_ns - working_ns, 0), id(program) in measured, audit.name)
        for audit, program, working_ns in zip(program_audits(test), programs, slowest, strict=False)
        if audit.gap_ns is not None
    ]
    if not found:
        return "unknown", "no two programs follow each other"
    longest_ns, _, name = max(found)
    measured_ns = max((gap_ns for gap_ns, counts, _ in found if counts), default=0)
    shown = f"at most {milliseconds(longest_ns):,.1f} ms, before {name}"
    return ("invalid" if measured_ns > GAP_NS_INVALID else "warn" if longest_ns > GAP_NS_PASS else "pass"), shown


def _clocks(test: StoredTest) -> Answer:
    """A wall clock that was set is told, and does no harm: every duration is of the other clock."""
    steps = [step for program in test.programs for step in program.steps]
    if not steps[1:]:
        return "unknown", "fewer than two steps"
    jumps, drift_ns = [], 0
    for before, after in pairwise(steps):
        apart_ns = (after.start_wall_ns - before.start_wall_ns) - (after.start_ns - before.start_ns)
        if abs(apart_ns) > CLOCK_STEP_NS + CLOCK_STEP_SHARE * abs(after.start_ns - before.start_ns):
            jumps.append(apart_ns)
        else:
            drift_ns += apart_ns
    span_ns = max(steps[-1].start_ns - steps[0].start_ns, 1)
    drift_ppm = 0.0 if abs(drift_ns) <= CLOCK_READ_NS else abs(drift_ns) / span_ns * 1e6
    shown = f"{drift_ppm:.0f} ppm apart"
    if jumps:
        shown += f", the wall clock was set by {', '.join(f'{jump / SECOND_NS:+,.1f} s' for jump in jumps[:3])}"
    level: CheckLevel = "warn" if jumps or drift_ppm > CLOCK_PPM_PASS else "pass"
    return ("invalid" if drift_ppm > CLOCK_PPM_INVALID else level), shown


def _swap(test: StoredTest) -> Answer:
    """What swapping did to the tester shows in the host's stalls, which can be invalid; this only warns."""
    pairs = [(one.drive.before.swap_in_pages, one.drive.after.swap_in_pages) for one in test.programs if one.drive]
    known = [after - before for before, after in pairs if before is not None and after is not None]
    if not known:
        return "unknown", "nobody watched"
    return ("warn" if any(known) else "pass"), f"{sum(known)} pages swapped in"


def _states(test: StoredTest) -> Iterator[tuple[StoredProgram, DriveState]]:
    for program in test.programs:
        if program.drive:
            yield program, program.drive.before
            yield program, program.drive.after


def _kept(test: StoredTest, pick: Callable[[DriveState], Hashable | None], *, across: bool = True) -> Answer:
    """Whether something stayed as it was over all programs; invalid where it changed in one that results come from."""
    known = [(program, value) for program, state in _states(test) if (value := pick(state)) is not None]
    if not known:
        return "unknown", "not told"
    pairs = [pair for pair in pairwise(known) if across or pair[0][0] is pair[1][0]]
    changes = [after for before, after in pairs if before[1] != after[1]]
    if not changes:
        return "pass", str(known[0][1])
    measured = {id(program) for program in counted_programs(test)}
    told = [str(known[0][1]), *(f"{value} in {program.name}" for program, value in changes[:3])]
    values = {value for program, value in known if id(program) in measured}
    return ("invalid" if len(values) > 1 else "warn"), ", ".join(told)


RUN_CHECKS = (
    RunCheck("C10", "Resets, timeouts and errors of drive and bus", "none", _drive_events),
    RunCheck("C12", "Write cache", "stays as it was", _write_cache),
    RunCheck("C13", "Queue settings", "stay as they were", _queue),
    RunCheck("C15", "Link", "stays as it was, at full speed", _link),
    RunCheck("C16", "Temperature", "no minute at or above the drive's warning", _temperature),
    RunCheck("C22", "Duration of steps", "within 0.5 % of the plan, invalid beyond 2 %", _duration),
    RunCheck("C23", "Gaps between programs", "at most 1 s, invalid beyond 5 s", _gaps),
    RunCheck("C25", "Monotonic and wall clock", "at most 200 ppm apart, invalid beyond 1,000", _clocks),
    RunCheck("C26", "Swapping", "no page swapped in", _swap),
)
"""The checks in the order in which they are printed."""
