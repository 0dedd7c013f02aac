"""The checks of a run as tables, what the kernel said of its drive, and what a test made of the drive."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assay.results.events import disturbs
from assay.results.stimulus_steps import asked_steps
from assay.results.stimulus_time import larger_lead_ins
from assay.spec.units import MILLISECOND_NS
from assay.summary.pages.model import Table, column_levels, with_values
from assay.words.printed import UNKNOWN, paragraph, printable
from assay.words.text import text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.engine.records import DriveCondition, StoredRun, StoredTest
    from assay.results.finding import Checked
    from assay.results.finding import Level as CheckLevel
    from assay.summary.pages.model import Entry
    from assay.summary.pages.test_record import TestRecord
    from assay.summary.record import Level

# Sequences of each test that are named; the journal has them all.
_EVENT_ROWS = 12
# Counts that move in every test say nothing of the drive's health.
_MOVING = {"host_read_bytes", "host_written_bytes", "power_on_hours"}
_OPEN = ("Test", "Check", "Passes", "Level", "Beyond", "Worst", "Limit", "Where", "Finding")
_NOTES = (
    """The worst step or sequence of each check is shown; at most the limit passes. An invalid check withholds the
    results of its test; a warning is no error of the drive. What is void for a reset is in no result anyway. Counters
    of the kernel are exact over a sequence; at the boundary of a step they may differ by what is in flight.""",
    """Drawn shares (reads, sizes) are held against chance, in standard deviations (s.d.). Little's law: IOPS x mean
    response time is the mean of outstanding I/Os; unknown where 0.5 % of their time or more crosses its ends.""",
    """Where a step differs from the previous step, its window opens when the last I/O of that step completes
    (lead-in). A lead-in above twice the typical response time before it and 5 % of the window hides part of the
    change from the rate.""",
)


def checks_table(caption: str, checks: Sequence[Checked], notes: Sequence[str] = ()) -> Table:
    """Lay out checks, a row each. Worked: 30 merges in one sequence print ``WARN``, ``1 of 10``, ``30``, ``0``."""
    return Table(
        caption=caption,
        columns=("No.", "Check", "Passes", "Level", "Beyond", "Worst", "Limit", "Where", "Finding"),
        rows=tuple(_row(check) for check in checks),
        notes=tuple(paragraph(note) for note in notes),
        levels=_levels(checks),
    )


def _levels(checks: Sequence[Checked]) -> tuple[tuple[int, int, Level], ...]:
    """Of the column of levels, which both tables of checks have in one place."""
    return column_levels(_OPEN.index("Level"), (CHECK_LEVELS[check.level] for check in checks))


def test_tables(test_record: TestRecord) -> tuple[Table, ...]:
    """Lay out every check of one test for the screen: what is open, then folds of those that passed and the like."""
    name, found = test_record.label, test_record.checks
    counts = "; ".join(f"{len(of)} {_SAID[level]}" for level, of in _settled(found).items())
    larger = larger_lead_ins(tuple(asked_steps(test_record.test)))
    notes = (f"{counts}.", *_NOTES, *((text(larger),) if larger else ()))
    folds = (
        replace(checks_table(f"{name}: {len(of)} checks that {_SAID[level]}", of), folded=True)
        for level, of in _settled(found).items()
    )
    shown = checks_table(f"{name}: checks beyond their limit or unknown", _open(found), notes)
    if not shown.rows:
        shown = replace(shown, columns=("Check",), rows=(("none",),))
    return (shown, *folds)


def printed_checks(tests: Sequence[TestRecord]) -> Table:
    """Lay out the checks of all tests for paper: a row for each that is beyond its limit or unknown; counts below.

    Where there is none, every check by test instead.
    """
    larger = ((test, larger_lead_ins(tuple(asked_steps(test.test)))) for test in tests)
    own = [f"{one.label}: {text(note)}" for one, note in larger if note]
    listed = [(test, check) for test in tests for check in _open(test.checks)]
    rows = tuple((test.label, *_row(check)[1:]) for test, check in listed)
    notes = (f"{'; '.join(map(_counted, tests))}.", *_NOTES, *own)
    if not rows:
        every = checks_by_test(tests)
        return replace(every, notes=tuple(map(paragraph, (*every.notes, *notes))))
    caption = "Checks beyond their limit or unknown"
    levels = _levels([check for _, check in listed])
    printed = tuple(map(paragraph, notes))
    table = Table(caption=caption, columns=_OPEN, rows=rows, notes=printed, levels=levels)
    return with_values(table, kept=("Level",))


def checks_by_test(tests: Sequence[TestRecord]) -> Table:
    """Lay out what is checked, a row each, with how each test came out; empty where a test has no such check."""
    result = [{checked.check.title: checked for checked in test.checks} for test in tests]
    titles = {title: one for checks in result for title, one in checks.items()}
    rows = tuple(
        (title, one.check.passes, *(level_text(checks[title].level) if title in checks else "" for checks in result))
        for title, one in titles.items()
    )
    columns = ("Check", "Passes", *(test.label for test in tests))
    note = "Every limit and value: see the HTML report and results.json."
    levels = tuple(
        (line, place, CHECK_LEVELS[checks[title].level])
        for line, title in enumerate(titles)
        for place, checks in enumerate(result, 2)
        if title in checks
    )
    return Table(caption="What is checked", columns=columns, rows=rows, notes=(note,), levels=levels)


def _counted(test_record: TestRecord) -> str:
    """Worked: ``"IOPS: 20 passed, 11 do not apply"``."""
    counts = ", ".join(f"{len(same)} {_SAID[level]}" for level, same in _settled(test_record.checks).items())
    return f"{test_record.label}: {counts or 'none passed'}"


CHECK_LEVELS: dict[CheckLevel, Level] = {
    "pass": "good", "warn": "warn", "invalid": "bad", "n/a": "unknown", "unknown": "unknown",
}  # fmt: skip
"""What colours of checks follow."""
_SAID: dict[CheckLevel, str] = {"pass": "passed", "n/a": "do not apply"}


def _settled(checks: Sequence[Checked]) -> dict[CheckLevel, list[Checked]]:
    """The checks that passed, and those that do not apply."""
    groups = {level: [check for check in checks if check.level == level] for level in _SAID}
    return {level: same for level, same in groups.items() if same}


def _open(checks: Sequence[Checked]) -> list[Checked]:
    return [check for check in checks if check.level not in _SAID]


def level_text(level: CheckLevel) -> str:
    """A level as printed: what is beyond its limit is written large."""
    return level.upper() if level in {"warn", "invalid"} else level


def _row(one: Checked) -> tuple[str, ...]:
    check, found = one.check, one.finding
    beyond = f"{one.marked:,} of {one.judged:,}" if one.judged > 1 else ""
    worst, limit = (figure_text(value, check.unit) for value in (found.measured, found.limit))
    place, reason = str(found.where), paragraph(found.words)
    return (check.number, check.title, check.passes, level_text(found.level), beyond, worst, limit, place, reason)


def figure_text(value: float | None, unit: str) -> str:
    """The figure of a check as printed; empty where it has none. Worked: 0.0062 as ``share`` -> ``"0.62%"``."""
    if value is None or not unit:
        return ""
    match unit:
        case "share":
            return f"{value:z.2%}"
        case "ms":
            return f"{value / MILLISECOND_NS:z,.3f} ms"
        case "sigma":
            return f"{value:z.2f} s.d." if value else "0"
        case _:
            return f"{value:z,.6g}" if unit == "size" else f"{value:,.0f}"


def event_tables(name: str, test: StoredTest) -> tuple[Table, ...]:
    """Lay out what the kernel's log said of the drive, where it said something."""
    rows = tuple(_event_rows(test))[:_EVENT_ROWS]
    columns = ("Sequence", "Step", "Level", "Line of the kernel's log", "Times", "Outcome")
    return (Table(caption=f"{name}: kernel log lines about the drive", columns=columns, rows=rows),) if rows else ()


def _event_rows(test: StoredTest) -> Iterator[tuple[str, ...]]:
    for sequence in test.sequences:
        for step in sequence.steps:
            for event in step.drive_events:
                void = disturbs(event) and sequence.on_void != "accept"
                yield (
                    sequence.name,
                    paragraph(step.label),
                    str(event.level),
                    paragraph(event.text),
                    f"{event.count:,}",
                    "void: enters no verdict and no result" if void else "marked" if disturbs(event) else "harmless",
                )


def condition_table(run: StoredRun) -> Table | None:
    """Lay out what each test changed in the condition of the drive; None where none is known to have changed it.

    Worked: 31 degrees before a test and 45 behind it -> ``("IOPS", "temperature 31 °C / 45 °C")``.
    """
    rows = [
        (test.settings.test_label, "; ".join(f"{name} {before} / {after}" for name, before, after in changes))
        for test in run.tests
        if (changes := tuple(_changes(test)))
    ]
    if not rows:
        return None
    caption = "Condition of the drive before / after each test, where it differs"
    return Table(caption=caption, columns=("Test", "Condition of the drive before / after"), rows=tuple(rows))


def _changes(test: StoredTest) -> Iterator[tuple[str, str, str]]:
    if not test.conditions[1:]:
        return
    before, after = dict(_facts(test.conditions[0])), dict(_facts(test.conditions[-1]))
    for name in dict.fromkeys((*before, *after)):
        pair = before.get(name, UNKNOWN), after.get(name, UNKNOWN)
        if pair[0] != pair[1]:
            yield name, *pair


def _facts(condition: DriveCondition) -> Iterator[Entry]:
    if condition.link is not None:
        yield "link", printable(condition.link)
    if condition.temperature_c is not None:
        yield "temperature", f"{condition.temperature_c:g} \u00b0C"
    if condition.wear_used_pct is not None:
        yield "wear used", f"{condition.wear_used_pct:g} %"
    if condition.state_hash:
        yield "drive state", condition.state_hash[:12]
    for name, count in condition.health.items():
        if name not in _MOVING:
            yield name.replace("_", " "), f"{count:,}"
