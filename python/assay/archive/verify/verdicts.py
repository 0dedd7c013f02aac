"""Rules of what a run concluded: settings, sequences, verdicts, ends, deviations and the exit code."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

from assay.archive.verify.replay import replay
from assay.archive.verify.rule import Broken
from assay.plan.procedure import Context
from assay.results.outcome import stored_exit_codes
from assay.results.stall import stalled_steps
from assay.run.store import JOURNAL_NAME
from assay.run.store.journal import RESUMED, RUN_ENDED

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.archive.verify.evidence import Evidence
    from assay.archive.verify.replay import Difference, Subject
    from assay.engine.records import TestSettings
    from assay.run.store.journal import Entry


def settings(evidence: Evidence) -> Iterator[Broken]:
    """The tests are those of the plan, with the settings that plan, edition and drive give."""
    planned, stored, document = evidence.planned.tests, evidence.run.tests, evidence.document
    if (seed := document.plan.get("seed")) != document.seed:
        yield Broken(place="run.json: seed", found=str(document.seed), expected=f"{seed} of its plan")
    for place, test in enumerate(stored):
        expected = planned[place].settings if place < len(planned) else None
        if test.settings != expected:
            found, wanted = _difference(test.settings, expected)
            yield Broken(place=f"test {place + 1}: {test.settings.test}", found=found, expected=wanted)
    if evidence.ran_to_its_end and len(stored) < len(planned):
        names = ", ".join(one.settings.test for one in planned[len(stored) :])
        yield Broken(place="run", found=f"ended after {len(stored)} tests", expected=f"{names} as well")


def _difference(test_settings: TestSettings, expected: TestSettings | None) -> tuple[str, str]:
    """The first setting that differs."""
    if expected is None or type(test_settings) is not type(expected):
        return test_settings.test, "no such test" if expected is None else expected.test
    name = next(
        name
        for name in (field.name for field in fields(test_settings))
        if getattr(test_settings, name) != getattr(expected, name)
    )
    return f"{name} {getattr(test_settings, name)!r:.200}", f"{name} {getattr(expected, name)!r:.200}"


def deviations(evidence: Evidence) -> Iterator[Broken]:
    """The stored deviations, and the tests left out, are those that plan, edition and drive give."""
    document, planned = evidence.document, evidence.planned
    for word, found, expected in (
        ("deviations", document.deviations, planned.deviations),
        ("skipped", tuple(map(str, document.skipped)), tuple(map(str, planned.skipped))),
    ):
        for line in expected:
            if line not in found:
                yield Broken(place=f"run.json: {word}", found="is not listed", expected=line)
        for line in found:
            if line not in expected:
                yield Broken(place=f"run.json: {word}", found=line, expected="no such line")


def sequences(evidence: Evidence) -> Iterator[Broken]:
    """The stored sequences are those that the test asks for."""
    yield from _replayed(evidence, "sequence")


def verdicts(evidence: Evidence) -> Iterator[Broken]:
    """The stored verdicts are those that the steps before them give."""
    yield from _replayed(evidence, "verdict")


def endings(evidence: Evidence) -> Iterator[Broken]:
    """Each test ended where and why its own rules say."""
    yield from _replayed(evidence, "ending")


def _replayed(evidence: Evidence, subject: Subject) -> Iterator[Broken]:
    for one in evidence.once("replayed", lambda: _differences(evidence)):
        if one.subject == subject:
            yield Broken(place=one.place, found=one.found, expected=one.expected)


def _differences(evidence: Evidence) -> tuple[Difference, ...]:
    context = Context(drive=evidence.document.identity, seed=evidence.document.seed)
    differences = []
    for planned, test, lines in zip(
        evidence.planned.tests, evidence.run.tests, _lines_of_tests(evidence), strict=False
    ):
        end = next((line.place for line in lines if line.kind == "test_ended"), JOURNAL_NAME)
        if difference := replay(planned, context, test, lines, end):
            differences.append(difference)
    return tuple(differences)


def _lines_of_tests(evidence: Evidence) -> list[list[Entry]]:
    """The lines of each test that counts, from behind its begin to before the next one's."""
    tests: dict[int, list[Entry]] = {}
    begun = None
    for line in evidence.journal.lines:
        if line.kind == "test_started":
            begun = line.seq
            tests[begun] = []
        elif line.kind == RESUMED:
            begun = None
        elif begun is not None:
            tests[begun].append(line)
    return [lines for seq, lines in tests.items() if seq not in evidence.left_out]


def stalls(evidence: Evidence) -> Iterator[Broken]:
    """Every silence of the drive that is noted is that of a step, and every one of a second or more is noted."""
    steps = {entry.seq: found for entry, found in evidence.sequences}
    due: list[tuple[str, str, int | None]] = []
    for entry in evidence.journal.lines:
        if entry.kind == "steps":
            yield from _left(entry, due)
            due = [
                (steps[entry.seq].name, stalled_step.label, stalled_step.stall_ns_max)
                for stalled_step in stalled_steps(steps[entry.seq].steps)
            ]
        elif entry.kind == "stall":
            found = entry.data.get("sequence"), entry.data.get("step"), entry.data.get("stall_ns")
            expected = due.pop(0) if due else None
            if found != expected:
                yield Broken(place=entry.place, found=f"{found}", expected=f"{expected or 'no stall'}")
        elif entry.kind in {"test_ended", RUN_ENDED, RESUMED}:
            yield from _left(entry, due)
            due = []


def _left(entry: Entry, due: Sequence[tuple[str, str, int | None]]) -> Iterator[Broken]:
    for one in due:
        yield Broken(place=entry.place, found="a stall before it is not noted", expected=f"{one}")


def exit_code(evidence: Evidence) -> Iterator[Broken]:
    """A run that ended by itself says whether its results are withheld, or a steady state was missed."""
    last = evidence.journal.lines[-1] if evidence.journal.lines else None
    if last is not None and evidence.ran_to_its_end:
        codes = stored_exit_codes(evidence.run)
        expected = codes[0] if codes else 0
        if last.data.get("exit_code") != expected:
            yield Broken(place=last.place, found=f"exit code {last.data.get('exit_code')}", expected=f"{expected}")
