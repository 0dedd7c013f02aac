"""Comparison: intervals, ranks, conditions, and who may be told from whom."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from assay.compare.comparison import Options, cohorts, compare_runs, modified_scores, published_rows
from assay.compare.interval import reference_spread, repeats_spread, rounds_spread
from assay.compare.sides import NOT_REPEATED
from assay.compare.subject import _shown, letter, unlike
from assay.errors import UnlikeRunsError, UsageError
from assay.report.comparison.pages import comparison_report
from assay.report.comparison.tables import value_text
from compared_runs import short_run, variant
from scipy import stats

if TYPE_CHECKING:
    from assay.compare.comparison import Comparison
    from assay.compare.sides import Compared
    from assay.compare.subject import LoadedRun
    from assay.engine.records import StoredRun

REAL = {"kind": "block", "interface": "PCIe 4.0 x4"}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> StoredRun:
    return short_run(tmp_path_factory.mktemp("compared") / "run")


def quoted(found: Comparison, label: str = "RND 4KiB W, 1 outstanding, average") -> Compared:
    return next(one for one in found.quoted if one.name.label == label)


def real(run: StoredRun, number: int, **more: object) -> LoadedRun:
    return variant(run, number, identity={**REAL, "id": f"serial-{number}"}, **more)  # type: ignore[arg-type]


def test_the_interval_of_rounds_is_that_of_welch_on_logarithms() -> None:
    one, two = [98.0, 103.0, 100.0, 99.0, 101.0], [212.0, 190.0, 205.0, 199.0, 201.0]
    spread = rounds_spread(one, two)
    assert spread is not None
    judge = stats.ttest_ind([math.log(value) for value in two], [math.log(value) for value in one], equal_var=False)
    low, high = judge.confidence_interval(0.95)
    assert spread.reach() == pytest.approx((high - low) / 2)
    assert rounds_spread([100.0], two) is None
    assert rounds_spread([0.0, 1.0], two) is None


def test_repeats_of_one_side_speak_for_a_single_run_of_the_other() -> None:
    runs = [math.exp(value) for value in (-0.01, 0.01, 0.0, -0.01, 0.01)]
    spread = repeats_spread(runs, [1.0])
    assert spread is not None
    assert (spread.error, spread.freedom) == (pytest.approx(0.01 * math.sqrt(1 + 1 / 5)), 4)
    assert repeats_spread([1.0], [2.0]) is None


def test_the_interval_is_never_narrower_than_the_reference_drive(run: StoredRun) -> None:
    steady = compare_runs([real(run, 1, variation=0.02), real(run, 2, variation=0.001)])
    side = quoted(steady).sides[1]
    floor = reference_spread(0.02, 5, (1, 1)).reach()
    assert side.uncertainty.repeatable
    assert side.uncertainty.reach() is not None
    assert side.uncertainty.reach() >= floor * 0.999  # type: ignore[operator]
    assert floor == pytest.approx(stats.t.ppf(0.975, 4) * 0.02 * math.sqrt(2))


def test_without_repeats_or_a_reference_drive_rounds_are_printed_and_nothing_is_ranked(run: StoredRun) -> None:
    found = compare_runs([variant(run, 1), variant(run, 2, slower=0.3)])
    side = quoted(found).sides[1]
    assert (side.uncertainty.repeatable, side.uncertainty.reason) == (False, NOT_REPEATED)
    assert [(one.rank, one.order) for one in quoted(found).sides] == [(None, 1), (None, 2)]


def test_drives_that_cannot_be_told_apart_share_a_rank(run: StoredRun) -> None:
    runs = [real(run, number, slower=slower, variation=0.001) for number, slower in ((1, 0.0), (2, 0.0), (3, 0.5))]
    assert [one.rank for one in quoted(compare_runs(runs)).sides] == [1, 1, 3]


def test_equal_values_share_a_place_whatever_the_last_digit_of_a_float(run: StoredRun) -> None:
    first = compare_runs(
        [variant(run, 1), variant(run, 2), variant(run, 3, slower=-1e-15), variant(run, 4, slower=0.1)]
    )
    assert [one.order for one in quoted(first).sides] == [1, 1, 1, 4]


def test_amounts_in_segments_are_alike_to_one_segment(run: StoredRun) -> None:
    settings = run.tests[0].settings

    def sized(number: int, capacity: int, segments: int) -> LoadedRun:
        changed = replace(settings, range_amount_bytes=segments << 23, segment_count=segments)
        tests = (replace(run.tests[0], settings=changed),)
        return variant(run, number, identity={"capacity_bytes": capacity}, tests=tests)

    # Half of 1 GB are 59.6 segments of 8 MiB, half of 4 GB are 238.4.
    assert not unlike(sized(1, 10**9, 59), sized(2, 4 * 10**9, 238))
    assert [one.what for one in unlike(sized(1, 10**9, 59), sized(2, 4 * 10**9, 226))] == ["range amount"]


def test_a_maximum_has_neither_interval_nor_rank(run: StoredRun) -> None:
    found = compare_runs([real(run, 1, variation=0.001), real(run, 2, variation=0.001)])
    maxima = [one for one in found.numbers if one.name.stat == "maximum"]
    assert maxima
    assert not [one for one in maxima for side in one.sides if side.rank or side.low is not None]


def test_of_repeats_a_quoted_maximum_is_the_largest(run: StoredRun) -> None:
    found = compare_runs(
        [variant(run, 1, noise=0.3), variant(run, 2, noise=0.3), variant(run, 3)], Options(repeats=True)
    )
    maxima = [one for one in found.quoted if one.name.stat == "maximum"]
    assert [one.name.label for one in maxima] == [f"RND 4KiB {side}, 1 outstanding, maximum" for side in "RW"]
    for one in maxima:
        (side,) = one.sides
        assert side.value == max(side.values)
        assert (side.low, side.high, side.rank) == (None, None, None)


def test_what_is_better_comes_from_the_unit(run: StoredRun) -> None:
    found = compare_runs([variant(run, 1), variant(run, 2, slower=0.2)])
    average = quoted(found)
    assert (average.name.better, average.sides[1].ratio) == ("lower", pytest.approx(1.25))
    assert average.sides[0].order == 1


def test_unlike_runs_are_refused_with_every_difference(run: StoredRun) -> None:
    other = variant(run, 2, edition={**run.edition, "name": "pts-e-1.0"}, platform=replace(run.platform, tool="other"))
    with pytest.raises(UnlikeRunsError) as caught:
        compare_runs([variant(run, 1), other])
    assert caught.value.exit_code == 2
    assert [line.count("edition") + line.count("tool") for line in str(caught.value).splitlines()] == [1, 1]


def test_unlike_runs_can_be_shown_apart_without_ratio_and_rank(run: StoredRun) -> None:
    other = variant(run, 2, edition={**run.edition, "name": "pts-e-1.0"})
    found = compare_runs([variant(run, 1), other, variant(run, 3)], Options(despite=True))
    assert [one.letter for one in found.subjects if one.unlike] == ["B"]
    side = quoted(found).sides[1]
    assert (side.apart, side.ratio, side.rank, side.order) == (True, None, None, None)
    assert value_text(quoted(found), side).endswith(", apart")


def test_another_demand_is_a_difference_of_its_test_and_another_share_of_the_drive_too(run: StoredRun) -> None:
    settings = replace(run.tests[0].settings, demand=replace(run.tests[0].settings.demand, queue_depth=9))
    other = variant(run, 2, tests=(replace(run.tests[0], settings=settings),))
    with pytest.raises(UnlikeRunsError, match="LAT: demand, queue depth 9 instead of 1"):
        compare_runs([variant(run, 1), other])


def test_real_drives_on_two_hosts_are_unlike_and_simulated_ones_are_not(run: StoredRun) -> None:
    elsewhere = replace(run.platform, host_id="other-host")
    subjects = compare_runs([variant(run, 1), variant(run, 2, platform=elsewhere)]).subjects
    assert not any(subject.unlike for subject in subjects)
    with pytest.raises(UnlikeRunsError, match="host other-host"):
        compare_runs([real(run, 1), real(run, 2, platform=elsewhere)])


def test_withheld_results_are_shown_as_such_and_never_ranked(run: StoredRun) -> None:
    cut = replace(run.tests[0], ended="interrupted")
    found = compare_runs([variant(run, 1), variant(run, 2), variant(run, 3, tests=(cut,))])
    side = quoted(found).sides[2]
    assert (side.state, side.value, side.rank, side.order) == ("cut short", None, None, None)


def test_results_that_are_not_steady_are_shown_with_their_value_and_never_ranked(run: StoredRun) -> None:
    late = replace(run.tests[0], ended="round-limit")
    side = quoted(compare_runs([variant(run, 1), variant(run, 3, tests=(late,))])).sides[1]
    assert (side.state, side.ratio, side.order) == ("not steady", None, None)


def test_a_copy_is_no_run_of_its_own_and_a_seed_again_no_repeat(run: StoredRun) -> None:
    with pytest.raises(UsageError, match="holds the same as runs/1"):
        compare_runs([variant(run, 1), variant(run, 1)])
    again = variant(run, 2)
    object.__setattr__(again.summary, "seed", 1)
    with pytest.raises(UsageError, match="no repeat of"):
        compare_runs([variant(run, 1), again, variant(run, 3)], Options(repeats=True))


def test_repeats_are_one_column_and_say_how_far_numbers_move(run: StoredRun) -> None:
    ours = [variant(run, number, noise=0.01) for number in range(1, 5)]
    theirs = variant(run, 9, slower=0.3, identity={"id": "sim:other"})
    found = compare_runs([*ours, theirs], Options(repeats=True))
    assert [len(one.runs) for one in found.subjects] == [4, 1]
    side = quoted(found).sides[1]
    assert side.uncertainty.repeatable
    assert [one.rank for one in quoted(found).sides] == [1, 2]


def test_the_rows_of_2012_are_found_among_the_numbers(run: StoredRun) -> None:
    rows = published_rows(compare_runs([variant(run, 1), variant(run, 2)]))
    assert [title for title, _ in rows] == ["RND 4KiB R Ave", "RND 4KiB W Ave", "RND 4KiB R Max", "RND 4KiB W Max"]


def test_a_sample_far_from_its_cohort_is_an_outlier(run: StoredRun) -> None:
    assert modified_scores({"a": 98, "b": 99, "c": 100, "d": 101, "e": 120})["e"] == pytest.approx(13.49)
    samples = [real(run, number, noise=0.002) for number in range(1, 6)]
    found = compare_runs([*samples, real(run, 6, slower=0.2)])
    cohort = next(one for one in cohorts(found) if one.name.label == quoted(found).name.label)
    assert cohort.outliers is not None
    assert [name for name, _ in cohort.outliers] == ["F"]
    few = next(cohorts(compare_runs(samples[:3])))
    assert few.outliers is None


def test_letters_go_on_behind_the_alphabet() -> None:
    assert [letter(place) for place in (0, 25, 26, 49)] == ["A", "Z", "AA", "AX"]


def test_pages_of_many_drives_name_each_figure_once(run: StoredRun) -> None:
    runs = [variant(run, number, edition={**run.edition, "name": f"edition-{number % 2}"}) for number in range(1, 20)]
    report = comparison_report(compare_runs(runs, Options(despite=True)))
    tables = [block for page in report.pages for block in page.all_blocks if block.block == "table"]
    assert {row[0] for table in tables for row in table.rows} >= {"A", "S"}
    names = [figure.name for figure in report.figures]
    assert len(set(names)) == len(names) > 0
    assert all("MORE APART" in (page.banner or "") for page in report.pages)
    assert report.pages[0].anchor == "drives-compared"
    assert not any(page.anchor.startswith("comparison") for page in report.pages)


def test_between_2_and_50_runs_are_compared(run: StoredRun) -> None:
    with pytest.raises(UsageError, match="1 given"):
        compare_runs([variant(run, 1)])


def test_a_setting_that_differs_is_printed_with_its_unit_and_no_key() -> None:
    assert _shown("sizes_bytes", (4096, 8192)) == "4KiB, 8KiB"
    assert _shown("tracking", ({"read_pct": 0, "transfer_bytes": 4096},)) == "read pct 0 transfer 4KiB"
    assert _shown("step_ns", 60_000_000_000) == "1 min"
    assert _shown("purges", True) == "yes"
    assert _shown("preconditioning_bytes", 512 * 10**9) == "512.00 GB"
