"""What this host costs and how fast it can go at all, measured without a drive and kept as a dated certificate."""

from assay.certificate.keep import keep_certificate, kept_certificates
from assay.certificate.measure import Certificate, NullPoint, TimerPoint, measure_host

__all__ = [
    "Certificate",
    "NullPoint",
    "TimerPoint",
    "keep_certificate",
    "kept_certificates",
    "measure_host",
]
