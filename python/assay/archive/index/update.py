"""Bringing the index up to a folder of runs: what is new or has changed is read, what is gone is marked."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from assay.archive.index.folders import THOROUGH, given_name, kept_name, run_address, seen_folders, site, thorough_look
from assay.run.store.held import is_going

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from assay.archive.index.location import Place
    from assay.archive.index.read import Known
    from assay.archive.index.write import ReadRun

_BATCH = 200
"""Runs that are stored in one transaction: a writer keeps others waiting for a moment only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """How a folder of runs differs from what the index has of it; names as they are kept.

    to_read : new or changed, with their looks. gone : no more there. back : there again, and as they were.
    active : runs that go on, which are never read into the index. resumed : those of them that it still has.
    """

    folder: Path
    to_read: tuple[tuple[str, str], ...] = ()
    gone: tuple[str, ...] = ()
    back: tuple[str, ...] = ()
    active: tuple[str, ...] = ()
    resumed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Whether the index has to be written."""
        return bool(self.to_read or self.gone or self.back or self.resumed)

    @property
    def parent(self) -> str:
        """The folder as it is kept."""
        return parent_of(self.folder)


def parent_of(folder: Path) -> str:
    """A folder of runs as the index keeps it: the same whichever link or relative path leads to it."""
    return kept_name(os.path.realpath(folder))


def address_of(folder: Path) -> str:
    """The address of a run folder of this host, as the index has it."""
    return run_address(site(), parent_of(folder.parent), kept_name(folder.name))


def changes(folder: Path, known: Known, trust: str = "") -> Changes:
    """Compare a folder of runs with what the index has of it. trust : as of ``seen_folders``.

    Raises StoreError where it cannot be looked at.
    """
    seen, had, missing = seen_folders(folder, trust), known.looks(), known.missing()
    changed = [(name, look) for name, look in sorted(seen.items()) if not _is_as_it_was(folder, name, look, had)]
    # After the look: a run that ends in between looks other the next time. What has not changed does not go on.
    active = [name for name, _ in changed if is_going(folder / given_name(name))]
    return Changes(
        folder=folder,
        to_read=tuple((name, look) for name, look in changed if name not in active),
        gone=tuple(sorted(had.keys() - seen.keys() - missing)),
        back=tuple(sorted(missing & seen.keys())),
        active=tuple(active),
        resumed=tuple(name for name in active if name in had),
    )


def _is_as_it_was(folder: Path, name: str, look: str, had: dict[str, str]) -> bool:
    known = had.get(name, "")
    if known.startswith(THOROUGH):
        # It could not be read: what was wrong may lie in any of its files.
        return known == thorough_look(folder / given_name(name))
    return known == look


def apply(place: Place, found: Changes, read: Callable[[Sequence[tuple[Path, str, str]]], Iterable[ReadRun]]) -> None:
    """Read what has changed and store it. Raises StoreError where the index cannot be written."""
    from assay.archive.index.write import forget_runs, mark_missing, store_runs, writing  # noqa: PLC0415 - loads SQLAlchemy

    where = site(), found.parent
    with writing(place) as connection:
        mark_missing(connection, *where, found.gone, time.time_ns())
        mark_missing(connection, *where, found.back, None)
        forget_runs(connection, *where, found.resumed)
    # By its whole path, so that what is kept of a fault is right from everywhere.
    real = Path(os.path.realpath(found.folder))
    asked = [(real / given_name(name), name, look) for name, look in found.to_read]
    for batch in _batches(read(asked)):
        with writing(place) as connection:
            store_runs(connection, *where, batch)


def _batches(read_runs: Iterable[ReadRun]) -> Iterator[list[ReadRun]]:
    batch: list[ReadRun] = []
    for read_run in read_runs:
        batch.append(read_run)
        if len(batch) == _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch
