"""What the header and the summaries say of one test, in the words that are printed; each kind of test says its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.spec.units import kib_label
from assay.words.printed import (
    NOT_APPLICABLE,
    NOT_AVAILABLE,
    mix_label,
    size_label,
)

if TYPE_CHECKING:
    from assay.engine.records import AccessPattern, MeasurementWindow, StoredRun
    from assay.summary.pages.model import Entry
    from assay.words.coded import Coded


@dataclass(frozen=True, slots=True, kw_only=True)
class TestFacts:
    """One test in the words of headers and summaries.

    independent, independent_demand, independent_amount : workload-independent preconditioning.
    preconditioned : share of the drive that it covers. dependent : workload-dependent preconditioning.
    test_area, test_range : share of the drive that is tested, and the test ActiveRange. step : length of a test step.
    stimulus : the three entries of form 2.0: test stimulus, mix, block sizes.
    demands : where a test has several, of the first stimulus and of the second; second_stimulus : behind the first.
    workload : what is tracked. convergence, rounds : of the measurement window; time : when, where it counts samples.
    extent : rounds, or time and gigabytes. steady : whether steady state was reached.
    """

    independent: str = "None"
    independent_demand: str = NOT_APPLICABLE
    independent_amount: str = NOT_APPLICABLE
    preconditioned: str = NOT_APPLICABLE
    dependent: str
    test_area: str
    test_range: str
    step: str
    stimulus: tuple[Entry, Entry, Entry]
    demands: tuple[str, str] | None = None
    second_stimulus: str = ""
    workload: str
    convergence: str = NOT_APPLICABLE
    rounds: str = NOT_APPLICABLE
    time: str = ""
    extent: str
    steady: str

    @property
    def preconditioned_label(self) -> str:
        """The range that was preconditioned; by what, where it was by the workload alone. Worked: ``100 % (WDPC)``."""
        if self.independent == "None" and self.preconditioned != NOT_APPLICABLE:
            return f"{self.preconditioned} (WDPC)"
        return self.preconditioned

    @property
    def window(self) -> str:
        """Where the measurement window lies. Worked: ``"rounds 1-5"``; of samples over time ``"30 min to 150 min"``."""
        return self.time or ("" if self.rounds == NOT_APPLICABLE else f"rounds {self.rounds}")


def steady_word(window: MeasurementWindow | None, withheld: Coded | None) -> str:
    """Whether steady state was reached, and that it was not judged where there is no window of five values."""
    if withheld:
        return NOT_AVAILABLE
    return ("YES" if window.reached else "NO") if window else "not judged: the rule needs five values"


def share_label(run: StoredRun, amount_bytes: int) -> str:
    """A contiguous test range as a share of the drive. Worked: 64 GB of 256 GB -> ``"25 %"``."""
    return f"{amount_bytes / run.identity.capacity_bytes * 100:.4g} %"


def pattern_stimulus(what: str, pattern: AccessPattern) -> tuple[Entry, Entry, Entry]:
    """The stimulus of form 2.0 for a test of a single access pattern."""
    sizes = sorted(size for size, _ in pattern.sizes)
    span = size_label(sizes[0]) if len(sizes) == 1 else f"{kib_label(sizes[0])} to {size_label(sizes[-1])}"
    return (("Test Stimulus 1", what), ("RW Mix", mix_label(round(pattern.read_share * 100))), ("Block Sizes", span))
