"""The words that limits may name: numbers, health values, kinds of findings, tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.procedures.registry import SHIPPED, known_studies, known_tests
from assay.summary.measures import MEASURE_KEYS

if TYPE_CHECKING:
    from collections.abc import Iterable

TEMPERATURE = "temperature_c"
HEALTH_NAMES = (
    TEMPERATURE,
    "wear_used_pct",
    "critical_warning",
    "available_spare_pct",
    "media_errors",
    "error_log_entries",
    "unsafe_shutdowns",
    "warning_temperature_minutes",
    "critical_temperature_minutes",
    "host_read_bytes",
    "host_written_bytes",
    "power_on_hours",
    "power_cycles",
    "grown_defects",
)
"""Of the drive's condition, as it is stored around each test."""
FINDING_KINDS = (
    "ended early",
    "withheld",
    "warning",
    "void",
    "drive event",
    "host",
    "moved",
    "check",
    "not run",
    "deviation",
    "resumed",
)
"""As in the list of findings."""

__all__ = [
    "FINDING_KINDS",
    "HEALTH_NAMES",
    "MEASURE_KEYS",
    "TEMPERATURE",
    "is_shipped_test",
    "is_test_name",
    "names_of_tests",
]


def names_of_tests() -> list[str]:
    """Every test and study as runs name them."""
    return _labels((*known_tests(), *known_studies()))


def is_test_name(name: str) -> bool:
    """Whether a run may have a test of this name: a test, or one with what follows it, as in ``tp-1024``, ``iops-2``.

    Worked: ``tp-1024`` -> yes; ``tpp`` -> no.
    """
    return _is_of(name, (*known_tests(), *known_studies()))


def is_shipped_test(name: str) -> bool:
    """Whether a test of this name is one of this package, whose numbers have the names in ``MEASURE_KEYS``."""
    return _is_of(name, SHIPPED)


def _is_of(name: str, names: Iterable[str]) -> bool:
    known, name = set(_labels(names)), name.casefold()
    while name not in known and "-" in name:
        name = name.rpartition("-")[0]
    return name in known


def _labels(names: Iterable[str]) -> list[str]:
    return [f"study-{name}" if name in known_studies() else name for name in names]
