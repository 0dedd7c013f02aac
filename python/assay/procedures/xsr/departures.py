"""How cross stimulus recovery departs from its edition."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.procedures.departures import TOLERANCE, deeper, other_range, shortened
from assay.results import ran_to_its_end
from assay.spec.units import HOUR_SECONDS, SECOND_NS, duration_label

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records import DriveIdentity, StoredTest
    from assay.procedures.xsr.edition import CrossStimulusTable
    from assay.procedures.xsr.settings import CrossStimulusSettings


def xsr_departures(
    settings: CrossStimulusSettings, table: CrossStimulusTable, drive: DriveIdentity, test: StoredTest | None
) -> Iterator[str]:
    """How cross stimulus recovery departs from its edition."""
    samples = test.steps("group") if test else None
    yield from shortened("samples", settings.sample_ns, table.sample_seconds.value, samples)
    lines = _shorter_groups(settings, table, test)
    yield from dict.fromkeys(lines)
    yield from other_range(settings, table.test_range.value, drive)
    yield from deeper(settings, samples or ())


def _shorter_groups(
    settings: CrossStimulusSettings, table: CrossStimulusTable, test: StoredTest | None
) -> Iterator[str]:
    for index, (group, datum) in enumerate(zip(settings.groups, table.groups.value, strict=False), 1):
        asked_ns, shown_ns = round(datum.hours * HOUR_SECONDS * SECOND_NS), group.span_ns
        if test is not None:
            ran_ns = sum(step.span_ns for step in test.steps("group", index))
            if not ran_to_its_end(test) or ran_ns >= asked_ns * (1 - TOLERANCE):
                continue
            shown_ns = group.span_ns if abs(group.span_ns - ran_ns) <= settings.sample_ns else ran_ns
        if shown_ns != asked_ns:
            yield f"{group.label} for {duration_label(shown_ns)} instead of {duration_label(asked_ns)}"
