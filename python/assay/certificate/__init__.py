"""What this host costs and how fast it can go at all, measured without a drive and kept as a dated certificate."""

from assay.certificate.baseline import against_baseline
from assay.certificate.keep import Kept, keep_certificate, kept_certificates
from assay.certificate.measure import Certificate, NullPoint, TimerPoint, ceiling_demands, measure_host
from assay.certificate.simulator import SimulatorCheck, SimulatorRun, check_simulator, run_simulator
from assay.certificate.valid import VALID_DAYS, certificate_now, outside

__all__ = [
    "VALID_DAYS",
    "Certificate",
    "Kept",
    "NullPoint",
    "SimulatorCheck",
    "SimulatorRun",
    "TimerPoint",
    "against_baseline",
    "ceiling_demands",
    "certificate_now",
    "check_simulator",
    "keep_certificate",
    "kept_certificates",
    "measure_host",
    "outside",
    "run_simulator",
]
