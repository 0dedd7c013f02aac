"""How many findings of a kind a run has, where somebody looked for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.compare.limits.model import LimitEntry
    from assay.summary.findings import Found
    from assay.summary.pages.test_report import TestReport


@dataclass(frozen=True, slots=True)
class Value:
    """A number to be judged. reason : why it may not be."""

    test: str
    where: str
    name: str
    unit: str
    value: float | None
    reason: str = ""


def counted(tests: Sequence[TestReport], findings: Sequence[Found], entry: LimitEntry) -> Value:
    """The count of a kind of finding, of a run or of one of its tests.

    None found where nobody watched decides nothing: the host beside a simulated drive, a kernel log that is not read.
    """
    name, wanted = f"findings: {entry.findings}", (entry.test or "").casefold()
    chosen = [test for test in tests if wanted in {"", test.name.casefold()}]
    if not chosen:
        return Value(wanted, "", name, "", None, no_such_test(tests))
    number = sum(
        finding.kind == entry.findings and (not wanted or finding.test.casefold() == wanted) for finding in findings
    )
    reason = "" if number else _unwatched(chosen, str(entry.findings))
    return Value(wanted, "", name, "", None if reason else float(number), reason)


def no_such_test(tests: Sequence[TestReport]) -> str:
    """Why there is nothing of a test that a run does not have."""
    return f"the run has no such test, but {', '.join(one.name.casefold() for one in tests)}"


def _unwatched(tests: Sequence[TestReport], kind: str) -> str:
    """Why a kind of finding cannot have been found; empty where it can."""
    sequences = [sequence for test in tests for sequence in test.test.sequences]
    if kind == "host" and any(sequence.host is None for sequence in sequences):
        return "the test system was not watched"
    if kind == "drive event" and any(sequence.drive is None or sequence.drive.log != "read" for sequence in sequences):
        return "the kernel's log of the drive was not read"
    return ""
