"""The content of an index in numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from assay.archive.index.driver import SCHEMA
from assay.archive.index.folders import given_name
from assay.archive.index.read import reading
from assay.summary.forms import Facts

if TYPE_CHECKING:
    from assay.archive.index.location import Place


class IndexedFolder(Facts):
    """One folder of runs in the index."""

    host: str = Field(description="Name of the host that it is on.")
    folder: str = Field(description="Its whole path.")
    runs: int = Field(description="How many runs the index has of it.")
    missing: int = Field(description="How many of them are there no more.")


class IndexStatus(Facts):
    """An index as `assay index status --json` prints it, and the other two commands after their work."""

    schema_version: Literal[1] = Field(default=1, alias="schema", description="Version of this form.")
    index: str = Field(description="The index, without any password.")
    database: Literal["SQLite", "PostgreSQL"] = Field(description="What it is kept in.")
    schema_found: int | None = Field(description="Version of its tables; null where there are none yet.")
    schema_known: int = Field(description="The version that this Assay writes.")
    runs: int = Field(description="How many runs it has.")
    unreadable: int = Field(description="How many of them are folders that cannot be read.")
    missing: int = Field(description="How many of them are there no more.")
    folders: tuple[IndexedFolder, ...] = Field(description="The folders of runs.")
    read: int = Field(default=0, description="How many runs were read by this command.")


_COUNTS = (
    "SELECT site, parent, count(*) AS runs, count(fault) AS unreadable, count(missing_since_ns) AS missing "
    "FROM assay_runs GROUP BY site, parent"
)


def index_status(place: Place, *, read: int = 0) -> IndexStatus:
    """Count the runs of an index. read : runs that were just read. Raises StoreError if it cannot be read."""
    with reading(place) as reader:
        counts = reader.rows(_COUNTS) if reader else None
    rows = sorted(counts or (), key=lambda row: (row["site"], row["parent"]))
    return IndexStatus(
        index=place.shown,
        database="SQLite" if place.path else "PostgreSQL",
        schema_found=None if counts is None else SCHEMA,
        schema_known=SCHEMA,
        **{name: sum(row[name] for row in rows) for name in ("runs", "unreadable", "missing")},
        folders=tuple(
            IndexedFolder(
                host=given_name(row["site"]),
                folder=given_name(row["parent"]),
                runs=row["runs"],
                missing=row["missing"],
            )
            for row in rows
        ),
        read=read,
    )
