"""The run that a drive had before another one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.archive.index.folders import site

if TYPE_CHECKING:
    from assay.archive.index.read import Reader

_EARLIER = """
SELECT earlier.address FROM assay_runs AS earlier
JOIN assay_runs AS later ON later.drive_id = earlier.drive_id
WHERE later.address = ? AND earlier.site = ?
AND earlier.complete AND earlier.missing_since_ns IS NULL AND earlier.started_wall_ns < later.started_wall_ns
ORDER BY earlier.started_wall_ns DESC LIMIT 1
"""


def run_before(reader: Reader, address: str) -> str | None:
    """The address of the whole run of the same drive on this host that began last before another; None without one.

    address : of that other.
    """
    rows = reader.rows(_EARLIER, address, site())
    return str(rows[0]["address"]) if rows else None
