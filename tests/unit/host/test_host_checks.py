"""What the certificate of a host says about a run, and how the report says it."""

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from assay.engine.codec import encode
from assay.engine.records import DataPattern, Demand, FillPoint, HostCertificate, HostPoint, StoredRun
from assay.report import render
from assay.report.annex import disclosure
from assay.results.host import certified_point, fill_point, host_checks
from assay.results.step import iops
from assay.run.store.document import RUN_SCHEMA, RunDocument
from assay.run.store.read import read_run
from assay.run.store.write import RunWriter
from assay.summary.pages.model import Table
from report_run import START_NS, asked_otherwise, synthetic_run

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
    assert (check.name, check.level, check.finding.limit) == ("ceiling", grade, 2.0)
    assert check.finding.measured == pytest.approx(times)
    assert check.finding.words.endswith(f" / {highest:,.0f} IOPS")
    assert str(check.finding.where) == "IOPS RND 8KiB 100/0, round 1"


@pytest.mark.parametrize(
    ("cost_ns", "grade"), [(50_000.0, "pass"), (50_001.0, "warn"), (250_000.0, "warn"), (250_001.0, "invalid")]
)
def test_a_cost_in_the_response_time_tells(cost_ns: float, grade: str) -> None:
    # Every I/O of the synthetic run takes 2.5 ms.
    check = host_checks(run(valid(replace(POINTS[0], cpu_ns=cost_ns))))[1]
    assert (check.name, check.level) == ("cost", grade)
    assert check.finding.words.endswith(" ns / 2,500.0 us")


def filling(*fills: FillPoint, data: str = "random", cpu_count: int | None = None) -> StoredRun:
    """The synthetic run with a certificate of how fast data are made."""
    stored = run(replace(valid(*POINTS), fills=fills))
    tests = tuple(
        asked_otherwise(test, lambda spec: replace(spec, pattern=replace(spec.pattern, data=DataPattern(kind=data))))  # type: ignore[arg-type]
        for test in stored.tests
    )
    platform = replace(stored.platform, extra={"logical_cpu_count": cpu_count})
    return replace(stored, tests=tests, platform=platform)


def highest_write(stored: StoredRun) -> float:
    """Bytes per second of the step that wrote the most."""
    cells = [cell for test in stored.tests for round_ in test.rounds for cell in round_.cells]
    return max(cell.write.window_bytes * 1e9 / cell.span_ns for cell in cells)


@pytest.mark.parametrize(
    ("times", "grade"), [(2.0, "pass"), (1.99, "warn"), (1.0, "warn"), (0.99, "invalid"), (0.01, "invalid")]
)
def test_a_host_that_cannot_make_data_as_fast_as_they_were_written_tells(times: float, grade: str) -> None:
    highest = highest_write(run(None))
    stored = filling(FillPoint(transfer_bytes=4096, bytes_per_s=times * highest))
    check = host_checks(stored)[2]
    assert (check.name, check.level, check.finding.measured) == ("fill", grade, pytest.approx(times))
    assert check.finding.words.endswith(f" MB/s x 1 / {highest / 1e6:,.1f} MB/s")
    assert printed(stored)["Data made over written"].startswith(f"{grade.upper()}: ")


def test_no_more_cores_make_data_than_there_are_threads_and_cpus() -> None:
    point = FillPoint(transfer_bytes=4096, bytes_per_s=1e9)
    for threads, cpu_count, cores in ((1, 8, 1), (8, 2, 2), (4, 8, 4), (4, None, 4)):
        stored = filling(point, cpu_count=cpu_count)
        demand = Demand(thread_count=threads, queue_depth=1)
        tests = tuple(asked_otherwise(test, partial(replace, demand=demand)) for test in stored.tests)
        check = host_checks(replace(stored, tests=tests))[2]
        assert f" = 1,000 MB/s x {cores} / " in check.finding.words


def test_writes_are_held_against_the_data_rate_of_their_size() -> None:
    points = tuple(FillPoint(transfer_bytes=size << 10, bytes_per_s=1.0) for size in (4, 128, 1024))
    found = [fill_point(points, size << 10) for size in (0, 4, 8, 128, 129, 1024, 4096)]
    assert found == [points[place] for place in (0, 0, 1, 1, 2, 2, 2)]
    assert fill_point((), 4096) is None


def test_data_rates_that_are_unknown_or_do_not_count_are_not_judged() -> None:
    assert [check.name for check in host_checks(filling())] == ["ceiling", "cost"]
    assert printed(filling())["Random data per core"].startswith("unknown: ")
    point = FillPoint(transfer_bytes=4096, bytes_per_s=12.3456e9)
    assert printed(filling(point))["Random data per core"] == "4 KiB 12,346 MB/s"
    for kind, expected in {"compressible": 3, "stamped": 2, "repeating": 2}.items():
        assert len(host_checks(filling(point, data=kind))) == expected


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
    assert [(check["name"], check["level"]) for check in facts["checks"]] == [("ceiling", "pass"), ("cost", "pass")]


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
def test_a_certificate_is_stored_or_its_absence(tmp_path: Path, certificate: HostCertificate | None) -> None:
    stored = run(certificate)
    document = RunDocument(
        schema=RUN_SCHEMA,
        run_id="1",
        plan=stored.plan,
        edition=stored.edition,
        description=stored.description,
        identity=stored.identity,
        platform=stored.platform,
        certificate=certificate,
        deviations=(),
        skipped=(),
        started_wall_ns=stored.started_wall_ns,
        seed=1,
    )
    with RunWriter(tmp_path, encode(document)) as writer:
        writer.wait()
    read = read_run(tmp_path)
    assert (read.certificate, read.platform) == (certificate, stored.platform)
