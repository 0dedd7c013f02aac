"""Departures from an edition that a stored run shows by itself, whatever its own list of deviations says.

The planner lists what it chose; this reads what ran: lengths of steps, what preconditioning wrote, and the settings
that each test stored. Both use the same words, so that nothing is listed twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.pages.printed import capacity_label, percent
from assay.procedures.loop.open_loop import arrival_label
from assay.profile import is_shipped, stored_profile
from assay.records import (
    CrossStimulusSettings,
    DemandSettings,
    IdleRecoverySettings,
    LoopSettings,
    SaturationSettings,
    StudySettings,
)
from assay.units import GB, GIB, HOUR_SECONDS, KIB, SECOND_NS, duration_label
from assay.window import effective_queue_depth, issued_bytes, kept_histograms
from assay.window.stimulus_asked import asked_steps
from assay.window.stimulus_time import short_windows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from assay.profile import (
        CrossStimulusProfile,
        DemandProfile,
        IdleRecoveryProfile,
        LoopProfile,
        Profile,
        RangeDatum,
        SaturationProfile,
    )
    from assay.records import Demand, DriveIdentity, StepRecord, StoredRun, StoredTest

TOLERANCE = 0.005
"""A step that is shorter than the edition's by more than this share is a deviation, as in the check of durations."""

DEPTH_TOLERANCE = 0.02
"""Mean outstanding I/Os may lie so far above what was asked for."""

_WHOLE = {"steady", "round-limit", "time", "amount"}


def derived_deviations(run: StoredRun) -> tuple[str, ...]:
    """Every departure that the stored tests of a run show, once, in the order of the tests.

    Worked: a run whose cells took 0.6 s of an edition's minute -> ``"cells of 0.6 s instead of 1 min"``, also where the
    run says that they took a minute.
    Raises StoreError where the run's edition is not one of this version.
    """
    profile = stored_profile(run.profile)
    found = [line for test in run.tests for line in _of_test(test, profile, run.identity)]
    if run.tests and not is_shipped(profile):
        found.insert(0, f"profile {profile.name} of one's own instead of a shipped edition")
    return tuple(dict.fromkeys(found))


def _of_test(test: StoredTest, profile: Profile, drive: DriveIdentity) -> Iterator[str]:
    settings = test.settings
    match settings:
        case LoopSettings():
            yield from _loop(test, settings, getattr(profile, settings.test.partition("-")[0]), drive)
        case SaturationSettings():
            yield from _saturation(test, settings, profile.wsat, drive)
        case IdleRecoverySettings() if profile.hir:
            yield from _idle_recovery(test, settings, profile.hir, drive)
        case CrossStimulusSettings() if profile.xsr:
            yield from _cross_stimulus(test, settings, profile.xsr, drive)
        case DemandSettings() if edition := profile.dirth if settings.name == "DIRTH" else profile.ecw:
            yield from _demand(test, settings, edition, drive)
        case StudySettings():
            yield f"study {settings.test.removeprefix('study-')} is no test of the specification"
        case _:
            yield f"{settings.test} is no test of {profile.title}"
    yield from _common(test, profile, drive)
    yield from _short_windows(test)


def _short_windows(test: StoredTest) -> Iterator[str]:
    """Windows in which fewer I/Os completed than were outstanding: their rate rests on too few."""
    found = short_windows(tuple(asked_steps(test)))
    if found:
        fewest, where = min((count, where) for where, count in found.items())
        number = "1 window" if len(found) == 1 else f"{len(found)} windows"
        least = f"the least {fewest} in {where}"
        yield f"short window: {number} of {test.settings.test} with fewer completions than I/Os outstanding, {least}"


def _common(test: StoredTest, profile: Profile, drive: DriveIdentity) -> Iterator[str]:
    settings = test.settings
    if settings.data.kind != profile.data_pattern.value:
        yield f"data pattern {settings.data.kind} instead of {profile.data_pattern.value}"
    if drive.write_cache != profile.write_cache.value:
        yield f"write cache {drive.write_cache}, the edition asks for {profile.write_cache.value}"
    if drive.faults:
        yield f"injected faults: {drive.faults_label}"
    if test.purge is None and test.ended in _WHOLE:
        yield f"no purge of {settings.test} is recorded"


def _loop(test: StoredTest, settings: LoopSettings, edition: LoopProfile, drive: DriveIdentity) -> Iterator[str]:
    cells = test.steps("round")
    yield from _shorter("cells", cells, settings.step_ns, edition.step_seconds.value)
    yield from _range(settings.range_amount_bytes, settings.segment_count, edition.test_range.value, drive)
    if settings.round_limit != edition.round_limit.value:
        yield f"at most {settings.round_limit} rounds instead of {edition.round_limit.value}"
    demand, asked = settings.demand, edition.demand.value.to_demand()
    if settings.test == "lat" and (demand.thread_count, demand.queue_depth) != (asked.thread_count, asked.queue_depth):
        yield f"latency at TC {demand.thread_count} x QD {demand.queue_depth}"
    if (arrivals := arrival_label(demand)) is not None:
        yield f"open loop: {arrivals}, at most {demand.thread_count * demand.queue_depth} outstanding"
    yield from _histogram(test, edition.histogram_seconds.value if edition.histogram_seconds else 0)
    yield from _deeper(settings.test, cells, demand)
    yield from _limits(settings, edition)
    yield from _other_cells(settings, edition)
    yield from _preconditioned(test, edition.preconditioning_multiple.value * drive.capacity_bytes)


def _other_cells(settings: LoopSettings, edition: LoopProfile) -> Iterator[str]:
    """Mixes, sizes and tracking cells that the edition has and the test left out; throughput runs a size at a time."""
    known = {*settings.sizes_bytes, *settings.not_applicable}
    sizes = {int(kib * KIB) for kib in edition.block_kib.value}
    missing = set(edition.read_pct.value) - set(settings.read_pcts)
    if missing or (not settings.test.startswith("tp-") and sizes - known):
        yield f"{settings.test} without {len(missing)} of the edition's mixes and {len(sizes - known)} of its sizes"
    tracked = {cell.to_cell() for cell in edition.tracking.value if int(cell.block_kib * KIB) in settings.sizes_bytes}
    if tracked - set(settings.tracking):
        yield f"{settings.test} tracks {len(settings.tracking)} cells instead of {len(tracked)}"


def _preconditioned(test: StoredTest, asked_bytes: float) -> Iterator[str]:
    written = sum(issued_bytes(step.write) for step in test.preconditioning)
    if test.ended in _WHOLE and written < asked_bytes * (1 - TOLERANCE):
        yield f"preconditioning of {capacity_label(written)} instead of {asked_bytes / GB:,.2f} GB"


def _saturation(
    test: StoredTest, settings: SaturationSettings, edition: SaturationProfile, drive: DriveIdentity
) -> Iterator[str]:
    samples = test.steps("sample")
    yield from _shorter("samples", samples, settings.sample_ns, edition.sample_seconds.value)
    yield from _histogram(test, edition.histogram_seconds.value)
    if settings.stop != edition.stop.value:
        yield f"write saturation ended by {settings.stop} instead of {edition.stop.value}"
    asked_ns = round(edition.time_hours.value * HOUR_SECONDS * SECOND_NS)
    if settings.stop in {"first", "time"} and settings.time_ns != asked_ns:
        yield f"write saturation for {duration_label(settings.time_ns)} instead of {duration_label(asked_ns)}"
    multiple = edition.amount_multiple.value
    if settings.stop in {"first", "amount"} and settings.amount_bytes != round(multiple * drive.capacity_bytes):
        yield f"write saturation to {settings.amount_bytes / drive.capacity_bytes:g}X capacity instead of {multiple:g}X"
    yield from _range(settings.range_amount_bytes, None, edition.test_range.value, drive)
    yield from _deeper(settings.test, samples, settings.demand)
    yield from _limits(settings, edition)


def _idle_recovery(
    test: StoredTest, settings: IdleRecoverySettings, edition: IdleRecoveryProfile, drive: DriveIdentity
) -> Iterator[str]:
    asked = edition.preconditioning.sample_seconds.value
    yield from _shorter("preconditioning samples", test.steps("sample"), settings.preconditioning.sample_ns, asked)
    bursts, idles = _bursts_and_idles(test, settings)
    yield from _shorter("bursts", bursts, settings.burst_ns, edition.burst_seconds.value)
    yield from _shorter("first idle times", idles, settings.idles_ns[0], edition.idle_seconds.value[0])
    if settings.cycles < edition.cycles.value:
        yield f"{settings.cycles} bursts of a wait state instead of {edition.cycles.value}"
    yield from _range(settings.range_amount_bytes, None, edition.test_range.value, drive)
    yield from _deeper(settings.test, bursts, settings.demand)


def _bursts_and_idles(
    test: StoredTest, settings: IdleRecoverySettings
) -> tuple[list[StepRecord], tuple[StepRecord, ...]]:
    """Every burst, and the idle times of the first wait state."""
    bursts: list[StepRecord] = []
    waits = 2 * settings.cycles
    states = [test.steps("segment", place) for place in range(1, len(settings.wait_states) + 1)]
    for steps in states:
        bursts += [*steps[:waits:2], *steps[waits:]]
    return bursts, states[0][1:waits:2] if states else ()


def _cross_stimulus(
    test: StoredTest, settings: CrossStimulusSettings, edition: CrossStimulusProfile, drive: DriveIdentity
) -> Iterator[str]:
    yield from _shorter("samples", test.steps("group"), settings.sample_ns, edition.sample_seconds.value)
    for index, (group, datum) in enumerate(zip(settings.groups, edition.groups.value, strict=False), 1):
        ran_ns = sum(step.span_ns for step in test.steps("group", index))
        asked_ns = round(datum.hours * HOUR_SECONDS * SECOND_NS)
        if test.ended in _WHOLE and ran_ns < asked_ns * (1 - TOLERANCE):
            shown_ns = group.span_ns if abs(group.span_ns - ran_ns) <= settings.sample_ns else ran_ns
            yield f"{group.label} for {duration_label(shown_ns)} instead of {duration_label(asked_ns)}"
    yield from _range(settings.range_amount_bytes, None, edition.test_range.value, drive)
    yield from _deeper(settings.test, test.steps("group"), settings.demand)


def _demand(test: StoredTest, settings: DemandSettings, edition: DemandProfile, drive: DriveIdentity) -> Iterator[str]:
    before = settings.pre_write_samples
    writes = [*test.steps("sample"), *test.steps("pre-write")]
    writes += [step for round_ in test.rounds for step in round_.cells[:before]]
    cells = [step for round_ in test.rounds for step in round_.cells[before:]]
    points = [step for one in test.stage("point") for step in one.steps[1:]]
    asked = edition.preconditioning.sample_seconds.value
    yield from _shorter("preconditioning and pre-write samples", writes, settings.sample_ns, asked)
    yield from _shorter("cells", cells, settings.cell_ns, edition.cell_seconds.value)
    yield from _shorter("operating points", points, settings.capture_ns, edition.capture_seconds.value)
    grid = {(tc, qd) for tc in edition.thread_counts.value for qd in edition.queue_depths.value}
    if {(one.thread_count, one.queue_depth) for one in settings.grid} != grid:
        yield f"a grid of {len(settings.grid)} demands of one's own instead of {len(grid)}"
    if settings.tracking != edition.tracking.value.to_demand():
        yield f"steady state tracked at TC {settings.tracking.thread_count} x QD {settings.tracking.queue_depth}"
    if settings.round_limit != edition.round_limit.value:
        yield f"at most {settings.round_limit} rounds instead of {edition.round_limit.value}"
    if settings.art_limit_ms != edition.art_limit_ms.value:
        limit = edition.art_limit_ms.value
        yield f"Max point below {settings.art_limit_ms:g} ms on average instead of {limit:g} ms"
    yield from _range(settings.range_amount_bytes, None, edition.test_range.value, drive)
    yield from _limits(settings, edition)


def _shorter(what: str, steps: Iterable[StepRecord], planned_ns: int, asked_seconds: float) -> Iterator[str]:
    """Say that the shortest of some steps is shorter than the edition's; as planned where it is, else as it ran."""
    asked_ns = round(asked_seconds * SECOND_NS)
    shortest = min((step.span_ns for step in steps if step.ended == "stop-rule"), default=asked_ns)
    if shortest < asked_ns * (1 - TOLERANCE):
        shown_ns = planned_ns if abs(shortest - planned_ns) <= planned_ns * TOLERANCE else shortest
        yield f"{what} of {duration_label(shown_ns)} instead of {duration_label(asked_ns)}"


def _histogram(test: StoredTest, asked_seconds: float) -> Iterator[str]:
    asked_ns = round(asked_seconds * SECOND_NS)
    if not asked_ns or test.ended not in _WHOLE:
        return
    steps = [step for one in kept_histograms(test) for step in one.steps]
    if not steps:
        yield f"no response-time histogram, the edition has one of {duration_label(asked_ns)}"
    yield from _shorter("response-time histogram", steps, test.settings.histogram_ns, asked_seconds)


def _deeper(test: str, steps: Sequence[StepRecord], demand: Demand) -> Iterator[str]:
    asked = demand.thread_count * demand.queue_depth
    deepest = max((effective_queue_depth(step) for step in steps), default=0.0)
    if deepest > asked * (1 + DEPTH_TOLERANCE):
        yield f"{test}: {deepest:.4g} I/Os outstanding in the mean instead of {asked}"


def _limits(
    settings: LoopSettings | SaturationSettings | DemandSettings,
    edition: LoopProfile | SaturationProfile | DemandProfile,
) -> Iterator[str]:
    used = settings.range_limit, settings.slope_limit
    asked = edition.range_limit.value, edition.slope_limit.value
    if used != asked:
        both, instead = (" and ".join(percent(share) for share in pair) for pair in (used, asked))
        yield f"{settings.test}: steady within {both} instead of {instead}"


def _range(amount_bytes: int, segments: int | None, datum: RangeDatum, drive: DriveIdentity) -> Iterator[str]:
    if datum.amount_gib is None:
        share, asked = amount_bytes / drive.capacity_bytes, datum.share or 1.0
        # Rounding down to blocks takes less than one.
        if amount_bytes + drive.logical_block_bytes <= asked * drive.capacity_bytes:
            yield f"test range of {share * 100:.4g} % of the drive instead of {percent(asked)}"
    elif segments != datum.segment_count or amount_bytes < datum.amount_gib * GIB:
        yield (
            f"test range of {amount_bytes / GIB:g} GiB in {segments} segments "
            f"instead of {datum.amount_gib:g} GiB in {datum.segment_count}"
        )
