"""``assay index``: what the index of runs holds, and how commands read it and bring it up to the folders."""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.archive.index.location import default_place, named_place
from assay.cli import stored_runs
from assay.cli.commands import HelpedCommand
from assay.cli.config import INDEX, output_folder, settings
from assay.cli.options import index_option
from assay.cli.table import print_paragraph, print_table
from assay.words.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from multiprocessing.pool import Pool

    from assay.archive.index.current import Means
    from assay.archive.index.location import Place
    from assay.archive.index.status import IndexStatus
    from assay.archive.index.write import ReadRun
    from assay.summary.forms import ListedRun


_ACTIONS = ("status", "update", "rebuild")


@click.command(cls=HelpedCommand, examples=("index status", "index update /srv/runs"))
@click.argument("action", type=click.Choice(_ACTIONS), metavar="status|update|rebuild")
@click.argument("folders", nargs=-1, type=click.Path(path_type=Path), metavar="[FOLDER]...")
@index_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON; its form is in docs/formats/index.md.")
def index(action: str, folders: tuple[Path, ...], index: str | None, as_json: bool) -> None:
    """Show what the index of runs holds (status), bring it up to the folders (update), or make it anew (rebuild).

    FOLDERs hold run folders; default: all that the index knows of this host, and the folder of new runs. assay runs
    brings up the folder that it lists by itself. The index is made from the folders and can be removed at any time;
    only notes of the web page, and runs whose folder is gone (assay runs --missing), are in nothing else.
    """
    from assay.archive.index.status import index_status  # noqa: PLC0415

    place = index_place(index)
    count = None if action == "status" else _brought_up(place, folders, anew=action == "rebuild")
    result = index_status(place, read=count or 0)
    if as_json:
        click.echo(json.dumps(result.as_json(), indent=2))
        return
    if count is not None:
        click.echo(f"Read: {count} new or changed")
    _print(result)


def _brought_up(place: Place, folders: tuple[Path, ...], *, anew: bool) -> int:
    """How many runs were read."""
    from assay.archive.index.current import known_folders  # noqa: PLC0415
    from assay.archive.index.folders import site  # noqa: PLC0415
    from assay.archive.index.write import clear, writing  # noqa: PLC0415

    def work() -> int:
        chosen = list(folders) or _all(known_folders(place))
        if anew:
            with writing(place) as writer:
                clear(writer, site())
        return update(place, chosen)

    return despite_damage(place, work)


def _all(known: list[Path]) -> list[Path]:
    """The folders that are known, and that of new runs, where it is there."""
    own = output_folder().resolve()
    return [*known, *([own] if own.is_dir() and own not in known else [])]


def _print(status: IndexStatus) -> None:
    print_paragraph(status.index, mark="Index   ")
    if status.schema_found is None:
        print_paragraph("not there yet; assay runs and assay index update make it", mark="State   ")
        return
    print_paragraph(f"{status.database}, schema {status.schema_found}", mark="Form    ")
    print_paragraph(
        f"{status.runs:,}, of them {status.unreadable:,} unreadable and {status.missing:,} missing", mark="Runs    "
    )
    if status.folders:
        click.echo()
        rows = [(folder.host, folder.folder, f"{folder.runs:,}", f"{folder.missing:,}") for folder in status.folders]
        print_table(("Host", "Folder", "Runs", "Missing"), rows, right=("Runs", "Missing"), key=2)


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

    return Means(
        host_id=stored_runs.host_id,
        workers=_workers,
        shown=_shown,
        warn=lambda text: click.echo(f"assay: {visible(text)}", err=True),
    )


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
