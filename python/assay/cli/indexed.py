"""The runs of a folder by way of the index, with what a terminal shows while it is brought up to the folders."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from assay.archive.index.location import default_place, named_place
from assay.cli import origin
from assay.cli.config import INDEX, settings
from assay.words.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from multiprocessing.pool import Pool
    from pathlib import Path

    from assay.archive.index.current import Means
    from assay.archive.index.location import Place
    from assay.archive.index.write import ReadRun
    from assay.summary.forms import ListedRun


def index_place(named: str | None) -> Place:
    """The index of an option, else that of the user's settings, else the default."""
    if named is None:
        result = settings().get(INDEX)
        named = result.value if result else None
    return default_place() if named is None else named_place(named)


def runs_in(index: Place, folder: Path, *, numbers: bool) -> list[ListedRun]:
    """``archive.index.current.runs_in`` with the means of a terminal."""
    from assay.archive.index import current  # noqa: PLC0415 - heavy

    return current.runs_in(index, folder, _means(), numbers=numbers)


def runs_everywhere(index: Place, *, numbers: bool) -> list[ListedRun]:
    """``archive.index.current.runs_everywhere`` with the means of a terminal."""
    from assay.archive.index import current  # noqa: PLC0415 - heavy

    return current.runs_everywhere(index, _means(), numbers=numbers)


def update(index: Place, folders: Iterable[Path]) -> int:
    """``archive.index.current.update`` with the means of a terminal."""
    from assay.archive.index import current  # noqa: PLC0415 - heavy

    return current.update(index, folders, _means())


def despite_damage(index: Place, work: Callable[[], int]) -> int:
    """``archive.index.current.despite_damage`` with the means of a terminal."""
    from assay.archive.index import current  # noqa: PLC0415 - heavy

    return current.despite_damage(index, _means(), work)


def _means() -> Means:
    """Many runs are read by all processors; how far it is is shown on a terminal."""
    from assay.archive.index.current import Means  # noqa: PLC0415 - heavy

    return Means(host_id=origin.host_id, workers=_workers, shown=_shown, warn=_warn)


@contextmanager
def _workers() -> Iterator[Pool]:
    from assay.cli.fit import quiet_pool  # noqa: PLC0415 - heavy

    with quiet_pool() as pool:
        yield pool


@contextmanager
def _shown(runs: Iterable[ReadRun], count: int) -> Iterator[Any]:
    with click.progressbar(
        runs, length=count, label="reading runs", file=sys.stderr, hidden=not sys.stderr.isatty()
    ) as shown:
        yield shown


def _warn(text: str) -> None:
    click.echo(f"assay: {visible(text)}", err=True)
