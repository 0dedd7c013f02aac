"""Asking the index for one run, and for those of a page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.archive.index.folders import run_address, site
from assay.archive.index.read import folder_of
from assay.words.visible import unicode_name

if TYPE_CHECKING:
    from assay.archive.index.read import Reader
    from assay.summary.forms import ListedRun


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundRun:
    """A run of the index. folder : its path as the system has it, None on another host. host : its site."""

    address: str
    host: str
    folder: str | None
    listed: ListedRun


def run_at(reader: Reader, address: str) -> FoundRun | None:
    """The run of an address, with the numbers of its tests; None where there is none."""
    rows = [
        row for row in reader.everything().rows if run_address(row["site"], row["parent"], row["folder"]) == address
    ]
    if not rows:
        return None
    known = type(reader.everything())(tuple(rows[:1]))
    (listed,) = reader.listed(known, lambda row: unicode_name(folder_of(row)), numbers=True)
    (row,) = known.rows
    return FoundRun(
        address=address, host=row["site"], folder=folder_of(row) if row["site"] == site() else None, listed=listed
    )


def all_runs(reader: Reader) -> list[FoundRun]:
    """Every run of the index, the newest first."""
    known = reader.everything()
    listed = reader.listed(known, lambda row: unicode_name(folder_of(row)), numbers=False)
    found = [
        FoundRun(
            address=run_address(row["site"], row["parent"], row["folder"]),
            host=row["site"],
            folder=folder_of(row) if row["site"] == site() else None,
            listed=run,
        )
        for row, run in zip(known.rows, listed, strict=True)
    ]
    return sorted(found, key=lambda one: -(one.listed.started_wall_ns or 0))
