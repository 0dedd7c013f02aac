"""The rows of the summary of the comparison of four drives that was published in 2012, and cohorts of a model."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.compare.comparison import Compared, Comparison, Entry
    from assay.compare.numbers import NumberName

OUTLIER_SCORE = 3.5
OUTLIER_SAMPLES = 5
COHORT_SAMPLES = 3
_SCALE = 0.6745
"""Makes the median absolute deviation of a normal distribution its standard deviation."""


@dataclass(frozen=True, slots=True)
class _Row:
    """A published row. title : as printed in 2012. label, names : of the number that it is."""

    title: str
    label: str
    names: tuple[str, ...]


_MEAN = ("latency_ms_mean_of_rounds",)
_ROWS = (
    # Not "FOB" as in 2012: the first sample of a small drive may be of more than one fill.
    _Row("First sample RND 4KiB W", "RND 4KiB 0/100, first sample", ("iops",)),
    _Row("Steady State RND 4KiB W", "RND 4KiB 0/100, settled", ("iops",)),
    *(
        _Row(f"RND {size}KiB {side}", f"RND {size}KiB {mix}", ("iops",))
        for size in (4, 8)
        for side, mix in (("R", "100/0"), ("W", "0/100"))
    ),
    *(
        _Row(f"SEQ {size}KiB {side}", f"SEQ {size}KiB {mix}", ("mb_per_s",))
        for size in (1024, 128)
        for side, mix in (("R", "100/0"), ("W", "0/100"))
    ),
    *(_Row(f"RND 4KiB {side} Ave", f"RND 4KiB {mix}", _MEAN) for side, mix in (("R", "100/0"), ("W", "0/100"))),
    *(
        _Row(f"RND 4KiB {side} Max", f"RND 4KiB {mix}", ("latency_ms_max",))
        for side, mix in (("R", "100/0"), ("W", "0/100"))
    ),
)


def published_rows(comparison: Comparison) -> list[tuple[str, Compared]]:
    """The rows of the table of 2012 that any run has, each under its published title.

    Of a cell only the variable of its test counts, and a maximum where that variable is a response time.
    """
    variables = _variables(comparison)
    return [
        (row.title, number)
        for row in _ROWS
        for number in comparison.numbers
        if number.name.cell_label == row.label and number.name.name in row.names and _counts(number.name, variables)
    ]


def _counts(name: NumberName, variables: dict[tuple[str, object], NumberName]) -> bool:
    variable = variables.get((name.test, name.cell))
    if variable is None:
        return name.quoted
    return name is variable or (name.stat == "maximum" and variable.unit == "ms")


def _variables(comparison: Comparison) -> dict[tuple[str, object], NumberName]:
    """The variable of each cell of a test loop, which is the first number of the cell."""
    cells: dict[tuple[str, object], NumberName] = {}
    for number in comparison.numbers:
        if {key for key, _ in number.name.cell} == {"block_kib", "read_pct"}:
            cells.setdefault((number.name.test, number.name.cell), number.name)
    return cells


def matrix_numbers(comparison: Comparison) -> dict[str, list[Compared]]:
    """The variables of all cells of each test loop, by test."""
    kept = {variable.key for variable in _variables(comparison).values()}
    tests: dict[str, list[Compared]] = {}
    for number in comparison.numbers:
        if number.name.key in kept:
            tests.setdefault(number.name.test, []).append(number)
    return tests


@dataclass(frozen=True, slots=True, kw_only=True)
class Cohort:
    """One number over the samples of one model. spread : largest minus smallest over the median.

    outliers : letters, with their modified z-scores; None where the samples are too few to tell.
    """

    model: str
    name: NumberName
    letters: tuple[str, ...]
    median: float
    spread: float
    outliers: tuple[tuple[str, float], ...] | None


def cohorts(comparison: Comparison) -> Iterator[Cohort]:
    """The quoted numbers of every model of which there are at least three drives that count.

    A sample is an outlier where its modified z-score, 0.6745 x (value - median) / median absolute deviation, is beyond
    3.5 either way, which takes at least five samples.
    """
    for model in dict.fromkeys((subject.model, subject.capacity) for subject in comparison.subjects):
        for one in comparison.quoted:
            entries = [each for each in one.entries if _is_of(each, model)]
            drives = {each.side.subject.first.run.identity.id for each in entries}
            if len(drives) == len(entries) >= COHORT_SAMPLES and one.name.stat != "maximum":
                yield _cohort(model[0], one.name, entries)


def _is_of(entry: Entry, model: tuple[str, str]) -> bool:
    subject = entry.side.subject
    return (subject.model, subject.capacity) == model and entry.side.counts and not entry.apart


def _cohort(model: str, name: NumberName, entries: Sequence[Entry]) -> Cohort:
    values = {each.side.subject.letter: each.side.value or 0.0 for each in entries}
    centre = median(values.values())
    spread = (max(values.values()) - min(values.values())) / centre if centre else 0.0
    scores = modified_scores(values) if len(values) >= OUTLIER_SAMPLES else None
    outliers = None if scores is None else tuple((key, one) for key, one in scores.items() if abs(one) > OUTLIER_SCORE)
    return Cohort(model=model, name=name, letters=tuple(values), median=centre, spread=spread, outliers=outliers)


def modified_scores(values: dict[str, float]) -> dict[str, float]:
    """The modified z-score of each value; all zero where more than half are equal.

    Worked: 98, 99, 100, 101, 120 -> a median of 100, a deviation of 1, and for 120 a score of 13.5.
    """
    centre = median(values.values())
    deviation = median(abs(value - centre) for value in values.values())
    return {key: _SCALE * (value - centre) / deviation if deviation else 0.0 for key, value in values.items()}
