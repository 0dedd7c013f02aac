"""What the data sheet claims of key results, what they were in a baseline, and whether they are that."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, NamedTuple

from assay.results.ended import missed_steady_state
from assay.summary.measures import measure_text
from assay.summary.pages.model import Bars, Table, column_levels
from assay.summary.table import UNIT, Column, Words, table_of
from assay.words.printed import NOT_AVAILABLE, claim_text, demand_label, number_text, outstanding, paragraph, share_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from assay.engine.records import StoredRun
    from assay.summary.pages.test_record import TestRecord
    from assay.summary.record import Level, Measure
    from assay.summary.table import Declared, Raw, ResultTable


_MET = {True: "YES", False: "NO", None: "not judged"}
_LEVELS: dict[bool | None, Level] = {True: "good", False: "bad", None: "unknown"}
_GRAVEST = (False, True, None)


class Compared(NamedTuple):
    """A key result beside what the plan states of it: a claim of the data sheet, or its value in a baseline."""

    test: TestRecord
    measure: Measure
    stated: float

    @property
    def share(self) -> float | None:
        """Measured over stated; None without a value. Worked: 45,000 of 50,000 IOPS -> 0.9."""
        return self.measure.share_of(self.stated)

    @property
    def met(self) -> bool | None:
        """Whether a claim is met; None of a test that did not get steady."""
        return None if missed_steady_state(self.test.test) else self.measure.meets(self.stated)

    @property
    def shortfall(self) -> float:
        """How far a claim is missed, as a ratio. Worked: 45,000 of 50,000 IOPS -> 1.11."""
        share = (self.share or 0.0) if self.stated else 1.0
        return share if self.measure.better == "lower" else 1 / share if share else inf

    @property
    def worse(self) -> float | None:
        """How much worse than stated, as a share of that, negative where better. Worked: 93.1 of 100 IOPS -> 0.069."""
        share = self.share
        return None if share is None else share - 1 if self.measure.better == "lower" else 1 - share


def claims_of(run: StoredRun, tests: Sequence[TestRecord]) -> list[Compared]:
    """Every key result that the data sheet claims something of, in the order of the tests."""
    claims = run.plan.get("claims") or {}
    each = ((test, measure) for test in tests for measure in test.key_results if measure.claim)
    return [Compared(*pair, claim) for pair in each if (claim := claims.get(pair[1].claim)) is not None]


def baseline_of(run: StoredRun, tests: Sequence[TestRecord]) -> list[Compared]:
    """Every key result that the baseline of the plan has."""
    baseline = run.plan.get("baseline") or {}
    each = ((test, measure) for test in tests for measure in test.key_results)
    return [Compared(*pair, was) for pair in each if (was := baseline.get(pair[1].baseline or pair[1].claim))]


def judged_claims(run: StoredRun, tests: Sequence[TestRecord]) -> list[Compared]:
    """Every claim once: of two tests that measure it the one that misses it, if one does."""
    claims: dict[str | None, list[Compared]] = {}
    for claim in claims_of(run, tests):
        claims.setdefault(claim.measure.claim, []).append(claim)
    return [min(same, key=lambda pair: _GRAVEST.index(pair.met)) for same in claims.values()]


def claims_table(run: StoredRun, tests: Sequence[TestRecord]) -> tuple[Table, ...]:
    """Each claim beside what was measured, none where the plan states none.

    Worked: 45,000 IOPS where 50,000 are claimed -> ``45,000.0``, ``at least 50,000``, ``90 %``, ``NO``.
    """
    claims = claims_of(run, tests)
    demands = {claim.test.label: demand_label(claim.test.test.settings.demand) for claim in claims}
    listed = "; ".join(f"{name} {demand}" for name, demand in demands.items())
    note = f"Measured at the demand of each test, a claim may mean another: {listed}."
    return _table("Claims of the data sheet", ("Claimed", "Of the claim", "Claim met"), claims, claim_text, note)


def baseline_table(run: StoredRun, tests: Sequence[TestRecord]) -> tuple[Table, ...]:
    """Each number beside what it was in the baseline of the plan, none where that states none.

    Worked: 18,085.7 IOPS where the baseline has 16,563 -> ``18,085.7``, ``16,563.0``, ``109 %``.
    """
    note = f"Baseline: {paragraph(run.description.get('baseline'))}; nothing is judged by it."
    headings = ("Baseline", "Of the baseline")
    return _table("Against the baseline", headings, baseline_of(run, tests), number_text, note)


def _table(
    caption: str,
    headings: tuple[str, ...],
    numbers: Sequence[Compared],
    printer: Callable[[float, str], str],
    note: str,
) -> tuple[Table, ...]:
    """Numbers beside what is stated; none without one. headings : of that, of its share and, if judged, of the outcome.

    A time has four digits, as a claim may lie near: 0.11957 ms -> ``"0.1196"``.
    """
    rows = []
    for pair in numbers:
        value, unit = pair.measure.value, pair.measure.unit
        measured = f"{float(value):.4g}" if unit == "ms" and value is not None else measure_text(pair.measure)
        share = NOT_AVAILABLE if pair.share is None else share_text(pair.share)
        held = (printer(pair.stated, unit), share, _MET[pair.met])
        rows.append((pair.test.label, pair.measure.printed, measured, unit, *held[: len(headings)]))
    columns = ("Test", "Figure", "Measured", "Unit", *headings)
    bars = Bars(column=headings[1], shares=tuple(pair.share for pair in numbers))
    levels = column_levels(len(columns) - 1, (_LEVELS[pair.met] for pair in numbers)) if headings[2:] else ()
    table = Table(
        caption=caption, columns=columns, rows=tuple(rows), merged=("Test",), bars=bars, notes=(note,), levels=levels
    )
    return (table,) if rows else ()


_SHARED: Declared[Compared] = (
    (Column("test", "Test", role="key"), lambda pair: pair.test.test.settings.test),
    (Column("item", "Number", role="key"), lambda pair: pair.measure.printed),
    (UNIT, lambda pair: pair.measure.unit),
    (Column("measured", "Measured"), lambda pair: None if pair.measure.value is None else float(pair.measure.value)),
)
_SHARE: tuple[Column, Callable[[Compared], Raw]] = (Column("share", "Measured over it"), lambda pair: pair.share)
_CLAIMS: Declared[Compared] = (
    *_SHARED,
    (Column("outstanding", "Outstanding"), lambda pair: outstanding(pair.test.test.settings.demand)),
    (Column("claimed", "Claimed"), lambda pair: pair.stated),
    (Column("bound", "At"), lambda pair: "most" if pair.measure.better == "lower" else "least"),
    _SHARE,
    (Column("met", "Met"), lambda pair: pair.met),
)
_BASELINE: Declared[Compared] = (*_SHARED, (Column("baseline", "Baseline"), lambda pair: pair.stated), _SHARE)
_WORDS = Words(none="", yes="True", no="False")


def claim_data(run: StoredRun, tests: Sequence[TestRecord]) -> ResultTable:
    """Each claim as numbers; without a row where the plan states none. met : None where it is not judged."""
    claims = claims_of(run, tests)
    return table_of("claims", "Claims of the data sheet", _CLAIMS, claims, words=_WORDS, section="results")


def baseline_data(run: StoredRun, tests: Sequence[TestRecord]) -> ResultTable:
    """Each number of the baseline; without a row where the plan states none."""
    numbers = baseline_of(run, tests)
    return table_of("baseline", "Against the baseline", _BASELINE, numbers, words=_WORDS, section="results")
