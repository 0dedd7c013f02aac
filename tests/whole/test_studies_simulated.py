"""Studies on simulated drives, scaled: what each must show comes out of the drive's own physics."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from assay.archive.rendering import render_run
from assay.dut.dut import Answers
from assay.dut.simulated.model import load_drive_model
from assay.engine.records import StoredRun
from assay.procedures.studies.result import StudyResult, VariantResult, study_result
from assay.procedures.studies.run import StudySettings
from assay.procedures.xsr.result import cross_stimulus_result
from assay.report import FORMATS, build_report
from assay.results.audit import sequence_audits
from assay.results.step import holds_queue_depth
from assay.results.stimulus_steps import asked_steps
from assay.run.plan_file import load_plan
from assay.run.run import run_plan
from assay.run.store.read import read_run

DRIVE = "sim:client-2011?capacity=512MB"


def study_run(folder: Path, name: str, **keys: Any) -> StoredRun:
    """Run a study; the run as stored."""
    plan = load_plan(None, {"drive": DRIVE, "studies": [name], "seed": 1, "scale": 0.005, **keys})
    assert run_plan(plan, out=folder, answers=Answers(), show=lambda _: None).exit_code == 0
    run = read_run(folder, histograms=True)
    assert all(one.write_bytes[0] == one.write_bytes[1] for one in sequence_audits(run.tests[0]))
    return run


def studied(folder: Path, name: str, **keys: Any) -> tuple[StoredRun, StudyResult]:
    """Run a study; the run as stored, and its values."""
    run = study_run(folder, name, **keys)
    return run, study_result(run.tests[-1])


def settled(variant: VariantResult, stage: int = 0) -> float:
    values = variant.stages[stage].settled
    assert values is not None
    return values.iops


def test_iops_saturate_and_response_times_rise_with_the_outstanding_i_os(tmp_path: Path) -> None:
    run, result = studied(tmp_path / "run", "oio")
    reads = [stage.settled for stage in result.variants[2].stages]
    assert [one.asked for one in reads if one] == [1, 2, 4, 8, 16, 32, 64, 128, 256]
    rates = [one.iops for one in reads if one]
    assert rates[2] > 3 * rates[0]
    assert max(rates[3:]) < 1.05 * min(rates[3:])
    times = [one.latency_ms_mean for one in reads if one]
    assert times[3:] == sorted(times[3:])
    assert times[8] / times[3] == pytest.approx(32, rel=0.05)
    assert result.outstanding_error is not None
    assert result.outstanding_error < 0.01
    (test,) = run.tests
    demands = [step.demand for step in test.settings_as(StudySettings).variants[2].steps if step.role == "measure"]
    steps = [step for one in test.stage("variant") if one.index == 3 for step in one.steps]
    assert all(holds_queue_depth(step, demand) for step, demand in zip(steps, demands, strict=True))


def test_random_writes_become_faster_the_more_of_the_drive_is_spare_area(tmp_path: Path) -> None:
    _, result = studied(tmp_path / "run", "over-provisioning")
    rates = [settled(variant) for variant in result.variants]
    assert rates[1] > 2 * rates[0]
    assert rates[:4] == sorted(rates[:4])
    assert min(rates[4:]) > 0.95 * max(rates)


def test_iops_rise_as_the_active_range_shrinks(tmp_path: Path) -> None:
    _, result = studied(tmp_path / "run", "active-range")
    whole, half, quarter = (settled(variant) for variant in result.variants)
    assert quarter > 1.3 * half > 1.3 * 1.3 * whole


def test_the_sequential_rate_drops_after_random_writes_and_spare_area_shortens_its_recovery(tmp_path: Path) -> None:
    _, result = studied(tmp_path / "run", "workload-dependency", scale=0.01)
    (whole,), (spare,) = (variant.changes for variant in result.variants)
    assert whole.drop_share > 0.5
    assert whole.drop_share > spare.drop_share + 0.1
    assert whole.lowest_share < 0.4
    assert whole.recovery_minutes is not None
    assert spare.recovery_minutes is not None
    assert whole.recovery_minutes > 1.5 * spare.recovery_minutes
    assert result.variants[0].stages[2].samples.throughput[-1] > 0.9 * whole.before


def test_an_ideal_drive_does_not_mind_what_was_written_before(tmp_path: Path) -> None:
    _, result = studied(tmp_path / "run", "workload-dependency", drive="sim:ideal?capacity=512MB")
    for variant in result.variants:
        (change,) = variant.changes
        assert abs(change.drop_share) < 0.01


def test_compressible_data_helps_only_a_drive_that_compresses(tmp_path: Path) -> None:
    (tmp_path / "data").write_bytes(bytes(range(256)) * 64)
    study = {"data_file": str(tmp_path / "data")}
    _, plain = studied(tmp_path / "plain", "data-pattern", study=study)
    assert [variant.label for variant in plain.variants][-1] == "file"
    rates = [settled(variant, 1) for variant in plain.variants]
    assert max(rates) < 1.03 * min(rates)
    _, pressed = studied(tmp_path / "pressed", "data-pattern", study=study, drive=compressing_drive(tmp_path))
    rates = [settled(variant, 1) for variant in pressed.variants]
    assert rates[1] > 3 * rates[0]
    assert rates[2] > rates[1]
    # Nothing says how far the bytes of a file can be compressed, so the simulated drive does not.
    assert rates[4] == pytest.approx(rates[0], rel=0.05)


def compressing_drive(folder: Path) -> str:
    drive_model = load_drive_model("client-2011")
    table = drive_model.model_dump(by_alias=True, exclude_none=True, mode="json")
    lines = [f"{key} = {json.dumps(value)}" for key, value in table.items() if key != "parameters"]
    lines += ["[parameters]"]
    parameters = {**table["parameters"], "compresses": {"value": True, "source": "chosen"}}
    for name, datum in parameters.items():
        lines.append(f"{name} = {{ value = {json.dumps(datum['value'])}, source = {json.dumps(datum['source'])} }}")
    path = folder / "pressing.toml"
    path.write_text("\n".join(lines) + "\n")
    return f"sim:{path}?capacity=512MB"


def test_trim_helps_the_writes_behind_it(tmp_path: Path) -> None:
    run, result = studied(tmp_path / "run", "trim")
    without, trimmed = (settled(variant) for variant in result.variants)
    assert trimmed > 3 * without
    notes = [json.loads(line) for line in (tmp_path / "run/journal.jsonl").read_text().splitlines()]
    (note,) = [note["data"] for note in notes if note["kind"] == "trimmed"]
    assert note["to_bytes"] - note["from_bytes"] == pytest.approx(run.identity.capacity_bytes / 2, rel=0.01)


def test_the_audit_asks_each_step_of_its_own_variant_and_stage(tmp_path: Path) -> None:
    run, _ = studied(tmp_path / "run", "trim")
    (test,) = run.tests
    asked = list(asked_steps(test))
    found = [(one.sequence.index, one.spec.label, one.spec.pattern, one.spec.demand) for one in asked]
    planned = [
        (index, step.label, step.pattern, step.demand)
        for index, variant in enumerate(test.settings_as(StudySettings).variants, 1)
        for step in variant.steps
        if step.role != "trim"
        for _ in range(step.samples)
    ]
    assert found == planned
    labels = [variant.label for variant in test.settings_as(StudySettings).variants]
    assert all(labels[one.sequence.index - 1] in str(one.where) for one in asked)


def test_without_its_write_cache_a_drive_waits_for_its_flash_and_the_cache_is_set_back(tmp_path: Path) -> None:
    _, result = studied(tmp_path / "run", "write-cache", scale=0.01)
    on, off = (variant.stages[2].settled for variant in result.variants)
    assert on is not None
    assert off is not None
    assert off.latency_ms_mean > 3 * on.latency_ms_mean
    # A page of this drive's flash takes 1.3 ms to sequence.
    assert off.latency_ms_mean > 1.3
    notes = [json.loads(line) for line in (tmp_path / "run/journal.jsonl").read_text().splitlines()]
    states = [note["data"]["state"] for note in notes if note["kind"] == "write_cache_set"]
    assert states == ["enabled", "disabled", "enabled"]


def test_accesses_off_the_drive_s_pages_cost_writes(tmp_path: Path) -> None:
    _, result = studied(tmp_path / "run", "alignment")
    aligned, *_, again = (settled(result.variants[0], place) for place in range(5))
    for place in (1, 2, 3):
        assert settled(result.variants[0], place) < 0.7 * min(aligned, again)


def test_stability_is_read_from_the_stored_seconds(tmp_path: Path) -> None:
    _, result = studied(tmp_path / "run", "stability")
    for variant in result.variants:
        (found,) = variant.stability
        assert found is not None
        assert found.count == 20
        assert (found.score is None) == (found.median < 100)
        assert found.score is None or found.score > 0.9
        (stage,) = variant.stages
        assert stage.settled is not None
        assert sum(one.iops for one in stage.seconds) / 20 == pytest.approx(stage.settled.iops, rel=1e-6)
    # Without the tables there are no seconds, and no score is made up.
    (test,) = read_run(tmp_path / "run").tests
    assert study_result(test).variants[0].stability == (None,)


def test_a_demand_map_proposes_a_demand_of_its_own_cells(tmp_path: Path) -> None:
    _, result = studied(tmp_path / "run", "demand-map", scale=0.02)
    reads = result.variants[1]
    assert reads.proposal is not None
    demand = reads.proposal.demand
    assert demand.thread_count * demand.queue_depth in {4, 8}
    cells = {(one.demand.thread_count, one.demand.queue_depth): one.settled for one in reads.stages}
    chosen = cells[demand.thread_count, demand.queue_depth]
    assert chosen is not None
    assert chosen.iops == reads.proposal.iops >= 0.95 * reads.proposal.highest


def test_the_order_of_the_cells_is_the_order_in_which_they_ran(tmp_path: Path) -> None:
    run, result = studied(tmp_path / "run", "cell-order")
    (test,) = run.tests
    for index, variant in enumerate(test.settings_as(StudySettings).variants, 1):
        ran = [step.label for one in test.stage("variant") if one.index == index for step in one.steps]
        assert ran == [step.label for step in variant.steps if step.role == "measure"]
    assert {len(variant.stages) for variant in result.variants} == {8}


def test_cross_stimulus_in_both_orders_ends_where_it_began(tmp_path: Path) -> None:
    run = study_run(tmp_path / "run", "xsr-reverse", scale=0.002)
    found = [cross_stimulus_result(test) for test in run.tests]
    sequential, small = "SEQ 1024KiB 0/100", "RND 8KiB 0/100"
    labels = [[group.label for group in result.groups] for result in found]
    assert labels == [[sequential, small, sequential], [small, sequential, small]]
    assert [len(group.samples.iops) for group in found[0].groups] == [480, 360, 480]
    assert found[0].lowest_share is not None
    assert found[0].lowest_share < 0.7


def test_a_study_has_its_two_pages_its_tables_and_a_label_that_says_what_it_is(tmp_path: Path) -> None:
    run, _ = studied(tmp_path / "run", "trim", tests=["lat"])
    report = build_report(run)
    assert "study trim is no test of the specification" in report.label
    own = [page for page in report.pages if page.title.startswith("Study")]
    assert [page.subtitle for page in own] == ["Trim"]
    assert [len(figure.series) for page in own for figure in page.blocks if figure.block == "figure"] == [2, 2]
    paths = {path.name: path for path in render_run(tmp_path / "run", FORMATS)}
    rows = list(csv.DictReader(paths["study_trim_stages.csv"].read_text().splitlines()))
    assert [row["variant"] for row in rows] == ["without trim", "second half trimmed"]
    results = json.loads(paths["results.json"].read_text())
    assert [one["settings"]["test"] for one in results["tests"]] == ["lat", "study-trim"]
    again = {path.name: path.read_bytes() for path in render_run(tmp_path / "run", FORMATS)}
    assert again == {name: path.read_bytes() for name, path in paths.items()}


def test_a_study_cut_in_its_second_variant_renders_without_values_of_it(tmp_path: Path) -> None:
    studied(tmp_path / "run", "trim")
    path = tmp_path / "run/journal.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    kinds = [json.loads(line)["kind"] for line in lines]
    last = max(place for place, kind in enumerate(kinds) if kind == "steps")
    path.write_bytes(b"".join(lines[:last]))
    run = read_run(tmp_path / "run", histograms=True)
    report = build_report(run)
    assert "UNFINISHED" in (report.pages[0].banner or "")
    result = study_result(run.tests[-1])
    assert {stage.settled for variant in result.variants for stage in variant.stages} == {None}
    assert result.variants[0].stages[0].samples.iops
    assert render_run(tmp_path / "run", FORMATS)
