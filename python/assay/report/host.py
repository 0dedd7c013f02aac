"""What the certificate of the host says, and what it says about the run."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from assay.pages.printed import paragraph, utc
from assay.records import FillPoint
from assay.units import KIB, MB, MICROSECOND_NS
from assay.window import CHANGE_MAX, SPREAD_MAX, has_drifted, host_checks, is_repeatable, worst_change, worst_spread

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.pages.model import Entry
    from assay.records import HostPoint, ReferenceDrive, StoredRun
    from assay.window import HostCheck

_DAY_NS = 86_400 * 10**9
_NAMES = {"ceiling": "Ceiling over highest IOPS", "cost": "Cost over response time", "fill": "Data made over written"}


def certificate_entries(run: StoredRun) -> tuple[Entry, ...]:
    """Print the certificate, or why there is none, and the checks that rest on it."""
    certificate = run.certificate
    if run.identity.kind == "simulated" and certificate is None:
        return (
            ("Certificate", "does not apply: a simulated drive's time is virtual, no figure holds the host's speed"),
        )
    if certificate is None:
        return (("Certificate", "not recorded by the version that ran the test"),)
    made = utc(certificate.made_wall_ns) if certificate.made_wall_ns is not None else ""
    if certificate.status != "valid":
        found = (("Certificate", paragraph(f"{certificate.status}: {certificate.reason}")),)
        known = _reference(certificate.reference) if certificate.reference else ()
        return (*found, *((("Made", made),) if made else ()), *known)
    return (
        ("Certificate", f"valid, made {made}, {(certificate.age_ns or 0) / _DAY_NS:.1f} days before the run"),
        ("Made with", paragraph(certificate.method)),
        *_points(certificate.points),
        ("Random data per core", _fills(certificate.fills)),
        *((_NAMES[check.name], _check(check)) for check in host_checks(run)),
        *_reference(certificate.reference),
    )


def _points(points: Sequence[HostPoint]) -> Iterator[Entry]:
    """A line per thread count, so that hosts of many CPUs fit a page."""
    for count, same in groupby(points, key=lambda point: point.thread_count):
        found = (f"QD {point.queue_depth} {point.iops:,.0f} IOPS, {point.cpu_ns:,.0f} ns" for point in same)
        yield f"Ceiling, CPU per I/O, TC {count}", "; ".join(found)


def _fills(fills: Sequence[FillPoint]) -> str:
    """What one core makes for writes of each size."""
    if not fills:
        return "unknown: the certificate did not measure it; run assay calibrate"
    return "; ".join(f"{fill.transfer_bytes // KIB} KiB {fill.bytes_per_s / MB:,.0f} MB/s" for fill in fills)


def _reference(reference: ReferenceDrive | None) -> Iterator[Entry]:
    if reference is None:
        yield "Reference drive", "no reference drive"
        return
    drive, point = reference.drive, worst_spread(reference)
    grade = "PASS" if is_repeatable(reference) else "WARN"
    name = f"{drive.model}, {drive.id}" if drive.model else drive.id
    yield "Reference drive", paragraph(f"{name}, measured {utc(reference.made_wall_ns)}")
    found = (
        f"{grade}: worst spread {point.iops.spread:.1%} of {len(point.iops.values)} x {reference.seconds:g} s around "
        f"{point.iops.mean:,.0f} IOPS, {paragraph(point.label)}; up to {SPREAD_MAX:.0%} passes"
    )
    yield "Repeatability", found
    yield "Since its baseline", _change(reference)


def _change(reference: ReferenceDrive) -> str:
    change = worst_change(reference)
    if change is None:
        return "none yet: a later calibration is held against this one"
    return (
        f"{'DRIFTED' if has_drifted(reference) else 'PASS'}: at most {change.iops_change:+.1%} of "
        f"{change.iops_before:,.0f} IOPS, {paragraph(change.label)}, since {utc(reference.baseline_wall_ns)}; "
        f"up to {CHANGE_MAX:.0%} passes"
    )


def _check(check: HostCheck) -> str:
    point, step = check.point, paragraph(check.step)
    if isinstance(point, FillPoint):
        return (
            f"{check.grade.upper()}: {check.ratio:,.3g} = {point.bytes_per_s / MB:,.0f} MB/s x {check.cores} / "
            f"{check.measured / MB:,.1f} MB/s, {step}{_MEANINGS['fill', check.grade]}"
        )
    if check.name == "ceiling":
        return (
            f"{check.grade.upper()}: {check.ratio:,.3g} = {point.iops:,.0f} / {check.measured:,.0f} IOPS, {step}"
            f"{_MEANINGS['ceiling', check.grade]}"
        )
    return (
        f"{check.grade.upper()}: {check.ratio:.2%} = {point.cpu_ns:,.0f} ns / "
        f"{check.measured / MICROSECOND_NS:,.1f} us, {step}{_MEANINGS['cost', check.grade]}"
    )


_MEANINGS = {
    ("ceiling", "pass"): "; 2 or more passes",
    ("ceiling", "warn"): "; below 2",
    ("ceiling", "invalid"): "; below 1.2: the tester may have been the limit",
    ("fill", "pass"): "; 2 or more passes",
    ("fill", "warn"): "; below 2",
    ("fill", "invalid"): "; below 1: the tester could not make the data as fast",
    ("cost", "pass"): "; up to 2 % passes",
    ("cost", "warn"): "; above 2 %",
    ("cost", "invalid"): "; above 10 %: the tester is part of the response time",
}
