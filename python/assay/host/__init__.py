"""The test system: watched while sequences run, and audited by ``assay check``."""

from __future__ import annotations

from assay.host.audit import audit_host
from assay.host.gauge import HostWatch
from assay.host.limits import Limits, load_limits

__all__ = ["HostWatch", "Limits", "audit_host", "load_limits"]
