"""The test system: audited by ``assay check``."""

from __future__ import annotations

from assay.host.audit import audit_host
from assay.host.limits import Limits, load_limits

__all__ = ["Limits", "audit_host", "load_limits"]
