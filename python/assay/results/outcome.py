"""Whether the numbers of a test may be printed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from assay.errors import EXIT_NOT_STEADY, EXIT_WITHHELD, EXITS_BY_STRENGTH, VerificationError
from assay.results.ended import missed_steady_state
from assay.results.finding import Finding, ask_all, once_per_test
from assay.results.run_checks import RUN_CHECKS
from assay.words.coded import coded

if TYPE_CHECKING:
    from assay.engine.records import MeasurementWindow, StoredRun, StoredTest
    from assay.results.finding import Checked
    from assay.words.coded import Coded


@once_per_test
def withholding(test: StoredTest) -> tuple[Checked, ...]:
    """Every check that withholds the results of a test, in the order of the table: those that are ``invalid``."""
    return tuple(checked for checked in ask_all(RUN_CHECKS, test) if checked.level == "invalid")


def withheld_reason(test: StoredTest) -> Coded | None:
    """Why no result of a test may be printed whatever its steps say, None where it may: the first that withholds.

    Worked: one failed I/O -> ``"1 I/O error in the test"``; a write cache that changed in round 3 -> ``"write cache:
    enabled, disabled in round 3"``.
    """
    return next((one.alone for one in withholding(test)), None)


def stored_exit_codes(run: StoredRun) -> tuple[int, ...]:
    """Every reason that the results of a stored run give not to exit with 0, strongest first.

    They are 5 for withheld results, which are those of a test that was cut short, too, and 7 where a required steady
    state was not reached.
    Worked: one test withheld, another not steady -> ``(5, 7)``; all well -> ``()``; a run without any test -> ``(5,)``.
    """
    withheld = not run.tests or any(withheld_reason(test) for test in run.tests)
    codes = {EXIT_WITHHELD} if withheld else set[int]()
    codes |= {EXIT_NOT_STEADY for test in run.tests if missed_steady_state(test)}
    return tuple(code for code in EXITS_BY_STRENGTH if code in codes)


def is_reached(window: MeasurementWindow | None) -> bool:
    """Tell whether steady state held in the window; a window that does not exist did not reach it."""
    return window is not None and window.reached


def unsteady(
    window: MeasurementWindow | None, count: int, noun: Literal["round", "sample"], code: str = "steady-missed"
) -> tuple[Finding, ...]:
    """A required steady state that was not reached, as banners say it; none where it was.

    Worked: 25 rounds without steady state -> ``"STEADY STATE NOT REACHED in 25 rounds"``; a test that was ended in its
    preconditioning -> ``"STEADY STATE NOT REACHED: no round was measured whole"``.
    """
    if is_reached(window):
        return ()
    extent = coded("extent", **({f"{noun}s": count} if count else {"none": noun}))
    return (Finding(level="warn", reason=coded(code, extent=extent)),)


def verify_verdict(stored: MeasurementWindow | None, computed: MeasurementWindow | None) -> None:
    """Hold the verdict of the run folder against the one that its steps give.

    Raises VerificationError where there is a stored one and it differs.
    """
    if stored is not None and stored != computed:
        raise VerificationError("stored verdict", "differs from the verdict of its rounds", "do not trust this run")
