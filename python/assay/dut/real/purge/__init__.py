"""Purging a real drive through the held descriptor, and proving what was done.

What the drive offers is asked first (``choose``), the command is sent and watched, and the outcome is decided by the
drive's own state and by marked places read back, never by the status of a command alone.
"""

from __future__ import annotations

from assay.dut.real.purge.choose import choose_purge
from assay.dut.real.purge.foreseen import PurgeTime, purge_time
from assay.dut.real.purge.offer import Offer, PurgeWatch
from assay.dut.real.purge.run import purge_drive

__all__ = ["Offer", "PurgeTime", "PurgeWatch", "choose_purge", "purge_drive", "purge_time"]
