"""What this host costs and how fast it can go at all, measured without a drive and kept as a dated certificate."""

from assay.certificate.keep import Kept, keep_certificate, kept_certificates
from assay.certificate.measure import Certificate, NullPoint, TimerPoint, ceiling_demands, measure_host
from assay.certificate.valid import VALID_DAYS, certificate_now

__all__ = [
    "VALID_DAYS",
    "Certificate",
    "Kept",
    "NullPoint",
    "TimerPoint",
    "ceiling_demands",
    "certificate_now",
    "keep_certificate",
    "kept_certificates",
    "measure_host",
]
