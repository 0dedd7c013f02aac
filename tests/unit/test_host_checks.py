"""What the certificate of a host says about a run, and how the report says it."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from assay.records import Demand, HostCertificate, HostPoint, StoredRun
from assay.report import disclosure, render
from assay.report.page import Table
from assay.store.read import read_run
from assay.store.write import RunWriter, run_document
from assay.window import certified_point, host_checks, iops
from report_run import START_NS, synthetic_run

POINTS = tuple(
    HostPoint(thread_count=1, queue_depth=depth, iops=rate, cpu_ns=cost)
    for depth, rate, cost in ((1, 500e3, 600.0), (8, 900e3, 200.0), (32, 2e6, 100.0))
)


def run(certificate: HostCertificate | None, kind: str = "block") -> StoredRun:
    return replace(synthetic_run(kind=kind), certificate=certificate)


def valid(*points: HostPoint) -> HostCertificate:
    return HostCertificate(
        status="valid", made_wall_ns=START_NS, age_ns=36 * 3600 * 10**9, method="reads of nothing", points=points
    )


def printed(stored: StoredRun) -> dict[str, str]:
    tables = [block for block in disclosure.run_blocks(stored) if isinstance(block, Table)]
    return {row[0]: row[1] for table in tables if table.caption == "Host certificate" for row in table.rows}


def highest_iops(stored: StoredRun) -> float:
    return max(float(iops(cell)) for test in stored.tests for round_ in test.rounds for cell in round_.cells)


def test_a_demand_is_held_against_the_largest_point_within_it() -> None:
    found = [certified_point(POINTS, Demand(thread_count=2, queue_depth=depth)) for depth in (1, 7, 8, 31, 256)]
    assert found == [POINTS[place] for place in (0, 0, 1, 1, 2)]
    assert certified_point(POINTS[1:], Demand(thread_count=1, queue_depth=1)) is None


@pytest.mark.parametrize(
    ("times", "grade"), [(2.0, "pass"), (1.99, "warn"), (1.2, "warn"), (1.19, "invalid"), (0.5, "invalid")]
)
def test_a_ceiling_near_the_highest_rate_of_the_run_tells(times: float, grade: str) -> None:
    highest = highest_iops(run(None))
    # Small reads all reach the same made-up rate; the first of them is named.
    point = replace(POINTS[0], iops=times * highest)
    check = host_checks(run(valid(point)))[0]
    assert (check.name, check.measured) == ("ceiling", highest)
    assert check.ratio == pytest.approx(times)
    assert check.grade == grade
    assert check.step == "IOPS RND 8KiB 100/0, round 1"


@pytest.mark.parametrize(
    ("cost_ns", "grade"), [(50_000.0, "pass"), (50_001.0, "warn"), (250_000.0, "warn"), (250_001.0, "invalid")]
)
def test_a_cost_in_the_response_time_tells(cost_ns: float, grade: str) -> None:
    # Every I/O of the synthetic run takes 2.5 ms.
    check = host_checks(run(valid(replace(POINTS[0], cpu_ns=cost_ns))))[1]
    assert (check.name, check.measured, check.grade) == ("cost", 2.5e6, grade)


def test_no_check_without_a_valid_certificate() -> None:
    expired = HostCertificate(status="expired", reason="41.0 days old, 30 are allowed; run assay calibrate")
    assert not host_checks(run(None))
    assert not host_checks(run(expired))
    assert not host_checks(run(valid()))


def test_the_disclosure_prints_the_certificate_and_its_checks(tmp_path: Path) -> None:
    stored = run(valid(*POINTS))
    rows = printed(stored)
    assert rows["Certificate"] == "valid, made 2026-06-09 10:13 UTC, 1.5 days before the run"
    assert rows["Ceiling, CPU per I/O, TC 1"].startswith("QD 1 500,000 IOPS, 600 ns; QD 8 900,000 IOPS, 200 ns; QD 32")
    assert rows["Ceiling over highest IOPS"].startswith("PASS: ")
    assert rows["Cost over response time"].startswith("PASS: 0.01% = 200 ns / 2,500.0 us, IOPS RND ")
    (path,) = render(stored, tmp_path, formats=["json"])
    facts = json.loads(path.read_text())
    assert facts["certificate"]["points"][0] == {
        "thread_count": 1,
        "queue_depth": 1,
        "iops": 500e3,
        "cpu_ns": 600.0,
    }
    assert [check["grade"] for check in facts["host_checks"]] == ["pass", "pass"]


def test_a_missing_or_expired_certificate_is_never_silent() -> None:
    none = HostCertificate(status="none", reason="run assay calibrate")
    assert printed(run(none)) == {"Certificate": "none: run assay calibrate"}
    expired = HostCertificate(status="expired", reason="made with kernel 5, not 6; run assay calibrate", made_wall_ns=0)
    assert printed(run(expired)) == {
        "Certificate": "expired: made with kernel 5, not 6; run assay calibrate",
        "Made": "1970-01-01 00:00 UTC",
    }
    assert printed(run(None)) == {"Certificate": "not recorded by the version that ran the test"}
    assert printed(run(None, kind="simulated"))["Certificate"].startswith("does not apply: ")


@pytest.mark.parametrize("certificate", [None, valid(*POINTS)])
def test_a_certificate_is_stored_and_runs_of_earlier_versions_open_without(
    tmp_path: Path, certificate: HostCertificate | None
) -> None:
    stored = run(certificate)
    document = run_document(
        plan=stored.plan,
        profile=stored.profile,
        description=stored.description,
        identity=stored.identity,
        platform=stored.platform,
        certificate=certificate,
        deviations=(),
        skipped=(),
        started_wall_ns=stored.started_wall_ns,
        seed=1,
    )
    if certificate is None:
        del document["certificate"], document["platform"]["host_id"], document["platform"]["build"]
    with RunWriter(tmp_path, document) as writer:
        writer.wait()
    read = read_run(tmp_path)
    assert (read.certificate, read.platform) == (certificate, stored.platform)
