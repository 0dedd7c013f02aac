"""Plays a test again with what is stored of it: its own generator says what it asked for, judged and ended with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from assay.engine.codec import decode, encode
from assay.engine.records import CheckData, DataCheck, Purge, SetCache, StepSequence, Trim
from assay.results.stall import void_reason
from assay.results.step import ran_whole
from assay.run.store.document import Verdict
from assay.words.outcomes import is_cut_short

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.engine.records import Ending, StepRecord, StoredSequence, StoredTest
    from assay.plan.procedure import Context, PlannedTest
    from assay.plan.until import Action, RoundOutcome
    from assay.run.store.journal import Entry

Subject = Literal["sequence", "verdict", "ending"]
_ACTS = {"purged", "steps", "trimmed", "write_cache_set", "data_checked", "verdict"}
_UNWANTED = "the test asks for nothing more"


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Where what is stored is not what the test asks for. subject : what of it."""

    subject: Subject
    place: str
    found: str
    expected: str


class _Differs(Exception):  # noqa: N818 - ends a replay, and is no error
    def __init__(self, subject: Subject, place: str, found: str, expected: str) -> None:
        super().__init__(place)
        self.difference = Difference(subject=subject, place=place, found=found, expected=expected)


class _CutShort(Exception):  # noqa: N818 - ends a replay, and is no error
    """What is stored ends here, as that of a test that was cut short, failed or was given up does."""


def replay(
    planned: PlannedTest, context: Context, test: StoredTest, lines: Sequence[Entry], end: str
) -> Difference | None:
    """Play a test again until it ends or differs; None where all is as the test asks.

    planned : with the settings that are stored. test, lines : of the test, the lines from behind its begin to its end.
    end : where its end stands, for messages.
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
    """What is stored of a test, taken line by line."""

    def __init__(self, test: StoredTest, lines: Sequence[Entry], end: str) -> None:
        self._test, self._lines, self._end = test, list(lines), end
        self._sequences = list(test.sequences)

    def carry_out(self, action: Action) -> Sequence[StepRecord] | None:
        """Hold the next line against an action; the records of a sequence, None of all else."""
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
            raise _Differs("verdict" if line.kind == "verdict" else subject, line.place, _told(line), expected)
        return line

    def _act(self, kind: str, expected: str, data: dict[str, Any] | None = None) -> None:
        line = self._next(kind, expected)
        if data is not None and line.data != data:
            raise _Differs("sequence", line.place, _told(line), expected)

    def _data_check(self, request: CheckData) -> None:
        expected = f"a read-back after {request.after}"
        line = self._next("data_checked", expected)
        stored = decode(DataCheck, line.data, name=line.place)
        if (stored.after, stored.flushed, stored.parts) != (request.after, request.flush, request.parts):
            raise _Differs("sequence", line.place, _told(line), expected)

    def _sequence(self, asked: StepSequence) -> Sequence[StepRecord]:
        """The records of a sequence; of one that was run again because it was void, those of the last time."""
        for _ in range(self._test.settings.void_limit + 1):
            line = self._next("steps", f"the sequence {asked.name}")
            stored = self._sequences.pop(0)
            if fault := _other(asked, stored):
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
        """Hold the end of a test against the one that it asks for."""
        left = [line for line in self._lines if line.kind != "write_cache_set"]
        if left:
            subject: Subject = "verdict" if left[0].kind == "verdict" else "sequence"
            return Difference(subject=subject, place=left[0].place, found=_told(left[0]), expected=_UNWANTED)
        stored, expected = (self._test.ended, self._test.ended_detail), (ending.reason, ending.detail)
        if is_cut_short(stored[0]) or stored == expected:
            # Cut short, or refused, after its last sequence.
            return None
        return self._ended_otherwise(" ".join(filter(None, expected)))

    def cut_short(self) -> Difference | None:
        """Hold the end of a test against the fact that less is stored than it asks for."""
        if is_cut_short(self._test.ended):
            return None
        return self._ended_otherwise("an interrupted end, because steps are missing")

    def _ended_otherwise(self, expected: str) -> Difference:
        found = " ".join(filter(None, (self._test.ended, self._test.ended_detail)))
        return Difference(subject="ending", place=self._end, found=found, expected=expected)


def _other(asked: StepSequence, stored: StoredSequence) -> tuple[str, str] | None:
    """What of a stored sequence is not what was asked for, and what was; None where all is."""
    for name in ("name", "stage", "index", "role", "on_void", "keeps_ios", "ramp_up_steps"):
        pair = getattr(stored, name), getattr(asked, name)
        if pair[0] != pair[1]:
            return f"{name} {pair[0]!r}", f"{name} {pair[1]!r}"
    if stored.asked == asked.steps:
        return None
    pairs = zip(stored.asked, asked.steps, strict=False)
    place = next((index for index, (one, other) in enumerate(pairs, 1) if one != other), None)
    if place is None:
        return f"{len(stored.asked)} steps of {stored.name}", f"{len(asked.steps)}"
    return f"step {place} of {stored.name} with another demand", f"{asked.steps[place - 1]!r:.300}"


def _told(line: Entry) -> str:
    """A line in few words. Worked: ``"the sequence round 3"``."""
    if line.kind == "steps":
        return f"the sequence {str(line.data.get('name'))[:60]}"
    shown = {key: value for key, value in line.data.items() if not isinstance(value, dict | list)}
    return f"{line.kind} {shown}"[:120]


def _verdict_text(data: dict[str, Any]) -> str:
    """A verdict in few words, every value that it rests on to the last digit."""
    window = data["window"]
    values = "; ".join(
        f"{name}: average {one['average']!r}, excursion {one['excursion_measured']!r} of {one['excursion_allowed']!r}, "
        f"slope {one['slope_measured']!r} of {one['slope_allowed']!r}, {'steady' if one['steady'] else 'not steady'}"
        for name, one in window["verdicts"].items()
    )
    reached = "reached" if window["reached"] else "not reached"
    return f"{data['stage']} {data['covered']}, rounds {window['rounds']}, {reached}: {values}"
