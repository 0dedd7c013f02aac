"""Checks of what went on in, beside and between the sequences of one test, one small function each, in one table.

The first that is ``invalid`` is why the test's results are withheld; what is found outside the sequences that results
come from only warns.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING

from assay.results.audit import program_pairs, sequence_gap
from assay.results.data_check import data_held
from assay.results.ended import ending, failed_ios, silence
from assay.results.events import disturbing, told
from assay.results.finding import Check, Finding, Level, ask_all, at_most, outside_results
from assay.results.host import disturbances
from assay.results.host_part import host_part_findings
from assay.results.measured import counted_sequences
from assay.results.neighbours import neighbour_io
from assay.results.record import contradictions
from assay.results.sequence_names import sequence_place
from assay.results.stimulus_time import balance
from assay.results.unwritten import unwritten_reads
from assay.spec.units import MILLISECOND_NS
from assay.words.coded import coded

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

    from assay.engine.records import DriveState, StoredSequence, StoredTest
    from assay.results.finding import Checked
    from assay.words.coded import Coded

DURATION_PASS, DURATION_INVALID = 0.005, 0.02
CLOCK_PPM_PASS, CLOCK_PPM_INVALID = 200, 1000
# Between two steps the clocks cannot come apart by more than this unless one of them is set.
CLOCK_STEP_NS, CLOCK_STEP_SHARE = 100 * MILLISECOND_NS, 0.001
# Reading both clocks of one instant is this exact on a busy host.
CLOCK_READ_NS = 10 * MILLISECOND_NS
# From so many pairs of steps on, their middle rate is that of the clocks and not of one that was set.
_CLOCK_PAIRS = 3
_WELL = {None, "live", "running"}
_HOT = ("warning_temperature_minutes", "critical_temperature_minutes")


def run_checks(test: StoredTest) -> tuple[Checked, ...]:
    """Let every check answer of one test, in the order of the table; a silent one is there only where it marks.

    Worked: a write cache that is enabled before round 3 and disabled behind it -> C12 ``invalid``,
    ``"enabled, disabled in round 3"``.
    """
    return tuple(result for result in ask_all(RUN_CHECKS, test) if result.marked or not result.check.silent)


def _drive_events(test: StoredTest) -> Finding:
    """Steps with resets and the like are void already, and in no result; this says that there were any."""
    return _dead(test) or _bus_errors(test, grave=True) or _events(test) or _bus_errors(test, grave=False) or _log(test)


def _dead(test: StoredTest) -> Finding | None:
    states = ((sequence, sequence.drive.after.controller) for sequence in test.sequences if sequence.drive)
    bad = next(((sequence, state) for sequence, state in states if state not in _WELL), None)
    if bad is None:
        return None
    return Finding(level="invalid", reason=coded("controller", state=bad[1], where=sequence_place(bad[0])))


def _events(test: StoredTest) -> Finding | None:
    events = [(sequence, event) for sequence in test.sequences for step in sequence.steps for event in disturbing(step)]
    if not events:
        return None
    sequence, event = events[0]
    reason = coded("events-void", count=len(events), where=sequence_place(sequence), event=told(event))
    return Finding(level="warn", reason=reason)


def _bus_errors(test: StoredTest, *, grave: bool) -> Finding | None:
    """The first sequence with errors of the bus: with any that were not corrected, or with corrected ones only."""
    for sequence in test.sequences:
        before, after = (sequence.drive.before, sequence.drive.after) if sequence.drive else (None, None)
        if before is None or after is None:
            continue
        grown = {kind: count - before.bus_errors.get(kind, count) for kind, count in after.bus_errors.items()}
        errors = tuple(coded("bus-errors", count=count, kind=kind) for kind, count in grown.items() if count > 0)
        if errors and grave == (grown.get("fatal", 0) > 0 or grown.get("nonfatal", 0) > 0):
            reason = coded("bus-errors-in", errors=errors, where=sequence_place(sequence))
            return Finding(level="invalid" if grave else "warn", reason=reason)
    return None


def _log(test: StoredTest) -> Finding:
    watched = [sequence.drive for sequence in test.sequences if sequence.drive]
    if not watched or any(one.log == "unknown" for one in watched):
        return _unknown("log-unreadable" if watched else "not-watched")
    lost = sum(one.lost_count for one in watched)
    if lost:
        return Finding(level="warn", reason=coded("log-overran", count=lost))
    return Finding(level="pass", reason=coded("none"))


def _others(test: StoredTest) -> Iterator[Finding]:
    """Who came to read the drive; who came to write has ended the test."""
    if test.looks is None:
        return
    arrivals = test.looks.arrivals
    for arrival in arrivals:
        reason = coded("read-by", name=arrival.name, process=arrival.process, wall_ns=arrival.wall_ns)
        yield Finding(level="warn", reason=reason)
    if not arrivals:
        yield Finding(level="pass", reason=coded("no-others", count=test.looks.process_look_count))


def _write_cache(test: StoredTest) -> Finding:
    """A study may switch it between two sequences; it does not during one."""
    return _kept(test, _cache_state, across=not test.settings.switches_write_cache)


def _cache_state(state: DriveState) -> str | Coded | None:
    kernel, drive = state.write_cache, state.write_cache_drive
    if kernel == "unknown":
        return None if drive == "unknown" else drive
    return kernel if drive in {"unknown", kernel} else coded("write-caches", kernel=kernel, drive=drive)


def _queue(test: StoredTest) -> Finding:
    level = _kept(test, lambda state: tuple(sorted(state.queue.items())) or None).level
    known = [(sequence, state.queue) for sequence, state in _states(test) if state.queue]
    for sequence, queue in known:
        names = tuple(name for name, text in sorted(queue.items()) if known[0][1].get(name) != text)
        if names:
            return Finding(level=level, reason=coded("queue-changed", names=names, where=sequence_place(sequence)))
    reason = coded("queue-settings", count=len(known[0][1])) if known else coded("not-told")
    return Finding(level=level, reason=reason)


def _link(test: StoredTest) -> Finding:
    result = _kept(test, lambda state: state.link)
    # A slower slot may be what is wanted, and is told; a link that came up anew as something else never is.
    slower = result.level == "pass" and any(" of " in (state.link or "") for _, state in _states(test))
    return replace(result, level="warn") if slower else result


def _temperature(test: StoredTest) -> Finding:
    values = [state.temperature_c for _, state in _states(test) if state.temperature_c is not None]
    if test.conditions[1:]:
        first, last = (condition.health for condition in (test.conditions[0], test.conditions[-1]))
        minutes = sum(last[name] - first[name] for name in _HOT if name in first and name in last)
        if minutes > 0:
            return Finding(level="invalid", reason=coded("hot", count=minutes))
    if not values:
        return _unknown("no-sensor")
    return Finding(level="pass", reason=coded("temperatures", least=min(values), greatest=max(values)))


def _durations(test: StoredTest) -> Iterator[Finding]:
    """Of every step that a time ends, how far its length is off that time."""
    counts = {id(sequence) for sequence in counted_sequences(test)}
    for sequence in test.sequences:
        for step, spec in zip(sequence.steps, sequence.asked, strict=False):
            if spec.stop.time_ns and step.ended == "stop-rule":
                off = abs(step.span_ns / spec.stop.time_ns - 1)
                level = at_most(off, DURATION_PASS, DURATION_INVALID)
                where = sequence_place(sequence)
                reason = coded("off-plan", off=off, where=None if level == "pass" else where)
                durations = Finding(level=level, reason=reason, measured=off, limit=DURATION_PASS, where=where)
                yield durations if id(sequence) in counts else outside_results(durations)


def _gaps(test: StoredTest) -> Iterator[Finding]:
    """Before every sequence, the time without a submission beyond what the drive may have worked for.

    None where all that was written is read back in between.
    """
    counts = {id(sequence) for sequence in counted_sequences(test)}
    read_back = {check.after for check in test.data_checks}
    for before, sequence in program_pairs(test):
        gaps = sequence_gap(before, sequence) if before and before.name not in read_back else None
        if gaps is not None:
            yield gaps if id(sequence) in counts else outside_results(gaps)


def _clocks(test: StoredTest) -> Finding:
    """A wall clock that was set is told, and does no harm: every duration is of the other clock."""
    steps = [step for sequence in test.sequences for step in sequence.steps]
    if not steps[1:]:
        return _unknown("few-steps")
    spans = [(after.start_ns - one.start_ns, after.start_wall_ns - one.start_wall_ns) for one, after in pairwise(steps)]
    apart = [(wall_ns - span_ns, abs(span_ns)) for span_ns, wall_ns in spans]
    # Held against the middle of all, clocks that run apart quickly are not taken for one that is set again and again.
    rate = median(off_ns / max(span_ns, 1) for off_ns, span_ns in apart) if len(apart) >= _CLOCK_PAIRS else 0.0
    jumps = [off for off, span in apart if abs(off - rate * span) > CLOCK_STEP_NS + CLOCK_STEP_SHARE * span]
    drift_ns = sum(off for off, _ in apart) - sum(jumps)
    drift_ppm = 0.0 if abs(drift_ns) <= CLOCK_READ_NS else abs(drift_ns) / _elapsed_ns(test) * 1e6
    told_jumps = tuple(coded("jump", off_ns=jump) for jump in jumps[:3])
    reason = coded("clocks", drift_ppm=drift_ppm, jumps=told_jumps or None)
    level = at_most(drift_ppm, CLOCK_PPM_PASS, CLOCK_PPM_INVALID)
    level = "warn" if jumps and level == "pass" else level
    return Finding(level=level, reason=reason, measured=drift_ppm, limit=CLOCK_PPM_PASS)


def _elapsed_ns(test: StoredTest) -> int:
    steps = [step for sequence in test.sequences for step in sequence.steps]
    return max(steps[-1].start_ns - steps[0].start_ns, 1)


def _swap(test: StoredTest) -> Finding:
    """What swapping did to the tester shows in the host's stalls, which can be invalid; this only warns."""
    pairs = [
        (sequence.drive.before.swap_in_pages, sequence.drive.after.swap_in_pages)
        for sequence in test.sequences
        if sequence.drive
    ]
    known = [after - before for before, after in pairs if before is not None and after is not None]
    if not known:
        return _unknown("not-watched")
    level: Level = "warn" if any(known) else "pass"
    return Finding(level=level, reason=coded("swapped", count=sum(known)), measured=sum(known), limit=0)


def _states(test: StoredTest) -> Iterator[tuple[StoredSequence, DriveState]]:
    for sequence in test.sequences:
        if sequence.drive:
            yield sequence, sequence.drive.before
            yield sequence, sequence.drive.after


def _kept(test: StoredTest, pick: Callable[[DriveState], Hashable | None], *, across: bool = True) -> Finding:
    """Whether something stayed as it was over all sequences; invalid where it changed in one that results come from."""
    known = [(sequence, value) for sequence, state in _states(test) if (value := pick(state)) is not None]
    if not known:
        return _unknown("not-told")
    pairs = [pair for pair in pairwise(known) if across or pair[0][0] is pair[1][0]]
    changes = [after for before, after in pairs if before[1] != after[1]]
    if not changes:
        return Finding(level="pass", reason=coded("kept", value=known[0][1]))
    counts = {id(sequence) for sequence in counted_sequences(test)}
    later = tuple(coded("found-in", what=value, where=sequence_place(sequence)) for sequence, value in changes[:3])
    reason = coded("changed", value=known[0][1], changes=later)
    values = {value for sequence, value in known if id(sequence) in counts}
    return Finding(level="invalid" if len(values) > 1 else "warn", reason=reason)


def _unknown(code: str) -> Finding:
    return Finding(level="unknown", reason=coded(code))


ENDED = "ended"
"""Name of the check of how a test ended, which banners say in words of their own."""

RUN_CHECKS: tuple[Check[StoredTest], ...] = (
    Check(name="data-held", title="Data read back", passes="what was written last", answer=data_held, unit="count",
          absent="no-data-held", titled=False,
          untold="use random, compressible or stamped data: assay run --data random"),
    # How a test ended, and what contradicts itself, says enough without its title.
    Check(name="failed-ios", title="Failed and short I/Os", passes="none", answer=failed_ios, unit="count",
          titled=False),
    Check(name=ENDED, title="End of the test", passes="by its own rule", answer=ending, titled=False),
    Check(name="balance", title="Outstanding time less that of the I/Os, ns", passes="0", answer=balance, unit="count",
          titled=False),
    Check(name="record", title="Contradictions of counts, times and histograms", passes="none", answer=contradictions,
          titled=False, silent=True),
    Check(name="host", number="C5", title="Stalls and stolen time of the host", answer=disturbances, titled=False,
          passes="wakes within 10 ms, 0.5 % stolen; invalid from 600 ms, 1 % of the time, beyond 5 % stolen",
          absent="no-sequence"),
    Check(name="host-part", title="Host's part in rates and means", answer=host_part_findings, unit="share",
          titled=False, passes="at most 1 % of the time, invalid above 5 %", absent="time-virtual",
          remedy="end other programs, pin the threads with --pin, or calibrate the quiet host: assay calibrate"),
    Check(name="completions", title="Completions of tracked variables", passes="one in each step", answer=silence,
          titled=False),
    Check(name="unwritten", title="Reads of blocks never written", passes="at most 1 % of a range that is read",
          answer=unwritten_reads, unit="share", absent="nothing-read",
          remedy="fill the drive first: --fill 1, or prepare_fills in the plan"),
    Check(name="drive-events", number="C10", title="Resets, timeouts and errors of drive and bus", passes="none",
          answer=_drive_events),
    Check(name="other-users", title="Other users of the drive", passes="none", answer=_others,
          absent="not-looked"),
    Check(name="write-cache", number="C12", title="Write cache", passes="stays as it was", answer=_write_cache),
    Check(name="queue", number="C13", title="Queue settings", passes="stay as they were", answer=_queue),
    Check(name="link", number="C15", title="Link", passes="stays as it was, at full speed", answer=_link),
    Check(name="temperature", number="C16", title="Temperature", answer=_temperature,
          passes="no minute at or above the drive's warning"),
    Check(name="duration", number="C22", title="Duration of steps", answer=_durations, unit="share",
          passes="within 0.5 % of the plan, invalid beyond 2 %", absent="no-planned-length"),
    Check(name="sequence-gap", number="C23", title="Gaps between sequences", answer=_gaps, unit="ms",
          passes="at most 1 s beyond the drive's part, invalid beyond 5 s",
          absent="no-sequences-in-a-row"),
    Check(name="clocks", number="C25", title="Monotonic and wall clock", answer=_clocks,
          passes="at most 200 ppm apart, invalid beyond 1,000"),
    Check(name="swap", number="C26", title="Swapping", passes="no page swapped in", answer=_swap, unit="count"),
    Check(name="neighbours", number="C27", title="Other I/O on controller and uplink", unit="share",
          passes="at most 1 % of the I/O issued, or of the shared link", answer=neighbour_io,
          remedy="stop what uses these devices, or attach the drive elsewhere",
          untold="write 1 to queue/iostats of the device named"),
)  # fmt: skip
"""The checks in the order in which they are asked and printed."""
