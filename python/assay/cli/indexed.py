"""The runs of a folder by way of the index, which is brought up to the folders first."""

from __future__ import annotations

import hashlib
import sys
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.archive.index.driver import DamagedIndexError, UnusableIndexError
from assay.archive.index.folders import given_name, seen_folders, site, thorough_look
from assay.archive.index.location import default_place, named_place
from assay.archive.index.read import Known, folder_of, reading
from assay.archive.index.update import Changes, apply, changes, parent_of
from assay.cli.config import INDEX, settings
from assay.errors import AssayError
from assay.spec.files import config_folder
from assay.words.levels import NOT_CHECKED
from assay.words.visible import unicode_name, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from assay.archive.index.location import Place
    from assay.archive.index.read import Reader, Row
    from assay.archive.index.write import ReadRun
    from assay.summary.forms import ListedRun
    from assay.summary.record import Measure

KEY_FILES = ("signing_key.pub", "trusted_keys")
"""As in ``assay.archive.bundle``, which takes long to load."""
_ALONE = 32
"""So many runs are read faster in this process than by others, which have to be started."""


def index_place(named: str | None) -> Place:
    """The index of an option, else that of the user's settings, else the default."""
    if named is None:
        result = settings().get(INDEX)
        named = result.value if result else None
    return default_place() if named is None else named_place(named)


def runs_in(place: Place, folder: Path, *, numbers: bool) -> list[ListedRun]:
    """The runs in a folder, in no order, those that are missing as well.

    numbers : with the headlines of each test, which are quicker left out.
    Where the default index cannot be used this is said, and every folder is read instead.
    """
    return _despite_damage(place, lambda: _runs_in(place, folder, numbers=numbers), lambda: _read_all(folder))


def runs_everywhere(place: Place, *, numbers: bool) -> list[ListedRun]:
    """The runs of every folder and host that the index knows; those of this host are brought up first."""

    def found() -> list[ListedRun]:
        update(place, known_folders(place))
        with reading(place) as reader:
            return _everywhere(reader, numbers=numbers) if reader else []

    return _despite_damage(place, found, None)


def _everywhere(reader: Reader, *, numbers: bool) -> list[ListedRun]:
    """All runs of an index. What other hosts say of theirs vouches for nothing here."""
    known = reader.everything()
    listed = reader.listed(known, _everywhere_name, numbers=numbers)
    return [
        run if row["site"] == site() else run.model_copy(update={"level": NOT_CHECKED})
        for row, run in zip(known.rows, listed, strict=True)
    ]


def known_folders(place: Place) -> list[Path]:
    """The folders of runs of this host that the index knows."""
    with reading(place) as reader:
        return [Path(given_name(parent)) for parent in reader.parents(site())] if reader else []


def update(place: Place, folders: Iterable[Path]) -> int:
    """Bring the index up to some folders of runs; how many runs were read."""
    count = 0
    for folder in folders:
        with reading(place) as reader:
            known = reader.known(site(), parent_of(folder)) if reader else Known(())
        result = changes(folder, known, _trust()) if folder.is_dir() else _all_gone(folder, known)
        if result:
            apply(place, result, _read_runs)
        count += len(result.to_read)
    return count


def put_aside(place: Place, error: DamagedIndexError) -> None:
    """Rename a damaged index of our own, so that it is made anew. Raises the error for one that a user named."""
    if not place.is_own or place.path is None:
        raise error
    aside = place.path.with_name(f"{place.path.name}.damaged")
    click.echo(
        f"assay: {visible(f'{error.thing}: {error.reason}; it is kept as {aside.name} and made anew')}", err=True
    )
    place.path.replace(aside)
    for end in ("-wal", "-shm"):
        place.path.with_name(place.path.name + end).unlink(missing_ok=True)


def _despite_damage(
    place: Place, work: Callable[[], list[ListedRun]], otherwise: Callable[[], list[ListedRun]] | None
) -> list[ListedRun]:
    try:
        try:
            return work()
        except DamagedIndexError as error:
            put_aside(place, error)
            return work()
    except UnusableIndexError as error:
        if not place.is_own or otherwise is None:
            raise
        text = f"{error.thing}: {error.reason}; every run is read instead, which takes longer"
        click.echo(f"assay: {visible(text)}", err=True)
        return otherwise()


def _runs_in(place: Place, folder: Path, *, numbers: bool) -> list[ListedRun]:
    prefix = _prefix(folder)

    def name(row: Row) -> str:
        return unicode_name(prefix + given_name(row["folder"]))

    where = site(), parent_of(folder)
    with reading(place) as reader:
        known = reader.known(*where) if reader else Known(())
        result = changes(folder, known, _trust())
        if not result:
            return reader.listed(known, name, numbers=numbers) if reader else []
    apply(place, result, _read_runs)
    with reading(place) as reader:
        return reader.listed(reader.known(*where), name, numbers=numbers) if reader else []


def _read_all(folder: Path) -> list[ListedRun]:
    prefix = _prefix(folder)
    return [_listed(folder / given_name(name), prefix + given_name(name))[0] for name in seen_folders(folder)]


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


def _read_runs(asked: Sequence[tuple[Path, str, str]]) -> Iterator[ReadRun]:
    """Read run folders, on all processors where they are many; how far it is is shown on a terminal."""
    from assay.cli.fit import quiet_pool  # noqa: PLC0415
    from assay.report.formats.terminal import listed  # noqa: F401, PLC0415 - loaded once, before there are workers

    with quiet_pool() if len(asked) > _ALONE else nullcontext() as pool:
        runs = map(_read, asked) if pool is None else pool.imap(_read, asked, chunksize=8)
        with click.progressbar(
            runs, length=len(asked), label="reading runs", file=sys.stderr, hidden=not sys.stderr.isatty()
        ) as shown:
            yield from shown


def _read(asked: tuple[Path, str, str]) -> ReadRun:
    from assay.archive.index.write import ReadRun  # noqa: PLC0415 - loads SQLAlchemy

    path, name, look = asked
    listed, measures = _listed(path, unicode_name(str(path)))
    look = look if listed.fault is None else thorough_look(path)
    return ReadRun(folder=name, look=look, listed=listed, measures=measures)


def _listed(path: Path, name: str) -> tuple[ListedRun, tuple[tuple[Measure, ...], ...]]:
    """A run folder as a list has it, also where it cannot be read, and the numbers of its tests."""
    from assay.archive.rendering import stored_run  # noqa: PLC0415
    from assay.cli.origin import with_known_level  # noqa: PLC0415
    from assay.report.formats.terminal.listed import listed_run, run_numbers, unreadable_run  # noqa: PLC0415
    from assay.report.formats.write import foreign  # noqa: PLC0415
    from assay.run.store.forms import RUN_SCHEMA  # noqa: PLC0415

    try:
        run = with_known_level(stored_run(path), path)
        numbers = run_numbers(run)
        listed = foreign(lambda: listed_run(run, name, run_schema=RUN_SCHEMA, numbers=numbers), name)
    except AssayError as error:
        return unreadable_run(name, error), ()
    return listed, numbers.measures
