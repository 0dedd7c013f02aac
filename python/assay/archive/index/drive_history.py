"""What the index has of one drive over all of its runs: firmware, hosts, bytes written, and which run came before."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.archive.index.filters import all_of
from assay.archive.index.folders import site
from assay.archive.index.search import scope

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.archive.index.driver import Connection, Row
    from assay.archive.index.search import Query


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Runs that have something in common. first_ns, last_ns : when the first and the last began, None if unknown."""

    name: str
    run_count: int
    first_ns: int | None
    last_ns: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DriveHistory:
    """All runs of a drive; a run that lies in several folders counts once.

    written_bytes : sum over the runs of which it is known; unknown_count : the others.
    firmwares, hosts : from the first run on; hosts by their IDs. capacities : in bytes, ascending. ids : identities.
    """

    run_count: int
    written_bytes: int
    unknown_count: int
    firmwares: tuple[Span, ...]
    hosts: tuple[Span, ...]
    capacities: tuple[int, ...]
    ids: tuple[str, ...]


def drive_history(reader: Connection, query: Query) -> DriveHistory:
    """Sum up the runs of the drive and folders of a query, also those that are hidden or missing.

    Worked: two runs that wrote 10 GB each, the second of them also in another folder -> 2 runs, 20 GB.
    """
    where = all_of(scope(query))
    names = "run_id, written_bytes, started_wall_ns, drive_firmware, host, drive_capacity_bytes, drive_id"
    rows = reader.rows(f"SELECT {names} FROM assay_runs r WHERE {where.text}", *where.values)
    written: dict[str, int | None] = {}
    for row in rows:
        known = (written.get(row["run_id"]), row["written_bytes"])
        written[row["run_id"]] = max((count for count in known if count is not None), default=None)
    return DriveHistory(
        run_count=len(written),
        written_bytes=sum(count for count in written.values() if count is not None),
        unknown_count=sum(count is None for count in written.values()),
        firmwares=_spans(rows, "drive_firmware"),
        hosts=_spans(rows, "host"),
        capacities=tuple(sorted({row["drive_capacity_bytes"] for row in rows})),
        ids=tuple(sorted({row["drive_id"] for row in rows})),
    )


def run_before(reader: Connection, address: str) -> str | None:
    """The address of the whole run of the same drive on this host that began last before another; None without one.

    address : of that other.
    """
    rows = reader.rows(_EARLIER, address, site())
    return str(rows[0]["address"]) if rows else None


_EARLIER = """
SELECT earlier.address FROM assay_runs AS earlier
JOIN assay_runs AS later ON later.drive_id = earlier.drive_id
WHERE later.address = ? AND earlier.site = ?
AND earlier.complete AND earlier.missing_since_ns IS NULL AND earlier.started_wall_ns < later.started_wall_ns
ORDER BY earlier.started_wall_ns DESC LIMIT 1
"""


def _spans(rows: Sequence[Row], column: str) -> tuple[Span, ...]:
    """The values of a column, in the order of their first runs."""
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        groups[row[column] or ""].append(row)
    spans = []
    for name, runs in groups.items():
        began = [run["started_wall_ns"] for run in runs if run["started_wall_ns"] is not None]
        first_ns, last_ns = min(began, default=None), max(began, default=None)
        run_count = len({run["run_id"] for run in runs})
        spans.append(Span(name=name, run_count=run_count, first_ns=first_ns, last_ns=last_ns))
    return tuple(sorted(spans, key=lambda span: (span.first_ns or 0, span.name)))
