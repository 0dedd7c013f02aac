"""The gate: what fails, what passes, and what cannot be decided."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest
from assay.compare.gate import GateOptions, Rule, decide, gate_confidence, limit_of, load_gate, run_gate, worse_by
from assay.errors import PlanError, UnlikeRunsError, UsageError
from assay.report.comparison.facts import gate_data
from assay.report.comparison.gate import annotation_lines, junit_xml, summary_md
from assay.report.comparison.tables import gate_table
from compared_runs import short_run, variant

if TYPE_CHECKING:
    from pathlib import Path

    from assay.compare.subject import LoadedRun
    from assay.engine.records import StoredRun

AT_5 = GateOptions(limit=0.05)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> StoredRun:
    return short_run(tmp_path_factory.mktemp("gated") / "run")


def baseline(run: StoredRun, noise: float = 0.002) -> list[LoadedRun]:
    return [variant(run, number, noise=noise) for number in range(1, 6)]


@pytest.mark.parametrize(
    ("verdict", "worse", "reach"),
    [
        ("pass", 0.0, 0.0),
        ("pass", 0.05, 0.01),
        ("fail", 0.0501, 0.01),
        ("fail", 0.08, 0.079),
        ("undecided", 0.08, 0.081),
        ("undecided", 0.01, 0.07),
        ("pass", -0.10, 0.07),
        ("undecided", -0.01, 0.07),
    ],
)
def test_a_number_fails_beyond_its_limit_and_its_uncertainty_only(verdict: str, worse: float, reach: float) -> None:
    assert decide(worse, reach, 0.05)[0] == verdict
    if verdict == "undecided":
        assert decide(worse, reach, 0.05)[1] == f"cannot decide: uncertainty {reach * 100:.2f} %, limit 5.00 %"


def test_worse_is_lower_iops_and_higher_response_times(run: StoredRun) -> None:
    names = [one.name for one in variant(run, 1).numbers.values()]
    higher, lower = (next(one for one in names if one.better == better) for better in ("higher", "lower"))
    assert (worse_by(higher, 0.95), worse_by(lower, 1.05)) == (pytest.approx(0.05), pytest.approx(0.05))


@pytest.mark.parametrize(("slower", "verdict"), [(0.0, "pass"), (0.02, "pass"), (0.10, "fail")])
def test_a_slower_drive_is_found(run: StoredRun, slower: float, verdict: str) -> None:
    found = run_gate(baseline(run), [variant(run, 9, slower=slower, noise=0.002)], AT_5)
    assert found.verdict == verdict
    assert {one.name.stat for one in found.gated} == {"mean"}


def test_a_gate_whose_repeatability_is_not_known_cannot_pass(run: StoredRun) -> None:
    found = run_gate([variant(run, 1)], [variant(run, 2)], AT_5)
    assert (found.verdict, {one.verdict for one in found.gated}) == ("undecided", {"undecided"})
    assert all("how far this moves from run to run is not known" in one.reason for one in found.gated)


def test_a_real_drive_with_a_reference_drive_passes_with_one_run_on_each_side(run: StoredRun) -> None:
    def measured(number: int, slower: float) -> LoadedRun:
        return variant(run, number, slower=slower, variation=0.003, identity={"kind": "block", "id": "serial"})

    assert run_gate([measured(1, 0)], [measured(2, 0.1)], AT_5).verdict == "fail"
    reaches = [one.reach for one in run_gate([measured(1, 0)], [measured(2, 0)], AT_5).gated]
    assert all(reach is not None and reach > 0.003 for reach in reaches)


def test_runs_that_spread_more_than_the_limit_decide_nothing(run: StoredRun) -> None:
    found = run_gate(baseline(run, noise=0.10), [variant(run, 9, slower=0.08)], AT_5)
    assert found.verdict == "undecided"


def test_a_number_without_a_value_now_is_undecided_with_its_reason(run: StoredRun) -> None:
    later = variant(run, 9)
    object.__setattr__(later, "numbers", {})
    found = run_gate(baseline(run), [later], AT_5)
    assert {one.reason for one in found.gated} == {"cannot decide: not run in B"}


@pytest.mark.parametrize(("slower", "verdict"), [(0.0, "pass"), (0.1, "fail")])
def test_a_quick_look_is_gated_on_what_it_measures(tmp_path: Path, slower: float, verdict: str) -> None:
    quick = short_run(tmp_path / "quick", edition="quick")
    found = run_gate(baseline(quick), [variant(quick, 9, slower=slower, noise=0.002)], AT_5)
    assert (found.verdict, {one.side.state for one in found.gated}) == (verdict, {"not settled"})


def test_what_no_run_has_is_not_gated_and_what_one_lost_is_undecided(tmp_path: Path) -> None:
    short = short_run(tmp_path / "wsat", test="wsat", wsat={"stop": "time", "time_hours": 1})
    found = run_gate(baseline(short), [variant(short, 9)], AT_5)
    assert [one.name.label for one in found.gated] == ["RND 4KiB 0/100, first sample", "RND 4KiB 0/100, last sample"]
    lost = variant(short, 9)
    first = found.gated[0].name.key
    lost.numbers[first] = replace(lost.numbers[first], value=None, state="no value")
    found = run_gate(baseline(short), [lost], AT_5)
    assert found.gated[0].reason == "cannot decide: n/a in B"


def test_unlike_runs_are_refused_by_the_gate_and_never_pass(run: StoredRun) -> None:
    other = variant(run, 9, edition={**run.edition, "name": "other"})
    with pytest.raises(UnlikeRunsError):
        run_gate(baseline(run), [other], AT_5)
    assert run_gate(baseline(run), [other], GateOptions(limit=0.05, despite=True)).verdict == "undecided"


def test_the_more_numbers_the_wider_each_interval() -> None:
    assert gate_confidence(8) == pytest.approx(0.995)
    assert gate_confidence(1) < gate_confidence(2)


def test_a_rule_gates_numbers_of_any_cell(run: StoredRun) -> None:
    rule = Rule(test="lat", item="RND 8KiB*", name="latency_ms_p99", limit=0.10)
    found = run_gate(baseline(run), [variant(run, 9)], GateOptions(limit=None, rules=(rule,)))
    assert {(one.name.name, one.limit) for one in found.gated} == {("latency_ms_p99", 0.10)}
    unknown = Rule(test="x", item="*", name="*", limit=0.1)
    with pytest.raises(UsageError, match="is no number of these runs"):
        run_gate(baseline(run), [variant(run, 9)], GateOptions(limit=None, rules=(unknown,)))


def test_limits_are_read_from_a_file_with_the_place_of_a_fault(tmp_path: Path) -> None:
    path = tmp_path / "gate.toml"
    path.write_text('fail_over = "5%"\n[[limit]]\ntest = "iops"\nitem = "RND 4KiB*"\nfail_over = "2.5 %"\n')
    limit, rules = load_gate(path)
    assert (limit, rules) == (0.05, (Rule(test="iops", item="RND 4KiB*", name="*", limit=0.025),))
    path.write_text("[[limit]]\nfail_over = 5\n")
    with pytest.raises(PlanError, match=r"gate\.toml:2:1"):
        load_gate(path)
    path.write_text("schema = 1\n")
    with pytest.raises(UsageError, match="limits nothing"):
        load_gate(path)


@pytest.mark.parametrize("text", ["5", "0%", "101%", "-1%", "five"])
def test_a_limit_is_a_share_in_per_cent(text: str) -> None:
    with pytest.raises(UsageError, match="write per cent"):
        limit_of(text, "--fail-over")
    assert limit_of("5 %", "--fail-over") == 0.05


def test_junit_counts_undecided_numbers_as_the_exit_code_does(run: StoredRun) -> None:
    found = run_gate([variant(run, 1)], [variant(run, 2)], AT_5)
    count = str(len(found.gated))
    strict, lax = (ET.fromstring(junit_xml(found, undecided_fails=fails)) for fails in (True, False))  # noqa: S314 - ours
    suites = [one.find("testsuite") for one in (strict, lax)]
    assert [one.get("failures") for one in (strict, lax)] == [count, "0"]
    assert [one.get("skipped") for one in suites if one is not None] == ["0", count]
    assert len(strict.findall(".//failure")) == len(lax.findall(".//skipped")) == len(found.gated)


def test_junit_is_of_the_schema_of_xunit(run: StoredRun) -> None:
    found = run_gate(baseline(run), [variant(run, 9, identity={"firmware": "2.1"})], AT_5)
    root = ET.fromstring(junit_xml(found, undecided_fails=True))  # noqa: S314 - ours
    suite = root[0]
    assert root.attrib.keys() == {"name", "tests", "failures", "errors", "time"}
    assert suite.attrib.keys() == {*root.attrib.keys(), "skipped"}
    assert [one.tag for one in suite] == ["properties", *["testcase"] * len(found.gated), "system-out"]
    assert all(one.attrib.keys() == {"classname", "name", "time"} for one in suite.iter("testcase"))
    known = {one.get("name"): one.get("value") for one in suite.iter("property")}
    assert (known["verdict"], known["firmware.A"], known["firmware.B"]) == ("pass", "assay-ftl", "2.1")


def test_a_build_that_fails_has_an_error_also_where_nothing_can_be_decided(run: StoredRun) -> None:
    found = run_gate([variant(run, 1)], [variant(run, 2)], AT_5)
    strict, lax = (list(annotation_lines(found, undecided_fails=fails)) for fails in (True, False))
    assert {line.split(" ")[0] for line in strict} == {"::error"}
    assert {line.split(" ")[0] for line in lax} == {"::warning"}
    passed = run_gate(baseline(run), [variant(run, 9)], AT_5)
    assert [line.split(" ")[0] for line in annotation_lines(passed, undecided_fails=True)] == ["::notice"]


def test_page_and_csv_say_why_and_what_is_not_gated(run: StoredRun) -> None:
    found = run_gate([variant(run, 1)], [variant(run, 2)], AT_5)
    table, data = gate_table(found), gate_data(found)
    assert {(table.rows[line][place], level) for line, place, level in table.levels} == {
        ("UNDECIDED", "warn"),
        ("not gated", "unknown"),
    }
    assert all("how far this moves" in row[-1] for row in table.rows if row[0] == "UNDECIDED")
    assert {one.name.stat for one in found.gated} == {"mean"}
    assert {one.stat for one in found.left_out} == {"percentile", "maximum"}
    assert data.columns[-1].key == "reason"
    assert all(row[-1].startswith("cannot decide") for row in data.rows)


def test_a_summary_for_a_pull_request_names_what_did_not_pass_and_escapes_markup(run: StoredRun) -> None:
    worse = variant(run, 9, slower=0.1, identity={"serial": "a|b<c>`d"})
    text = summary_md(run_gate([*baseline(run)], [worse], AT_5))
    assert text.startswith("## Gate: FAILED\n\n")
    assert r"a\|b\<c\>\`d" in text
    rows = [line for line in text.splitlines() if line.startswith("| FAILED")]
    assert len(rows) == 2
    assert all("| -1" in row and "more than the limit of 5.00 %" in row for row in rows)
    passed = summary_md(run_gate(baseline(run), [variant(run, 9)], AT_5))
    assert passed.startswith("## Gate: passed")
    assert "|" not in passed


def test_an_annotation_is_one_line_whatever_a_drive_is_called(run: StoredRun) -> None:
    evil = variant(run, 9, slower=0.1, identity={"model_number": "x::error,\n::notice::%0A"})
    lines = list(annotation_lines(run_gate(baseline(run), [evil], AT_5), undecided_fails=True))
    assert [line.split(" ")[0] for line in lines[:-1]] == ["::error"] * (len(lines) - 1)
    assert all("\n" not in line and "::error,::" not in line for line in lines)
