"""What the index has of one drive over all of its runs: firmware, hosts, and bytes written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.archive.index.conditions import all_of
from assay.archive.index.search import scope

if TYPE_CHECKING:
    from assay.archive.index.conditions import Condition
    from assay.archive.index.read import Reader
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


def drive_history(reader: Reader, query: Query) -> DriveHistory:
    """Sum up the runs of the drive and folders of a query, also those that are hidden or missing.

    Worked: two runs that wrote 10 GB each, the second of them also in another folder -> 2 runs, 20 GB.
    """
    where = all_of(scope(query))
    runs = reader.rows(
        "SELECT count(*) AS runs, coalesce(sum(b), 0) AS written, count(*) - count(b) AS unknown FROM "  # noqa: S608 - marks only
        f"(SELECT run_id, max(written_bytes) AS b FROM assay_runs r WHERE {where.text} GROUP BY run_id) AS each_run",
        *where.values,
    )[0]
    facts = reader.rows(
        f"SELECT DISTINCT drive_capacity_bytes, drive_id FROM assay_runs r WHERE {where.text}",  # noqa: S608 - likewise
        *where.values,
    )
    return DriveHistory(
        run_count=runs["runs"],
        written_bytes=int(runs["written"]),
        unknown_count=runs["unknown"],
        firmwares=_spans(reader, "drive_firmware", where),
        hosts=_spans(reader, "host", where),
        capacities=tuple(sorted({fact["drive_capacity_bytes"] for fact in facts})),
        ids=tuple(sorted({fact["drive_id"] for fact in facts})),
    )


def _spans(reader: Reader, column: str, where: Condition) -> tuple[Span, ...]:
    """The values of a column, in the order of their first runs."""
    rows = reader.rows(
        f"SELECT {column} AS name, count(DISTINCT run_id) AS runs, min(started_wall_ns) AS first, "  # noqa: S608 - likewise
        f"max(started_wall_ns) AS last FROM assay_runs r WHERE {where.text} GROUP BY {column}",
        *where.values,
    )
    spans = (
        Span(name=row["name"] or "", run_count=row["runs"], first_ns=row["first"], last_ns=row["last"]) for row in rows
    )
    return tuple(sorted(spans, key=lambda span: (span.first_ns or 0, span.name)))
