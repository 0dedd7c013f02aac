"""The run that a drive had before another one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.archive.index.folders import run_address, site

if TYPE_CHECKING:
    from assay.archive.index.read import Reader

_EARLIER = """
SELECT earlier.* FROM assay_runs AS earlier
JOIN assay_runs AS later ON later.drive_id = earlier.drive_id
WHERE later.site = ? AND later.parent = ? AND later.folder = ? AND earlier.site = ?
AND earlier.complete AND earlier.missing_since_ns IS NULL AND earlier.started_wall_ns < later.started_wall_ns
ORDER BY earlier.started_wall_ns DESC LIMIT 1
"""


def run_before(reader: Reader, parent: str, folder: str) -> str | None:
    """The address of the whole run of the same drive on this host that began last before another; None without one.

    parent, folder : of that other, as they are stored.
    """
    rows = reader.rows(_EARLIER, site(), parent, folder, site())
    return run_address(rows[0]["site"], rows[0]["parent"], rows[0]["folder"]) if rows else None
