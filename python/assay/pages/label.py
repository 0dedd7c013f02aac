"""What a reader must know before any number: how far a run conforms, and how a test ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.pages.printed import paragraph
from assay.procedures.loop.open_loop import offered_rates
from assay.window import check_reason, host_reason, stored_error_count, void_places, withheld_reason

if TYPE_CHECKING:
    from assay.procedures.loop.result import LoopResult
    from assay.procedures.saturation.result import SaturationResult
    from assay.records import MeasurementWindow, StoredTest

ENDINGS = {None: "UNFINISHED", "interrupted": "INTERRUPTED", "device-failure": "DEVICE FAILURE"}
"""How a test ended early, as printed."""


def is_reached(window: MeasurementWindow | None) -> bool:
    """Tell whether steady state held in the window; a window that does not exist did not reach it."""
    return window is not None and window.reached


def loop_banner(test: StoredTest, result: LoopResult) -> str | None:
    """Word the warning over every page of a loop test, or None for a test that ended steady without an I/O error.

    Worked: 25 rounds without steady state -> ``"STEADY STATE NOT REACHED in 25 rounds"``.
    """
    warnings = [ENDINGS[test.ended]] if test.ended in ENDINGS else []
    if not is_reached(result.window):
        warnings.append(f"STEADY STATE NOT REACHED in {_count(len(result.rounds), 'round')}")
    warnings += test_warnings(test)
    rates = offered_rates(test, result).values()
    if missed := sum(rate.grade == "invalid" for rate in rates):
        warnings.append(f"OFFERED RATE NOT REACHED in {missed} of {_count(len(rates), 'cell')}")
    return " - ".join(warnings) or None


def saturation_banner(test: StoredTest, result: SaturationResult) -> str | None:
    """Word the warning over every page of a write saturation test, or None.

    Without steady state it is no failure: it may end by time or amount.
    """
    warnings = [ENDINGS[test.ended]] if test.ended in ENDINGS else []
    if result.plateau:
        warnings.append("STILL FRESH-OUT-OF-BOX PLATEAU: the five-point rule held before one drive fill")
    warnings += test_warnings(test)
    return " - ".join(warnings) or None


def advanced_banner(test: StoredTest, window: MeasurementWindow | None, *, steady_required: bool = True) -> str | None:
    """Word the warning over every page of a test that is no loop and no write saturation, or None."""
    warnings = [ENDINGS[test.ended]] if test.ended in ENDINGS else []
    if steady_required and not is_reached(window):
        warnings.append("STEADY STATE NOT REACHED")
    warnings += test_warnings(test)
    return " - ".join(warnings) or None


def test_warnings(test: StoredTest) -> list[str]:
    """What every kind of test says alike: what is void, and why no result is printed.

    Worked: a stall of the host in wait state 2 -> ``["NO HEADLINE: the host stalled for 5,000 ms in wait state 2; the
    test system disturbed this, not the drive"]``.
    """
    return [*_void(test), *_no_headline(test)]


def _no_headline(test: StoredTest) -> list[str]:
    if errors := stored_error_count(test):
        return [f"NO HEADLINE: {_count(errors, 'I/O error')}"]
    # How such a test ended is said already.
    early = test.ended in ENDINGS
    found = host_reason(test) or check_reason(test) if early else withheld_reason(test)
    return [f"NO HEADLINE: {paragraph(found)}"] if found else []


def _void(test: StoredTest) -> list[str]:
    """Name what is void. Worked: a stall in round 3 -> ``["ROUND 3 VOID: the drive stalled for 5.0 s"]``."""
    return [f"{name.upper()} VOID: {paragraph(told)}" for name, told in void_places(test)]


def headline_window(result: LoopResult | SaturationResult) -> MeasurementWindow | None:
    """Return the window whose numbers may be printed: None where they are withheld or before five rounds."""
    return None if result.withheld else result.window


def no_window_reason(result: LoopResult) -> str:
    """Say why the window's numbers are printed n/a. Worked: ``"n/a: 3 I/O errors in the test"``."""
    if result.withheld:
        return f"n/a: {result.withheld}"
    return f"n/a: {_count(len(result.rounds), 'complete round')}, a measurement window needs five"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
