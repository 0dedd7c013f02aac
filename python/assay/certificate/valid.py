"""Which certificate speaks for this host as it is now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.certificate.keep import kept_certificates
from assay.datum import Datum
from assay.records import HostCertificate, HostPoint
from assay.units import SECOND_NS, duration_label

if TYPE_CHECKING:
    from assay.certificate.measure import Certificate
    from assay.records import Platform

VALID_DAYS = Datum[int](
    value=30,
    source="tester's choice: firmware, power and cooling settings of a host change without a trace in kernel or CPU "
    "name; a month is the rhythm in which hosts are commonly updated, and a new certificate takes seconds",
)
_DAY_NS = 86_400 * SECOND_NS
_REMEDY = "run assay calibrate"


def certificate_now(platform: Platform, now_ns: int) -> HostCertificate:
    """What is known of this host: the newest certificate that speaks for it, or why there is none.

    platform : the host as it is. now_ns : since the Unix epoch.
    One of another host, kernel or build, older than ``VALID_DAYS`` or dated later than now is ``expired``.
    Worked: made 31 days ago -> ``expired``, "31.0 days old, 30 are allowed; run assay calibrate".
    """
    kept = kept_certificates()
    judged = [(faults(one, platform, now_ns), one) for one in kept.certificates]
    for found, certificate in judged:
        if not found:
            return _valid(certificate, now_ns)
    if not judged:
        damaged = f"{', '.join(kept.unreadable)} cannot be read; " if kept.unreadable else ""
        return HostCertificate(status="none", reason=damaged + _REMEDY)
    # One of this very host tells more than a newer one of another.
    found, newest = min(judged, key=lambda pair: pair[1].platform.host_id != platform.host_id)
    return HostCertificate(
        status="expired",
        reason=f"{', '.join(found)}; {_REMEDY}",
        made_wall_ns=newest.made_wall_ns,
        age_ns=now_ns - newest.made_wall_ns,
    )


def faults(certificate: Certificate, platform: Platform, now_ns: int) -> list[str]:
    """Why a certificate does not speak for this host now; none where it does."""
    age_ns, was = now_ns - certificate.made_wall_ns, certificate.platform
    found = []
    if age_ns < 0:
        found.append("dated later than this run")
    if age_ns > VALID_DAYS.value * _DAY_NS:
        found.append(f"{age_ns / _DAY_NS:.1f} days old, {VALID_DAYS.value} are allowed")
    facts = (
        ("host", was.host_id, platform.host_id),
        ("CPU", was.cpu, platform.cpu),
        ("CPUs", was.extra.get("logical_cpu_count"), platform.extra.get("logical_cpu_count")),
        ("kernel", was.kernel, platform.kernel),
        ("build", was.build, platform.build),
    )
    return found + [f"made with {name} {_known(old)}, not {_known(new)}" for name, old, new in facts if old != new]


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
    )
