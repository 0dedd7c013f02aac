"""One number of one subject: of a run, or of all its repeats together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.compare.interval import middle
from assay.compare.numbers import COUNTED, NOT_RUN, WITHOUT_RESULT

if TYPE_CHECKING:
    from assay.compare.numbers import Number, NumberName, State
    from assay.compare.subject import Subject


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One number of one subject. value : None where no run may give it. values : of each of its runs that counts.

    numbers : the same with their rounds.
    """

    subject: Subject
    state: State
    reason: str
    value: float | None
    values: tuple[float, ...] = ()
    numbers: tuple[Number, ...] = ()

    @property
    def counts(self) -> bool:
        """Whether it may be compared."""
        return self.state in COUNTED and self.value is not None


def side_of(subject: Subject, name: NumberName) -> Side:
    """A number of a subject; of repeats the mean by logarithms, of percentiles the middle one, of maxima the largest.

    A single run whose number does not count decides for all its repeats.
    """
    result = [run.numbers.get(name.key) for run in subject.runs]
    numbers = tuple(one for one in result if one is not None)
    if len(numbers) < len(result):
        return _absent(subject, name)
    bad = next((number for number in numbers if number.state not in COUNTED), None)
    if bad:
        # What is not steady is shown as such; what is withheld is in no output.
        shown = bad.value if bad.state == "not steady" and len(numbers) == 1 else None
        return Side(subject=subject, state=bad.state, reason=bad.reason, value=shown, numbers=numbers)
    values = tuple(number.value for number in numbers if number.value is not None)
    state: State = "ok" if all(number.state == "ok" for number in numbers) else "not settled"
    return Side(
        subject=subject, state=state, reason="", value=_of_repeats(values, name), values=values, numbers=numbers
    )


def _absent(subject: Subject, name: NumberName) -> Side:
    """A number that a run lacks: its test was cut short or withheld before it had one, or did not run at all."""
    missing = next(run for run in subject.runs if name.key not in run.numbers)
    state, reason = missing.states.get(name.test, NOT_RUN)
    if state not in WITHOUT_RESULT:
        state, reason = NOT_RUN
    return Side(subject=subject, state=state, reason=reason, value=None)


def _of_repeats(values: tuple[float, ...], name: NumberName) -> float:
    if len(values) == 1:
        return values[0]
    if name.stat == "maximum":
        return max(values)
    if name.stat == "percentile" or min(values) <= 0:
        return sorted(values)[len(values) // 2]
    return middle(values)
