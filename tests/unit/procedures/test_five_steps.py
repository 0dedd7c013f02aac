"""The five steps of 2009: what is planned, the composite workloads as published, and the rule of every verdict."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from assay.engine.records import Cell, DataPattern
from assay.procedures.editions import load_edition
from assay.procedures.five_steps.plan import COMPOSITES, LOADS, MIXES, SIZES, FiveStepsSettings
from assay.procedures.five_steps.result import dropped, halves, lowest_load, lowest_neighbour, near_median, step_verdict
from assay.procedures.studies.result import Change, Stability
from assay.run.plan_file import load_plan
from assay.run.planning import plan_suite
from assay.spec.units import KIB, MINUTE_NS, SECOND_NS
from test_studies import identity

if TYPE_CHECKING:
    from assay.plan.procedure import PlannedTest

CHANGE = Change(
    label="SEQ",
    number=3,
    before=172.5,
    after=16.8,
    drop_share=1 - 16.8 / 172.5,
    lowest_share=0.1,
    recovery_minutes=None,
)
STABILITY = Stability(
    count=100, median=100.0, score=0.95, variation=0.01, worst=90.0, worst_second=3, latency_ms_max=1.0
)


def planned(block: int = 512, **keys: object) -> tuple[PlannedTest, FiveStepsSettings]:
    made = load_plan(None, {"drive": "sim:x", "suite": "five-steps", **keys})
    (test,) = plan_suite(load_edition(made.edition_name), made, identity(block=block)).tests
    assert isinstance(test.settings, FiveStepsSettings)
    return test, test.settings


def test_the_published_shares_sum_to_100_and_have_their_mean_sizes() -> None:
    # Mean sizes in KiB by hand from the published rows.
    assert [sum(pct for _, pct in one.sizes) for one in COMPOSITES] == [100] * 4
    means = [sum(size * pct for size, pct in one.sizes) / 100 / KIB for one in COMPOSITES]
    assert means == pytest.approx([11.08, 15.66, 8, 8])
    mixes = [(one.name, one.read_pct, one.random_pct) for one in COMPOSITES]
    assert mixes == [
        ("File server", 80, 100),
        ("Web server", 100, 100),
        ("Database", 67, 100),
        ("Workstation", 80, 80),
    ]
    pattern = COMPOSITES[0].pattern(512, DataPattern())
    assert dict(pattern.sizes)[4096] == 0.60
    assert (pattern.read_share, pattern.random_share, pattern.alignment_bytes) == (0.8, 1.0, 512)


def test_a_variant_per_step_and_the_whole_surface() -> None:
    test, settings = planned()
    assert [variant.label[0] for variant in settings.variants] == list("12345")
    assert [variant.purge for variant in settings.variants] == [True, False, False, True, False]
    surface = settings.variants[1].steps
    assert len(surface) == len(MIXES) * len(SIZES) == 84
    assert (SIZES[0], SIZES[-1]) == (1 << 20, 512)
    assert {step.span_ns for step in surface} == {MINUTE_NS}
    loads = [step.demand for step in settings.variants[4].steps if step.role == "measure"]
    totals = [one.thread_count * one.queue_depth for one in loads]
    assert totals == list(LOADS) * 4
    assert test.latest_ns is None
    assert test.deviations == ("study five-steps is no test of the specification",)


def test_sizes_inside_a_block_and_workloads_that_hold_them_are_left_out_with_the_reason() -> None:
    _, settings = planned(block=4096)
    assert min(settings.sizes_bytes) == 4096
    assert [name for name, _ in settings.not_run] == ["2KiB", "1KiB", "0.5KiB", "File server", "Web server"]
    assert {step.series for step in settings.variants[4].steps if step.role == "measure"} == {
        "Database",
        "Workstation",
    }
    assert "2 workloads" in settings.outline
    assert "63 cells" in settings.outline


def test_samples_are_judged_every_thirtieth_and_a_scaled_run_keeps_whole_seconds() -> None:
    _, settings = planned(scale=0.001)
    stability = settings.stability
    assert (stability.samples_per_verdict, stability.first_verdict_sample) == (30, 1)
    assert stability.time_ns == 721 * stability.sample_ns
    assert (stability.range_limit, stability.slope_limit) == (0.2, 0.1)
    assert settings.variants[2].steps[0].span_ns == 20 * SECOND_NS


def test_a_cell_is_found_by_the_label_of_its_step() -> None:
    _, settings = planned()
    assert settings.surface["RND 0.5KiB 65/35"] == Cell(read_pct=65, transfer_bytes=512)
    assert settings.fault() is None
    assert replace(settings, variants=settings.variants[:4]).fault() == "has other steps than the five"
    assert replace(settings, read_pcts=(100,)).fault() is not None


def test_step_1_passes_where_the_halves_of_the_last_pass_agree() -> None:
    passing = step_verdict(0, halves((200, 150, 120, 110, 100, 100, 95, 95)), 0.1)
    assert (passing.word, passing.finding.measured) == ("pass", pytest.approx(0.05))
    assert step_verdict(0, halves((100, 100, 100, 100, 100, 100, 89, 89)), 0.1).word == "fail"
    assert step_verdict(0, halves(()), 0.1).word == "n/a"


def matrix(row: list[float]) -> dict[Cell, float]:
    return {Cell(read_pct=0, transfer_bytes=4096 << place): value for place, value in enumerate(row)}


@pytest.mark.parametrize(
    ("row", "word"), [([4000, 1000, 3000], "fail"), ([4000, 1500, 3000], "pass"), ([4000, 3000, 100], "pass")]
)
def test_step_2_fails_at_a_block_size_that_falls_below_both_neighbours(row: list[float], word: str) -> None:
    found = step_verdict(1, lowest_neighbour(matrix(row)), 0.5)
    assert found.word == word


def test_step_2_is_not_judged_without_a_surface() -> None:
    assert step_verdict(1, lowest_neighbour({}), 0.5).word == "n/a"


def samples(*, reached: bool | None) -> Any:
    window = None if reached is None else SimpleNamespace(reached=reached)
    return SimpleNamespace(window=window, samples=SimpleNamespace(minutes=(1.0, 121.0)))


@pytest.mark.parametrize(
    ("reached", "score", "word"), [(True, 0.9, "pass"), (True, 0.89, "fail"), (False, 1.0, "fail"), (None, 1.0, "n/a")]
)
def test_step_3_asks_for_steady_state_and_for_steady_seconds(reached: bool | None, score: float, word: str) -> None:
    assert step_verdict(2, near_median(samples(reached=reached), replace(STABILITY, score=score)), 0.9).word == word
    assert step_verdict(2, near_median(samples(reached=reached), None), 0.9).word == "n/a"


def test_step_4_has_the_drops_of_the_source() -> None:
    # Spanjer (2009): 172.5 to 16.8 MB/s is printed as 90 %, 118.3 to 113.3 MB/s as 4 %.
    far = step_verdict(3, dropped(CHANGE), 0.1)
    assert (far.word, far.finding.words) == ("fail", "172.5 to 16.8 MB/s, a drop of 90.3 %")
    assert round(100 * (far.finding.measured or 0)) == 90
    near = replace(CHANGE, before=118.3, after=113.3, drop_share=1 - 113.3 / 118.3)
    assert (step_verdict(3, dropped(near), 0.1).word, round(100 * near.drop_share)) == ("pass", 4)
    assert step_verdict(3, dropped(None), 0.1).word == "n/a"


def stages(*rates: tuple[str, float | None]) -> list[Any]:
    return [
        SimpleNamespace(series=name, label=f"{name} {place}", settled=rate and SimpleNamespace(iops=rate))
        for place, (name, rate) in enumerate(rates)
    ]


def test_step_5_fails_where_a_heavier_load_has_fewer_iops_than_a_lighter_one() -> None:
    rising = stages(("A", 100), ("A", 300), ("A", 290), ("B", 10), ("B", 11))
    assert step_verdict(4, lowest_load(rising), 0.9).word == "pass"
    falling = step_verdict(4, lowest_load(stages(("A", 100), ("A", 300), ("A", 290), ("A", 200))), 0.9)
    assert (falling.word, falling.finding.measured) == ("fail", pytest.approx(2 / 3))
    # Another workload begins anew.
    assert step_verdict(4, lowest_load(stages(("A", 100), ("A", 110), ("B", 10), ("B", 11))), 0.9).word == "pass"
    assert step_verdict(4, lowest_load(stages(("A", 100), ("A", None))), 0.9).word == "n/a"
    assert step_verdict(4, lowest_load([]), 0.9).word == "n/a"
