"""Which certificate speaks for this host as it is now."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from assay.engine.records import HostCertificate, HostPoint
from assay.host.certificate.keep import kept_certificates
from assay.results.reference import has_drifted, worst_change
from assay.spec.datum import Datum
from assay.spec.units import SECOND_NS, duration_label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.engine.records import Platform, ReferenceDrive
    from assay.host.certificate.record import Certificate
    from assay.host.certificate.simulator import SimulatorCheck

VALID_DAYS = Datum[int](
    value=30,
    source="tester's choice: firmware, power and cooling settings of a host change without a trace in kernel or CPU "
    "name; a month is the rhythm in which hosts are commonly updated, and a new certificate takes seconds",
)
_DAY_NS = 86_400 * SECOND_NS
_REMEDY = "run assay calibrate"
_RENEW = "assay calibrate --reference DRIVE --new-baseline"


def certificate_now(platform: Platform, now_ns: int) -> HostCertificate:
    """What is known of this host: the newest certificate that speaks for it, or why there is none.

    platform : the host as it is. now_ns : since the Unix epoch.
    One of another host, kernel or build, older than ``VALID_DAYS`` or dated later than now is ``expired``. Of those
    left, the newest reference drive off its baseline or a simulator that was not exact makes it ``drifted``: a later
    calibration without a reference drive does not hide that.
    Worked: made 31 days ago -> ``expired``, "31.0 days old, 30 are allowed; run assay calibrate".
    """
    kept = kept_certificates()
    judged = [(faults(certificate, platform, now_ns), certificate) for certificate in kept.certificates]
    speaking = [certificate for result, certificate in judged if not result]
    if speaking:
        return _speaking(speaking, now_ns)
    if not judged:
        damaged = f"{', '.join(kept.unreadable)} cannot be read; " if kept.unreadable else ""
        return HostCertificate(status="none", reason=damaged + _REMEDY)
    # One of this very host tells more than a newer one of another.
    result, newest = min(judged, key=lambda pair: pair[1].platform.host_id != platform.host_id)
    return HostCertificate(
        status="expired",
        reason=f"{', '.join(result)}; {_REMEDY}",
        made_wall_ns=newest.made_wall_ns,
        age_ns=now_ns - newest.made_wall_ns,
    )


def _speaking(certificates: Sequence[Certificate], now_ns: int) -> HostCertificate:
    """What certificates say that all speak for this host, the newest first."""
    newest = certificates[0]
    measured = next((certificate for certificate in certificates if certificate.reference is not None), newest)
    checked = next((certificate for certificate in certificates if certificate.simulator is not None), newest)
    if reasons := outside(checked.simulator, measured.reference):
        return HostCertificate(
            status="drifted",
            reason="; ".join(reasons),
            made_wall_ns=measured.made_wall_ns,
            age_ns=now_ns - measured.made_wall_ns,
            reference=measured.reference,
        )
    return replace(_valid(newest, now_ns), reference=measured.reference)


def outside(simulator: SimulatorCheck | None, reference: ReferenceDrive | None) -> list[str]:
    """Why references are not where they were, and what to do; empty where they are or none are known.

    Worked: 92,700 IOPS after 100,000 on 1 June -> ``reference drive off by -7.3 % since 2026-06-01 ...``.
    """
    result = []
    if simulator is not None and not simulator.is_exact:
        result.append("the simulated drive did not do the same each time; look for faulty memory, install anew")
    if reference is not None and reference.baseline_wall_ns is not None and has_drifted(reference):
        change = worst_change(reference)
        since = datetime.fromtimestamp(reference.baseline_wall_ns // SECOND_NS, UTC)
        result.append(
            f"reference drive off by {change.iops_change * 100 if change else 0:+.1f} % since {since:%Y-%m-%d} "
            f"(IOPS, {change.label if change else ''}); find out why, or take it as it is with {_RENEW}"
        )
    return result


def faults(certificate: Certificate, platform: Platform, now_ns: int) -> list[str]:
    """Why a certificate does not speak for this host now; none where it does."""
    age_ns, was = now_ns - certificate.made_wall_ns, certificate.platform
    result = []
    if age_ns < 0:
        result.append("dated later than this run")
    if age_ns > VALID_DAYS.value * _DAY_NS:
        result.append(f"{age_ns / _DAY_NS:.1f} days old, {VALID_DAYS.value} are allowed")
    facts = (
        ("host", was.host_id, platform.host_id),
        ("CPU", was.cpu, platform.cpu),
        ("CPUs", was.extra.get("logical_cpu_count"), platform.extra.get("logical_cpu_count")),
        ("kernel", was.kernel, platform.kernel),
        ("build", was.build, platform.build),
    )
    return result + [f"made with {name} {_known(old)}, not {_known(new)}" for name, old, new in facts if old != new]


def _known(fact: object) -> str:
    return "unknown" if fact is None else str(fact)


def _valid(certificate: Certificate, now_ns: int) -> HostCertificate:
    each = duration_label(round(certificate.seconds * SECOND_NS))
    return HostCertificate(
        status="valid",
        made_wall_ns=certificate.made_wall_ns,
        age_ns=now_ns - certificate.made_wall_ns,
        method=f"4 KiB reads through a ring that come back at once, without a device; {each} of each demand",
        points=tuple(
            HostPoint(
                thread_count=point.thread_count, queue_depth=point.queue_depth, iops=point.iops, cpu_ns=point.cpu_ns
            )
            for point in certificate.ceiling
        ),
        fills=certificate.fills,
        calibration=certificate.calibration,
    )
