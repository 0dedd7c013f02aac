"""The tables of a comparison, the state of each test of each drive, and the words of both."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from assay.compare.comparison import LEVEL_SHARE, cohorts, matrix_numbers, published_rows
from assay.compare.gate import gated_cells, gated_label, share
from assay.spec.units import GB
from assay.summary.measures import FIRST, LAST, MAXIMUM, SETTLED, measure_words, percentile_key
from assay.summary.pages.model import Table, column_levels
from assay.summary.verdict import STATE_WORDS, gravity, level_of, verdict_caveats
from assay.words.coded import coded
from assay.words.digits import nth
from assay.words.printed import NOT_AVAILABLE, number_text, paragraph, printable
from assay.words.text import joined, sentence, text
from assay.workloads.iometer.results import UNVERIFIED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from assay.compare.comparison import Cited, Comparison, Remark, RemarkKind
    from assay.compare.gate import Gated, GateResult, Verdict
    from assay.compare.numbers import NumberName, Price
    from assay.compare.sides import Compared, Side
    from assay.compare.subject import Subject
    from assay.compare.unverified import Beside, OldFigure, Unverified
    from assay.summary.record import Key, Level, State, TestSummary
    from assay.words.coded import Coded


REMARKS: dict[RemarkKind, str] = {
    "leads": "best in {first} of {count}: {ahead}[; {behind}]",
    "trails": "[best in {first} of {count}; ]{behind}",
    "level": "within {share:share} of the best in all {count}",
    "state": "no number counts: {states}",
}
WORDS: dict[str, str] = {
    **{str(kind): words for kind, words in REMARKS.items()},
    "behind": "largest deficit to {other}: {number} ({times:times})",
    "rate-ahead": "{number} ({times:times} {other})",
    "time-ahead": "{number} ({share:share} of {other})",
    "unstable": "{count:cell} unstable",
    "stalls": "stalls {longest_ms:span}",
    "host": "host interference",
    "void": "{count:part} void",
    "short": "{count:step} too short",
    "sample-first": "{test} first sample",
    "sample-settled": "{test} settled",
    "sample-last": "{test} last sample",
    "size": "[{order} ]{way} {size:block}",
    "apart": "apart: {what}",
}
_ORDERS = {"RND": "random", "SEQ": "sequential", None: None}
_WAYS = {100: "read", 0: "write"}
_SAMPLES: dict[Key, str] = {FIRST: "sample-first", SETTLED: "sample-settled", LAST: "sample-last"}
_PARTS = {
    MAXIMUM: "max",
    **{percentile_key(share): nth(share) for share in (0.5, 0.9, 0.95, 0.99, 0.999, 0.9999, 0.99999)},
}


def worded(said: Coded) -> str:
    """A statement in words. Worked: ``coded("unstable", count=8)`` -> ``"8 cells unstable"``."""
    return text(said, WORDS)


def number_label(name: NumberName, unit: str) -> str:
    """A number as a row has it, with its unit. Worked: ``Random read 4 KiB, p99.9 (ms)``."""
    label = _short_name(name)
    return f"{label[:1].upper()}{label[1:]} ({unit})"


def number_phrase(name: NumberName) -> str:
    """A number within a sentence. Worked: ``p99.9 of random 4 KiB reads``, ``WSAT first sample per EUR``."""
    return f"{_phrase(name)} per {name.per}" if name.per else _phrase(name)


def _phrase(name: NumberName) -> str:
    if name.about is None:
        return _short_name(name)
    accesses = text(coded("subject", subject=name.about), {"subject": "{subject}"})
    return f"{_part(name)} of {accesses}" if name.unit == "ms" else accesses


def remark_sentence(remark: Remark, states: str) -> str:
    """One sentence of a drive. states : of its tests, where no number counts.

    Worked: ``Best in 4 of 12: random 4 KiB writes (4.5x C); largest deficit to B: p99.9 of random 4 KiB reads (1.6x).``
    """
    behind = remark.behind
    values = {
        "first": remark.first or None,
        "count": remark.count,
        "ahead": joined(_ahead(cited) for cited in remark.ahead) if remark.ahead else None,
        "behind": _behind(behind) if behind else None,
        "share": 1 - LEVEL_SHARE,
        "states": states,
    }
    return sentence(worded(coded(remark.kind, **values)))


def _ahead(cited: Cited) -> str:
    name = cited.number.name
    code = "time-ahead" if name.better == "lower" else "rate-ahead"
    return worded(
        coded(code, number=number_phrase(name), share=cited.share, times=1 / cited.share, other=cited.other.letter)
    )


def _behind(cited: Cited) -> str:
    values = {"times": 1 / cited.share, "other": cited.other.letter}
    return worded(coded("behind", number=number_phrase(cited.number.name), **values))


def _short_name(name: NumberName) -> str:
    about, code = name.about, _SAMPLES.get(name.cell)
    if code:
        return worded(coded(code, test=name.shown))
    if about is None or about.read_pct not in _WAYS:
        return name.label
    order = _ORDERS[about.order]
    label = worded(coded("size", order=order, way=_WAYS[about.read_pct], size=about.size_bytes))
    return f"{label}, {_part(name)}" if name.unit == "ms" else label


def _part(name: NumberName) -> str:
    """What of the response times a number is. Worked: ``latency_ms_p99.9`` -> ``"p99.9"``."""
    return _PARTS.get(name.name, "mean")


def order_text(letters: list[list[Subject]]) -> str:
    """Drives from the best on; those of one place are joined. Worked: B first, A and C equal -> ``"B A=C"``."""
    return " ".join("=".join(subject.letter for subject in group) for group in letters)


VERDICT_LEVELS: dict[Verdict, Level] = {"pass": "good", "fail": "bad", "undecided": "warn"}
_VERDICT_ORDER: dict[Verdict, int] = {"fail": 0, "undecided": 1, "pass": 2}
COLUMNS_MAX = 6
"""Subjects side by side in one table; further ones follow in another."""

RANK_NOTE = (
    """Ranks: drives share a rank if they do not differ significantly from its first drive. In brackets: the order of
    the values alone, as run-to-run variation is unknown. Repeats or a reference drive of the host show it.""",
)
RATIO_NOTES = (
    """Ratio to the first column, in brackets its 95 % interval by Student's t on logarithms: from repeated runs where
    there are some, else from the rounds of both windows, and never narrower than the reference drive of the host.""",
    """?: from rounds alone, so how far the ratio moves from run to run is not known. No brackets: no uncertainty known,
    as of maxima and of what was measured once.""",
)
MAXIMUM_NOTE = ("A maximum is the largest of single I/Os: no uncertainty is known of it, and it is not ranked.",)
_BOX = {(0.5, 100), (4, 100), (4, 65), (4, 0)}
"""Transfer size in KiB and share of reads of the boxes that were published in 2012."""
_CELLS_MAX = 12
_RUNS_MAX = 4
"""Subjects beside a file in one table; further ones follow in another."""
_UNVERIFIED_NOTES = (
    f"{UNVERIFIED} The file does not say in which state the drive was, what was written to it, or on which host.",
    "Each is a single figure of a file, without spread: no interval, no rank, and no gate uses it.",
)
_FILE_KEYS = ("Run", "Specification", "Workload", "Figure", "Unit")
_MARKS = {
    "not settled": "not settled",
    "not steady": "not steady",
    "withheld": "withheld",
    "cut short": "cut short",
    "no value": NOT_AVAILABLE,
    "not run": "not run",
}


def subject_table(subjects: Sequence[Subject], caption: str = "What is compared") -> Table:
    """The letters with what they stand for."""
    prices = [subject.first.price for subject in subjects]
    rows = tuple(
        (
            subject.letter,
            subject.model,
            subject.serial,
            subject.firmware,
            subject.capacity,
            *_price(subject, prices),
            subject.label,
            subject.level,
            str(len(subject.runs)),
            subject.called,
        )
        for subject in subjects
    )
    currency = next((price.currency for price in prices if price), "")
    price = ("Price", f"GB per {currency}") if currency else ()
    columns = ("", "Drive", "Serial", "Firmware", "Capacity", *price, "Label", "Level", "Runs", "Run folder")
    return Table(caption=caption, columns=columns, rows=rows)


def _price(subject: Subject, prices: Sequence[Price | None]) -> tuple[str, ...]:
    """Price, and gigabytes for a unit of money, where any drive has one."""
    price = subject.first.price
    if not any(prices):
        return ()
    if not price:
        return NOT_AVAILABLE, NOT_AVAILABLE
    return price.text, f"{subject.first.identity.capacity_bytes / GB / price.amount:,.3g}"


def unlike_tables(subjects: Sequence[Subject]) -> tuple[Table, ...]:
    """Why subjects are shown apart; none where all are alike."""
    rows = [(subject.letter, unlike) for subject in subjects for unlike in subject.unlike_texts]
    if not rows:
        return ()
    note = "No ratio and no rank: the conditions differ, so the numbers do not compare."
    return (
        Table(
            caption="Shown apart", columns=("", "Made under other conditions than A"), rows=tuple(rows), notes=(note,)
        ),
    )


def summary_tables(comparison: Comparison) -> Iterator[Table]:
    """The table of the comparison of 2012, as far as its tests ran."""
    rows = published_rows(comparison)
    if rows:
        yield from _split(
            comparison,
            "Summary performance, the rows of the comparison of 2012",
            [(number, (number.name.shown, title, number.name.unit)) for title, number in rows],
            value_text,
            ("Test", "Workload", "Unit"),
        )


def quoted_tables(comparison: Comparison) -> Iterator[Table]:
    """Values, ratios and ranks of the numbers that people quote."""
    rows = [(number, _names(number)) for number in comparison.quoted]
    keys = ("Test", "Figure", "Unit")
    yield from _split(comparison, "Key results", rows, value_text, keys)
    if len(comparison.subjects) == 1:
        return
    compared = [row for row in rows if row[0].name.better != "neither"]
    yield from _split(comparison, "Ratios to A", compared, ratio_text, keys, RATIO_NOTES)
    yield from _split(comparison, "Ranks, 1 is the best", compared, rank_text, keys, RANK_NOTE)


def _names(number: Compared) -> tuple[str, ...]:
    return number.name.shown, number.name.label, number.name.unit


def _split(  # noqa: PLR0917 - the parts of a table
    comparison: Comparison,
    caption: str,
    rows: Sequence[tuple[Compared, tuple[str, ...]]],
    text: Callable[[Compared, Side], str],
    keys: tuple[str, ...],
    notes: Iterable[str] = (),
) -> Iterator[Table]:
    """A table of all subjects, as several where they are many."""
    for begin in range(0, len(comparison.subjects), COLUMNS_MAX):
        places = range(begin, min(begin + COLUMNS_MAX, len(comparison.subjects)))
        letters = tuple(comparison.subjects[place].letter for place in places)
        if rows:
            yield Table(
                caption=caption
                if len(comparison.subjects) <= COLUMNS_MAX
                else f"{caption}, {letters[0]} to {letters[-1]}",
                columns=(*keys, *letters),
                rows=tuple(
                    (*names, *(text(number, number.sides[place]) for place in places)) for number, names in rows
                ),
                notes=tuple(paragraph(note) for note in notes),
                merged=keys[:1],
            )


def value_text(number: Compared, side: Side) -> str:
    """A value as printed, with what a reader must know of it. Worked: ``3,180.1``, ``2,900.0, not steady``."""
    if side.counts and side.value is not None:
        marks = ("apart" if side.apart else "", _MARKS.get(side.state, ""))
        return ", ".join(filter(None, (number_text(side.value, number.name.unit), *marks)))
    mark = _MARKS[side.state]
    return mark if side.value is None else f"{number_text(side.value, number.name.unit)}, {mark}"


def ratio_text(_: Compared, side: Side) -> str:
    """A ratio with its interval. Worked: ``0.951 (0.932 - 0.970)``."""
    if side.apart or side.ratio is None:
        return "apart" if side.apart else NOT_AVAILABLE
    if side.low is None or side.high is None:
        return f"{side.ratio:.3f}"
    unsure = "" if side.uncertainty.repeatable else " ?"
    return f"{side.ratio:.3f} ({side.low:.3f} - {side.high:.3f}){unsure}"


def rank_text(number: Compared, side: Side) -> str:
    """A rank; in brackets the place of the value alone; a maximum has neither."""
    if number.name.stat == "maximum":
        return "-"
    if side.rank is not None:
        return str(side.rank)
    return f"({side.order})" if side.order is not None else "not ranked"


def cell_tables(comparison: Comparison) -> Iterator[Table]:
    """Cells of each test loop with all drives side by side: those of the boxes of 2012, or all where they are few.

    Where the variable is a response time, its maxima follow.
    """
    for numbers in matrix_numbers(comparison).values():
        few = len(numbers) <= _CELLS_MAX
        chosen = [number for number in numbers if few or _place(number) in _BOX]
        name = numbers[0].name
        which = "all cells" if few else "cells of the boxes of 2012"
        rows = [(number, (number.name.cell_label, number.name.unit)) for number in chosen]
        yield from _split(
            comparison, f"{name.shown}: {measure_words(name.name)}, {which}", rows, value_text, ("Cell", "Unit")
        )
        cells = {number.name.cell for number in chosen}
        maxima = [
            (number, (number.name.cell_label, number.name.unit))
            for number in comparison.numbers
            if number.name.test == name.test and number.name.stat == "maximum" and number.name.cell in cells
        ]
        if name.unit == "ms":
            caption = f"{name.shown}: maximum response time, {which}"
            yield from _split(comparison, caption, maxima, value_text, ("Cell", "Unit"), MAXIMUM_NOTE)


def _place(number: Compared) -> tuple[object, object]:
    cell = dict(number.name.cell)
    return cell["block_kib"], cell["read_pct"]


def cohort_tables(comparison: Comparison) -> tuple[Table, ...]:
    """Samples of a model: median, spread and outliers; none where no model has three samples."""
    rows = [
        (
            cohort.model,
            f"{cohort.name.shown}: {cohort.name.label}",
            cohort.name.unit,
            ", ".join(cohort.letters),
            number_text(cohort.median, cohort.name.unit),
            share(cohort.spread),
            "too few to tell"
            if cohort.outliers is None
            else ", ".join(f"{letter} ({score:+.1f})" for letter, score in cohort.outliers) or "none",
        )
        for cohort in cohorts(comparison)
    ]
    if not rows:
        return ()
    note = (
        "Spread: largest minus smallest over the median. Outlier: modified z-score (0.6745 x distance from the median "
        "over the median absolute deviation) beyond 3.5, with at least five samples."
    )
    columns = ("Model", "Figure", "Unit", "Samples", "Median", "Spread", "Outliers")
    return (Table(caption="Samples of a model", columns=columns, rows=tuple(rows), notes=(note,)),)


def gate_table(gate_result: GateResult) -> Table:
    """Every gated number with its verdict and the reason for it, those that fail first; then what is not gated."""
    gated = sorted(gate_result.gated, key=lambda gated: _VERDICT_ORDER[gated.verdict])
    rows = (*map(_gated_row, gated), *map(_left_out_row, gate_result.left_out))
    left_out: list[Level] = ["unknown"] * len(gate_result.left_out)
    levels = column_levels(0, (*(VERDICT_LEVELS[gated.verdict] for gated in gated), *left_out))
    columns = ("Verdict", "", "Number", "Baseline", "Now", "Change", "Limit", "Uncertainty", "Why")
    return Table(
        caption="Gate", columns=columns, rows=rows, notes=gate_result.explained, levels=levels, verdicts=columns[:1]
    )


def _gated_row(gated: Gated) -> tuple[str, ...]:
    values = (
        NOT_AVAILABLE if side.value is None else number_text(side.value, gated.name.unit)
        for side in (gated.baseline, gated.side)
    )
    return (
        gated.verdict.upper(),
        gated.side.subject.letter,
        gated_label(gated),
        *values,
        *gated_cells(gated),
    )


def _left_out_row(name: NumberName) -> tuple[str, ...]:
    why = "no average of rounds" if name.stat == "mean" else f"a {name.stat}"
    return ("not gated", "", name.text, *([""] * 5), f"{why}: gated by a rule only")


def unverified_tables(comparison: Comparison) -> Iterator[Table]:
    """The files, then for each its figures beside those of the subjects, and why some have no ratio."""
    if not comparison.unverified:
        return
    rows = tuple(
        (file.letter, file.called, file.version, str(file.run_count), "unverified") for file in comparison.unverified
    )
    columns = ("", "Results of Iometer", "Version", "Runs", "Level")
    yield Table(caption="Unverified results next to the runs", columns=columns, rows=rows, notes=_UNVERIFIED_NOTES)
    for file in comparison.unverified:
        yield from _file_figures(file, [subject.letter for subject in comparison.subjects])
        yield from _file_apart(file)


def _file_figures(unverified: Unverified, letters: list[str]) -> Iterator[Table]:
    for begin in range(0, len(letters), _RUNS_MAX):
        places = range(begin, min(begin + _RUNS_MAX, len(letters)))
        shown = tuple(letters[place] for place in places)
        which = f" to {shown[0]} - {shown[-1]}" if len(letters) > _RUNS_MAX else ""
        ratios = tuple(f"{unverified.letter} / {letter}" for letter in shown)
        rows = tuple(
            (
                *(str(figure.run), printable(figure.spec), figure.load, figure.title, figure.unit),
                *(_run_value(figure, figure.entries[place]) for place in places),
                NOT_AVAILABLE if figure.value is None else number_text(figure.value, figure.unit),
                *(_file_ratio(figure.entries[place]) for place in places),
            )
            for figure in unverified.figures
        )
        columns = (*_FILE_KEYS, *shown, f"{unverified.letter} (unverified)", *ratios)
        yield Table(caption=f"{unverified.letter}, unverified, next to the runs{which}", columns=columns, rows=rows)


def _run_value(figure: OldFigure, entry: Beside) -> str:
    return NOT_AVAILABLE if entry.value is None else number_text(entry.value, figure.unit)


def _file_ratio(entry: Beside) -> str:
    """A ratio without brackets: there is no interval. Worked: 1.25 -> ``1.250``."""
    return "apart" if entry.ratio is None else f"{entry.ratio:.3f}"


def _file_apart(unverified: Unverified) -> Iterator[Table]:
    reasons = dict.fromkeys(
        (str(figure.run), printable(figure.spec), entry.letter, entry.reason)
        for figure in unverified.figures
        for entry in figure.entries
        if entry.reason
    )
    if reasons:
        columns = ("Run", "Specification", "Compared with", "Why there is no ratio")
        yield Table(caption=f"{unverified.letter}, unverified, apart", columns=columns, rows=tuple(reasons))


SETTLED_STATES: frozenset[State] = frozenset({"steady", "no-rule"})
"""Of other tests the dots are hollow."""
_NO_RESULT: frozenset[State] = frozenset({"withheld", "cut-short", "not-run"})
_BESIDE_MAX = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class TestState:
    """How one test of one drive came out. beside : what a reader must know besides, gravest first."""

    state: State
    level: Level
    beside: tuple[Coded, ...] = ()

    @property
    def text(self) -> str:
        """In words. Worked: ``steady, 8 cells unstable``."""
        return ", ".join((STATE_WORDS[self.state], *map(worded, self.beside)))


NOT_RUN = TestState(state="not-run", level="unknown")


def test_states(comparison: Comparison) -> dict[str, dict[str, TestState]]:
    """How every test came out, by the letter of the drive and the name of the test."""
    return {
        subject.letter: {
            test: _with_apart(_of_subject(subject, test), subject, shown) for test, shown in comparison.tests
        }
        for subject in comparison.subjects
    }


def _with_apart(state: TestState, subject: Subject, shown: str) -> TestState:
    """A state with the first condition for which the drive stands apart in this test."""
    unlike = subject.unlike_in(shown)
    if not unlike or state.state in _NO_RESULT:
        return state
    return replace(state, level="unknown", beside=(coded("apart", what=unlike[0].what),))


def drives_table(comparison: Comparison, remarks: Sequence[Remark]) -> Table:
    """A row per drive: one sentence that compares it, and how each of its tests came out."""
    states = test_states(comparison)
    rows = tuple(
        (
            remark.subject.title,
            remark_sentence(remark, _failed(comparison, states[remark.subject.letter])),
            *(states[remark.subject.letter][test].text for test, _ in comparison.tests),
        )
        for remark in remarks
    )
    columns = ("Drive", "Compared", *(shown for _, shown in comparison.tests))
    levels = tuple(
        (line, place, states[remark.subject.letter][test].level)
        for line, remark in enumerate(remarks)
        for place, (test, _) in enumerate(comparison.tests, 2)
    )
    return Table(caption="Drives", columns=columns, rows=rows, levels=levels, verdicts=columns[2:])


def _failed(comparison: Comparison, states: Mapping[str, TestState]) -> str:
    """The tests that have no result, for a sentence. Worked: ``IOPS withheld, TP-128 cut short``."""
    listed = ((shown, states[test].state) for test, shown in comparison.tests)
    return (
        ", ".join(f"{shown} {STATE_WORDS[state]}" for shown, state in listed if state in _NO_RESULT)
        or "other conditions"
    )


def _of_subject(subject: Subject, test: str) -> TestState:
    """Of repeats the gravest."""
    listed = [next((summary for summary in run.summary.tests if summary.prefix == test), None) for run in subject.runs]
    states = [_of_test(summary) if summary else NOT_RUN for summary in listed]
    return min(states, key=lambda state: (state.state not in _NO_RESULT, gravity(state.level)))


def _of_test(test: TestSummary) -> TestState:
    verdict = test.verdict
    if verdict.state in _NO_RESULT:
        return TestState(state=verdict.state, level=level_of(verdict))
    stalls = () if test.stalled_ms is None else (coded("stalls", longest_ms=test.stalled_ms),)
    level: Level = "bad" if stalls else level_of(verdict)
    return TestState(state=verdict.state, level=level, beside=(*stalls, *verdict_caveats(verdict))[:_BESIDE_MAX])
