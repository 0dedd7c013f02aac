"""How write saturation departs from its edition."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.procedures.departures import deeper, other_limits, other_range, short_histogram, shortened
from assay.spec.units import HOUR_SECONDS, SECOND_NS, duration_label

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records import DriveIdentity, StoredTest
    from assay.procedures.families.saturation.settings import SaturationSettings
    from assay.procedures.wsat.edition import SaturationTable


def wsat_departures(
    settings: SaturationSettings, table: SaturationTable, drive: DriveIdentity, test: StoredTest | None
) -> Iterator[str]:
    """How write saturation departs from its edition."""
    samples = test.steps("sample") if test else None
    yield from shortened("samples", settings.sample_ns, table.sample_seconds.value, samples)
    yield from short_histogram(settings, table.histogram_seconds.value, test)
    yield from _ended_elsewhere(settings, table, drive)
    yield from other_range(settings, table.test_range.value, drive)
    yield from deeper(settings, samples or ())
    yield from other_limits(settings, table)


_ENDS = {
    "first": "at the first of time, amount and the five-point rule",
    "time": "by time",
    "amount": "by the amount written",
    "steady": "by the five-point rule",
}


def _ended_elsewhere(settings: SaturationSettings, table: SaturationTable, drive: DriveIdentity) -> Iterator[str]:
    """Rules in force that end the test elsewhere than the edition's."""
    if settings.stop != table.stop.value:
        yield f"write saturation ends {_ENDS[settings.stop]} instead of {_ENDS[table.stop.value]}"
    limit_ns = round(table.time_hours.value * HOUR_SECONDS * SECOND_NS)
    if settings.stop in {"first", "time"} and settings.time_ns != limit_ns:
        yield f"write saturation for {duration_label(settings.time_ns)} instead of {duration_label(limit_ns)}"
    multiple = table.amount_multiple.value
    if settings.stop in {"first", "amount"} and settings.amount_bytes != round(multiple * drive.capacity_bytes):
        written = settings.amount_bytes / drive.capacity_bytes
        yield f"write saturation to {written:g}X capacity instead of {multiple:g}X"
