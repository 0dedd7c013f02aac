"""The index brought up to the folders of this host, and the runs that it then lists.

What a terminal shows meanwhile comes from the caller: the command line and the child of a server both use this.
"""

from __future__ import annotations

import hashlib
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from assay.archive.index.driver import DamagedIndexError, UnusableIndexError
from assay.archive.index.folders import given_name, seen_folders, site, thorough_look
from assay.archive.index.read import Known, folder_of, reading
from assay.archive.index.update import Changes, apply, changes, parent_of
from assay.errors import AssayError, StoreError
from assay.spec.files import config_folder
from assay.words.visible import unicode_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from multiprocessing.pool import Pool

    from assay.archive.index.location import Place
    from assay.archive.index.read import Reader, Row
    from assay.archive.index.write import ReadRun
    from assay.summary.forms import ListedRun

KEY_FILES = ("signing_key.pub", "trusted_keys")
"""As in ``assay.archive.bundle``, which takes long to load."""
_ALONE = 32
"""So many runs are read faster in this process than by others, which have to be started."""


def _unshown(runs: Iterable[ReadRun], _count: int) -> AbstractContextManager[Iterable[ReadRun]]:
    return nullcontext(runs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What the caller adds to the reading of run folders.

    host_id : answers the ID of this host, which says whether a run is of it; called only where there are runs to read.
    workers : makes processes that read many runs; None: all are read in this process.
    shown : wraps the runs as they are read, with their count, to show progress. warn : takes a sentence for the user.
    """

    host_id: Callable[[], str | None]
    workers: Callable[[], AbstractContextManager[Pool]] | None = None
    shown: Callable[[Iterable[ReadRun], int], AbstractContextManager[Iterable[ReadRun]]] = _unshown
    warn: Callable[[str], None] = lambda _: None


def runs_in(index: Place, folder: Path, means: Means, *, numbers: bool) -> list[ListedRun]:
    """The runs in a folder, in no order, those that are missing as well.

    Runs that go on are read from their folders, and never into the index.
    numbers : with the headlines of each test, which are quicker left out.
    Where the default index cannot be used this is said, and every folder is read instead.
    """
    return _despite_damage(
        index, means, lambda: _runs_in(index, folder, means, numbers=numbers), lambda: _read_all(folder, means)
    )


def runs_everywhere(index: Place, means: Means, *, numbers: bool) -> list[ListedRun]:
    """The runs of every folder and host that the index knows; those of this host are brought up first."""

    def listed() -> list[ListedRun]:
        results = [_brought_up(index, folder, means) for folder in known_folders(index)]
        active = [run for result in results for run in _active(result, means, _prefix(result.folder))]
        with reading(index) as reader:
            return [*(_everywhere(reader, numbers=numbers) if reader else ()), *active]

    return _despite_damage(index, means, listed, None)


def known_folders(index: Place) -> list[Path]:
    """The folders of runs of this host that the index knows."""
    with reading(index) as reader:
        return [Path(given_name(parent)) for parent in reader.parents(site())] if reader else []


def update(index: Place, folders: Iterable[Path], means: Means) -> int:
    """Bring the index up to some folders of runs; how many runs were read. Raises StoreError."""
    return sum(len(_brought_up(index, folder, means).to_read) for folder in folders)


def update_anew(index: Place, folders: Sequence[Path], means: Means) -> int:
    """The same, of a damaged index of our own as well, which is renamed first. Raises StoreError."""
    try:
        return update(index, folders, means)
    except DamagedIndexError as error:
        put_aside(index, error, means)
        return update(index, folders, means)


def put_aside(index: Place, error: DamagedIndexError, means: Means) -> None:
    """Rename a damaged index of our own, so that it is made anew. Raises the error for one that a user named."""
    if not index.is_own or index.path is None:
        raise error
    aside = index.path.with_name(f"{index.path.name}.damaged")
    means.warn(f"{error.thing}: {error.reason}; it is kept as {aside.name} and made anew")
    index.path.replace(aside)
    for end in ("-wal", "-shm"):
        index.path.with_name(index.path.name + end).unlink(missing_ok=True)


def _everywhere(reader: Reader, *, numbers: bool) -> list[ListedRun]:
    """All runs of an index."""
    return reader.listed(reader.everything(), _everywhere_name, numbers=numbers)


def _despite_damage(
    index: Place, means: Means, work: Callable[[], list[ListedRun]], otherwise: Callable[[], list[ListedRun]] | None
) -> list[ListedRun]:
    try:
        try:
            return work()
        except DamagedIndexError as error:
            put_aside(index, error, means)
            return work()
    except UnusableIndexError as error:
        if not index.is_own or otherwise is None:
            raise
        means.warn(f"{error.thing}: {error.reason}; every run is read instead, which takes longer")
        return otherwise()


def _runs_in(index: Place, folder: Path, means: Means, *, numbers: bool) -> list[ListedRun]:
    prefix = _prefix(folder)

    def name(row: Row) -> str:
        return unicode_name(prefix + given_name(row["folder"]))

    where = site(), parent_of(folder)
    with reading(index) as reader:
        known = reader.known(*where) if reader else Known(())
        result = changes(folder, known, _trust())
        listed = reader.listed(known, name, numbers=numbers) if reader and not result else []
    if result:
        apply(index, result, partial(_read_runs, means))
        with reading(index) as reader:
            listed = reader.listed(reader.known(*where), name, numbers=numbers) if reader else []
    return [*listed, *_active(result, means, prefix)]


def _brought_up(index: Place, folder: Path, means: Means) -> Changes:
    """Bring the index up to a folder of runs; how it had changed."""
    with reading(index) as reader:
        known = reader.known(site(), parent_of(folder)) if reader else Known(())
    result = changes(folder, known, _trust()) if folder.is_dir() else _all_gone(folder, known)
    if result:
        apply(index, result, partial(_read_runs, means))
    return result


def _active(result: Changes, means: Means, prefix: str) -> list[ListedRun]:
    """The runs of a folder that go on, as far as they are. prefix : before their names."""
    host_id = means.host_id() if result.active else None
    names = list(map(given_name, result.active))
    return [_read((result.folder / name, name, ""), host_id, prefix + name).listed for name in names]


def _read_all(folder: Path, means: Means) -> list[ListedRun]:
    prefix, host_id = _prefix(folder), means.host_id()
    names = [given_name(name) for name in seen_folders(folder)]
    return [_read((folder / name, name, ""), host_id, prefix + name).listed for name in names]


def _trust() -> str:
    """What stands for the keys that the user trusts: with others, an imported run is of another level."""
    digest = hashlib.sha256()
    for name in KEY_FILES:
        with suppress(OSError):
            digest.update((config_folder() / name).read_bytes())
    return digest.hexdigest()[:16]


def _prefix(folder: Path) -> str:
    """What stands before the name of a run. Worked: ``runs`` -> ``"runs/"``, ``.`` -> ``""``."""
    return str(folder / "x")[:-1]


def _everywhere_name(row: Row) -> str:
    path = unicode_name(folder_of(row))
    return path if row["site"] == site() else f"{unicode_name(given_name(row['site']))}:{path}"


def _all_gone(folder: Path, known: Known) -> Changes:
    """A folder of runs that is there no more."""
    return Changes(folder=folder, gone=tuple(sorted(known.looks().keys() - known.missing())))


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
    from assay.archive.index.drive_use import drive_use  # noqa: PLC0415
    from assay.archive.index.write import ReadRun  # noqa: PLC0415 - loads SQLAlchemy
    from assay.archive.levels import with_known_level  # noqa: PLC0415
    from assay.archive.rendering import stored_run  # noqa: PLC0415
    from assay.compare.conditions import held_conditions  # noqa: PLC0415
    from assay.report.formats.terminal.listed import listed_run, run_numbers, unreadable_run  # noqa: PLC0415
    from assay.report.formats.write import foreign  # noqa: PLC0415
    from assay.run.store.forms import RUN_SCHEMA  # noqa: PLC0415

    path, name, look = folder
    shown = unicode_name(shown or str(path))
    try:
        run = with_known_level(stored_run(path), path, host_id)
        numbers = run_numbers(run)
        listed = foreign(lambda: listed_run(run, shown, run_schema=RUN_SCHEMA, numbers=numbers), shown)
        conditions = foreign(lambda: tuple(held_conditions(run, test) for test in run.tests), shown)
    except AssayError as error:
        return ReadRun(folder=name, look=thorough_look(path), listed=unreadable_run(shown, error))
    except MemoryError:
        # It ends no list of others.
        large = StoreError(shown, "takes more memory than there is", "take it out of the folder of runs")
        return ReadRun(folder=name, look=thorough_look(path), listed=unreadable_run(shown, large))
    return ReadRun(
        folder=name,
        look=look,
        listed=listed,
        measures=numbers.measures,
        conditions=conditions,
        use=drive_use(run),
    )
