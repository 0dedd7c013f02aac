"""Repeatability of a reference drive: spread, baseline and change with made-up certificates, and how reports say it."""

import json
from dataclasses import asdict, replace
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import pytest
from assay.engine.codec import decode
from assay.engine.records import DriveIdentity, HostCertificate, Platform, ReferenceDrive, ReferencePoint, StoredRun
from assay.host.certificate import Certificate, against_baseline, outside
from assay.report import render
from assay.report.annex import disclosure
from assay.results.reference import has_drifted, is_repeatable, repeated, worst_change, worst_spread
from assay.summary.pages.model import Table
from report_run import START_NS, synthetic_run

DAY_NS = 86_400 * 10**9
STEADY = (99_000.0, 100_500.0, 100_000.0, 101_000.0, 99_500.0)
DRIVE = DriveIdentity(
    id="SN123", path="/dev/sdz", kind="block", capacity_bytes=10**11, logical_block_bytes=512, firmware="1.0"
)
PLATFORM = replace(synthetic_run().platform, host_id="this")


def point(values: tuple[float, ...], label: str = "RND 4KiB 100/0, 1 x 32") -> ReferencePoint:
    return ReferencePoint(label=label, iops=repeated(values), mean_ns=repeated([32e9 / value for value in values]))


def measured(times: float = 1.0, day: int = 0, values: tuple[float, ...] = STEADY, **facts: Any) -> ReferenceDrive:
    """A measurement of the made-up drive, its IOPS those of ``values``, multiplied; a second point never changes."""
    points = (point(tuple(value * times for value in values)), point(STEADY, "SEQ 128KiB 100/0, 1 x 8"))
    found = ReferenceDrive(
        drive=DRIVE, made_wall_ns=START_NS + day * DAY_NS, range_bytes=1 << 30, seconds=5.0, points=points
    )
    return replace(found, **facts)


def certificate(reference: ReferenceDrive | None, platform: Platform = PLATFORM) -> Certificate:
    return Certificate(
        made_wall_ns=reference.made_wall_ns if reference else START_NS,
        platform=platform,
        seconds=1.0,
        ceiling=(),
        timers=(),
        reference=reference,
    )


def held(now: ReferenceDrive, *earlier: ReferenceDrive | None, platform: Platform = PLATFORM) -> ReferenceDrive:
    """Held against earlier ones, the oldest first, all of ``platform``."""
    kept = [certificate(one, platform) for one in reversed(earlier)]
    return against_baseline(now, PLATFORM, kept)


def test_spread_and_variation_are_shares_of_the_mean() -> None:
    found = repeated([98.0, 99.0, 100.0, 101.0, 102.0])
    assert (found.mean, found.spread) == (100.0, 0.04)
    assert found.variation == pytest.approx(2.5**0.5 / 100)
    other = repeated(STEADY)
    assert other.variation == pytest.approx(stdev(STEADY) / fmean(STEADY))
    assert other.values == STEADY


@pytest.mark.parametrize(("lowest", "repeatable"), [(97.5, True), (97.4, False)])
def test_five_percent_of_spread_is_still_repeatable_and_one_point_beyond_spoils_all(
    lowest: float, repeatable: bool
) -> None:
    values = (lowest, 100.0, 200 - lowest, 100.0, 100.0)
    reference = measured(values=values)
    assert is_repeatable(reference) is repeatable
    assert worst_spread(reference).iops.values == values


@pytest.mark.parametrize(
    ("times", "drifted"), [(0.95, False), (1.05, False), (0.949, True), (1.051, True), (1.0, False)]
)
def test_more_than_five_percent_off_the_baseline_is_drift(times: float, drifted: bool) -> None:
    level = (100.0,) * 5
    now = held(measured(times, 30, level), measured(1.0, 0, level))
    change = worst_change(now)
    assert change is not None
    assert (change.iops_before, change.iops_change) == (100.0, pytest.approx(times - 1))
    assert change.mean_ns_change == pytest.approx(1 / times - 1)
    assert has_drifted(now) is drifted


def test_small_steps_add_up_because_the_baseline_stays_the_oldest() -> None:
    earlier = [measured(1 - 0.04 * step, step) for step in range(2)]
    now = held(measured(0.92, 2), *earlier)
    assert now.baseline_wall_ns == earlier[0].made_wall_ns
    assert has_drifted(now)
    assert not has_drifted(held(measured(0.92, 2), earlier[1]))


def test_a_new_baseline_ends_what_was_before_it() -> None:
    renewed = held(measured(0.9, 1, new_baseline=True), measured(1.0, 0))
    assert (renewed.baseline_wall_ns, renewed.changes) == (None, ())
    now = held(measured(0.91, 2), measured(1.0, 0), renewed)
    assert now.baseline_wall_ns == renewed.made_wall_ns
    assert not has_drifted(now)


@pytest.mark.parametrize(
    "facts",
    [
        {"drive": replace(DRIVE, id="SN124")},
        {"drive": replace(DRIVE, firmware="1.1")},
        {"seconds": 6.0},
        {"range_bytes": 1 << 31},
        {"made_wall_ns": START_NS + 99 * DAY_NS},
        {"points": (point((90.0, 100.0, 100.0, 100.0, 100.0)), point(STEADY, "SEQ 128KiB 100/0, 1 x 8"))},
    ],
    ids=["drive", "firmware", "seconds", "range", "later", "not repeatable"],
)
def test_what_was_not_measured_alike_is_no_baseline(facts: dict[str, Any]) -> None:
    assert held(measured(0.5, 1), measured()).baseline_wall_ns == START_NS
    assert held(measured(0.5, 1), measured(**facts)).baseline_wall_ns is None


def test_another_host_is_no_baseline_but_another_kernel_or_build_is() -> None:
    now = measured(0.5, 1)
    assert held(now, measured(), platform=replace(PLATFORM, host_id="that")).baseline_wall_ns is None
    updated = replace(PLATFORM, kernel="another", build="another")
    assert held(now, measured(), platform=updated).baseline_wall_ns == START_NS
    assert held(now, None).changes == ()


def test_drift_is_told_with_its_size_its_date_and_the_remedy() -> None:
    (reason,) = outside(None, held(measured(0.927, 30), measured()))
    assert reason.startswith("reference drive off by -7.3 % since 2026-06-09 (IOPS, RND 4KiB 100/0, 1 x 32); ")
    assert reason.endswith("assay calibrate --reference DRIVE --new-baseline")
    assert not outside(None, held(measured(0.96, 30), measured()))
    assert not outside(None, measured())


def printed(stored: StoredRun) -> dict[str, str]:
    tables = [block for block in disclosure.run_blocks(stored) if isinstance(block, Table)]
    return {row[0]: row[1] for table in tables if table.caption == "Host certificate" for row in table.rows}


def run(reference: ReferenceDrive | None, **facts: Any) -> StoredRun:
    held_now = HostCertificate(status="valid", made_wall_ns=START_NS, age_ns=0, method="reads", reference=reference)
    return replace(synthetic_run(kind="block"), certificate=replace(held_now, **facts))


def test_the_disclosure_says_how_well_the_reference_drive_repeats_or_that_there_is_none(tmp_path: Path) -> None:
    assert printed(run(None))["Reference drive"] == "no reference drive"
    first = printed(run(measured()))
    assert first["Reference drive"] == "SN123, measured 2026-06-09 10:13 UTC"
    assert first["Repeatability"] == (
        "PASS: worst spread 2.0% of 5 x 5 s around 100,000 IOPS, RND 4KiB 100/0, 1 x 32 (limit: up to 5%)"
    )
    assert first["Since its baseline"].startswith("none yet")
    (path,) = render(run(measured()), tmp_path, formats=["json"])
    facts = json.loads(path.read_text())["certificate"]["reference"]
    assert facts["points"][0]["iops"]["values"] == list(STEADY)
    assert facts["drive"]["id"] == "SN123"
    loose = printed(run(measured(values=(90.0, 100.0, 110.0, 100.0, 100.0))))
    assert loose["Repeatability"].startswith("WARN: worst spread 20.0% ")


def test_a_run_folder_keeps_the_reference_and_earlier_ones_are_read_without() -> None:
    kept = run(held(measured(0.96, 30), measured())).certificate
    assert kept is not None
    stored = json.loads(json.dumps(asdict(kept)))
    assert decode(HostCertificate, stored, name="run.json") == kept
    del stored["reference"]
    assert decode(HostCertificate, stored, name="run.json") == replace(kept, reference=None)


def test_the_disclosure_prints_drift_and_no_checks_beside_it() -> None:
    now = held(measured(0.927, 30), measured())
    rows = printed(run(now, status="drifted", reason=outside(None, now)[0]))
    assert rows["Certificate"].startswith("drifted: reference drive off by -7.3 % since 2026-06-09")
    assert rows["Since its baseline"].startswith("INVALID: at most -7.3% of 100,000 IOPS, RND 4KiB 100/0, 1 x 32, ")
    assert "Ceiling over highest IOPS" not in rows
