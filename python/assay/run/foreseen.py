"""A plan as it is shown before a run: what it would write, take and need; as numbers and in words."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from assay.dut.dut import find_drive
from assay.dut.real.gate import carried
from assay.dut.real.purge import purge_time
from assay.errors import AssayError, UsageError
from assay.plan.draining import draining_warning
from assay.plan.phases import SLOWEST_BYTES_PER_S
from assay.results.step import arrival_label
from assay.run.planning import forecast, plan_run, refuse_planned
from assay.run.store.write import FREE_BYTES_MIN
from assay.spec.units import MB, MILLISECOND_NS, SECOND_NS, count_label, duration_label, gigabytes_label, rate_label
from assay.words.printed import amount_label
from assay.words.visible import visible

if TYPE_CHECKING:
    from pathlib import Path

    from assay.dut.dut import Answers
    from assay.dut.real.purge import PurgeTime
    from assay.engine.records import DriveIdentity
    from assay.plan.procedure import PlannedTest
    from assay.run.plan_file import Plan
    from assay.run.planning import Forecast, PhaseForecast, PlannedRun

_UNREHEARSED = "Warning   nobody has seen {} of such a drive work on hardware: it was tried on recorded replies only"
_PER_S = 100 * MB
TOOL_MEMORY = "about 0.4 GB for the tool"
_HELD = "{} is held by {}: what is on it, and what else stands against the run, is only known at its turn"
_REAL_TIME = "unknown: a simulated drive plays this in virtual time, as fast as this host lets it"


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeseenRun:
    """A run before its first byte. purge : what the drive states of it, None where it states nothing.

    refusal : why it would be refused by now, None where nothing is known to stand against it. held_by : what holds the
    drive, which was not queried then; empty where it was. contents : what the drive carries and would lose, in words.
    """

    plan: Plan
    drive: DriveIdentity
    planned: PlannedRun
    expected: Forecast
    purge: PurgeTime | None = None
    refusal: AssayError | None = None
    held_by: str = ""
    contents: str = ""

    @property
    def erases(self) -> bool:
        """Whether it would destroy what is on a real drive."""
        return self.drive.kind == "block" and not self.drive.refusals and self.expected.written_bytes_max > 0


def foresee(plan: Plan, *, out: Path | None, answers: Answers, below: Path) -> ForeseenRun:
    """Look ahead at a run; nothing is opened for writing.

    out : its folder, None for a new one in ``below``. Raises UsageError, and TooSmallError where no test can run.
    """
    foreseen = unrefused(plan, find_drive(plan, answers, (out,) if out else ()), answers)
    planned, expected = foreseen.planned, foreseen.expected
    try:
        refuse_planned(plan, foreseen.drive, planned, expected, out=out, answers=answers, below=below)
    except UsageError:
        # What was typed is wrong, so that this is not the plan that was meant.
        raise
    except AssayError as error:
        return replace(foreseen, refusal=error)
    return foreseen


def unrefused(plan: Plan, drive: DriveIdentity, answers: Answers) -> ForeseenRun:
    """A run on a drive that is known, without the reasons to refuse it."""
    foreseen = unqueried(plan, drive)
    has_purge = drive.kind == "block" and foreseen.expected.purge_count
    purge = purge_time(drive, plan.purge, all_namespaces=answers.all_namespaces) if has_purge else None
    return replace(foreseen, purge=purge, contents=carried(drive) if foreseen.erases else "")


def unqueried(plan: Plan, drive: DriveIdentity, held_by: str = "") -> ForeseenRun:
    """A run without a query to its drive. held_by : what holds the drive."""
    planned = plan_run(plan, drive)
    expected = forecast(plan, drive, planned.tests)
    return ForeseenRun(plan=plan, drive=drive, planned=planned, expected=expected, held_by=held_by)


def plan_facts(foreseen: ForeseenRun) -> dict[str, Any]:
    """The plan as JSON values, in bytes and ns."""
    drive, planned, expected, purge = foreseen.drive, foreseen.planned, foreseen.expected, foreseen.purge
    return {
        "drive": {"id": drive.id, "path": drive.path, "capacity_bytes": drive.capacity_bytes, "kind": drive.kind},
        "refusals": list(drive.refusals),
        "contents": foreseen.contents,
        "edition": foreseen.plan.edition_name,
        "written_bytes": expected.written_bytes,
        "written_bytes_max": expected.written_bytes_max,
        "drive_fills": expected.written_bytes / drive.capacity_bytes,
        "drive_fills_max": expected.written_bytes_max / drive.capacity_bytes,
        "bytes_per_s_max": expected.bytes_per_s,
        "bytes_per_s_max_of": expected.rate_of,
        "purges": {
            "count": expected.purge_count,
            "overwritten_bytes_max": expected.overwritten_bytes,
            "each": asdict(purge) if purge else None,
        },
        "span_ns_least": expected.span_ns_least,
        "span_ns_most": expected.span_ns_most,
        # Nothing tells beforehand how many I/Os a simulated drive will complete.
        "real_time_ns": None,
        "memory_bytes": expected.memory_bytes,
        "disk_bytes": expected.disk_bytes,
        "tests": [
            {**_test_facts(test), "phases": [asdict(phase) for phase in phases]}
            for test, phases in zip(planned.tests, expected.phases, strict=True)
        ],
        "warnings": _warnings(foreseen),
        "skipped": {test.test: test.reason for test in planned.skipped},
    }


def describe(foreseen: ForeseenRun) -> str:
    """The plan in words, as shown before a confirmation."""
    drive, planned, expected, purge = foreseen.drive, foreseen.planned, foreseen.expected, foreseen.purge
    size = gigabytes_label(drive.capacity_bytes)
    lines = [
        f"Drive     {drive.path}: {drive.model_number or 'unknown model'}, {size}, id {drive.id}",
        f"Edition   {foreseen.plan.edition_name}",
    ]
    for test, phases in zip(planned.tests, expected.phases, strict=True):
        lines += _test_lines(_test_facts(test))
        # Equal phases once, with their number: a study has one per variant.
        lines += [f"          {_phase_line(phase, phases.count(phase))}" for phase in dict.fromkeys(phases)]
    lines += [f"N/A       {test.test}: {test.reason}" for test in planned.skipped]
    lines += _deviation_lines(foreseen)
    lines += [f"Warning   {text}" for text in _warnings(foreseen)]
    lines += _total_lines(drive, expected)
    if drive.kind != "simulated" and not expected.written_bytes_max:
        lines.append(f"{drive.path} is opened for reading only; nothing is written to it.")
    elif drive.kind != "simulated":
        lines += _preparation_lines(drive, expected, purge) if expected.purge_count else []
        if not foreseen.refusal:
            carries = f"; it {foreseen.contents}" if foreseen.contents else ""
            lines.append(f"ALL DATA on {drive.path} will be destroyed{carries}.")
    return "\n".join(map(visible, lines))


def _total_lines(drive: DriveIdentity, expected: Forecast) -> list[str]:
    """What the whole run takes."""
    slowest = rate_label(SLOWEST_BYTES_PER_S)
    rate = f"{rate_label(expected.bytes_per_s)}, {expected.rate_of}"
    known, most = (
        f"{fills_label(size / drive.capacity_bytes)} times"
        for size in (expected.written_bytes, expected.written_bytes_max)
    )
    unknown = expected.purge_count and drive.kind != "file"
    own = f"; {count_label(expected.purge_count, 'purge')} on top, for as long as the drive takes" if unknown else ""
    lines = [f"Time      {span_label(expected.span_ns_least, expected.span_ns_most)} in all{own}"]
    if not expected.written_bytes_max:
        lines.append("Writes    nothing")
        return [*lines, *_need_lines(drive, expected)]
    lines += [
        f"          the longest where sequential writes run at {slowest}, rounds up to their limit",
        f"Writes    up to {gigabytes_label(expected.written_bytes_max)}, {most} the drive, at {rate}",
        f"          known beforehand: {gigabytes_label(expected.written_bytes)}, {known} the drive",
    ]
    if rest := expected.written_bytes_max - expected.written_bytes:
        each = round(rest * _PER_S / expected.bytes_per_s)
        lines.append(f"          expected: {gigabytes_label(each)} more per {rate_label(_PER_S)} that the drive writes")
    if expected.overwritten_bytes:
        overwritten = gigabytes_label(expected.overwritten_bytes)
        lines.append(f"          with up to {overwritten} where a purge overwrites the drive")
    return [*lines, *_need_lines(drive, expected)]


def _need_lines(drive: DriveIdentity, expected: Forecast) -> list[str]:
    """What the run needs of this host."""
    lines = [f"Real time {_REAL_TIME}"] if drive.kind == "simulated" else []
    what = "the simulated drive" if drive.kind == "simulated" else "buffers"
    lines.append(f"Memory    {gigabytes_label(expected.memory_bytes)} for {what} plus {TOOL_MEMORY}")
    lines.append(f"Disk      {max(expected.disk_bytes, FREE_BYTES_MIN) / 1e6:,.0f} MB for the run folder")
    return lines


def _warnings(foreseen: ForeseenRun) -> list[str]:
    """What is planned and cannot give a good figure, and what is not known yet."""
    rate = foreseen.expected.bytes_per_s
    held = [_HELD.format(foreseen.drive.path, foreseen.held_by)] if foreseen.held_by else []
    return [*held, *(text for test in foreseen.planned.tests if (text := draining_warning(test, rate)))]


def _preparation_lines(drive: DriveIdentity, expected: Forecast, purge: PurgeTime | None) -> list[str]:
    """What is known before the drive is held, which a query takes."""
    if drive.kind == "file":
        return ["Deviation purge by a single overwrite"]
    return [
        "Purge     best method that the drive offers when it is opened; discard and overwrite are deviations",
        *([f"          each purge {_purge_label(drive, expected, purge)}"] if purge else []),
        *([_UNREHEARSED.format(purge.method)] if purge and not purge.rehearsed else []),
        f"Cache     write cache {drive.write_cache} now; set for the run if the drive supports it",
    ]


def _purge_label(drive: DriveIdentity, expected: Forecast, purge: PurgeTime) -> str:
    """How long a purge takes, by what the drive states.

    Worked: ``"by erase: 20 min, as the drive states; given up after 1 h 10 min"``.
    """
    if purge.method is None:
        return "not bounded: the drive reports no time for it"
    if purge.method == "overwrite":
        rates = (expected.bytes_per_s, SLOWEST_BYTES_PER_S)
        least, most = (duration_label(bound_ns(round(drive.capacity_bytes * SECOND_NS / rate))) for rate in rates)
        return f"by overwrite: {least} to {most}, the longest at {rate_label(SLOWEST_BYTES_PER_S)}"
    given_up = f"; given up after {duration_label(purge.limit_s * SECOND_NS)}" if purge.limit_s else ""
    if purge.stated_s is None:
        return f"by {purge.method}: not bounded: the drive states no time{given_up}"
    return f"by {purge.method}: {duration_label(purge.stated_s * SECOND_NS)}, as the drive states{given_up}"


def _test_lines(facts: dict[str, Any]) -> list[str]:
    first, unit = duration_label(facts["device_ns_min"]), duration_label(facts["step_ns"])
    last = duration_label(facts["device_ns_max"]) if facts["device_ns_max"] else "as long as the drive takes"
    span = " to ".join(dict.fromkeys((first, last))) if facts["what"] == "rounds" else f"up to {last}"
    purge = "purge" if facts["purge_count"] else "no purge"
    written = facts["preconditioning_bytes"]
    prepared = f"{gigabytes_label(written)} of preconditioning" if written else "no preconditioning"
    demand = f"TC {facts['thread_count']} x QD {facts['queue_depth']}"
    amount = amount_label(facts["range_amount_bytes"], facts["segment_count"])
    return [
        f"Test      {facts['test']}: {purge}, {prepared}, and {span} of {facts['what']}",
        f"          {facts['steps']} of {unit}, {demand}, test range {amount}",
        *([f"          {facts['arrivals']}"] if facts["arrivals"] else []),
        *(f"          {note}" for note in facts["notes"]),
    ]


def _deviation_lines(foreseen: ForeseenRun) -> list[str]:
    """Each deviation once, with the tests that have it where only some do."""
    tests: dict[str, list[str]] = {}
    for facts in map(_test_facts, foreseen.planned.tests):
        for line in facts["deviations"]:
            tests.setdefault(line, []).append(facts["test"])
    some = {line: f" ({', '.join(of)})" for line, of in tests.items() if len(of) < len(foreseen.planned.tests)}
    # "no purge of iops" names its test.
    return [f"Deviation {line}{'' if line.endswith(of[0]) else some.get(line, '')}" for line, of in tests.items()]


def _phase_line(phase: PhaseForecast, count: int) -> str:
    """Worked: ``"writes in preconditioning: 64.00 GB, in 4 min to 21 min"``."""
    known = phase.amount_bytes is not None and phase.amount_bytes == phase.written_bytes_max
    amount = f"{'' if known else 'up to '}{gigabytes_label(phase.written_bytes_max)}"
    spans = span_label(phase.span_ns_least, phase.span_ns_most)
    times = f" ({count} times)" if count > 1 else ""
    if not phase.written_bytes_max:
        return f"{phase.name}{times}: no writes, in {spans}"
    return f"writes in {phase.name}{times}: {amount}, in {spans}"


def bound_ns(span_ns: int) -> int:
    """A bound of a time for people, to the second, or the millisecond below one. Worked: 1,234,567,890 ns -> 1 s."""
    unit_ns = SECOND_NS if span_ns >= SECOND_NS else MILLISECOND_NS
    return round(span_ns / unit_ns) * unit_ns


def span_label(least_ns: int, most_ns: int) -> str:
    """Two bounds of a time. Worked: 29 s and 160 s -> ``"29 s to 2 min 40 s"``, two equal ones -> one of them."""
    return " to ".join(dict.fromkeys(duration_label(bound_ns(span)) for span in (least_ns, most_ns)))


def fills_label(fills: float) -> str:
    """Capacities of the drive. Worked: 9.8765 -> ``"9.88"``, 5083.2 -> ``"5,083"``."""
    return f"{fills:.3g}" if fills < 1000 else f"{fills:,.0f}"  # noqa: PLR2004


def _test_facts(test: PlannedTest) -> dict[str, Any]:
    settings, outline = test.settings, test.outline
    return {
        "test": settings.test,
        "purge_count": test.purge_count,
        "preconditioning_bytes": test.written_first_bytes,
        "what": outline.what,
        "steps": outline.steps,
        "step_ns": outline.step_ns,
        "notes": list(outline.notes),
        **outline.facts,
        "device_ns_min": test.earliest_ns,
        "device_ns_max": test.latest_ns,
        "histogram_ns": settings.histogram_ns,
        "thread_count": settings.demand.thread_count,
        "queue_depth": settings.demand.queue_depth,
        "arrivals": arrival_label(settings.demand),
        "range_amount_bytes": settings.range_amount_bytes,
        "segment_count": settings.segment_count,
        "deviations": list(test.deviations),
    }
