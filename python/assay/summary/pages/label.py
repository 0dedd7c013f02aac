"""What a reader must know before any number: how far a run conforms, and how a test ended."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from assay.results import ENDED, disturbed_count, void_places, window_disturbed, withholding
from assay.results.stimulus_steps import asked_steps
from assay.results.stimulus_time import short_windows
from assay.spec.units import count_label
from assay.words.text import text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from assay.engine.records import Cell, StoredTest
    from assay.results.finding import Finding

ENDINGS = {
    None: "UNFINISHED",
    "interrupted": "INTERRUPTED",
    "device-failure": "DEVICE FAILURE",
    "drive-changed": "DRIVE CHANGED",
    "wrong-data": "WRONG DATA",
}
"""How a test ended early, as printed."""


def banner(test: StoredTest, findings: Iterable[Finding]) -> str | None:
    """Word the warning over every page of a test, of whatever kind; None where nothing is to be said.

    findings : what a reader must know of its result, which each kind of result has.
    How the test ended early, these, what is void, whether the host disturbed every round of the window, windows that
    are shorter than the queue, and the first check that withholds its results.
    Worked: 25 rounds without steady state -> ``"STEADY STATE NOT REACHED in 25 rounds"``; a stall of the host in wait
    state 2 -> ``"NO HEADLINE: the host stalled for 5,000 ms in wait state 2; the test system disturbed this, not the
    drive"``.
    """
    said = [ENDINGS[test.ended]] if test.ended in ENDINGS else []
    said += [finding.words for finding in findings]
    said += [f"{str(place).upper()} VOID: {text(reason)}" for place, reason in void_places(test)]
    said += [f"HOST DISTURBED {text(told)}" for told in [window_disturbed(test)] if told]
    said += [told for told in [short_text(test)] if told]
    # How a test ended early is said already.
    reasons = (one.alone for one in withholding(test) if one.name != ENDED or test.ended not in ENDINGS)
    said += [f"NO HEADLINE: {text(reason)}" for reason in islice(reasons, 1) if reason]
    return " - ".join(said) or None


def qualified(test: StoredTest, verdict: str, moved: int) -> str:
    """A steady verdict with what stands beside it. moved : how many cells moved of which it says nothing.

    Worked: ``YES`` -> ``"YES; 3 other cells moved; host disturbed 2 of 5"``.
    """
    return "; ".join((verdict, *beside(test, moved)))


def beside(test: StoredTest, moved: int) -> tuple[str, ...]:
    """What a reader of a verdict must know: cells that moved, what the test system did, windows with too few I/Os.

    Worked: ``("3 other cells moved", "host disturbed 2 of 5", "1 window shorter than the queue")``.
    """
    cells = f"{count_label(moved, 'other cell')} moved" if moved else ""
    return tuple(filter(None, (cells, host_text(test), short_text(test))))


def notice(test: StoredTest) -> str:
    """That the host disturbed some, not all, of what results come from, for the pages; empty where it is otherwise.

    Worked: a stall in two of five rounds -> ``"host disturbed 2 of 5 measured parts"``.
    """
    told = host_text(test)
    return f"{told} measured parts" if told and not window_disturbed(test) else ""


def short_text(test: StoredTest, cell: Cell | None = None) -> str:
    """How many windows of a cell, or of a test, have fewer completions than I/Os outstanding; empty where none has.

    Worked: one of 772 completions with 1,024 outstanding -> ``"1 window shorter than the queue"``.
    """
    result = short_windows([asked_step for asked_step in asked_steps(test) if cell is None or asked_step.asks(cell)])
    return f"{count_label(len(result), 'window')} shorter than the queue" if result else ""


def host_text(test: StoredTest) -> str:
    """That the test system disturbed some of what results come from; empty where it did not, or nobody watched it.

    Worked: a stall of the host in two of 27 rounds -> ``"host disturbed 2 of 27"``.
    """
    result = disturbed_count(test)
    return f"host disturbed {host_label(test)}" if result and result[0] else ""


def host_label(test: StoredTest) -> str | None:
    """How many sequences that results come from the test system disturbed; None where nobody watched it.

    Worked: a stall of the host in two of 27 rounds -> ``"2 of 27"``.
    """
    result = disturbed_count(test)
    return None if result is None else f"{result[0]} of {result[1]}"
