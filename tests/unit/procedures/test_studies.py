"""Studies: what each is planned to do, and how its readings are taken from steps."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median, stdev
from types import SimpleNamespace
from typing import Any, cast

import pytest
from assay.engine.pattern import cell_pattern
from assay.engine.records import (
    Control,
    DataPattern,
    Demand,
    DriveIdentity,
    SkippedTest,
    StepRecord,
    StepSequence,
    StoredSequence,
    StoredTest,
    Trim,
)
from assay.errors import UsageError, ValueRangeError
from assay.plan.procedure import Context, PlannedTest
from assay.procedures.editions import load_edition
from assay.procedures.registry import SUITES
from assay.procedures.studies.figures import same_lines
from assay.procedures.studies.measures import study_measures
from assay.procedures.studies.result import (
    Second,
    StageResult,
    StageValues,
    StudyResult,
    VariantResult,
    changes_of,
    proposal_of,
    stability_of,
    study_result,
)
from assay.procedures.studies.run import StudySettings, StudyStep, StudyVariant, variant_actions
from assay.procedures.xsr.run import run_xsr
from assay.results.step import Samples
from assay.run.plan_file import Plan, load_plan
from assay.run.planning import plan_suite
from assay.spec.units import GIB, MIB, SECOND_NS
from assay.summary.measures import measure_text, range_text
from assay.words.coded import coded
from assay.words.text import text
from report_run import START_NS, TRACKED, balanced, stored_sequence, synthetic_direction, synthetic_step

ALL: tuple[str, ...] = (
    "data-pattern", "write-cache", "oio", "over-provisioning", "active-range", "workload-dependency", "stability",
    "cell-order", "alignment", "trim", "demand-map",
)  # fmt: skip
BOTH: tuple[Control, ...] = ("trim", "write-cache")


def identity(
    capacity_bytes: int = 256 * 10**9, block: int = 512, controls: tuple[Control, ...] = BOTH
) -> DriveIdentity:
    return DriveIdentity(
        id="x",
        path="sim:x",
        kind="simulated",
        capacity_bytes=capacity_bytes,
        logical_block_bytes=block,
        write_cache="enabled",
        controls=controls,
    )


def plan(**keys: object) -> Plan:
    return load_plan(None, {"drive": "sim:x", **keys})


def planned(name: str, drive: DriveIdentity | None = None, **keys: object) -> tuple[PlannedTest, StudySettings]:
    made = plan(studies=[name], **keys)
    (test,) = plan_suite(load_edition(made.edition_name), made, drive or identity()).tests
    assert isinstance(test.settings, StudySettings)
    return test, test.settings


def measured(variant: StudyVariant) -> list[StudyStep]:
    return [step for step in variant.steps if step.role == "measure"]


@pytest.mark.parametrize("name", ALL)
def test_every_study_says_that_it_is_no_test_of_the_specification_and_begins_purged(name: str) -> None:
    test, settings = planned(name)
    assert test.deviations == (f"study {name} is no test of the specification",)
    assert settings.test == f"study-{name}"
    assert settings.variants[0].purge
    labels = [variant.label for variant in settings.variants]
    assert len(set(labels)) == len(labels) > 1
    shown = {step.label for variant in settings.variants for step in measured(variant)} | set(labels)
    assert all(not plot.only or plot.only in shown for plot in settings.plots)
    ends = [step.from_bytes + step.length_bytes for variant in settings.variants for step in variant.steps]
    assert max(ends) <= identity().capacity_bytes


@pytest.mark.parametrize("name", ALL)
def test_a_scaled_study_lists_its_shorter_samples_and_is_shorter(name: str) -> None:
    test, settings = planned(name, scale=0.01)
    assert test.deviations[1] == "samples of studies of 0.6 s instead of 1 min"
    whole, _ = planned(name)
    assert test.earliest_ns < whole.earliest_ns / 50
    assert settings.transfer_bytes_max >= 4096


def test_cross_stimulus_in_both_orders_is_a_run_of_the_test_for_each() -> None:
    made = plan(studies=["xsr-reverse"], scale=0.01)
    run = plan_suite(load_edition(made.edition_name), made, identity())
    assert [one.settings.test for one in run.tests] == ["study-xsr-seq-rnd-seq", "study-xsr-rnd-seq-rnd"]
    assert [one.run for one in run.tests] == [run_xsr, run_xsr]
    shorter = "samples of studies of 0.6 s instead of 1 min"
    assert run.deviations == ("study xsr-reverse is no test of the specification", shorter)


@pytest.mark.parametrize("name", ["trim", "write-cache"])
def test_a_study_of_what_a_drive_cannot_do_is_not_applicable_with_the_reason(name: str) -> None:
    made = plan(studies=[name, "oio"])
    run = plan_suite(load_edition("pts-c-1.0"), made, identity(controls=()))
    assert [test.settings.test for test in run.tests] == ["study-oio"]
    (skipped,) = run.skipped
    assert skipped == SkippedTest(test=f"study-{name}", procedure=name, reason=skipped.reason)
    assert "this drive" in skipped.reason


def test_outstanding_i_os_beyond_a_thread_s_32_are_those_of_more_threads() -> None:
    _, settings = planned("oio")
    for variant in settings.variants:
        demands = [step.demand for step in measured(variant)]
        assert [one.thread_count * one.queue_depth for one in demands] == [1, 2, 4, 8, 16, 32, 64, 128, 256]
        assert max(one.queue_depth for one in demands) == 32


def test_a_plan_has_a_line_per_part_and_says_where_steps_have_their_own_demand() -> None:
    test, _ = planned("oio")
    assert [phase.name for phase in test.phases] == [
        "fill SEQ 128KiB 0/100", "RND 4KiB 0/100", "10 steps of writes", "10 steps of 65/35", "10 steps of reads",
    ]  # fmt: skip
    own = "some steps have a fixed demand, which no option changes"
    assert own in test.outline.notes
    assert own not in planned("stability")[0].outline.notes


def test_a_demand_map_runs_from_the_highest_total_oio_to_the_lowest() -> None:
    _, settings = planned("demand-map")
    for variant in settings.variants:
        cells = [(step.demand.thread_count, step.demand.queue_depth) for step in measured(variant)]
        assert len(set(cells)) == 36
        totals = [threads * depth for threads, depth in cells]
        assert totals == sorted(totals, reverse=True)
        assert cells[:3] == [(32, 32), (32, 16), (16, 32)]


def test_active_ranges_are_segments_of_the_whole_drive_and_those_that_do_not_fit_are_named() -> None:
    _, settings = planned("active-range")
    amounts = [measured(variant)[0] for variant in settings.variants]
    assert [(one.length_bytes, one.segment_count) for one in amounts[1:]] == [(16 * GIB, 2048), (8 * GIB, 2048)]
    assert all(variant.steps[0].length_bytes == amounts[0].length_bytes for variant in settings.variants)
    _, small = planned("active-range", identity(12 * 10**9))
    assert [variant.label for variant in small.variants] == ["AR 100 %", "AR 8 GiB"]
    assert [label for label, _ in small.not_run] == ["AR 16 GiB"]
    *_, last = variant_actions(settings.variants[2], 3, Context(drive=identity(), seed=7))
    assert isinstance(last, StepSequence)
    spec = last.steps[0]
    assert (len(spec.active_range.segment_starts), spec.active_range.segment_bytes) == (2048, 4 * MIB)


def test_offsets_and_sizes_inside_a_block_of_4096_bytes_are_left_out_with_the_reason() -> None:
    drive = identity(block=4096)
    _, settings = planned("alignment", drive)
    assert [step.from_bytes for step in measured(settings.variants[0])] == [0, 4096]
    assert [label for label, _ in settings.not_run] == ["offset 512", "offset 1024", "offset 2048"]
    _, order = planned("cell-order", drive)
    assert [label for label, _ in order.not_run] == ["0.5KiB"]
    assert {len(measured(variant)) for variant in order.variants} == {7}


def test_the_three_orders_have_the_same_cells() -> None:
    _, settings = planned("cell-order")
    orders = [[step.place for step in measured(variant)] for variant in settings.variants]
    assert orders[0] == orders[1][::-1] == sorted(orders[0], key=lambda size: -(size or 0))
    assert len({tuple(sorted(order, key=lambda size: size or 0)) for order in orders}) == 1
    assert orders[2] not in orders[:2]


def test_a_file_becomes_a_variant_of_the_data_pattern_study(tmp_path: Path) -> None:
    (tmp_path / "data").write_bytes(b"x" * 4096)
    _, without = planned("data-pattern")
    assert [label for label, _ in without.not_run] == ["file"]
    _, named = planned("data-pattern", study={"data_file": str(tmp_path / "data")})
    assert named.variants[-1].steps[-1].pattern.data.path == str(tmp_path / "data")
    with pytest.raises(UsageError, match="nowhere"):
        plan(studies=["data-pattern"], study={"data_file": "/nowhere"})


def test_trim_lies_between_the_programs_before_and_behind_it() -> None:
    _, settings = planned("trim")
    parts = list(variant_actions(settings.variants[1], 2, Context(drive=identity(), seed=1)))
    place = next(index for index, part in enumerate(parts) if isinstance(part, Trim))
    assert [part.role for part in parts[:place] if isinstance(part, StepSequence)] == ["prepare"] * place
    assert [part.role for part in parts[place + 1 :] if isinstance(part, StepSequence)] == ["measure"]
    assert all(len(part.steps) <= 60 for part in parts if isinstance(part, StepSequence))


def test_named_studies_run_alone_and_beside_named_tests_and_suites(tmp_path: Path) -> None:
    assert plan(studies=["oio"]).tests == ()
    assert plan(studies=["oio"], tests=["lat"]).tests == ("lat",)
    assert plan(studies=["oio"], suite="client").tests == ("wsat", "iops", "tp", "lat")
    path = tmp_path / "plan.toml"
    path.write_text('schema = 1\ndrive = "sim:x"\nsuite = "enterprise"\nstudies = ["trim"]\n')
    asked = load_plan(path, {"studies": ("oio",)})
    assert (asked.tests, asked.studies, asked.edition) == ((), ("oio",), "pts-e-1.1")
    assert load_plan(path, {"tests": ("lat",)}).studies == ()
    assert load_plan(path, {}).studies == ("trim",)
    with pytest.raises(ValueRangeError, match="--study: is"):
        plan(studies=["nothing"])


def test_the_demand_of_the_command_line_is_that_of_studies_too() -> None:
    made = load_plan(None, {"drive": "sim:x", "studies": ("trim",)}, {"thread_count": 2, "queue_depth": 5})
    assert (made.study.thread_count, made.study.queue_depth) == (2, 5)


def test_the_blind_survey_is_level_one_as_tests_and_level_two_as_studies() -> None:
    made = plan(suite="blind-survey")
    assert (made.edition, made.tests) == ("pts-0.9", ("wsat", "iops", "tp", "lat"))
    assert made.studies == SUITES["blind-survey"][2] == ("data-pattern", "active-range", "xsr-reverse")
    assert plan(suite="blind-survey", tests=["lat"]).studies == ()


def record(count: int, *, size: int = 4096, span_s: int = 10, seconds: tuple[int, ...] = ()) -> StepRecord:
    side = synthetic_direction(count, size)
    largest = tuple(1_000_000 * (place + 1) for place, _ in enumerate(seconds))
    span_ns = span_s * SECOND_NS
    # Nothing crosses the ends of the window, as equal steps would have to carry it on.
    held_ns = 8 * span_ns if count else 0
    side = replace(side, series_io_count=seconds, series_latency_ns_max=largest, latency_ns_sum=held_ns)
    step = synthetic_step(TRACKED, 0)
    return balanced(
        replace(step, span_ns=span_ns, write=side, read=synthetic_direction(0, size), outstanding_ns=held_ns)
    )


def test_a_fall_from_172_5_to_16_8_mb_per_s_is_a_drop_of_90_per_cent() -> None:
    # Spanjer, "What's up with these numbers" (2009): printed 90 %, and 4 % from 118.3 to 113.3 MB/s.
    cell = cell_pattern("sequential", 1_000_000, 0.0, DataPattern())
    step = StudyStep(
        role="measure", label="SEQ", pattern=cell, demand=Demand(thread_count=1, queue_depth=8), length_bytes=1
    )
    other = replace(step, label="RND")
    for before, after, printed in ((1725, 168, 90), (1183, 1133, 4)):
        records = [[record(before, size=10**6)], [record(1, size=10**6)], [record(after, size=10**6)] * 2]
        (change,) = changes_of([step, other, step], records, 0.97)
        assert (change.before, change.after) == (before / 10, after / 10)
        assert round(change.drop_share * 100) == printed
        assert change.number == 3
        assert change.recovery_minutes is None
    (change,) = changes_of([step, step], [[record(100)] * 2, [record(20), record(60), record(96)]], 0.95)
    assert change.recovery_minutes == pytest.approx(0.5)
    assert change.after / change.before == pytest.approx(0.4)
    assert changes_of([step, step], [[record(100)], []], 0.95) == ()


def stage_of(*found: StepRecord) -> StudySettings:
    """The stability study with one variant of so many samples of 10 s."""
    _, settings = planned("stability")
    variant = settings.variants[0]
    step = replace(measured(variant)[0], samples=len(found), span_ns=10 * SECOND_NS)
    return replace(settings, variants=(replace(variant, steps=(step,)),))


def variant_program(settings: StudySettings, steps: Sequence[StepRecord]) -> StoredSequence:
    """What is stored of the first measured sequence of the first variant."""
    actions = variant_actions(settings.variants[0], 1, Context(drive=identity(), seed=1))
    sequence = next(one for one in actions if isinstance(one, StepSequence) and one.role == "measure")
    return stored_sequence(sequence, steps)


def stage_test(*found: StepRecord) -> StoredTest:
    """The same study as it was stored."""
    return StoredTest(
        settings=stage_of(*found),
        started_wall_ns=START_NS,
        ended_wall_ns=START_NS,
        purge=None,
        sequences=(variant_program(stage_of(*found), found),),
        verdict=None,
        ended="time",
    )


@pytest.mark.parametrize(
    ("seconds", "score"),
    [
        # Silent in the last two of ten seconds; its series ends with the last completion.
        ((100,) * 8, 0.8),
        # Hung from the fourth second on: the median of its seconds is zero, by which no second is judged.
        ((100,) * 3, None),
        ((100,) * 4 + (0,) * 2 + (100,) * 2, 0.6),
    ],
)
def test_a_second_without_a_completion_counts_at_the_end_of_a_stage_too(
    seconds: tuple[int, ...], score: float | None
) -> None:
    ran = record(sum(seconds), seconds=seconds)
    (variant,) = study_result(stage_test(ran)).variants
    (found,) = variant.stability
    assert found is not None
    assert (found.count, found.score) == (10, score)
    assert [one.second for one in variant.stages[0].seconds] == list(range(1, 11))


def test_a_drive_that_hangs_for_a_whole_sample_is_judged_by_all_its_seconds() -> None:
    good, hung = record(1000, seconds=(100,) * 10), record(0)
    stored = stage_test(good, hung)
    (found,) = study_result(stored).variants[0].stability
    assert found is not None
    assert (found.count, found.median, found.worst) == (20, 50, 0)
    # Without their tables, which not every reader asks for, nothing is said of seconds.
    unread = replace(stored.sequences[0], steps=(record(1000), hung))
    assert study_result(replace(stored, sequences=(unread,))).variants[0].stages[0].seconds == ()


def seconds_of(rates: Sequence[float], latency_ms_max: Sequence[float | None]) -> list[Second]:
    rows = enumerate(zip(rates, latency_ms_max, strict=True), 1)
    return [Second(float(end), rate, 0.0, largest) for end, (rate, largest) in rows]


def test_the_stability_score_is_the_share_of_seconds_near_the_median() -> None:
    found = stability_of(seconds_of((100, 105, 95, 100, 50), (1.0, 2.0, None, 3.0, 1.0)))
    assert found is not None
    assert (found.median, found.score, found.worst_second, found.worst, found.latency_ms_max) == (100, 0.8, 5, 50, 3.0)
    assert stability_of(()) is None
    few = stability_of(seconds_of((11, 10, 12), (None,) * 3))
    assert few is not None
    assert (few.median, few.score) == (11, None)
    # The multiples of the golden ratio modulo one are spread evenly: no seed is needed.
    rates = [800 + 400 * (place * 0.6180339887 % 1) for place in range(501)]
    found = stability_of(seconds_of(rates, [None] * 501))
    assert found is not None
    assert found.median == median(rates)
    assert found.variation == pytest.approx(stdev(rates) / (sum(rates) / 501))
    assert found.score == sum(0.9 * found.median <= rate <= 1.1 * found.median for rate in rates) / 501


def test_the_proposed_demand_is_the_least_that_reaches_95_per_cent() -> None:
    def cell(threads: int, depth: int, rate: float, art: float) -> tuple[Demand, float, float]:
        return Demand(thread_count=threads, queue_depth=depth), rate, art

    cells = [cell(1, 1, 50, 1.0), cell(4, 2, 97, 1.2), cell(2, 4, 96, 1.1), cell(8, 8, 100, 9.0)]
    found = proposal_of(cells)
    assert found is not None
    assert (found.demand, found.highest, found.share) == (Demand(thread_count=2, queue_depth=4), 100, 0.96)
    assert proposal_of([]) is None
    assert proposal_of([cell(1, 1, 0, 0)]) is None


def stored(settings: StudySettings, steps: list[StepRecord], ended: str | None = "time") -> StoredTest:
    return StoredTest(
        settings=settings,
        started_wall_ns=START_NS,
        ended_wall_ns=START_NS,
        purge=None,
        sequences=(variant_program(settings, steps),),
        verdict=None,
        ended=ended,
    )


def one_variant(samples: int, settled_share: float) -> StudySettings:
    _, settings = planned("trim")
    (step,) = measured(settings.variants[0])
    variant = replace(settings.variants[0], steps=(replace(step, samples=samples, span_ns=10 * SECOND_NS),))
    return replace(settings, variants=(variant,), settled_share=settled_share)


def test_a_settled_value_is_the_mean_of_the_last_samples_and_none_where_the_stage_was_cut() -> None:
    settings = one_variant(5, 0.4)
    steps = [record(count) for count in (1000, 600, 400, 420, 380)]
    (variant,) = study_result(stored(settings, steps)).variants
    (stage,) = variant.stages
    assert stage.settled is not None
    assert (stage.settled.iops, stage.settled.outstanding, stage.settled.asked) == (40, 8, 8)
    assert stage.settled.rates == (42, 38)
    quoted = next(one for one in study_measures(settings, study_result(stored(settings, steps)), 10**9) if one.quoted)
    assert (measure_text(quoted), range_text(quoted)) == ("40.0", "38.0 - 42.0")
    assert quoted.basis
    assert text(quoted.basis).startswith("mean of the last 40 % of the samples, 8 outstanding")
    assert stage.samples.minutes == pytest.approx([1 / 6, 2 / 6, 3 / 6, 4 / 6, 5 / 6])
    for cut in (stored(settings, steps[:4]), stored(settings, steps, ended=None)):
        assert study_result(cut).variants[0].stages[0].settled is None
        assert study_result(cut).variants[0].stages[0].samples.iops[0] == 100


def test_seconds_that_a_step_cuts_are_left_out() -> None:
    settings = replace(one_variant(1, 1.0), reading="stability")
    cut = replace(record(12, span_s=3, seconds=(4, 4, 4, 1)), span_ns=3 * SECOND_NS + 5)
    (stage,) = study_result(stored(settings, [cut])).variants[0].stages
    assert stage.seconds == ((1, 4, 100, 1.0), (2, 4, 100, 2.0), (3, 4, 100, 3.0))


def test_a_study_quotes_its_slowest_and_fastest_variant_of_the_same_accesses() -> None:
    def stage(label: str, rate: float) -> StageResult:
        same: dict[str, Any] = dict.fromkeys(("throughput", "latency_ms_mean", "latency_ms_max", "outstanding"), 1.0)
        values, demand = StageValues(iops=rate, rates=(rate,), asked=1, **same), Demand(thread_count=1, queue_depth=1)
        return StageResult(label=label, place=None, series="", demand=demand, samples=Samples.of([]), settled=values)

    variants = tuple(
        VariantResult(label=label, place=None, stages=(stage(accesses, rate),))
        for label, accesses, rate in (("AR 100 %", "W", 2900.0), ("AR 5 %", "W", 56_700.0), ("SEQ", "S", 11.0))
    )
    result = StudyResult(variants=variants, outstanding_error=None, withheld=None)
    settings = SimpleNamespace(title="Over-Provisioning", settled_share=0.2)
    found = [one for one in study_measures(settings, result, 10**9) if one.quoted]  # type: ignore[arg-type]
    assert [(one.printed, measure_text(one)) for one in found] == [
        ("AR 100 %, W", "2,900.0"),
        ("AR 5 %, W", "56,700.0"),
        ("Fastest variant over slowest", "19.6"),
    ]
    nothing = StudyResult(variants=(), outstanding_error=None, withheld=coded("io-errors", count=1))
    none = [one for one in study_measures(settings, nothing, 10**9) if one.quoted]  # type: ignore[arg-type]
    assert [measure_text(one) for one in none] == ["n/a"]


def settled(label: str, rate: float) -> VariantResult:
    values = SimpleNamespace(iops=rate)
    return cast("VariantResult", SimpleNamespace(label=label, stages=(SimpleNamespace(settled=values),)))


def test_curves_that_lie_on_one_another_are_named_from_their_settled_values() -> None:
    rates = {"AR 100 %": 2902.2, "AR 50 %": 25915.4, "AR 10 %": 56678.6, "AR 5 %": 56500.0}
    result = cast("StudyResult", SimpleNamespace(variants=[settled(*one) for one in rates.items()]))
    assert same_lines(result) == ("AR 10 %, AR 5 %: settled within 1 % of each other; their curves overlap there.",)
    apart = cast("StudyResult", SimpleNamespace(variants=[settled("a", 100.0), settled("b", 98.0)]))
    assert same_lines(apart) == ()
