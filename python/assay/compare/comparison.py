"""Several runs side by side: every number of each, with ratios to the first, their intervals, and ranks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.compare.conditions import with_unlike
from assay.compare.sides import compared
from assay.compare.subject import blinded, check_given_once, check_independent, named, subjects_of
from assay.compare.unverified import unverified_of
from assay.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.compare.numbers import NumberName
    from assay.compare.sides import Compared
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
    for group in groups:
        check_independent(group if len(group) > 1 else ())
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
    return sorted(names.values(), key=lambda one: (order.index(one.test), not one.quoted))
