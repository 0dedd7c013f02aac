"""The method of a run: one matrix of parameter and test, the deviations, platform and drive."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.procedures.conformity_label import deviations
from assay.report.annex.disclosure import drive_entries, platform_entries, settings_entries
from assay.spec.units import duration_label
from assay.words.printed import UNKNOWN, paragraph

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from assay.engine.records import StoredRun
    from assay.summary.pages.model import Entry
    from assay.summary.pages.test_report import TestReport


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A row of the matrix. values : one for each test, empty where it has none. shared : that of all, where it is."""

    name: str
    values: tuple[str, ...]

    @property
    def shared(self) -> str:
        """The value of all tests; empty where they differ. Worked: PTS-C 1.0 in each of four -> ``"PTS-C 1.0"``."""
        return self.values[0] if len(set(self.values)) == 1 else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodPage:
    """How the run was made. tests : labels. drive, platform : name and value of what is known."""

    tests: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    deviations: tuple[str, ...]
    drive: tuple[Entry, ...]
    platform: tuple[Entry, ...]


def method_page(run: StoredRun, tests: Sequence[TestReport]) -> MethodPage:
    """Lay out the method of a run.

    Worked: a client suite -> a column for each of four tests, a row for each parameter that any of them has.
    """
    return MethodPage(
        tests=tuple(test.label for test in tests),
        parameters=_parameters([dict(_of_test(test)) for test in tests]),
        deviations=deviations(run),
        drive=_known(drive_entries(run)),
        platform=_known(platform_entries(run)),
    )


def _of_test(report: TestReport) -> tuple[Entry, ...]:
    """Purge, outline and settings, as they ran."""
    purge = report.test.purge
    purged = (("Purge", f"{paragraph(purge.method)}, {duration_label(purge.span_ns)}"),) if purge else ()
    return (*purged, *settings_entries(report), ("Extent", paragraph(report.facts.extent)))


def _parameters(tests: Sequence[dict[str, str]]) -> tuple[Parameter, ...]:
    """A row for each name, in the order in which they come, those that all tests share first."""
    names = dict.fromkeys(name for test in tests for name in test)
    rows = [Parameter(name=name, values=tuple(test.get(name, "") for test in tests)) for name in names]
    return tuple(sorted(rows, key=lambda row: not row.shared))


def _known(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    return tuple((name, value) for name, value in entries if value != UNKNOWN)
