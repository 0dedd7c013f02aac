"""Plans and editions: what is implied, and how faults are named."""

from pathlib import Path

import pytest
from assay.engine.records import DataPattern, Demand, DriveIdentity
from assay.errors import PlanError, TooSmallError, UsageError, ValueRangeError
from assay.plan.procedure import PlannedTest
from assay.procedures.editions import edition_names, is_shipped, load_edition
from assay.procedures.families.loop.run import loop_range, preconditioning, round_sequence
from assay.procedures.families.saturation.result import SaturationSettings
from assay.procedures.iops import IOPS
from assay.procedures.tp import TP
from assay.run.plan_file import Plan, left_out_choices, load_plan
from assay.run.planning import PlannedRun, plan_suite
from assay.spec import edition as edition_module
from assay.spec.units import GIB, MIB, MINUTE_NS

PLAN = """schema = 1
drive = "sim:client-2011"
sede = 4

[iops]
thread_count = 0
"""


def identity(capacity_bytes: int = 32 * 10**9, block: int = 512) -> DriveIdentity:
    return DriveIdentity(
        id="x",
        path="sim:x",
        kind="simulated",
        capacity_bytes=capacity_bytes,
        logical_block_bytes=block,
        write_cache="enabled",
    )


def plan(**keys: object) -> Plan:
    return load_plan(None, {"drive": "sim:x", **keys})


def suite(names: tuple[str, ...], edition: str, drive: DriveIdentity, **keys: object) -> PlannedRun:
    return plan_suite(load_edition(edition), plan(edition=edition, tests=names, **keys), drive)


def planned(name: str, edition: str, drive: DriveIdentity, **keys: object) -> PlannedTest:
    return suite((name,), edition, drive, **keys).tests[0]


def test_every_fault_of_a_plan_file_is_named_with_line_and_column(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(PLAN)
    with pytest.raises(PlanError) as caught:
        load_plan(path, {})
    assert f"{path}:6:1 iops.thread_count" in str(caught.value)
    assert f"{path}:3:1 sede" in str(caught.value)


@pytest.mark.parametrize("text", ["a = [", "schema = 1\nschema = 1\n", "drive = 'x' y"])
def test_a_syntax_error_is_named_with_its_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(text)
    with pytest.raises(PlanError, match=r"plan\.toml:\d+:\d+"):
        load_plan(path, {})


def test_a_missing_plan_file_and_one_that_is_no_text_are_refused(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="No such file"):
        load_plan(tmp_path / "none.toml", {})
    (tmp_path / "raw.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(PlanError, match="UTF-8"):
        load_plan(tmp_path / "raw.toml", {})


def test_the_command_line_wins_over_the_file(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text('drive = "sim:x"\nseed = 1\n[iops]\nthread_count = 4\nqueue_depth = 2\n')
    made = load_plan(path, {"seed": 2}, {"queue_depth": 16})
    assert made.seed == 2
    assert made.options(TP).queue_depth == 16
    assert made.options(IOPS).demand(Demand(thread_count=1, queue_depth=8)) == Demand(thread_count=4, queue_depth=16)


@pytest.mark.parametrize(
    "bad", [{"scale": 0}, {"scale": 1.5}, {"scale": float("nan")}, {"seed": -1}, {"tests": ["nonsense"]}]
)
def test_absurd_numbers_are_refused(bad: dict[str, object]) -> None:
    with pytest.raises(ValueRangeError):
        plan(**bad)


def test_an_unknown_profile_names_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"pts-c-1\.0"):
        plan(edition="none")
    with pytest.raises(UsageError, match=r'did you mean "pts-c-1\.0"'):
        plan(edition="pts-c-1")


@pytest.mark.parametrize(("suite", "edition"), [("client", "pts-c-1.0"), ("enterprise", "pts-e-1.1")])
def test_a_suite_implies_its_profile(suite: str, edition: str) -> None:
    assert plan(suite=suite).edition == edition


@pytest.mark.parametrize("name", edition_names())
def test_every_datum_of_a_profile_has_a_source(name: str) -> None:
    edition = load_edition(name)
    tables = [value for table in (edition.iops, edition.tp, edition.lat) for _, value in table if value is not None]
    assert all(datum.source for datum in [edition.write_cache, edition.data_pattern, *tables])


def test_the_client_test_is_that_of_edition_1_0() -> None:
    drive = identity()
    test = planned("iops", "pts-c-1.0", drive)
    settings = test.settings
    assert test.deviations == ()
    assert settings.preconditioning_bytes == 64 * 10**9
    assert (settings.range_amount_bytes, settings.segment_count) == (16 * GIB, 2048)
    assert settings.demand == Demand(thread_count=1, queue_depth=8)
    active_range = loop_range(settings, drive, seed=1)
    sequence = round_sequence(settings, active_range, 1).steps
    assert [step.label for step in sequence][:9] == [
        *(f"RND {size}KiB 100/0" for size in ("1024", "128", "64", "32", "16", "8", "4", "0.5")),
        "RND 1024KiB 95/5",
    ]
    assert sequence[-1].label == "RND 0.5KiB 0/100"
    assert {step.stop.time_ns for step in sequence} == {MINUTE_NS}
    (fill,) = preconditioning(settings, drive).steps
    assert fill.pattern.writes_tail
    assert fill.stop.amount_bytes == 64 * 10**9


def test_edition_2_0_client_uses_three_quarters_of_the_drive() -> None:
    drive = identity(100 * 10**9)
    settings = planned("iops", "pts-c-2.0", drive).settings
    assert settings.range_amount_bytes == 75 * 10**9
    assert settings.segment_count is None
    assert len(settings.tracking) == 3
    (fill,) = preconditioning(settings, drive).steps
    assert fill.active_range.segment_bytes == 75 * 10**9


def test_a_4kn_drive_leaves_out_the_half_kibibyte_row_and_says_why() -> None:
    settings = planned("iops", "pts-c-1.0", identity(block=4096)).settings
    assert len(settings.cells) == 49
    assert settings.not_applicable == {512: "no multiple of the drive's 4096-byte logical block"}


def test_a_scaled_run_lists_what_it_reduced() -> None:
    test = planned("iops", "pts-c-1.0", identity(10**9), scale=0.0001)
    settings, deviations = test.settings, test.deviations
    assert settings.step_ns == 50_000_000
    assert settings.segment_count == 10**9 // 2 // (8 * MIB)
    assert [line.split(" of")[0] for line in deviations] == ["cells", "test range"]


def test_a_drive_below_the_test_range_is_too_small() -> None:
    with pytest.raises(TooSmallError, match=r"19\.33 GB"):
        planned("iops", "pts-c-1.0", identity(8 * 10**9))


def test_a_cache_that_the_edition_does_not_want_is_a_deviation() -> None:
    assert planned("iops", "pts-e-1.1", identity()).deviations == (
        "write cache enabled, the edition asks for disabled",
    )


def test_throughput_is_one_run_per_size_with_its_own_preconditioning() -> None:
    tests = suite(("tp",), "pts-e-2.0", identity(10**11)).tests
    assert [test.settings.test for test in tests] == ["tp-128", "tp-1024"]
    assert [test.settings.preconditioning_transfer_bytes for test in tests] == [131072, 1048576]
    assert [len(test.settings.cells) for test in tests] == [2, 2]
    (steps, _) = (
        round_sequence(test.settings, loop_range(test.settings, identity(10**11), 1), 1).steps for test in tests
    )
    assert [step.label for step in steps] == ["SEQ 128KiB 100/0", "SEQ 128KiB 0/100"]
    assert {step.pattern.random_share for step in steps} == {0.0}


def test_latency_runs_at_one_outstanding_io_after_preconditioning_at_the_testers_demand() -> None:
    settings = planned("lat", "pts-c-1.0", identity()).settings
    assert settings.demand == Demand(thread_count=1, queue_depth=1)
    assert settings.preconditioning_demand == Demand(thread_count=1, queue_depth=8)
    sequence = round_sequence(settings, loop_range(settings, identity(), 1), 1).steps
    assert [step.label for step in sequence][:4] == [
        "RND 8KiB 100/0",
        "RND 4KiB 100/0",
        "RND 0.5KiB 100/0",
        "RND 8KiB 65/35",
    ]


def test_a_profile_of_ones_own_is_read_from_its_file(tmp_path: Path) -> None:
    shipped = Path(edition_module.__file__).parent / "editions/pts-c-1.0.toml"
    own = tmp_path / "ours.toml"
    own.write_text(
        shipped.read_text().replace('name = "pts-c-1.0"', 'name = "ours"').replace("value = 25", "value = 7")
    )
    settings = planned("iops", str(own), identity()).settings
    assert (settings.edition, settings.round_limit) == ("ours", 7)
    own.write_text(own.read_text().replace('market = "Client"', 'market = "Both"'))
    with pytest.raises(PlanError, match=r"ours\.toml:4:1 market"):
        load_edition(str(own))
    with pytest.raises(PlanError, match="No such file"):
        load_edition(str(tmp_path / "none.toml"))


def test_a_test_without_a_tracking_cell_is_refused_and_never_steady_by_default(tmp_path: Path) -> None:
    shipped = Path(edition_module.__file__).parent / "editions/pts-c-1.0.toml"
    own = tmp_path / "ours.toml"
    own.write_text(shipped.read_text().replace("{ read_pct = 0, block_kib = 4 }", "{ read_pct = 1, block_kib = 4 }"))
    with pytest.raises(ValueRangeError, match="tracking"):
        planned("iops", str(own), identity())


def test_a_drive_below_the_test_range_skips_those_tests_and_runs_the_others() -> None:
    found = suite(("wsat", "iops", "tp", "lat"), "pts-c-1.0", identity(8 * 10**9))
    assert [test.settings.test for test in found.tests] == ["wsat"]
    assert [test.test for test in found.skipped] == ["iops", "tp", "lat"]
    assert all("19.33 GB" in test.reason for test in found.skipped)


def test_a_workload_below_the_block_of_the_drive_is_skipped_with_the_reason() -> None:
    found = suite(
        ("wsat",), "pts-c-2.0", identity(block=4096), wsat={"workloads": ["rnd-4k-write", "metadata", "composite"]}
    )
    assert [test.settings.test for test in found.tests] == ["wsat"]
    assert [test.test for test in found.skipped] == ["wsat-metadata", "wsat-composite"]
    assert "4096-byte logical block" in found.skipped[0].reason


def test_a_workload_that_the_edition_does_not_know_is_refused() -> None:
    with pytest.raises(ValueRangeError, match=r"oltp: is no workload of pts-c-1.0"):
        planned("wsat", "pts-c-1.0", identity(), wsat={"workloads": ["oltp"]})


def test_write_saturation_takes_limits_and_stop_rule_from_edition_and_plan() -> None:
    test = planned("wsat", "pts-c-1.0", identity())
    settings = test.settings
    assert isinstance(settings, SaturationSettings)
    assert (settings.stop, settings.time_ns, settings.amount_bytes) == ("first", 1440 * MINUTE_NS, 128 * 10**9)
    assert (test.earliest_ns, test.latest_ns, test.deviations) == (MINUTE_NS, 1440 * MINUTE_NS, ())
    short = planned(
        "wsat", "pts-c-2.0", identity(), wsat={"time_hours": 1, "amount_multiple": 2, "histogram_minutes": 0}
    )
    assert short.deviations == (
        "no response-time histogram; the edition requires 20 min",
        "write saturation for 1 h instead of 6 h",
        "write saturation to 2X capacity instead of 4X",
    )
    alone = planned("wsat", "pts-c-1.0", identity(), wsat={"stop": "amount"})
    assert (alone.latest_ns, alone.deviations) == (None, (
        "write saturation ends by the amount written instead of at the first of time, amount and the five-point rule",
    ))  # fmt: skip


def test_the_demand_of_the_command_line_leaves_latency_alone() -> None:
    made = load_plan(None, {"drive": "sim:x"}, {"queue_depth": 32})
    assert (made.iops.queue_depth, made.wsat.queue_depth, made.lat.queue_depth) == (32, 32, None)
    assert planned("lat", "pts-c-1.0", identity(), lat={"queue_depth": 2}).deviations == ("latency at TC 1 x QD 2",)


@pytest.mark.parametrize(
    "path", sorted((Path(__file__).parents[3] / "plans").glob("*.toml")), ids=lambda path: path.stem
)
def test_the_plans_of_the_published_drives_are_ended_by_time_alone(path: Path) -> None:
    made = load_plan(path, {})
    assert made.wsat.stop == "time"
    assert made.wsat.time_hours in {6, 12, 24}
    assert made.lat.queue_depth is None
    totals = {"mlc-a-2012": (8, 1024), "mlc-b-2012": (32, 2), "slc-a-2012": (32, 32), "slc-b-2012": (32, 32)}
    totals |= {"client-2013": (32, 32)}
    demands = [options.demand(Demand(thread_count=0, queue_depth=0)) for options in (made.iops, made.tp)]
    assert tuple(demand.thread_count * demand.queue_depth for demand in demands) == totals[path.stem]


def test_a_profile_of_ones_own_is_a_deviation_whatever_it_calls_itself(tmp_path: Path) -> None:
    shipped = Path(edition_module.__file__).parent / "editions/pts-c-1.0.toml"
    own = tmp_path / "own.toml"
    own.write_text(shipped.read_text())
    assert planned("iops", str(own), identity()).deviations == ()
    own.write_text(shipped.read_text().replace("range_limit = { value = 0.20", "range_limit = { value = 0.90"))
    assert planned("iops", str(own), identity()).deviations == (
        "custom edition pts-c-1.0 instead of a shipped edition",
    )


@pytest.mark.parametrize(
    ("datum", "other"),
    [
        ("samples_per_verdict = { value = 31", "samples_per_verdict = { value = 0"),
        ("sample_seconds = { value = 60", "sample_seconds = { value = 0"),
        ("round_limit = { value = 25", "round_limit = { value = 0"),
        ("preconditioning_share = { value = 1.0", "preconditioning_share = { value = 0"),
        ("histogram_seconds = { value = 0", "histogram_seconds = { value = -5"),
        ("amount_gib = 16, segment_count", "segment_count"),
        ("[100, 95, 65, 50, 35, 5, 0]", "[0, 0]"),
        ('["rnd-4k-write"]', "[]"),
    ],
)
def test_a_profile_with_an_impossible_value_is_refused_before_anything_runs(
    tmp_path: Path, datum: str, other: str
) -> None:
    shipped = (Path(edition_module.__file__).parent / "editions/pts-c-1.0.toml").read_text()
    assert datum in shipped
    own = tmp_path / "own.toml"
    own.write_text(shipped.replace(datum, other))
    with pytest.raises(PlanError, match=r"own\.toml:\d+:\d+"):
        load_edition(str(own))


def test_a_suite_of_the_command_line_brings_its_own_edition(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text('drive = "sim:x"\nedition = "pts-c-2.0"\ntests = ["iops"]\n')
    assert load_plan(path, {}).edition == "pts-c-2.0"
    made = load_plan(path, {"suite": "enterprise"})
    assert (made.edition_name, len(made.tests)) == ("pts-e-1.1", 4)


@pytest.mark.parametrize("share", [0.04, 0.96, 1.0])
def test_a_share_that_compressors_cannot_come_to_is_refused_by_name(share: float, tmp_path: Path) -> None:
    with pytest.raises(ValueRangeError, match=f"stored_share of 0.05 to 0.95, not {share:g}"):
        plan(data=f"compressible:{share}")
    path = tmp_path / "plan.toml"
    path.write_text(f'schema = 1\ndrive = "sim:x"\n[data]\nkind = "compressible"\nstored_share = {share}\n')
    with pytest.raises(PlanError, match=rf"{path}:3:2 data: .*0.05 to 0.95"):
        load_plan(path, {})


def test_data_are_named_in_one_word_and_a_value() -> None:
    found = {
        text: plan(data=text).data.to_pattern()
        for text in ("stamped", "addressed", "compressible:0.25", "repeating:64")
    }
    assert found == {
        "stamped": DataPattern(kind="stamped"),
        "addressed": DataPattern(kind="addressed"),
        "compressible:0.25": DataPattern(kind="compressible", stored_share=0.25),
        "repeating:64": DataPattern(kind="repeating", pool_bytes=65536),
    }
    for text, words in {
        "stamped:3": "take no value",
        "compressable": r'did you mean "compressible"',
        "compressible:x": "number",
    }.items():
        with pytest.raises(ValueRangeError, match=words):
            plan(data=text)


def test_data_that_are_not_random_are_a_listed_deviation() -> None:
    listed = {kind: planned("iops", "pts-e-1.1", identity(), data=kind).deviations for kind in ("random", "stamped")}
    line = "data pattern stamped: 16 of every 512 bytes are fresh in each write, the others repeat, instead of random"
    assert set(listed["stamped"]) - set(listed["random"]) == {line}


def test_a_profile_lists_what_differs_from_the_edition_that_it_names(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text(
        'schema = 1\nname = "quick"\nbase = "pts-e-2.0"\n[iops]\nstep_seconds = { value = 5, source = "our lab" }\n'
        '[hir.preconditioning]\nround_limit = { value = 9, source = "our lab" }\n'
    )
    found, base = load_edition(str(own)), load_edition("pts-e-2.0")
    assert (found.name, found.title, found.iops.step_seconds.value) == ("quick", base.title, 5)
    assert found.hir is not None
    assert base.hir is not None
    assert found.hir.preconditioning.round_limit.value == 9
    assert found.hir.preconditioning.sample_seconds == base.hir.preconditioning.sample_seconds
    assert found.iops.tracking == base.iops.tracking
    assert not is_shipped(found)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('name = "x"\nbase = "pts-e-3.0"\n', 'own.toml:3:1 base: names no edition; did you mean "pts-e-2.0"?'),
        ('base = "pts-e-2.0"\n', "own.toml:1:1 name: is missing; add it"),
        ('name = "x"\nbase = "pts-e-2.0"\n[iops]\nstep_second = 5\n', "own.toml:5:1 iops.step_second"),
    ],
)
def test_a_profile_with_a_base_is_refused_by_its_place(text: str, said: str, tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text(f"schema = 1\n{text}")
    with pytest.raises(PlanError) as caught:
        load_edition(str(own))
    assert said in str(caught.value)


def test_choices_that_a_test_does_not_take_are_named() -> None:
    choices = {"thread_count": 4, "queue_depth": 2}
    plan = load_plan(None, {"drive": "sim:client-2011", "tests": ["wsat", "lat"], "studies": ["oem-guide"]}, choices)
    own = "is not for lat, oem-guide, which have fixed demands"
    assert list(left_out_choices(plan, choices)) == [f"--thread-count {own}", f"--queue-depth {own}"]
    plan = load_plan(None, {"drive": "sim:client-2011", "tests": ["wsat"]}, choices)
    assert not list(left_out_choices(plan, choices))
