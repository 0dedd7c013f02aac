"""The certificate of a host: figures that hang together, kept under their date."""

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from assay.cli import assay
from assay.dut.dut import Answers
from assay.dut.real.platform import describe_platform
from assay.engine.records import DriveIdentity, FillPoint, HostPoint, ReferenceDrive, ReferencePoint
from assay.errors import StoreError, UsageError
from assay.host.certificate import (
    VALID_DAYS,
    Certificate,
    NullPoint,
    ceiling_demands,
    certificate_now,
    check_simulator,
    keep_certificate,
    kept_certificates,
    measure_host,
    run_simulator,
)
from assay.results.reference import reference_changes, repeated
from assay.run.plan_file import load_plan
from assay.run.run import run_plan
from assay.run.store.read import read_run
from click.testing import CliRunner

NOW_NS = 1_800_000_000 * 10**9
DAY_NS = 86_400 * 10**9


def certificate(made_wall_ns: int = NOW_NS, **facts: Any) -> Certificate:
    """A certificate of this host as it is; ``facts`` replace some of its platform."""
    return Certificate(
        made_wall_ns=made_wall_ns,
        platform=replace(describe_platform(), **facts),
        seconds=1.0,
        ceiling=(NullPoint(queue_depth=1, iops=500_000.0, cpu_ns=600.0, p99_ns=900.0),),
        timers=(),
        fills=(FillPoint(transfer_bytes=4096, bytes_per_s=2e10),),
    )


@pytest.fixture(autouse=True)
def certificates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of certificates, a fresh one for each test."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path / "data/assay/certificates"


def test_a_host_is_measured_without_a_drive_and_the_figures_hang_together() -> None:
    certificate = measure_host(seconds=0.1)
    single, *_, deep = [point for point in certificate.ceiling if point.thread_count == 1]
    assert (single.queue_depth, deep.queue_depth) == (1, 32)
    assert deep.iops > single.iops > 1000
    assert 0 < deep.cpu_ns < single.cpu_ns
    for timer in certificate.timers:
        assert timer.late_ns_mean >= 0
        assert timer.late_ns_p99 <= timer.late_ns_max + 1
        assert timer.effective_depth == pytest.approx(timer.queue_depth, rel=0.2)
    assert [fill.transfer_bytes for fill in certificate.fills] == [4096, 131_072, 1_048_576]
    assert all(fill.bytes_per_s > 1e6 for fill in certificate.fills)


def test_ceilings_are_measured_up_to_all_cpus() -> None:
    assert [(one.thread_count, one.queue_depth) for one in ceiling_demands(1)] == [(1, 1), (1, 8), (1, 32)]
    assert {one.thread_count for one in ceiling_demands(6)} == {1, 2, 4, 6}


def test_certificates_are_kept_and_the_newest_comes_first(certificates: Path) -> None:
    keep_certificate(certificate(NOW_NS - DAY_NS))
    done = CliRunner().invoke(assay, ["calibrate", "--seconds", "0.05", "--json"])
    facts = json.loads(done.stdout)
    assert Path(facts["path"]).parent == certificates
    kept = kept_certificates().certificates
    assert len(kept) == 2
    newest = next(one for one in kept if one.made_wall_ns == facts["made_wall_ns"])
    assert [point.iops for point in newest.ceiling] == [point["iops"] for point in facts["ceiling"]]
    assert [one.made_wall_ns for one in kept] == sorted((one.made_wall_ns for one in kept), reverse=True)
    assert facts["platform"]["kernel"]
    assert facts["platform"]["build"]


def test_the_newest_certificate_that_speaks_for_this_host_is_taken() -> None:
    keep_certificate(certificate(NOW_NS - 3 * DAY_NS))
    keep_certificate(certificate(NOW_NS - 2 * DAY_NS))
    keep_certificate(certificate(NOW_NS - DAY_NS, kernel="another"))
    found = certificate_now(describe_platform(), NOW_NS)
    assert (found.status, found.reason, found.age_ns) == ("valid", "", 2 * DAY_NS)
    assert found.points == (HostPoint(thread_count=1, queue_depth=1, iops=500_000.0, cpu_ns=600.0),)
    assert found.fills == (FillPoint(transfer_bytes=4096, bytes_per_s=2e10),)


def test_a_certificate_is_valid_to_the_end_of_its_last_day() -> None:
    keep_certificate(certificate(NOW_NS - VALID_DAYS.value * DAY_NS))
    assert certificate_now(describe_platform(), NOW_NS).status == "valid"
    found = certificate_now(describe_platform(), NOW_NS + DAY_NS)
    assert (found.status, found.reason) == ("expired", "31.0 days old, 30 are allowed; run assay calibrate")


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        ({"kernel": "5.1"}, "made with kernel 5.1, not "),
        ({"cpu": "Z80"}, "made with CPU Z80, not "),
        ({"extra": {"logical_cpu_count": 4096}}, "made with CPUs 4096, not "),
        ({"host_id": "0123"}, "made with host 0123, not "),
        ({"build": None}, "made with build unknown, not "),
    ],
)
def test_a_certificate_of_another_host_kernel_or_build_is_told_as_expired(facts: dict[str, Any], reason: str) -> None:
    keep_certificate(certificate(**facts))
    found = certificate_now(describe_platform(), NOW_NS)
    assert found.status == "expired"
    assert found.reason.startswith(reason)
    assert not found.points


def test_a_certificate_from_the_future_is_not_believed() -> None:
    keep_certificate(certificate(NOW_NS + 1))
    assert certificate_now(describe_platform(), NOW_NS).reason == "dated later than this run; run assay calibrate"


def test_without_a_certificate_the_remedy_is_told_and_a_damaged_one_is_named(certificates: Path) -> None:
    assert certificate_now(describe_platform(), NOW_NS).reason == "run assay calibrate"
    certificates.mkdir(parents=True)
    (certificates / "20260101T000000Z.json").write_text("{")
    found = certificate_now(describe_platform(), NOW_NS)
    assert (found.status, found.reason) == ("none", "20260101T000000Z.json cannot be read; run assay calibrate")
    keep_certificate(certificate())
    assert certificate_now(describe_platform(), NOW_NS).status == "valid"


def test_a_simulated_run_holds_no_certificate(tmp_path: Path) -> None:
    keep_certificate(certificate(time.time_ns() - DAY_NS))
    plan = load_plan(None, {"drive": "sim:ideal?capacity=1GB", "scale": 0.001, "tests": ("lat",)})
    run_plan(plan, out=tmp_path / "run", answers=Answers(), show=lambda _: None)
    assert read_run(tmp_path / "run").certificate is None


def test_a_folder_that_cannot_be_written_is_an_error_of_the_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "assay").write_text("a file where the folder should be")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    with pytest.raises(StoreError, match="XDG_DATA_HOME"):
        keep_certificate(certificate())


def reference(now: float, before: float | None = None) -> ReferenceDrive:
    """A measured drive of one point, with its baseline if there was one."""
    identity = DriveIdentity(id="SN1", path="/dev/sdz", kind="block", capacity_bytes=1 << 32, logical_block_bytes=512)
    point = ReferencePoint(label="RND", iops=repeated([now] * 5), mean_ns=repeated([1e9 / now] * 5))
    found = ReferenceDrive(drive=identity, made_wall_ns=NOW_NS, range_bytes=1 << 30, seconds=5.0, points=(point,))
    if before is None:
        return found
    former = replace(point, iops=repeated([before] * 5))
    changes = reference_changes((point,), (former,))
    return replace(found, baseline_wall_ns=NOW_NS - 60 * DAY_NS, changes=changes)


def test_a_drifted_reference_drive_is_not_hidden_by_a_newer_certificate_without_one() -> None:
    keep_certificate(replace(certificate(NOW_NS - 2 * DAY_NS), reference=reference(100.0)))
    assert certificate_now(describe_platform(), NOW_NS).reference == reference(100.0)
    keep_certificate(replace(certificate(NOW_NS - DAY_NS), reference=reference(90.0, 100.0)))
    keep_certificate(certificate(NOW_NS))
    found = certificate_now(describe_platform(), NOW_NS)
    assert (found.status, found.age_ns, found.points) == ("drifted", DAY_NS, ())
    assert found.reason.startswith("reference drive off by -10.0 % since ")
    assert found.reference == reference(90.0, 100.0)
    keep_certificate(replace(certificate(NOW_NS + 1), reference=reference(99.0, 100.0)))
    assert certificate_now(describe_platform(), NOW_NS + 1).status == "valid"


def test_a_reference_drive_of_another_kernel_does_not_speak_for_this_one() -> None:
    keep_certificate(replace(certificate(NOW_NS - DAY_NS, kernel="another"), reference=reference(90.0, 100.0)))
    keep_certificate(certificate(NOW_NS))
    found = certificate_now(describe_platform(), NOW_NS)
    assert (found.status, found.reference) == ("valid", None)


def test_certificates_of_versions_without_references_are_read(certificates: Path) -> None:
    path = keep_certificate(certificate())
    document = json.loads(path.read_text())
    del document["simulator"], document["reference"]
    path.write_text(json.dumps(document))
    kept = kept_certificates()
    assert (kept.unreadable, kept.certificates) == ((), (certificate(),))
    assert certificate_now(describe_platform(), NOW_NS).status == "valid"
    assert path.parent == certificates


def test_the_simulated_drive_does_the_very_same_each_time() -> None:
    first = run_simulator()
    check = check_simulator([(NOW_NS, replace(first, sequence="of other steps", state="other")), (NOW_NS - 1, first)])
    assert check.is_exact
    assert (check.earlier_wall_ns, check.second) == (NOW_NS - 1, first)
    assert first.io_count > 50_000
    assert not check_simulator([(NOW_NS, replace(first, outcome="another"))]).is_exact


def test_a_simulated_drive_that_differs_from_an_earlier_certificate_ends_with_code_5(certificates: Path) -> None:
    calibrate = ["calibrate", "--seconds", "0.05", "--json"]
    done = CliRunner().invoke(assay, calibrate, standalone_mode=False)
    facts = json.loads(done.stdout)
    assert (done.return_value, facts["outside"], facts["simulator"]["earlier"]) == (0, [], None)
    (path,) = certificates.iterdir()
    facts = json.loads(path.read_text())
    facts["simulator"]["first"]["state"] = "0" * 64
    facts["made_wall_ns"] -= DAY_NS
    path.write_text(json.dumps(facts))
    path.rename(certificates / "earlier.json")
    done = CliRunner().invoke(assay, calibrate, standalone_mode=False)
    assert done.return_value == 5
    assert "did not do the same" in json.loads(done.stdout)["outside"][0]
    assert certificate_now(describe_platform(), time.time_ns()).status == "drifted"


@pytest.mark.parametrize(
    "options", [["--new-baseline"], ["--file-target"], ["--yes-destroy", "X"], ["--reference", "sim:ideal"]]
)
def test_options_of_the_reference_drive_need_a_real_one(options: list[str], certificates: Path) -> None:
    done = CliRunner().invoke(assay, ["calibrate", *options], standalone_mode=False)
    assert isinstance(done.exception, UsageError)
    assert not certificates.exists()
