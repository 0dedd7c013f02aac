"""How a test came out: whether it was cut short, is withheld or steady, and what stands beside that, asked once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from assay.errors import EXIT_NOT_STEADY, EXIT_WITHHELD
from assay.spec.units import count_label
from assay.summary.record import Verdict, Window
from assay.words.coded import Coded, coded
from assay.words.outcomes import ending_label, is_cut_short
from assay.words.text import text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from assay.engine.records import MeasurementWindow, StoredTest
    from assay.summary.record import Level, Measure, State
    from assay.words.coded import Coded

STATE_LEVELS: dict[State, Level] = {
    "withheld": "bad",
    "cut-short": "bad",
    "not-steady": "bad",
    "not-settled": "warn",
    "not-judged": "unknown",
    "steady": "good",
    "no-rule": "good",
    "not-run": "unknown",
}
STATE_WORDS: dict[State, str] = {
    "withheld": "withheld",
    "cut-short": "cut short",
    "not-steady": "not steady",
    "not-settled": "not settled",
    "not-judged": "not judged",
    "steady": "steady",
    "no-rule": "measured",
    "not-run": "not run",
}
"""A test that came out so has one word everywhere."""
_GRAVEST: tuple[Level, ...] = ("bad", "warn", "unknown", "good")
_WITHHELD: frozenset[State] = frozenset({"withheld", "cut-short"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruled:
    """What the rule of steady state of a test said. exists : the procedure has one.

    reached : None where it could not be judged, which ``reason`` then explains. windows : what it was taken over.
    unstable_count : cells that varied of which it says nothing.
    """

    exists: bool = True
    reached: bool | None = None
    windows: tuple[Window, ...] = ()
    reason: Coded | None = None
    unstable_count: int = 0


NO_RULE = Ruled(exists=False)


def ruled_by(window: MeasurementWindow | None, *, unstable_count: int = 0, others: Iterable[Window] = ()) -> Ruled:
    """The rule over the last five rounds. others : windows before it, as of preconditioning.

    Worked: no window -> not judged, since it needs five values.
    """
    if window is None:
        return Ruled(reason=coded("few-values"), windows=tuple(others))
    rounds = Window(first=window.rounds[0], last=window.rounds[-1])
    return Ruled(reached=window.reached, windows=(*others, rounds), unstable_count=unstable_count)


def framed(test: StoredTest, ruled: Ruled, withheld: Coded | None) -> Verdict:
    """The verdict on a test, whatever its procedure. withheld : why its results are; None where they are not.

    Worked: a test that was interrupted -> ``cut-short``; a write saturation that did not settle -> ``not-settled``.
    """
    # Loaded here: whoever reads a stored verdict needs none of it.
    from assay.results.ended import missed_steady_state  # noqa: PLC0415
    from assay.results.host import disturbed_count  # noqa: PLC0415
    from assay.results.stall import void_places  # noqa: PLC0415
    from assay.results.stimulus_steps import asked_steps  # noqa: PLC0415
    from assay.results.stimulus_time import short_windows  # noqa: PLC0415

    missed = missed_steady_state(test)
    state = _state(test, ruled, withheld, missed=missed)
    reason = withheld or (ruled.reason if state == "not-judged" else None)
    return Verdict(
        state=state,
        required=test.settings.requires_steady_state,
        ended=test.ended,
        windows=() if withheld else ruled.windows,
        reason=coded("reason", reason=ending_label(test.ended)) if state == "cut-short" else reason,
        unstable_count=ruled.unstable_count,
        host=disturbed_count(test),
        void_count=len(void_places(test)),
        short_count=len(short_windows([*asked_steps(test)])),
        missed=missed,
    )


def _state(test: StoredTest, ruled: Ruled, withheld: Coded | None, *, missed: bool) -> State:
    if is_cut_short(test.ended):
        return "cut-short"
    if withheld:
        return "withheld"
    if missed:
        return "not-steady"
    if not ruled.exists:
        return "no-rule"
    if ruled.reached is None:
        return "not-judged"
    return "steady" if ruled.reached else "not-settled"


def gravity(level: Level) -> int:
    """Levels sort by this, the gravest first. Worked: warn stands behind bad and before good."""
    return _GRAVEST.index(level)


def level_of(verdict: Verdict) -> Level:
    """What colours follow: a steady state beside which something stands is a warning."""
    level = STATE_LEVELS[verdict.state]
    return "warn" if level == "good" and any(verdict_caveats(verdict)) else level


def exit_codes_of(verdict: Verdict) -> set[int]:
    """The exit codes that a test gives. Worked: withheld, and a required steady state not reached -> 5 and 7."""
    withheld = {EXIT_WITHHELD} if verdict.state in _WITHHELD else set[int]()
    return withheld | ({EXIT_NOT_STEADY} if verdict.missed else set())


def verdict_caveats(verdict: Verdict) -> Iterator[Coded]:
    """What a reader of a verdict must know, gravest first."""
    if verdict.host and verdict.host[0]:
        yield coded("host", count=verdict.host[0], of=verdict.host[1])
    if verdict.void_count:
        yield coded("void", count=verdict.void_count)
    if verdict.short_count:
        yield coded("short", count=verdict.short_count)
    if verdict.unstable_count:
        yield coded("unstable", count=verdict.unstable_count)


def stated(verdict: Verdict) -> Coded:
    """The state with its window or its reason, without its caveats."""
    window = None
    if verdict.windows:
        last = verdict.windows[-1]
        window = coded("window-rounds", first=last.first, last=last.last)
        if last.minutes:
            window = coded("window-minutes", start=last.minutes[0], end=last.minutes[1])
    return coded(f"state-{verdict.state}", window=window, reason=verdict.reason)


def verdict_text(verdict: Verdict) -> str:
    """The state and its caveats. Worked: ``"steady, rounds 1-5; 5 untracked cells unstable"``."""
    return "; ".join(map(text, (stated(verdict), *verdict_caveats(verdict))))


def annex_caveats(verdict: Verdict) -> tuple[str, ...]:
    """The caveats as the specification's pages print them.

    Worked: ``("3 other cells moved", "host disturbed 2 of 5", "1 window shorter than the queue")``.
    """
    cells = f"{count_label(verdict.unstable_count, 'other cell')} moved" if verdict.unstable_count else ""
    return tuple(filter(None, (cells, host_words(verdict), short_words(verdict.short_count))))


def host_words(verdict: Verdict) -> str:
    """How much the test system disturbed; empty if nothing. Worked: 2 of 27 rounds -> ``"host disturbed 2 of 27"``."""
    return f"host disturbed {verdict.host[0]} of {verdict.host[1]}" if verdict.host and verdict.host[0] else ""


def short_words(count: int) -> str:
    """Steps with fewer completions than I/Os in flight; none: empty. Worked: ``"1 window shorter than the queue"``."""
    return f"{count_label(count, 'window')} shorter than the queue" if count else ""


def unless_withheld(reason: Coded | None, measures: Iterable[Measure]) -> Iterator[Measure]:
    """The numbers of a test; of one whose results are withheld their names alone, each with the reason.

    reason : why they are withheld; None where they are not. Nothing else may be shown of them, whatever the test.
    """
    if reason is None:
        yield from measures
        return
    basis = coded("withheld", reason=reason)
    yield from (replace(measure, value=None, rounds=(), basis=basis, tracked=False) for measure in measures)
