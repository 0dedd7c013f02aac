"""The summary and the pages of tests as data: tiles, sentence, findings, caps, and no figure twice."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from assay.compare.limits.judge import held_of_plan
from assay.procedures.families.loop.figures import _text as field_text
from assay.report import records_of_tests
from assay.report.first_page.front import COLUMNS_MAX, FIGURES_MAX, SHADES, report_front, result_tables
from assay.report.first_page.page import (
    CAVEATS_MAX,
    LIMITS_MAX,
    TILES_MAX,
    deviations_text,
    limit_strip,
    run_tiles,
    summary_page,
)
from assay.report.first_page.run_summary import summarise_run
from assay.summary.insights import TEST_MAX, in_words, level_of_said
from assay.summary.pages.figures import MainFigure, chosen
from assay.summary.pages.model import Figure, Series
from assay.summary.record import Held, HeldNumber, Status
from assay.summary.table import Column, Pivot, ResultTable
from assay.words.coded import coded
from assay.words.digits import span_parts, thousands
from every_kind import EVERY
from report_run import synthetic_run, synthetic_test
from saturation_run import saturation_test

if TYPE_CHECKING:
    from collections.abc import Callable

    from assay.engine.records import StoredRun
    from assay.report.first_page.front import Front
    from assay.summary.pages.figures import FigureKind

RATES = [50_000.0] * 100 + [2_500.0] * 1340


def suite(**changes: Any) -> StoredRun:
    return replace(synthetic_run(), tests=(saturation_test(RATES), synthetic_test()), **changes)


def front(run: StoredRun, held: Held | None = None) -> Front:
    return report_front(run, tests := records_of_tests(run), summarise_run(run, tests, held))


def main_figure(kind: FigureKind, *values: float) -> MainFigure:
    line = Series(label="", x=tuple(map(float, range(len(values)))), y=values, colour=0)
    figure = Figure(name=f"{kind}-{values}", kind="lines", alt="", x_title="", y_title="", series=(line,))
    return MainFigure(kind=kind, title=kind, figure=figure)


def test_a_tile_has_its_number_demand_and_range_each_apart() -> None:
    first, second, settled = front(suite()).summary.tiles
    assert (first.title, first.demand, first.unit) == ("4 KiB random read", "QD 8", "IOPS")
    assert (second.value, second.lines) == ("3.15k", ("rounds 2.9k to 3.45k",))
    assert (settled.title, settled.value, settled.then) == ("Writes, fresh to settled", "50k", "2.5k")
    assert settled.level == "warn"


def test_a_tile_says_what_is_claimed_and_whether_it_is_met() -> None:
    tiles = front(suite(plan={"claims": {"rnd_4k_write_iops": 3_000.0, "rnd_4k_read_iops": 1e6}})).summary.tiles
    assert [(one.claim_level, one.claim) for one in tiles[:2]] == [
        ("bad", tiles[0].claim), ("good", "claim 3k IOPS: 105 %"),
    ]  # fmt: skip


def test_at_most_eight_tiles_stand_on_a_summary_and_a_slot_is_taken_once() -> None:
    run = suite()
    tests = summarise_run(run, records_of_tests(run), None).tests
    assert run_tiles((*tests, *tests), [], {}) == run_tiles(tests, [], {})
    iops = tests[1]
    own = [replace(iops, name=str(place), tiles=(replace(iops.tiles[0], slot="own-1"),)) for place in range(12)]
    assert len(run_tiles(own, [], {})) == TILES_MAX


def test_the_sentence_is_the_gravest_insight_and_the_list_starts_at_the_second() -> None:
    run = suite()
    summary = summarise_run(run, records_of_tests(run), None)
    page = front(run).summary
    assert page.sentence.text == in_words(summary.said[0][1])
    assert [one.text for one in page.findings] == [in_words(one) for _, one in summary.said[1:]]
    assert page.sentence.text not in [one.text for one in page.findings]


def test_a_run_without_any_insight_says_how_its_first_test_came_out() -> None:
    run = suite()
    bare = replace(summarise_run(run, records_of_tests(run), None), said=())
    page = summary_page(bare, [])
    assert page.sentence.text.startswith("WSAT: ")
    assert page.findings == ()


def test_four_caveats_are_shown_and_how_many_more_there_are() -> None:
    run = suite()
    caveat = Status(level="warn", said=coded("reason", reason="why"))
    many = replace(summarise_run(run, records_of_tests(run), None), caveats=(caveat,) * 9, deviations=())
    page = summary_page(many, [])
    assert len(page.caveats) == CAVEATS_MAX
    assert page.more_caveats >= 5
    assert deviations_text(("a", "b", "c")) == "3 deviations: a; b; and 1 more"
    assert deviations_text(("a",)) == "1 deviation: a"


def test_a_summary_takes_what_varies_then_by_kind_and_no_kind_twice() -> None:
    flat, curve, tail = (
        main_figure("saturation", 667.0, 667.0), main_figure("curve", 1.0, 9.0), main_figure("tail", 1.0, 9.0),
    )  # fmt: skip
    assert chosen([flat, curve, tail]) == (tail, curve)
    assert chosen([flat, tail, main_figure("tail", 1.0, 3.0)]) == (tail, flat)
    assert chosen([flat]) == (flat,)


def test_limits_stand_worst_first_with_a_word_for_each_and_then_how_many_more() -> None:
    missed = HeldNumber(name="reads p99", outcome="fail", value=4.0, bound=2.0, unit="ms", is_least=False, apart=2.0)
    met = replace(missed, name="writes", outcome="pass", value=1.0)
    strip = limit_strip(Held(met=9, missed=1, undecided=0, numbers=(missed, *[met] * 9)))
    assert strip is not None
    assert (strip.counts, strip.level, strip.more) == ("1 missed, 9 met", "bad", 10 - LIMITS_MAX)
    assert (strip.limits[0].value, strip.limits[0].bound, strip.limits[0].outcome) == ("4 ms", "at most 2 ms", "missed")
    assert limit_strip(None) is None


def test_a_matrix_is_shaded_and_a_long_table_keeps_nine_columns() -> None:
    columns = (
        Column("size", "Size", "KiB", role="key"),
        Column("read_pct", "Reads", role="key"),
        Column("iops", "IOPS"),
    )
    rows = tuple((size, mix, float(size * (mix + 1))) for size in (1, 10) for mix in (0, 100))
    matrix = ResultTable(
        key="m", title="IOPS", columns=columns, rows=rows, section="results",
        pivots=(Pivot(("size",), "read_pct", "iops"),),
    )  # fmt: skip
    (view,) = result_tables([matrix])
    assert [one.text for one in view.columns] == ["Size (KiB)", "0/100", "100/0"]
    assert [[one.shade for one in row[1:]] for row in view.rows] == [[1, 6], [4, SHADES]]
    assert result_tables([matrix], without_first=True) == ()
    many = tuple(Column(f"c{place}") for place in range(19))
    (plain,) = result_tables([replace(matrix, columns=many, rows=((1.0,) * 19,), pivots=())])
    assert len(plain.columns) == COLUMNS_MAX


def test_numbers_of_tiles_have_three_digits_and_their_unit_apart() -> None:
    assert (thousands(6_798), thousands(274.96), thousands(81.52)) == ("6,800", "275", "81.5")
    assert (span_parts(0.0299), span_parts(2_588)) == (("29.9", "\N{MICRO SIGN}s"), ("2.59", "s"))
    assert (level_of_said(coded("good-for")), level_of_said(coded("stalls", longest_ms=400))) == ("good", "bad")


def test_a_test_whose_results_are_withheld_shows_no_number_and_says_so_first() -> None:
    page = front(synthetic_run(synthetic_test(errors=1)))
    assert page.summary.sentence.level == "bad"
    assert (page.summary.tiles, page.summary.figures) == ((), ())
    assert (page.tests[0].tiles, page.tests[0].figures, page.tests[0].tables) == ((), (), ())


def test_one_test_stands_on_the_summary_and_several_have_pages_with_names_of_their_own() -> None:
    assert front(synthetic_run()).alone is not None
    assert front(synthetic_run()).anchors == {}
    run = replace(synthetic_run(), tests=(synthetic_test(), saturation_test(RATES), synthetic_test()))
    assert front(run).alone is None
    assert [one.anchor for one in front(run).tests] == ["test-iops", "test-wsat", "test-iops-2"]


@pytest.mark.parametrize("kind", EVERY)
def test_every_kind_of_test_has_a_page_with_a_question_and_no_figure_twice(
    kind: str, quiet: Callable[[str], StoredRun]
) -> None:
    run = quiet(kind)
    reports = records_of_tests(run)
    found = report_front(run, reports, summarise_run(run, reports, held_of_plan(run, reports)))
    names = Counter(one.figure.name for one in found.figures)
    assert set(names.values()) <= {1}
    assert found.summary.figures
    assert len(found.summary.tiles) <= TILES_MAX
    assert len(found.summary.findings) < 5
    for page in found.tests:
        assert page.question
        assert page.verdicts
        assert len(page.figures) <= FIGURES_MAX
        assert len(page.findings) <= TEST_MAX
        assert all(len(row) == len(table.columns) for table in page.tables for row in table.rows)
    assert found.method.parameters


@pytest.mark.parametrize(("value", "shown"), [(99.97, "100"), (99.94, "99.9"), (14.0, "14.0"), (24_632.0, "24,632")])
def test_a_field_of_three_digits_has_no_bare_point(value: float, shown: str) -> None:
    assert field_text(value) == shown
