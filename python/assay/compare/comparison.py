"""Several runs side by side: every number, the rows published in 2012, cohorts, and a remark on each subject."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Literal

from assay.compare.sides import compared
from assay.compare.subject import blinded, check_given_once, named, subjects_of, with_unlike
from assay.compare.unverified import unverified_of
from assay.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.compare.numbers import NumberName
    from assay.compare.sides import Compared, Side
    from assay.compare.subject import LoadedRun, Subject
    from assay.compare.unverified import Unverified
    from assay.workloads.iometer.results import Results


RUNS_MIN, RUNS_MAX = 2, 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How runs are compared.

    despite : unlike runs are shown apart instead of refused. repeats : runs of one drive and firmware are repeats of
    one measurement. blind : the key of a blind comparison, None for names.
    """

    despite: bool = False
    repeats: bool = False
    blind: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """All numbers of several runs.

    blind : identities are withheld. unverified : files of results that Iometer wrote, which lie beside the subjects.
    """

    subjects: tuple[Subject, ...]
    numbers: tuple[Compared, ...]
    blind: bool = False
    unverified: tuple[Unverified, ...] = ()

    @property
    def quoted(self) -> tuple[Compared, ...]:
        """The numbers that people quote."""
        return tuple(number for number in self.numbers if number.name.quoted)

    @property
    def ranked(self) -> tuple[Compared, ...]:
        """The quoted numbers that can be better or worse and of which at least two subjects have one that counts."""
        return tuple(number for number in self.quoted if number.ranked)

    @property
    def tests(self) -> tuple[tuple[str, str], ...]:
        """The tests that any run has, each as its key and as printed."""
        return tuple(dict.fromkeys((number.name.test, number.name.shown) for number in self.numbers))


def compare_runs(
    runs: Sequence[LoadedRun], options: Options = Options(), results: Sequence[Results] = ()
) -> Comparison:
    """Hold 2 to 50 runs against the first of them. results : of Iometer, to lie beside them; then one run is enough.

    Raises UsageError for another number of runs, one that is given twice or repeats that are none; UnlikeRunsError
    where conditions differ and ``despite`` was not asked for; and as ``unverified_of``.
    """
    least = 1 if results else RUNS_MIN
    if not least <= len(runs) <= RUNS_MAX:
        raise UsageError("RUN", f"{len(runs)} given", f"name {least} to {RUNS_MAX} run folders")
    check_given_once(runs)
    groups = subjects_of(runs, repeats=options.repeats)
    blind = options.blind is not None
    subjects = named(groups) if options.blind is None else blinded(groups, options.blind)
    subjects = with_unlike(subjects, despite=options.despite, blind=blind)
    return Comparison(
        subjects=subjects,
        numbers=tuple(compared(name, subjects) for name in number_names(subjects)),
        blind=blind,
        unverified=unverified_of(results, subjects, despite=options.despite, blind=blind),
    )


def number_names(subjects: Sequence[Subject]) -> list[NumberName]:
    """Every number that any subject has, in the order of the first that has it."""
    names: dict[object, NumberName] = {}
    for run in (run for subject in subjects for run in subject.runs):
        for number in run.numbers.values():
            names.setdefault(number.name.key, number.name)
    order = list(dict.fromkeys(name.test for name in names.values()))
    return sorted(names.values(), key=lambda name: (order.index(name.test), not name.quoted))


OUTLIER_SCORE = 3.5
OUTLIER_SAMPLES = 5
COHORT_SAMPLES = 3
_SCALE = 0.6745
"""Makes the median absolute deviation of a normal distribution its standard deviation."""
RemarkKind = Literal["leads", "trails", "level", "state"]
"""``leads`` : it is clearly the best of a number. ``trails`` : of none, and far from the best of some.
``level`` : no number of it is far from the best. ``state`` : none of its numbers counts."""

LEVEL_SHARE = 0.9
"""From this share of the best on a subject is level with it."""
_NUMBERS_MAX = 2


_SIDES = (("R", "100/0"), ("W", "0/100"))
_ROWS = (
    # Not "FOB" as in 2012: the first sample of a small drive may be of more than one fill.
    ("First sample RND 4KiB W", "RND 4KiB 0/100, first sample", "iops"),
    ("Steady State RND 4KiB W", "RND 4KiB 0/100, settled", "iops"),
    *((f"RND {size}KiB {side}", f"RND {size}KiB {mix}", "iops") for size in (4, 8) for side, mix in _SIDES),
    *((f"SEQ {size}KiB {side}", f"SEQ {size}KiB {mix}", "mb_per_s") for size in (1024, 128) for side, mix in _SIDES),
    *((f"RND 4KiB {side} Ave", f"RND 4KiB {mix}", "latency_ms_mean_of_rounds") for side, mix in _SIDES),
    *((f"RND 4KiB {side} Max", f"RND 4KiB {mix}", "latency_ms_max") for side, mix in _SIDES),
)
"""Published rows: title as printed in 2012, cell and key of the number."""


def published_rows(comparison: Comparison) -> list[tuple[str, Compared]]:
    """The rows of the table of 2012 that any run has, each under its published title.

    Of a cell only the variable of its test counts, and a maximum where that variable is a response time.
    """
    variables = _variables(comparison)
    return [
        (title, number)
        for title, label, key in _ROWS
        for number in comparison.numbers
        if (number.name.cell_label, number.name.name) == (label, key) and _counts(number.name, variables)
    ]


def _counts(name: NumberName, variables: dict[tuple[str, object], NumberName]) -> bool:
    variable = variables.get((name.test, name.cell))
    return name is variable or (name.stat == "maximum" and variable.unit == "ms" if variable else name.quoted)


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
        for number in comparison.quoted:
            same = [side for side in number.sides if (side.subject.model, side.subject.capacity) == model]
            sides = [side for side in same if side.counts and not side.apart]
            drives = {side.subject.first.identity.id for side in sides}
            if len(drives) == len(sides) >= COHORT_SAMPLES and number.name.stat != "maximum":
                yield _cohort(model[0], number.name, sides)


def _cohort(model: str, name: NumberName, sides: Sequence[Side]) -> Cohort:
    values = {side.subject.letter: side.value or 0.0 for side in sides}
    centre = median(values.values())
    spread = (max(values.values()) - min(values.values())) / centre if centre else 0.0
    outliers = None
    if len(values) >= OUTLIER_SAMPLES:
        outliers = tuple(scored for scored in modified_scores(values).items() if abs(scored[1]) > OUTLIER_SCORE)
    return Cohort(model=model, name=name, letters=tuple(values), median=centre, spread=spread, outliers=outliers)


def modified_scores(values: dict[str, float]) -> dict[str, float]:
    """The modified z-score of each value; all zero where more than half are equal.

    Worked: 98, 99, 100, 101, 120 -> a median of 100, a deviation of 1, and for 120 a score of 13.5.
    """
    centre = median(values.values())
    deviation = median(abs(value - centre) for value in values.values())
    return {key: _SCALE * (value - centre) / deviation if deviation else 0.0 for key, value in values.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cited:
    """A number that a remark names. share : of the best, by ``other``; of one that leads, of the next one by it."""

    number: Compared
    share: float
    other: Subject


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """One sentence. first : in how many numbers it is the best, of how many it has; maxima are none of them.

    ahead : those in which it leads most; behind : that in which it is farthest from the best, None where it is level.
    """

    subject: Subject
    first: int
    count: int
    ahead: tuple[Cited, ...]
    behind: Cited | None

    @property
    def kind(self) -> RemarkKind:
        """What the sentence says."""
        if not self.count:
            return "state"
        return "leads" if self.ahead else "trails" if self.behind else "level"


def remarks(comparison: Comparison) -> tuple[Remark, ...]:
    """A remark for each subject, in their order."""
    numbers = [number for number in comparison.ranked if number.name.stat != "maximum"]
    return tuple(_remark(subject, numbers, index) for index, subject in enumerate(comparison.subjects))


def _remark(subject: Subject, numbers: Sequence[Compared], index: int) -> Remark:
    own = [number for number in numbers if number.sides[index].order is not None]
    leads = sorted((_lead(number) for number in own if number.sides[index].order == 1), key=lambda cited: cited.share)
    # Of several numbers of the same accesses the one in which it leads most.
    ahead: dict[object, Cited] = {}
    for cited in leads:
        if cited.share < LEVEL_SHARE:
            name = cited.number.name
            ahead.setdefault((name.about or name.cell, name.unit), cited)
    shares = [(number.sides[index].share or 1.0, number) for number in own]
    share, farthest = min(shares, key=lambda pair: pair[0], default=(1.0, None))
    behind = Cited(number=farthest, share=share, other=farthest.ranked[0].subject) if farthest else None
    return Remark(
        subject=subject,
        first=len(leads),
        count=len(own),
        ahead=tuple(ahead.values())[:_NUMBERS_MAX],
        behind=behind if share < LEVEL_SHARE else None,
    )


def _lead(number: Compared) -> Cited:
    """How far the best of a number is ahead of the next. Worked: 100 and 25 IOPS -> a share of 0.25."""
    following = number.ranked[1]
    return Cited(number=number, share=following.share or 1.0, other=following.subject)
