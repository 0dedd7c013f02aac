"""Rules of what a run concluded: settings, sequences, verdicts, ends, data that were read back, and the exit code.

A test is replayed on its stored steps: its own generator says which sequences, verdicts and end are due.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal

from assay.archive.verify.evidence import Broken
from assay.engine.codec import decode, encode
from assay.engine.records import CheckData, DataCheck, Purge, SetCache, StepSequence, Trim
from assay.engine.records.watched import SECTOR_BYTES
from assay.errors import WrongDataError
from assay.plan.procedure import Context
from assay.results.data_check import NAMED_MAX, wrong_data
from assay.results.outcome import stored_exit_codes
from assay.results.stall import stalled_steps, void_reason
from assay.results.step import ran_whole
from assay.run.store import JOURNAL_NAME
from assay.run.store.document import Verdict
from assay.run.store.journal import RESUMED, RUN_ENDED
from assay.words.outcomes import is_cut_short

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.archive.verify.evidence import Evidence
    from assay.engine.records import (
        DriveIdentity,
        Ending,
        ReadBack,
        StepRecord,
        StoredSequence,
        StoredTest,
        TestSettings,
    )
    from assay.plan.procedure import PlannedTest
    from assay.plan.until import Action, RoundOutcome
    from assay.run.store.journal import Entry


Subject = Literal["sequence", "verdict", "ending"]
_ACTS = {"purged", "steps", "trimmed", "write_cache_set", "data_checked", "verdict"}
_UNWANTED = "the test asks for nothing more"


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A place where a stored test differs from its replay. subject : the part that differs."""

    subject: Subject
    place: str
    found: str
    expected: str


class _Differs(Exception):  # noqa: N818 - ends a replay, and is no error
    def __init__(self, subject: Subject, place: str, found: str, expected: str) -> None:
        super().__init__(place)
        self.difference = Difference(subject=subject, place=place, found=found, expected=expected)


class _CutShort(Exception):  # noqa: N818 - ends a replay, and is no error
    """The stored lines end here: the test was cut short, failed or was given up."""


def replay(
    planned: PlannedTest, context: Context, test: StoredTest, lines: Sequence[Entry], end: str
) -> Difference | None:
    """Replay a test until it ends or differs; None if nothing differs.

    planned : with the settings that are stored. test : as stored. lines : of the test, after its begin up to its end.
    end : location of its end, for messages.
    """
    course = planned.run(test.settings, context)
    tape = _Tape(test, [line for line in lines if line.kind in _ACTS], end)
    records: Sequence[StepRecord] | None = None
    try:
        while True:
            try:
                action = next(course) if records is None else course.send(records)
            except StopIteration as done:
                return tape.ended(done.value)
            records = tape.carry_out(action)
    except _CutShort:
        return tape.cut_short()
    except _Differs as differs:
        return differs.difference


class _Tape:
    """The stored lines of a test, read one after the other."""

    def __init__(self, test: StoredTest, lines: Sequence[Entry], end: str) -> None:
        self._test, self._lines, self._end = test, list(lines), end
        self._sequences = list(test.sequences)

    def carry_out(self, action: Action) -> Sequence[StepRecord] | None:
        """Compare the next line with an action. Returns the records of a sequence, None for other actions."""
        match action:
            case StepSequence():
                return self._sequence(action)
            case Purge():
                self._act("purged", "a purge")
            case Trim():
                data = {"from_bytes": action.from_bytes, "to_bytes": action.to_bytes}
                self._act("trimmed", f"a trim of {data}", data)
            case SetCache():
                self._act("write_cache_set", f"write cache {action.state}", {"state": action.state})
            case CheckData():
                self._data_check(action)
            case _:
                self._verdict(action)
        return None

    def _next(self, kind: str, expected: str, subject: Subject = "sequence") -> Entry:
        if not self._lines:
            raise _CutShort
        line = self._lines.pop(0)
        if line.kind != kind:
            raise _Differs("verdict" if line.kind == "verdict" else subject, line.place, _line_text(line), expected)
        return line

    def _act(self, kind: str, expected: str, data: dict[str, Any] | None = None) -> None:
        line = self._next(kind, expected)
        if data is not None and line.data != data:
            raise _Differs("sequence", line.place, _line_text(line), expected)

    def _data_check(self, request: CheckData) -> None:
        expected = f"a read-back after {request.after}"
        line = self._next("data_checked", expected)
        stored = decode(DataCheck, line.data, name=line.place)
        if (stored.after, stored.flushed, stored.parts) != (request.after, request.flush, request.parts):
            raise _Differs("sequence", line.place, _line_text(line), expected)

    def _sequence(self, asked: StepSequence) -> Sequence[StepRecord]:
        """The records of a sequence; if it was void and ran again, those of its last run."""
        for _ in range(self._test.settings.void_limit + 1):
            line = self._next("steps", f"the sequence {asked.name}")
            stored = self._sequences.pop(0)
            if fault := _sequence_fault(asked, stored):
                raise _Differs("sequence", line.place, *fault)
            if not all(map(ran_whole, stored.steps)) or len(stored.steps) < len(asked.steps):
                raise _CutShort
            void = void_reason(stored.steps, self._test.settings)
            if void is None or asked.on_void in {"accept", "leave-out"}:
                return stored.steps
            if asked.on_void == "stop":
                raise _CutShort
        raise _CutShort

    def _verdict(self, judged: RoundOutcome) -> None:
        if judged.window is not None:
            expected = Verdict(window=judged.window, stage=judged.stage, covered=tuple(judged.covered))
            line = self._next("verdict", f"a verdict of {judged.stage} {judged.index}", "verdict")
            if decode(Verdict, line.data, name=line.place) != expected:
                raise _Differs("verdict", line.place, _verdict_text(line.data), _verdict_text(encode(expected)))
        if judged.ended == "stalled":
            raise _CutShort

    def ended(self, ending: Ending) -> Difference | None:
        """Compare the stored end of a test with the end of its replay."""
        left = [line for line in self._lines if line.kind != "write_cache_set"]
        if left:
            subject: Subject = "verdict" if left[0].kind == "verdict" else "sequence"
            return Difference(subject=subject, place=left[0].place, found=_line_text(left[0]), expected=_UNWANTED)
        stored, expected = (self._test.ended, self._test.ended_detail), (ending.reason, ending.detail)
        if is_cut_short(stored[0]) or stored == expected:
            # Cut short, or refused, after its last sequence.
            return None
        return self._ended_otherwise(" ".join(filter(None, expected)))

    def cut_short(self) -> Difference | None:
        """Check the stored end of a test whose lines end before its replay does."""
        if is_cut_short(self._test.ended):
            return None
        return self._ended_otherwise("an interrupted end, because steps are missing")

    def _ended_otherwise(self, expected: str) -> Difference:
        found = " ".join(filter(None, (self._test.ended, self._test.ended_detail)))
        return Difference(subject="ending", place=self._end, found=found, expected=expected)


def _sequence_fault(asked: StepSequence, stored: StoredSequence) -> tuple[str, str] | None:
    """The first stored value of a sequence that differs from its demand, and the demand; None if all agree."""
    for name in ("name", "stage", "index", "role", "on_void", "keeps_ios", "ramp_up_steps"):
        pair = getattr(stored, name), getattr(asked, name)
        if pair[0] != pair[1]:
            return f"{name} {pair[0]!r}", f"{name} {pair[1]!r}"
    if stored.asked == asked.steps:
        return None
    pairs = zip(stored.asked, asked.steps, strict=False)
    number = next((number for number, (spec, due) in enumerate(pairs, 1) if spec != due), None)
    if number is None:
        return f"{len(stored.asked)} steps of {stored.name}", f"{len(asked.steps)}"
    return f"step {number} of {stored.name} with another demand", f"{asked.steps[number - 1]!r:.300}"


def _line_text(line: Entry) -> str:
    """A line as printed. Worked: ``"the sequence round 3"``."""
    if line.kind == "steps":
        return f"the sequence {str(line.data.get('name'))[:60]}"
    shown = {key: value for key, value in line.data.items() if not isinstance(value, dict | list)}
    return f"{line.kind} {shown}"[:120]


def _verdict_text(data: dict[str, Any]) -> str:
    """A verdict as printed, with every value that it rests on to the last digit."""
    window = data["window"]
    values = "; ".join(
        f"{name}: average {test['average']!r}, excursion {test['excursion_measured']!r} of "
        f"{test['excursion_allowed']!r}, slope {test['slope_measured']!r} of {test['slope_allowed']!r}, "
        f"{'steady' if test['steady'] else 'not steady'}"
        for name, test in window["verdicts"].items()
    )
    reached = "reached" if window["reached"] else "not reached"
    return f"{data['stage']} {data['covered']}, rounds {window['rounds']}, {reached}: {values}"


def settings(evidence: Evidence) -> Iterator[Broken]:
    """The tests are those of the plan, with the settings that plan, edition and drive give."""
    planned, stored, document = evidence.planned.tests, evidence.run.tests, evidence.document
    if (seed := document.plan.get("seed")) != document.seed:
        yield Broken(place="run.json: seed", found=str(document.seed), expected=f"{seed} of its plan")
    for index, test in enumerate(stored):
        expected = planned[index].settings if index < len(planned) else None
        if test.settings != expected:
            found, wanted = _settings_difference(test.settings, expected)
            yield Broken(place=f"test {index + 1}: {test.settings.test}", found=found, expected=wanted)
    if evidence.ran_to_its_end and len(stored) < len(planned):
        names = ", ".join(test.settings.test for test in planned[len(stored) :])
        yield Broken(place="run", found=f"ended after {len(stored)} tests", expected=f"{names} as well")


def _settings_difference(test_settings: TestSettings, expected: TestSettings | None) -> tuple[str, str]:
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


def replayed(subject: Subject, evidence: Evidence) -> Iterator[Broken]:
    """The places where sequences, verdicts or ends differ from those of a replay of the test."""
    for difference in evidence.once("replayed", lambda: _differences(evidence)):
        if difference.subject == subject:
            yield Broken(place=difference.place, found=difference.found, expected=difference.expected)


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
    """The lines of each test that counts, after its begin and before the begin of the next test."""
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
    """Every noted stall is the stall of a step, and every stall of a second or more is noted."""
    steps = {entry.seq: sequence for entry, sequence in evidence.sequences}
    due: list[tuple[str, str, int | None]] = []
    for entry in evidence.journal.lines:
        if entry.kind == "steps":
            yield from _unnoted(entry, due)
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
            yield from _unnoted(entry, due)
            due = []


def _unnoted(entry: Entry, due: Sequence[tuple[str, str, int | None]]) -> Iterator[Broken]:
    for stall in due:
        yield Broken(place=entry.place, found="a stall before it is not noted", expected=f"{stall}")


def exit_code(evidence: Evidence) -> Iterator[Broken]:
    """A run that ended by itself says whether its results are withheld, or a steady state was missed."""
    last = evidence.journal.lines[-1] if evidence.journal.lines else None
    if last is not None and evidence.ran_to_its_end:
        codes = stored_exit_codes(evidence.run)
        expected = codes[0] if codes else 0
        if last.data.get("exit_code") != expected:
            yield Broken(place=last.place, found=f"exit code {last.data.get('exit_code')}", expected=f"{expected}")


def read_backs(evidence: Evidence) -> Iterator[Broken]:
    """Each check of written data agrees with itself, stands where it is due, and ends a test whose data are wrong."""
    tests, drive = evidence.run.tests, evidence.run.identity
    checked = any(test.read_backs for test in tests)
    for number, test in enumerate(tests, 1):
        where = f"test {number}: {test.settings.test}"
        for record in test.read_backs:
            if fault := _contradiction(record, drive):
                yield Broken(place=f"{where}: read_back", found=fault, expected="counts and places that agree")
        for check in test.data_checks:
            if fault := sectors_fault(check, drive):
                yield Broken(place=f"{where}: data_checked", found=fault, expected="counts and places that agree")
        after = tuple(record.after for record in test.read_backs)
        if checked and not is_cut_short(test.ended) and after != (due := _due(test)):
            yield Broken(place=where, found=f"read back after {after}", expected=f"{due}")
        if (fault := _ending(test)) is not None:
            yield Broken(place=where, found=fault, expected="wrong data end the test, and nothing else ends it so")


def _contradiction(record: ReadBack, drive: DriveIdentity) -> str | None:
    named, wrong, checked = len(record.wrong), record.wrong_count, record.checked_count
    if named != min(wrong, NAMED_MAX) or not wrong <= checked <= record.known_count:
        return f"{wrong} wrong ({named} named) of {checked} of {record.known_count} blocks"
    block_count = drive.capacity_bytes // drive.logical_block_bytes
    if any(not 0 <= block.lba < block_count for block in record.wrong):
        return "a block beyond the drive"
    return None


def sectors_fault(check: DataCheck, drive: DriveIdentity) -> str | None:
    """The first contradiction of a read-back of all data with itself or the drive; None without one."""
    sums = (
        ("checked", check.checked_count, sum(length for _, length in check.parts) // SECTOR_BYTES),
        ("wrong", check.wrong_count, sum(wrong.count for wrong in check.ranges) + check.unlisted_count),
    )
    for name, stated, summed in sums:
        if stated != summed:
            return f"{stated} {name} sectors for {summed}"
    ends = [0, *(end for wrong in check.ranges for end in (wrong.sector, wrong.sector + wrong.count))]
    if ends != sorted(ends) or ends[-1] > drive.capacity_bytes // SECTOR_BYTES:
        return "ranges that overlap or lie beyond the drive"
    return None


def _due(test: StoredTest) -> tuple[str, ...]:
    """The names after which data are read back: each sequence that prepares, and ``""`` for the end of the test."""
    return (*(sequence.name for sequence in test.sequences if sequence.role == "prepare"), "")


def _ending(test: StoredTest) -> str | None:
    wrong = [record for record in test.read_backs if wrong_data(record)]
    sectors = [check for check in test.data_checks if check.wrong_count]
    if sectors and not is_cut_short(test.ended):
        return f"wrong sectors after {sectors[0].after!r}, and the test ended by {test.ended}"
    if wrong and (wrong != [test.read_backs[-1]] or test.ended != WrongDataError.slug):
        return f"wrong data after {wrong[0].after or 'the test'!r}, and the test ended by {test.ended}"
    # Marks that did not last until the purge leave no purge.
    if test.ended == WrongDataError.slug and not wrong and not sectors and test.purge is not None:
        return f"ended by {test.ended} without wrong data"
    return None
