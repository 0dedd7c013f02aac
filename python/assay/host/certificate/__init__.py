"""What this host costs and how fast it can go at all, measured without a drive and kept as a dated certificate."""

from assay.host.certificate.baseline import against_baseline
from assay.host.certificate.keep import Kept, keep_certificate, kept_certificates
from assay.host.certificate.measure import ceiling_demands, measure_host
from assay.host.certificate.record import Certificate, NullPoint, TimerPoint
from assay.host.certificate.simulator import SimulatorCheck, SimulatorRun, check_simulator, run_simulator
from assay.host.certificate.valid import VALID_DAYS, certificate_now, outside

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
