"""Drives with one planted trait: which insight leads, and which must not appear. Time is virtual.

At half and twice their floors traits are planted by hand in ``test_insights_raised.py``, but for stalls,
whose length a file of faults sets.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import assay.dut.simulated
import pytest
from assay.dut.dut import Answers
from assay.engine.records import HostRecord
from assay.report import records_of_tests
from assay.report.first_page.insights import run_insights
from assay.run.plan_file import load_plan
from assay.run.run import run_plan
from assay.run.store.read import read_run
from assay.spec.units import MILLISECOND_NS, SECOND_NS
from assay.summary.insights import harm
from run_words import run_sentences

if TYPE_CHECKING:
    from assay.engine.records import StoredRun
    from assay.summary.insights import Insight

SEEDS = (1, 2)
CLIENT = "sim:client-2011?capacity=1GB"
MODELS = Path(assay.dut.simulated.__file__).parent / "models"
READS = """
[[workload.stages.streams]]
name = "reads"
queue_depth = 8
lines = [{ size_bytes = 4096, read_percent = 100 }]
"""
SLOW_READS = READS.replace("queue_depth = 8", "queue_depth = 8\nrate = { ios_per_s = 10 }")


def run(folder: Path, **keys: Any) -> StoredRun:
    file = keys.pop("file", None)
    run_plan(load_plan(file, keys), out=folder / "run", answers=Answers(), show=lambda _: None)
    return read_run(folder / "run", histograms=True)


def streams(folder: Path, text: str, *, drive: str = CLIENT, seconds: int = 20, seed: int = 1) -> StoredRun:
    """A workload of one stage on a drive that was written once."""
    path = folder / "plan.toml"
    head = f'schema = 1\ndrive = "{drive}"\nseed = {seed}\nstudies = ["workload"]\n[workload]\nprepare_fills = 1\n'
    path.write_text(f'{head}[[workload.stages]]\nname = "stage"\ntime_s = {seconds}\n{text}', "utf-8")
    return run(folder, file=path)


def planted(folder: Path, capacity: str = "1GB", **parameters: str) -> str:
    """A drive of 2011 with other parameters."""
    text = (MODELS / "client-2011.toml").read_text("utf-8").replace('name = "client-2011"', 'name = "planted"')
    for name, value in parameters.items():
        text = re.sub(rf"^{name} = .*\n", "", text, flags=re.MULTILINE)
        text += f'{name} = {{ value = {value}, source = "planted" }}\n'
    path = folder / "planted.toml"
    path.write_text(text, "utf-8")
    return f"sim:{path}?capacity={capacity}"


def found(stored: StoredRun) -> dict[str, Insight]:
    """What a run says, gravest first."""
    return {one.kind: one for one in run_insights(stored, records_of_tests(stored))}


def leading(stored: StoredRun) -> str:
    return next(iter(found(stored)))


def stalling(folder: Path, milliseconds: int, *, seconds: int, seed: int) -> dict[str, Insight]:
    path = folder / "faults.toml"
    fault = f'[[faults]]\nkind = "stall"\nevery_s = 30\nduration_s = {milliseconds / 1000}\n'
    path.write_text(f"schema = 1\n{fault}", "utf-8")
    return found(streams(folder, READS, drive=f"{CLIENT}&faults={path}", seconds=seconds, seed=seed))


@pytest.mark.parametrize("seed", SEEDS)
def test_ten_stalls_of_400_ms_in_five_minutes_are_ten_and_lead(seed: int, tmp_path: Path) -> None:
    said = stalling(tmp_path, 400, seconds=300, seed=seed)
    assert list(said) == ["stalls"]
    values = said["stalls"].values
    assert values["count"] == 10
    assert values["longest_ms"] == pytest.approx(400, rel=0.01)
    assert values["share"] == pytest.approx(4 / 300, rel=0.02)


@pytest.mark.parametrize("seed", SEEDS)
def test_stalls_are_told_from_100_ms_on(seed: int, tmp_path: Path) -> None:
    (tmp_path / "half").mkdir()
    assert "stalls" not in stalling(tmp_path / "half", 50, seconds=60, seed=seed)
    assert stalling(tmp_path, 200, seconds=60, seed=seed)["stalls"].values["count"] == 2


@pytest.mark.parametrize("seed", SEEDS)
def test_a_drive_at_its_link_says_so_first_and_nothing_else(seed: int, tmp_path: Path) -> None:
    stored = run(tmp_path, drive=CLIENT, tests=["tp"], scale=0.01, seed=seed)
    assert list(found(stored)) == ["limit"]
    assert found(stored)["limit"].values["link"] == 300
    ((_, first),) = run_sentences(stored)
    assert first == "Sequential reads run at the link: 274 of 300 MB/s."


@pytest.mark.parametrize("seed", SEEDS)
def test_few_writes_that_cost_a_third_of_the_reads_lead(seed: int, tmp_path: Path) -> None:
    drive = planted(tmp_path, program_ns="2_200_000")
    said = found(run(tmp_path, drive=drive, tests=["iops"], scale=0.005, seed=seed))
    assert next(iter(said)) == "mixed-penalty"
    assert said["mixed-penalty"].values["cost"] == pytest.approx(1 / 3, abs=0.07)
    assert not {"stalls", "settled-fall", "transfer-penalty", "far-below"} & set(said)


@pytest.mark.parametrize("seed", SEEDS)
def test_reads_that_are_flat_beyond_a_depth_of_8_saturate_there(seed: int, tmp_path: Path) -> None:
    drive = planted(tmp_path, queue_limit="8")
    stored = run(tmp_path, drive=drive, studies=["oio"], scale=0.02, seed=seed)
    facts = [one for one in found(stored).values() if harm(one) == 1]
    assert facts[0].kind == "saturates"
    assert (facts[0].values["depth"], facts[0].values["deepest"]) == (8, 256)
    assert not {"setting-effect", "stalls"} & set(found(stored))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_saturation_that_ends_while_it_falls_leads_and_is_not_settled(seed: int, tmp_path: Path) -> None:
    stored = run(tmp_path, drive="sim:client-2011?capacity=2GB", tests=["wsat"], scale=0.02, seed=seed)
    assert list(found(stored)) == ["still-falling"]
    assert found(stored)["still-falling"].values["per_fill"] > 0.1


@pytest.mark.parametrize("seed", SEEDS)
def test_a_saturation_that_settles_is_not_told_as_falling(seed: int, tmp_path: Path) -> None:
    stored = run(tmp_path, drive="sim:client-2011?capacity=4GB", tests=["wsat"], scale=0.01, seed=seed)
    assert list(found(stored)) == ["settled-fall"]


@pytest.mark.long
@pytest.mark.parametrize("seed", SEEDS)
def test_a_recovery_of_13_minutes_leads(seed: int, tmp_path: Path) -> None:
    drive = "sim:client-2011?capacity=22GB"
    said = found(run(tmp_path, drive=drive, tests=["xsr"], edition="pts-e-1.1", scale=0.05, seed=seed))
    assert list(said) == ["slow-recovery"]
    assert said["slow-recovery"].values["recovered_ms"] / 60_000 == pytest.approx(13, abs=0.5)


@pytest.mark.long
def test_idle_time_that_gains_is_told_with_the_shortest_that_is_enough(tmp_path: Path) -> None:
    drive = "sim:client-tlc?capacity=4GB"
    said = found(run(tmp_path, drive=drive, tests=["hir"], edition="pts-e-1.1", scale=0.02, seed=1))
    assert list(said) == ["idle-gain"]
    assert said["idle-gain"].values["gain"] > 0.5
    assert said["idle-gain"].values["same_ms"] == 1_000


@pytest.mark.parametrize("seed", SEEDS)
def test_cells_that_moved_in_round_1_only_are_a_fact_behind_the_link(seed: int, tmp_path: Path) -> None:
    drive = "sim:enterprise-tlc?capacity=4000002048B"
    said = found(run(tmp_path, drive=drive, tests=["iops"], edition="pts-e-1.1", scale=0.002, seed=seed))
    assert list(said) == ["limit", "unstable-cells"]
    assert said["unstable-cells"].values["only"] == 1
    assert harm(said["unstable-cells"]) == 1


@pytest.mark.parametrize("seed", SEEDS)
def test_operating_points_that_are_alike_cannot_be_told_apart(seed: int, tmp_path: Path) -> None:
    drive = planted(tmp_path, queue_limit="1")
    said = found(run(tmp_path, drive=drive, tests=["dirth"], edition="pts-e-1.1", scale=0.01, seed=seed))
    assert {"Max", "Mid"} <= set(said["indistinct"].values["names"])
    assert not {"tail", "stalls", "saturates"} & set(said)


def test_a_load_far_below_what_the_drive_can_do_leads(tmp_path: Path) -> None:
    stored = streams(tmp_path, SLOW_READS, seconds=60)
    assert list(found(stored)) == ["far-below", "rate-kept"]
    (_, first), _ = run_sentences(stored)
    assert first.startswith("The drive was busy at most 0.")


def test_a_drive_with_nothing_special_says_what_it_is_good_for_and_no_more(tmp_path: Path) -> None:
    stored = streams(tmp_path, READS)
    assert found(stored) == {}
    ((of, line),) = run_sentences(stored)
    assert of == "all"
    assert line.endswith(" % of its link.")


def test_results_that_the_host_made_are_withheld_and_say_nothing_else(tmp_path: Path) -> None:
    stored = run(tmp_path, drive=CLIENT, tests=["tp"], scale=0.01, seed=1)
    late = 700 * MILLISECOND_NS
    host = HostRecord(
        span_ns=60 * SECOND_NS, late_ns_p999=late, late_ns_max=late, stalled_ns=late, stalls=((0, late),),
        gauge_cpu_ns=0, cpu_count=2,
    )  # fmt: skip
    tests = tuple(
        replace(test, sequences=tuple(replace(one, host=host) for one in test.sequences)) for test in stored.tests
    )
    said = found(replace(stored, tests=tests))
    assert next(iter(said)) == "withheld"
    assert set(said) == {"withheld", "host-interference"}
