"""The index brought up to the folders of this host, and the runs that it then lists.

What is new or has changed is read, what is gone is marked. What a terminal shows meanwhile comes from the caller: the
command line and the child of a server both use this.
"""

from __future__ import annotations

import hashlib
import os
import time
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from assay.archive.index.driver import DamagedIndexError, UnusableIndexError
from assay.archive.index.folders import THOROUGH, given_name, parent_of, seen_folders, site, thorough_look
from assay.archive.index.read import EVERY, listed_runs, made_by, name_everywhere, reading, stored_runs
from assay.errors import AssayError, StoreError
from assay.run.store.lock import is_going
from assay.spec.files import config_folder
from assay.words.visible import unicode_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from multiprocessing.pool import Pool

    from assay.archive.index.driver import Row
    from assay.archive.index.location import Place
    from assay.archive.index.write import ReadRun
    from assay.summary.forms import ListedRun

T = TypeVar("T")
KEY_FILES = ("signing_key.pub", "trusted_keys")
"""A copy of the name in ``assay.archive.bundle``, which takes long to load."""
_ALONE = 32
"""So many runs are read faster in this process than by others, which have to be started."""
_BATCH = 200
"""Runs that are stored in one transaction: a writer keeps others waiting for a moment only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """Functions of the caller for reading run folders.

    host_id : answers the ID of this host, which says whether a run is of it; called only where there are runs to read.
    workers : makes processes that read many runs; None: all are read in this process.
    shown : wraps the runs as they are read, with their count, to show progress. warn : takes a sentence for the user.
    """

    host_id: Callable[[], str | None]
    workers: Callable[[], AbstractContextManager[Pool]] | None = None
    shown: Callable[[Iterable[ReadRun], int], AbstractContextManager[Iterable[ReadRun]]] = lambda runs, _: nullcontext(
        runs
    )
    warn: Callable[[str], None] = lambda _: None


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


def runs_in(index: Place, folder: Path, means: Means, *, numbers: bool) -> list[ListedRun]:
    """The runs in a folder, in no order, also missing runs.

    Runs that go on are read from their folders, and never into the index.
    numbers : with the headlines of each test, which are quicker left out.
    Where the default index cannot be used this is said, and every folder is read instead.
    """
    prefix, where = _prefix(folder), (_IN_FOLDER, site(), parent_of(folder))

    def listed() -> list[ListedRun]:
        active = _active(_brought_up(index, folder, means), means, prefix)
        runs = _listed(index, lambda row: unicode_name(prefix + given_name(row["folder"])), *where, numbers=numbers)
        return [*runs, *active]

    try:
        return despite_damage(index, means, listed)
    except UnusableIndexError as error:
        if not index.is_own:
            raise
        means.warn(f"{error.thing}: {error.reason}; every run is read instead, which takes longer")
        return _read_alone(folder, map(given_name, seen_folders(folder)), means, prefix)


def runs_everywhere(index: Place, means: Means, *, numbers: bool) -> list[ListedRun]:
    """The runs of every folder and host in the index; folders of this host are brought up first."""

    def listed() -> list[ListedRun]:
        results = [_brought_up(index, folder, means) for folder in known_folders(index)]
        active = [run for result in results for run in _active(result, means, _prefix(result.folder))]
        return [*_listed(index, name_everywhere, numbers=numbers), *active]

    return despite_damage(index, means, listed)


def known_folders(index: Place) -> list[Path]:
    """The folders of runs of this host in the index, also in an index that is to be made anew."""
    asked = "SELECT DISTINCT parent FROM assay_runs WHERE site = ?"
    with reading(index, older=True) as reader:
        parents = reader.rows(asked, site()) if reader else []
    return [Path(given_name(parent)) for parent in sorted(row["parent"] for row in parents)]


def update(index: Place, folders: Iterable[Path], means: Means) -> int:
    """Bring the index up to some folders of runs; how many runs were read. Raises StoreError."""
    return sum(len(_brought_up(index, folder, means).to_read) for folder in folders)


def despite_damage(index: Place, means: Means, work: Callable[[], T]) -> T:
    """Work with an index; a damaged one of our own is renamed, and made anew. Raises StoreError for another."""
    try:
        return work()
    except DamagedIndexError as error:
        if not index.is_own or index.path is None:
            raise
        aside = index.path.with_name(f"{index.path.name}.damaged")
        means.warn(f"{error.thing}: {error.reason}; it is kept as {aside.name} and made anew")
        index.path.replace(aside)
        for end in ("-wal", "-shm"):
            index.path.with_name(index.path.name + end).unlink(missing_ok=True)
        return work()


_IN_FOLDER = "site = ? AND parent = ?"


def _listed(
    index: Place, name: Callable[[Row], str], where: str = EVERY, *values: object, numbers: bool
) -> list[ListedRun]:
    with reading(index) as reader:
        return listed_runs(reader, stored_runs(reader, where, *values), name, numbers=numbers) if reader else []


def _brought_up(index: Place, folder: Path, means: Means) -> Changes:
    """Bring the index up to a folder of runs. Returns the changes of the folder."""
    where = site(), parent_of(folder)
    with reading(index) as reader:
        rows = stored_runs(reader, _IN_FOLDER, *where, columns=()) if reader else []
    changes = _changes(folder, rows)
    if not (changes.to_read or changes.gone or changes.back or changes.resumed):
        return changes
    from assay.archive.index.write import forget_runs, mark_missing, store_runs, writing  # noqa: PLC0415 - heavy

    with writing(index) as writer:
        mark_missing(writer, *where, changes.gone, time.time_ns())
        mark_missing(writer, *where, changes.back, None)
        forget_runs(writer, *where, changes.resumed)
    # By its whole path, so that what is kept of a fault is right from everywhere.
    real = Path(os.path.realpath(folder))
    read_runs = _read_runs(means, [(real / given_name(name), name, look) for name, look in changes.to_read])
    while batch := list(islice(read_runs, _BATCH)):
        with writing(index) as writer:
            store_runs(writer, *where, batch)
    return changes


def _changes(folder: Path, rows: Sequence[Row]) -> Changes:
    """Compare a folder of runs, or none, with its rows. Raises StoreError if it cannot be read."""
    seen = seen_folders(folder, _trust()) if folder.is_dir() else {}
    had = {row["folder"]: row["look"] if row["made_by"] == made_by() else "" for row in rows}
    missing = {row["folder"] for row in rows if row["missing_since_ns"] is not None}
    changed = [
        (name, look)
        for name, look in sorted(seen.items())
        if not _is_as_it_was(folder / given_name(name), look, had.get(name, ""))
    ]
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


def _is_as_it_was(folder: Path, look: str, known: str) -> bool:
    # A folder that could not be read: what was wrong may lie in any of its files.
    return known == (thorough_look(folder) if known.startswith(THOROUGH) else look)


def _active(result: Changes, means: Means, prefix: str) -> list[ListedRun]:
    """The runs of a folder that go on, as far as they are. prefix : before their names."""
    return _read_alone(result.folder, map(given_name, result.active), means, prefix) if result.active else []


def _read_alone(folder: Path, names: Iterable[str], means: Means, prefix: str) -> list[ListedRun]:
    """Run folders by their names, read for a list only."""
    host_id = means.host_id()
    return [_read((folder / name, name, ""), host_id, prefix + name).listed for name in names]


def _trust() -> str:
    """A digest of the keys that the user trusts: with other keys, an imported run has another level."""
    digest = hashlib.sha256()
    for name in KEY_FILES:
        with suppress(OSError):
            digest.update((config_folder() / name).read_bytes())
    return digest.hexdigest()[:16]


def _prefix(folder: Path) -> str:
    """The prefix of the names of runs in a folder. Worked: ``runs`` -> ``"runs/"``, ``.`` -> ``""``."""
    return str(folder / "x")[:-1]


def _read_runs(means: Means, folders: Sequence[tuple[Path, str, str]]) -> Iterator[ReadRun]:
    """Read run folders: each its path, the name that is kept, and its look."""
    from assay.report.formats.terminal import listed  # noqa: F401, PLC0415 - loaded once, before there are workers

    read = partial(_read, host_id=means.host_id())
    many = means.workers is not None and len(folders) > _ALONE
    with means.workers() if many and means.workers else nullcontext() as pool:
        runs = map(read, folders) if pool is None else pool.imap(read, folders, chunksize=8)
        with means.shown(runs, len(folders)) as shown:
            yield from shown


def _read(folder: tuple[Path, str, str], host_id: str | None, shown: str | None = None) -> ReadRun:
    """A run folder as the index has it, also where it cannot be read. shown : its name for the user."""
    from assay.archive.index.drive_use import drive_use  # noqa: PLC0415 - heavy, as are the others
    from assay.archive.index.write import ReadRun  # noqa: PLC0415
    from assay.archive.levels import with_known_level  # noqa: PLC0415
    from assay.archive.rendering import stored_run  # noqa: PLC0415
    from assay.compare.subject import held_conditions  # noqa: PLC0415
    from assay.report.formats.terminal.listed import listed_run, run_numbers, unreadable_run  # noqa: PLC0415
    from assay.report.formats.write import foreign  # noqa: PLC0415
    from assay.run.store.document import RUN_SCHEMA  # noqa: PLC0415

    path, name, look = folder
    shown = unicode_name(shown or str(path))
    try:
        run = with_known_level(stored_run(path), path, host_id)
        numbers = run_numbers(run)
        listed = foreign(lambda: listed_run(run, shown, run_schema=RUN_SCHEMA, numbers=numbers), shown)
        conditions = foreign(lambda: tuple(held_conditions(run, test) for test in run.tests), shown)
    except (AssayError, MemoryError) as error:
        # One that is too large ends no list of others.
        large = StoreError(shown, "takes more memory than there is", "take it out of the folder of runs")
        fault = error if isinstance(error, AssayError) else large
        return ReadRun(folder=name, look=thorough_look(path), listed=unreadable_run(shown, fault))
    return ReadRun(
        folder=name,
        look=look,
        listed=listed,
        measures=numbers.measures,
        claims=run.plan.get("claims") or {},
        conditions=conditions,
        use=drive_use(run),
    )
