"""How far a result is vouched for: its level and origin, and the certificate of the host."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from assay.results.host import host_checks
from assay.results.reference import reference_checks
from assay.spec.units import KIB, MB, count_label
from assay.words.outcomes import BREAKS_RULES, NOT_CHECKED, SELF_CHECKED
from assay.words.printed import paragraph, utc

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.engine.records import HostPoint, ReferenceDrive, StoredRun
    from assay.results.finding import Checked
    from assay.summary.pages.model import Entry


_AT_HOME = {True: SELF_CHECKED, False: BREAKS_RULES, None: NOT_CHECKED}
_CHECKED = {True: "yes, all rules are kept", False: "yes, and rules are broken", None: "no"}


def level_label(run: StoredRun, replicated: int = 0) -> str:
    """The level of a result. replicated : by how many other runs.

    Worked: a run of this host that keeps the rules -> ``"self-checked"``; where nobody checked -> ``"not checked
    here"``; an import that keeps them, without a signature -> ``"verified bundle, unsigned"``.
    """
    return with_replicas(paragraph(run.origin.level) if run.origin else _AT_HOME[run.checked], replicated)


def with_replicas(level: str, replicated: int) -> str:
    """A level with by how many other runs its result is replicated, where there are any."""
    return f"{level}, replicated by {count_label(replicated, 'run')}" if replicated else level


def origin_entries(run: StoredRun) -> tuple[Entry, ...]:
    """Where an imported run comes from; nothing for one of this host."""
    origin = run.origin
    if origin is None:
        return ()
    signed = f"by {paragraph(origin.signer)}, " if origin.signer else ""
    key = f"{signed}key {paragraph(origin.fingerprint)}" if origin.fingerprint else "no: nothing says who made it"
    return (
        ("Level", level_label(run)),
        ("Signed", key),
        ("Held against the rules", _CHECKED[origin.checked]),
        *((("Checker", paragraph(origin.checker)),) if origin.checker else ()),
        ("Exported by", paragraph(origin.exported_by)),
        ("Redacted by its maker", "yes" if origin.redacted else "no"),
        *((("Final hash before", origin.original_hash),) if origin.original_hash else ()),
    )


_DAY_NS = 86_400 * 10**9


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
        entries = (("Certificate", paragraph(f"{certificate.status}: {certificate.reason}")),)
        known = _reference(certificate.reference) if certificate.reference else ()
        return (*entries, *((("Made", made),) if made else ()), *known)
    fills = (f"{fill.transfer_bytes // KIB} KiB {fill.bytes_per_s / MB:,.0f} MB/s" for fill in certificate.fills)
    return (
        ("Certificate", f"valid, made {made}, {(certificate.age_ns or 0) / _DAY_NS:.1f} days before the run"),
        ("Made with", paragraph(certificate.method)),
        *_points(certificate.points),
        (
            "Random data per core",
            "; ".join(fills) or "unknown: the certificate did not measure it; run assay calibrate",
        ),
        *((host_check.check.title, _check(host_check)) for host_check in host_checks(run)),
        *_reference(certificate.reference),
    )


def _points(points: Sequence[HostPoint]) -> Iterator[Entry]:
    """A line per thread count, so that hosts of many CPUs fit a page."""
    for count, same in groupby(points, key=lambda point: point.thread_count):
        result = (f"QD {point.queue_depth} {point.iops:,.0f} IOPS, {point.cpu_ns:,.0f} ns" for point in same)
        yield f"Ceiling, CPU per I/O, TC {count}", "; ".join(result)


def _reference(reference: ReferenceDrive | None) -> Iterator[Entry]:
    if reference is None:
        yield "Reference drive", "no reference drive"
        return
    drive = reference.drive
    name = f"{drive.model_number}, {drive.id}" if drive.model_number else drive.id
    yield "Reference drive", paragraph(f"{name}, measured {utc(reference.made_wall_ns)}")
    for reference_check in reference_checks(reference):
        since = f", since {utc(reference.baseline_wall_ns)}" if reference_check.name == "drift" else ""
        text = reference_check.finding.words if reference_check.level == "n/a" else _check(reference_check, since)
        yield reference_check.check.title, text


def _check(check: Checked, more: str = "") -> str:
    """Level, figures, where, and what passes."""
    result = check.finding
    return f"{result.level.upper()}: {result.words}, {paragraph(result.where)}{more} (limit: {check.check.passes})"
