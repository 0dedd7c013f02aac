"""Limits: what is met, what is not, and what cannot be decided; names that are not known; the command and its codes."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from assay.cli import assay
from assay.compare.limits.judge import ShownLimit, exit_code, judge, verdict_of
from assay.compare.limits.model import FINDING_KINDS, HEALTH_NAMES, limits_of_plan, read_limits
from assay.dut.real.condition import _FIELDS
from assay.engine.records import DriveCondition
from assay.errors import PlanError, StoreError
from assay.procedures import run_findings as findings
from assay.report import records_of_tests
from assay.summary.measures import MEASURE_KEYS
from click.testing import CliRunner
from every_kind import run_of, with_stall

if TYPE_CHECKING:
    from assay.engine.records import StoredRun

ROOT = Path(__file__).parents[3]
EXAMPLES = sorted((ROOT / "plans/limits").glob("*.toml"))
FOUR_KIB_READS = 'test = "iops"\nmeasure = "iops"\ncell = { block_kib = 4, read_pct = 100 }\n'


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A short run of IOPS; an ideal drive does 1,000,000 a second at most."""
    found = tmp_path_factory.mktemp("limits") / "run"
    run_of("iops", found, claims={"rnd_4k_read_iops": 1, "read_latency_ms": 1.0})
    return found


@pytest.fixture(scope="module")
def run(folder: Path) -> StoredRun:
    from assay.archive.rendering import stored_run  # noqa: PLC0415

    return stored_run(folder)


def judged(run: StoredRun, tmp_path: Path, *texts: str) -> list[ShownLimit]:
    path = tmp_path / "limits.toml"
    path.write_text("schema = 1\n" + "".join(f"[[limits]]\n{text}\n" for text in texts), "utf-8")
    found = judge(run, records_of_tests(run), read_limits(path))
    return [one for one in found if one.kind == "limit"]


def measured(run: StoredRun) -> float:
    (report,) = records_of_tests(run)
    cell = (("block_kib", 4), ("read_pct", 100))
    return next(one.value for one in report.measures if one.cell == cell and one.key == "iops") or 0.0


def test_a_number_is_compared_as_it_is(run: StoredRun, tmp_path: Path) -> None:
    value = measured(run)
    bounds = (
        f"at_least = {value!r}",
        f"at_least = {value + 1e-6!r}",
        f"at_most = {value!r}",
        f"at_most = {value - 1e-6!r}",
    )
    found = judged(run, tmp_path, *(FOUR_KIB_READS + bound for bound in bounds))
    assert [one.verdict for one in found] == ["pass", "fail", "pass", "fail"]
    assert verdict_of(99.96, Fraction(100), None) == "fail"


def test_a_bound_for_each_tb_is_multiplied_by_the_capacity(run: StoredRun, tmp_path: Path) -> None:
    (one,) = judged(run, tmp_path, FOUR_KIB_READS + "at_least = 250_000\nper_tb = true")
    terabytes = Fraction(run.identity.capacity_bytes, 10**12)
    assert (one.at_least, one.per_tb) == (float(250_000 * terabytes), 250_000)


def test_without_a_cell_every_cell_of_the_test_is_held_against_it(run: StoredRun, tmp_path: Path) -> None:
    found = judged(run, tmp_path, 'test = "iops"\nmeasure = "iops"\nat_least = 1')
    assert len(found) == 56
    assert {one.verdict for one in found} == {"pass"}


def test_what_cannot_be_decided_is_never_a_pass(run: StoredRun, tmp_path: Path) -> None:
    texts = (
        'test = "lat"\nmeasure = "iops"\nat_least = 1',
        'test = "iops"\nmeasure = "latency_ms_p99.999"\ncell = { block_kib = 1024, read_pct = 0 }\nat_most = 1e9',
        'test = "iops"\nmeasure = "iops"\ncell = { block_kib = 3 }\nat_least = 0',
        'health = "temperature_c"\nat_most = 100',
        'findings = "host"\nat_most = 0',
        'findings = "drive event"\nat_most = 0',
    )
    found = judged(run, tmp_path, *texts)
    assert {one.verdict for one in found} == {"not decided"}
    assert all(one.reason for one in found)
    assert (exit_code(found), exit_code(found, undecided="pass")) == (8, 0)


def test_withheld_and_unsteady_results_decide_nothing(run: StoredRun, tmp_path: Path) -> None:
    limit = FOUR_KIB_READS + "at_least = 1"
    withheld = with_stall(run, lambda _: True)
    (one,) = judged(withheld, tmp_path, limit)
    assert (one.verdict, one.reason.startswith("results withheld")) == ("not decided", True)
    unsteady = replace(run, tests=tuple(replace(test, ended="round-limit") for test in run.tests))
    (one,) = judged(unsteady, tmp_path, limit)
    assert (one.verdict, one.reason) == ("not decided", "steady state was not reached")


def test_health_is_the_worst_that_was_seen_or_its_change(run: StoredRun, tmp_path: Path) -> None:
    before = DriveCondition(temperature_c=40, wear_used_pct=3, health={"media_errors": 2, "available_spare_pct": 100})
    after = DriveCondition(temperature_c=35, wear_used_pct=4, health={"media_errors": 3, "available_spare_pct": 99})
    texts = (
        'health = "temperature_c"\nat_most = 39',
        'health = "media_errors"\nchange = true\nat_most = 0',
        'health = "available_spare_pct"\nat_least = 99',
        'health = "wear_used_pct"\nat_most = 4',
    )
    found = judged(replace(run, conditions=(before, after)), tmp_path, *texts)
    assert [(one.value, one.verdict) for one in found] == [(40, "fail"), (1, "fail"), (99, "pass"), (4, "pass")]


def test_findings_are_counted_by_kind_and_test(run: StoredRun, tmp_path: Path) -> None:
    found = judged(
        run, tmp_path, 'findings = "deviation"\nat_most = 0', 'findings = "void"\ntest = "iops"\nat_most = 0'
    )
    assert [one.verdict for one in found] == ["fail", "pass"]


def test_claims_of_the_data_sheet_are_limits(run: StoredRun) -> None:
    found = {one.id: one for one in judge(run, records_of_tests(run), limits_of_plan(run))}
    assert {one.kind for one in found.values()} == {"claim"}
    assert (found["rnd_4k_read_iops"].verdict, found["rnd_4k_read_iops"].value) == ("pass", measured(run))
    assert found["read_latency_ms"].verdict == "not decided"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('test = "iopss"\nmeasure = "iops"\nat_least = 1', r':3:1 limits\.0\.test: .* did you mean "iops"'),
        ('test = "iops"\nmeasure = "latency_ms_p99.8"\nat_most = 1', r'measure: .* did you mean "latency_ms_p99.9"'),
        ('health = "temprature_c"\nat_most = 1', 'did you mean "temperature_c"'),
        ('findings = "voids"\nat_most = 1', 'did you mean "void"'),
        (
            FOUR_KIB_READS.replace("block_kib", "block_kb") + "at_least = 1",
            r'cell\.block_kb: .* did you mean "block_kib"',
        ),
        ('test = "iops"\nmeasure = "iops"\nitem = "RND 4KiB X"\nat_least = 1', 'did you mean "RND 4KiB'),
        ('test = "iops"\nmeasure = "mb_per_s"\nat_least = 1\ncell = { block_kib = 4 }', "does not have there"),
        ('test = "iops"\nmeasure = "iops"', "has no bound"),
        ("at_most = 1", "exactly 1 of"),
        ('health = "temperature_c"\nat_mots = 1\nat_most = 1', 'did you mean "at_most"'),
    ],
)
def test_a_name_that_is_not_known_is_refused_with_its_place(
    text: str, words: str, run: StoredRun, tmp_path: Path
) -> None:
    with pytest.raises(PlanError, match=words):
        judged(run, tmp_path, text)


def test_the_words_are_those_of_the_product(run: StoredRun) -> None:
    assert set(HEALTH_NAMES) == {"temperature_c", "wear_used_pct", *_FIELDS}
    assert all(kind in findings._NOTE for kind in FINDING_KINDS)
    (report,) = records_of_tests(run)
    assert {one.key for one in report.measures} <= set(MEASURE_KEYS)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_valid_and_fits_a_run(path: Path, run: StoredRun) -> None:
    found = judge(run, records_of_tests(run), read_limits(path))
    assert {one.id for one in found if one.kind == "limit"} == {entry.id for entry in read_limits(path).entries}


def command(*arguments: str | Path) -> tuple[int, str]:
    done = CliRunner().invoke(assay, [str(one) for one in arguments], standalone_mode=False)
    code = done.return_value
    assert isinstance(code, int), done.exception
    return code, done.stdout


def test_the_command_prints_verdicts_and_writes_a_page(folder: Path, tmp_path: Path) -> None:
    limits = tmp_path / "limits.toml"
    limits.write_text(f"schema = 1\n[[limits]]\nid = 'P'\n{FOUR_KIB_READS}at_least = 1e12\n", "utf-8")
    code, text = command("limits", folder, limits, "--out", tmp_path / "out")
    assert (code, "FAIL" in text, "LIMITS NOT MET: 1 pass, 1 fail, 1 not decided" in text) == (8, True, True)
    pages = {path.name: path.read_bytes() for path in (tmp_path / "out").glob("*.*")}
    assert pages.keys() >= {"report.pdf", "report.html", "limits.json"}
    assert b"LIMITS NOT MET" in pages["report.html"]
    command("limits", folder, limits, "--out", tmp_path / "out")
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").glob("*.*")} == pages
    code, text = command("limits", folder, limits, "--json")
    facts: dict[str, Any] = json.loads(text)
    assert (code, facts["failed"], facts["limits"][0]["id"]) == (8, 1, "P")
    assert facts == json.loads(pages["limits.json"])


def test_without_a_file_those_of_the_plan_count_and_a_run_ends_with_their_code(tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    lines = 'schema = 1\ndrive = "sim:ideal?capacity=1GB"\ntests = ["lat"]\nedition = "pts-e-1.1"\nscale = 0.001\n'
    limit = '[[limits]]\nid = "L"\ntest = "lat"\nmeasure = "latency_ms_max"\nat_most = 1e-9\n'
    plan.write_text(lines + limit, "utf-8")
    code, text = command("run", plan, "--no-report", "--out", tmp_path / "run")
    assert (code, "Limits: 0 met, 9 missed, 0 undecided" in text) == (8, True)
    assert command("limits", tmp_path / "run")[0] == 8
    assert command("limits", tmp_path / "run", plan)[0] == 8
    assert command("show", tmp_path / "run")[0] == 8
    shown = command("show", tmp_path / "run")[1]
    assert "9 of 9 limits and claims missed, worst L: " in shown
    facts = json.loads(command("show", tmp_path / "run", "--json")[1])
    assert facts["exit_codes"] == [8]


def test_limits_of_a_plan_that_were_changed_are_a_damaged_run(run: StoredRun) -> None:
    with pytest.raises(StoreError, match=r"plan\.limits\.0"):
        limits_of_plan(replace(run, plan={**run.plan, "limits": [{"test": 3}]}))
