"""Checks of what went on during each test, what the kernel said of its drive, and what the test made of the drive."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.pages.model import Table
from assay.pages.printed import NOT_APPLICABLE, UNKNOWN, paragraph, printable
from assay.window import disturbs, run_checks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.pages.model import Entry
    from assay.pages.sheets import Sheets
    from assay.records import DriveCondition, StoredRun, StoredTest

# Programs of each test that are named; the journal has them all.
_EVENT_ROWS = 12
# Counts that move in every test say nothing of the drive's health.
_MOVING = {"host_read_bytes", "host_written_bytes", "power_on_hours"}


def run_checks_table(tests: Sequence[Sheets]) -> Table:
    """Lay out the checks during the tests: a row per check, a column per test."""
    found = [_answers(one) for one in tests]
    rows = tuple((*same[0][0], *(answer for _, answer in same)) for same in zip(*found, strict=True))
    names = (one.test.settings.test.upper() for one in tests)
    notes = ("An invalid check withholds the results of its test; what is void for a reset is in no result anyway.",)
    return Table(caption="Checks during the tests", columns=("No.", "Check", "Passes", *names), rows=rows, notes=notes)


def _answers(sheets: Sheets) -> list[tuple[tuple[str, str, str], str]]:
    # One with faults is watched like a real drive.
    simulated = sheets.run.identity.kind == "simulated" and not sheets.run.identity.faults
    return [
        (
            (one.number, one.title, one.limit),
            f"{NOT_APPLICABLE}: simulated drive" if simulated else f"{one.level}: {paragraph(one.evidence)}",
        )
        for one in run_checks(sheets.test)
    ]


def event_tables(name: str, test: StoredTest) -> tuple[Table, ...]:
    """Lay out what the kernel's log said of the drive, where it said something."""
    rows = tuple(_event_rows(test))[:_EVENT_ROWS]
    columns = ("Program", "Step", "Level", "Line of the kernel's log", "Times", "Outcome")
    return (
        (Table(caption=f"{name}: what the kernel's log said of the drive", columns=columns, rows=rows),) if rows else ()
    )


def _event_rows(test: StoredTest) -> Iterator[tuple[str, ...]]:
    for program in test.programs:
        for step in program.steps:
            for event in step.drive_events:
                void = disturbs(event) and program.on_void != "accept"
                yield (
                    program.name,
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
        (test.settings.test.upper(), "; ".join(f"{name} {before} / {after}" for name, before, after in changes))
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
