"""What the link of a stored run's drive carries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.spec.link import link_bytes_per_s
from assay.spec.units import MB

if TYPE_CHECKING:
    from assay.engine.records import StoredRun


def link_mb_per_s(run: StoredRun) -> float | None:
    """MB/s of the link as negotiated, else of the interface by its name; None where neither is known.

    Worked: ``SATA 3.0 Gbps`` -> 300.
    """
    negotiated = run.conditions[0].link if run.conditions else None
    named = (negotiated, run.identity.interface)
    return next((rate / MB for one in named if one and (rate := link_bytes_per_s(one))), None)
