"""Which runs of a list are wanted: what a user filters by."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Literal

from assay.errors import UsageError
from assay.summary.forms import GROUPS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from assay.summary.forms import LabelClass, ListedRun, ListedTest, Verdict

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_REMEDY = "give a day such as 2026-11-22, or an instant such as 2026-11-22T14:30, in UTC"
UNREADABLE: Literal["unreadable"] = "unreadable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a run must be: of each field one of its words; a field without any asks for nothing.

    drives, models, hosts, firmwares, names : found anywhere in the text, whatever the case. tags, tests, editions :
    the whole word, whatever the case. verdicts : of a test, or that the folder cannot be read.
    since_ns, until_ns : when the run began, since inclusive and until exclusive.
    What is asked of tests must hold of one and the same test.
    """

    drives: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    firmwares: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    editions: tuple[str, ...] = ()
    verdicts: tuple[Verdict | Literal["measured", "unreadable"], ...] = ()
    labels: tuple[LabelClass, ...] = ()
    since_ns: int | None = None
    until_ns: int | None = None

    @property
    def all_verdicts(self) -> tuple[str, ...]:
        """Those that are asked for, with all of each group."""
        return tuple(one for name in self.verdicts for one in GROUPS.get(name, (name,)))

    def __call__(self, run: ListedRun) -> bool:
        """Whether a run is wanted."""
        return self._is_of_time(run) and self._is_of_run(run) and self._is_of_tests(run)

    def _is_of_time(self, run: ListedRun) -> bool:
        if self.since_ns is None and self.until_ns is None:
            return True
        began = run.started_wall_ns
        if began is None:
            return False
        return (self.since_ns or 0) <= began and (self.until_ns is None or began < self.until_ns)

    def _is_of_run(self, run: ListedRun) -> bool:
        drive = run.drive_facts
        return (
            _found(self.drives, (run.drive, drive.id, drive.serial) if drive else (run.drive,))
            and _found(self.models, (drive.model,) if drive else ())
            and _found(self.firmwares, (drive.firmware,) if drive else ())
            and _found(self.hosts, (run.host, run.system, run.lab))
            and _found(self.names, (run.name,))
            and _equal(self.tags, run.tags)
            and _equal(self.labels, (run.label_class,))
        )

    def _is_of_tests(self, run: ListedRun) -> bool:
        if not (self.tests or self.editions or self.verdicts):
            return True
        if run.fault is not None:
            return UNREADABLE in self.verdicts and not self.tests and not self.editions
        return any(map(self._is_of_test, run.tests))

    def _is_of_test(self, test: ListedTest) -> bool:
        return (
            _equal(self.tests, (test.test, test.procedure))
            and _equal(self.editions, (test.edition,))
            and _equal(self.all_verdicts, (test.verdict,))
        )


ANY = Wanted()
"""Every run is wanted."""


def since_ns(text: str | None) -> int | None:
    """The begin of what a user names, in ns since the Unix epoch. Raises UsageError where it names no time.

    Worked: ``1970-01-02`` -> 86,400 s in ns.
    """
    return None if text is None else _ns(_instant(text, "--since"))


def until_ns(text: str | None) -> int | None:
    """The first instant behind what a user names, a day with all its hours.

    Worked: ``1970-01-01`` -> 86,400 s in ns.
    """
    if text is None:
        return None
    instant = _instant(text, "--until")
    length = timedelta(days=1) if _DAY.fullmatch(text) else timedelta(microseconds=1)
    return _ns(instant) + length // timedelta(microseconds=1) * 1000


def _instant(text: str, option: str) -> datetime:
    try:
        result = datetime.fromisoformat(text)
        return result.astimezone(UTC) if result.tzinfo else result.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        raise UsageError(option, f"is {text!r}, which is no date", _REMEDY) from None


def _ns(instant: datetime) -> int:
    return (instant - _EPOCH) // timedelta(microseconds=1) * 1000


def _found(words: Sequence[str], texts: Iterable[str | None]) -> bool:
    """Whether one of the words is in one of the texts."""
    if not words:
        return True
    folded = [text.casefold() for text in texts if text]
    return any(word.casefold() in text for word in words for text in folded)


def _equal(words: Sequence[str], texts: Iterable[str]) -> bool:
    if not words:
        return True
    folded = {text.casefold() for text in texts}
    return any(word.casefold() in folded for word in words)
