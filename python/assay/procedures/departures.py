"""How what a test was set to, or what ran of it, departs from its edition: the sentences that several tests share.

Before a run a test is asked with its settings alone; afterwards with what is stored of it, which then counts: lengths
of steps as they ran, amounts that were written. Both use the same words, so that nothing is listed twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from assay.results.ended import ran_to_its_end
from assay.results.measured import kept_histograms
from assay.results.step import effective_queue_depth
from assay.spec.units import GIB, SECOND_NS, duration_label
from assay.words.printed import percent

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from assay.engine.records import DriveIdentity, StepRecord, StoredTest, TestSettings
    from assay.spec.datum import Datum
    from assay.spec.edition import Edition, RangeDatum

TOLERANCE = 0.005
"""A step that is shorter than the edition's by more than this share is a deviation, as in the check of durations."""

DEPTH_TOLERANCE = 0.02
"""Mean outstanding I/Os may lie so far above what was asked for."""


class Limits(Protocol):
    """A table of an edition that has limits of the five-point rule."""

    range_limit: Datum[float]
    slope_limit: Datum[float]


def shortened(
    what: str, planned_ns: int, asked_seconds: float, ran: Iterable[StepRecord] | None = None
) -> Iterator[str]:
    """Say that steps have another length than the edition's; behind a run, that the shortest of them is shorter.

    ran : the steps, None before the run. The planned length is named where they kept to it, else that which they had.
    Worked: bursts of 5 s as they should be -> nothing; cells of 0.6 s -> ``"cells of 0.6 s instead of 1 min"``.
    """
    asked_ns = round(asked_seconds * SECOND_NS)
    if ran is None:
        shown_ns = planned_ns
    else:
        shortest = min((step.span_ns for step in ran if step.ended == "stop-rule"), default=asked_ns)
        kept = abs(shortest - planned_ns) <= planned_ns * TOLERANCE
        shown_ns = asked_ns if shortest >= asked_ns * (1 - TOLERANCE) else planned_ns if kept else shortest
    if shown_ns != asked_ns:
        yield f"{what} of {duration_label(shown_ns)} instead of {duration_label(asked_ns)}"


def short_histogram(settings: TestSettings, asked_seconds: float, test: StoredTest | None) -> Iterator[str]:
    """Say that the response-time histogram is shorter than the edition's, or missing."""
    asked_ns = round(asked_seconds * SECOND_NS)
    if not asked_ns or (test is not None and not ran_to_its_end(test)):
        return
    steps = (
        None if test is None else [step for kept_histogram in kept_histograms(test) for step in kept_histogram.steps]
    )
    if not steps and (steps is not None or not settings.histogram_ns):
        yield f"no response-time histogram; the edition requires {duration_label(asked_ns)}"
    elif steps is not None or settings.histogram_ns < asked_ns:
        yield from shortened("response-time histogram", settings.histogram_ns, asked_seconds, steps)


def deeper(settings: TestSettings, steps: Iterable[StepRecord]) -> Iterator[str]:
    """Say that more I/Os were outstanding than the test was set to."""
    asked = settings.demand.thread_count * settings.demand.queue_depth
    deepest = max((effective_queue_depth(step) for step in steps), default=0.0)
    if deepest > asked * (1 + DEPTH_TOLERANCE):
        yield f"{settings.test}: {deepest:.4g} I/Os outstanding in the mean instead of {asked}"


def other_limits(settings: TestSettings, table: Limits) -> Iterator[str]:
    """Say that steady state was judged by other limits than the edition's."""
    used = settings.range_limit, settings.slope_limit
    asked = table.range_limit.value, table.slope_limit.value
    if used != asked:
        both, instead = (" and ".join(percent(share) for share in pair) for pair in (used, asked))
        yield f"{settings.test}: steady within {both} instead of {instead}"


def other_rounds(round_limit: int, asked: int, round_least: int = 0) -> Iterator[str]:
    """Say that another number of rounds was allowed than the edition's, or that some were demanded."""
    if round_least:
        yield f"at least {round_least} rounds"
    if round_limit != asked:
        yield f"at most {round_limit} rounds instead of {asked}"


def other_range(settings: TestSettings, datum: RangeDatum, drive: DriveIdentity) -> Iterator[str]:
    """Say that the test range is smaller than the edition's, or in other segments."""
    amount_bytes, segments = settings.range_amount_bytes, settings.segment_count
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


def common_departures(settings: TestSettings, edition: Edition, drive: DriveIdentity) -> Iterator[str]:
    """Departures that any test can have: data pattern, write cache, injected faults, a file for a drive."""
    if not settings.purges:
        yield f"no purge of {settings.test}"
    if settings.data.kind != edition.data_pattern.value:
        yield _data_departure(settings.data.kind, edition.data_pattern.value)
    if drive.write_cache != edition.write_cache.value:
        yield f"write cache {drive.write_cache}, the edition asks for {edition.write_cache.value}"
    if drive.faults:
        yield f"injected faults: {drive.faults_label}"
    if drive.kind == "file":
        yield f"a {drive.file_label} instead of a block device"


def _data_departure(kind: str, asked: str) -> str:
    if kind == "stamped":
        made = "16 of every 512 bytes are fresh in each write, the others repeat"
        return f"data pattern stamped: {made}, instead of {asked}"
    return f"data pattern {kind} instead of {asked}"
