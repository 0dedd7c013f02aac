"""The list of runs: its address as a query of the index, and the runs as rows with key results as columns."""

from __future__ import annotations

import os
import stat
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any, get_args
from urllib.parse import urlencode

from assay.archive.index.folders import given_name
from assay.archive.index.read import reading
from assay.archive.index.search import (
    PAGE_RUNS,
    SORTS,
    VERDICTS,
    KeyColumn,
    Query,
    Wanted,
    find_runs,
    key_columns,
    key_results,
    since_ns,
    until_ns,
)
from assay.errors import UsageError
from assay.spec.units import GB, MB, gigabytes_label
from assay.summary.forms import LabelClass
from assay.summary.verdict import STATE_LEVELS, STATE_WORDS
from assay.web.pages.shell import aside, refused, shown
from assay.web.site import UPDATE, bring_up
from assay.words.printed import number_text
from assay.words.visible import unicode_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from starlette.datastructures import QueryParams
    from starlette.requests import Request
    from starlette.responses import Response

    from assay.archive.index.search import FoundRun, FoundRuns
    from assay.summary.forms import ListedRun, Quoted
    from assay.web.site import Site


WORD_MAX, WORDS_MAX = 200, 20
_PAGE_MAX = 10**9
_WORDS: dict[str, str] = {
    **{str(state): word for state, word in STATE_WORDS.items()},
    "measured": "measured (any)",
    "withheld": "withheld (any)",
    "no-rule": "no rule",
}
_LABELS: tuple[str, ...] = tuple(label for label in get_args(LabelClass) if label != "unknown")
_TIMES: dict[str, Callable[[str], int | None]] = {"since": since_ns, "until": until_ns}
_FLAGS = ("hidden", "missing")
_VIEW = {*_FLAGS, "columns", "sort", "order", "page"}
"""Keys that change how runs are shown, and filter none."""
FILES_MAX = 5_000
_BLOCK_BYTES = 512
_KEPT_S = 60
COLUMNS_MAX = 8
_MARKED = ("warn", "invalid")
_COLUMNS = (
    ("run", "Run"), ("started", "Started"), ("drive", "Drive"), ("firmware", "Firmware"), ("host", "Host"),
    ("outcome", "Outcome"),
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One filter of the form. key : in the address. field : of ``Wanted``. choices : of a list, with their words."""

    key: str
    label: str
    field: str
    hint: str = ""
    choices: tuple[tuple[str, str], ...] = ()


FIELDS = (
    Field(key="drive", label="Drive", field="drives", hint="serial, identity or path"),
    Field(key="model", label="Model", field="models"),
    Field(key="firmware", label="Firmware", field="firmwares"),
    Field(key="host", label="Host", field="hosts", hint="host, system or lab"),
    Field(key="name", label="Name", field="names"),
    Field(key="tag", label="Tag", field="tags", hint="the whole tag"),
    Field(key="test", label="Test", field="tests", hint="such as iops"),
    Field(key="edition", label="Edition", field="editions"),
    Field(
        key="verdict",
        label="Outcome",
        field="verdicts",
        choices=tuple((verdict, _WORDS.get(verdict, verdict)) for verdict in VERDICTS),
    ),
    Field(
        key="label", label="Label", field="labels", choices=tuple((label, label.replace("-", " ")) for label in _LABELS)
    ),
)
"""The filters of ``assay runs``; a key that is given more than once asks for any of its values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A view of the list, from an address. pairs : its known keys and their values.

    is_filtered : whether it leaves out any run that a list without filters has.
    """

    query: Query
    pairs: tuple[tuple[str, str], ...]
    is_filtered: bool

    def values(self, key: str) -> list[str]:
        """The values of a key, in order."""
        return [value for name, value in self.pairs if name == key]

    def address(self, **changes: Sequence[str]) -> str:
        """The address with other values of some keys. Worked: page 2 of ``model=x`` -> ``?model=x&page=2``."""
        kept = [(key, value) for key, value in self.pairs if key not in changes]
        added = [(key, value) for key, values in changes.items() for value in values]
        return "?" + urlencode([*kept, *added])


def view_of(params: QueryParams, parents: tuple[str, ...]) -> View:
    """Read an address. Keys that are not known, and empty values, are left out.

    parents : of ``Query``. Raises UsageError for a value that cannot be.
    """
    keys = {*(field.key for field in FIELDS), *_TIMES, *_VIEW, "q"}
    pairs = tuple((key, value) for key, value in params.multi_items() if key in keys and value)
    for key, value in pairs:
        _check_length(key, value, sum(name == key for name, _ in pairs))
    values = {key: [value for name, value in pairs if name == key] for key in keys}
    query = Query(
        wanted=_wanted(values),
        text=" ".join(values["q"]),
        parents=parents,
        hidden=bool(values["hidden"]),
        missing=bool(values["missing"]),
        sort=_sort(values["sort"]),
        descending=_is_descending(values["order"], values["sort"]),
        page=_page(values["page"]),
    )
    is_filtered = any(values[key] for key in keys - _VIEW)
    return View(query=query, pairs=pairs, is_filtered=is_filtered)


def _wanted(values: dict[str, list[str]]) -> Wanted:
    fields: dict[str, Any] = {field.field: _chosen(field, values[field.key]) for field in FIELDS}
    times: dict[str, Any] = {f"{key}_ns": _time(key, values[key]) for key in _TIMES}
    return Wanted(**fields, **times)


def _chosen(field: Field, words: Iterable[str]) -> tuple[str, ...]:
    words, known = tuple(words), [choice for choice, _ in field.choices]
    for word in words:
        if known and word not in known:
            raise UsageError(field.label, f"is {word!r}", f"choose from {', '.join(known)}")
    return words


def _time(key: str, values: Sequence[str]) -> int | None:
    if len(values) > 1:
        raise UsageError(key.capitalize(), "is given more than once", "give it once")
    try:
        return _TIMES[key](values[0]) if values else None
    except UsageError as error:
        raise UsageError(key.capitalize(), error.reason, error.remedy) from None


def _sort(values: Sequence[str]) -> str | KeyColumn:
    if not values:
        return "started"
    if len(values) == len(KeyColumn._fields):
        return KeyColumn(*values)
    if len(values) > 1 or values[0] not in SORTS:
        raise UsageError("Sort", f"is {values[0]!r}", f"choose from {', '.join(SORTS)}")
    return values[0]


def _is_descending(values: Sequence[str], sort: Sequence[str]) -> bool:
    """Texts begin with the first letter, numbers with the greatest."""
    if values and values[-1] not in {"up", "down"}:
        raise UsageError("Order", f"is {values[-1]!r}", "choose from up, down")
    return values[-1] == "down" if values else not sort or sort[0] not in {"run", "drive", "firmware", "host"}


def _page(values: Sequence[str]) -> int:
    text = values[-1] if values else "1"
    if not (text.isascii() and text.isdigit()) or not 1 <= int(text) <= _PAGE_MAX:
        raise UsageError("Page", f"is {text[:20]!r}", "give a whole number from 1")
    return int(text)


def _check_length(key: str, value: str, count: int) -> None:
    if len(value) > WORD_MAX:
        raise UsageError(key.capitalize(), f"has {len(value):,} characters", f"shorten it to {WORD_MAX}")
    if count > WORDS_MAX:
        raise UsageError(key.capitalize(), f"is given {count} times", f"give at most {WORDS_MAX}")


def bytes_on_disk(folder: str) -> int | None:
    """Bytes of the files below a folder; links are not followed, a sparse file counts with its written blocks.

    None if the folder cannot be read, or has more than 5,000 files.
    Worked: one file of 5,000 bytes on a file system of 4 KiB blocks -> 8192.
    """
    return _looked_up(folder, int(time.monotonic() // _KEPT_S))


@lru_cache(maxsize=4096)
def _looked_up(folder: str, _minute: int) -> int | None:
    try:
        sizes = list(islice(_sizes(folder), FILES_MAX + 1))
    except OSError:
        return None
    return sum(sizes) if len(sizes) <= FILES_MAX else None


def _sizes(folder: str) -> Iterator[int]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                # A folder may go while it is looked at.
                with suppress(OSError):
                    yield from _sizes(entry.path)
            else:
                yield _size(entry)


def _size(entry: os.DirEntry[str]) -> int:
    with suppress(OSError):
        state = entry.stat(follow_symlinks=False)
        return state.st_blocks * _BLOCK_BYTES if stat.S_ISREG(state.st_mode) else 0
    return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow:
    """One run. host : lab, system or host ID. away : its host, if not this one. disk_bytes : None if unknown.

    outcomes : level, word and names of the tests that came out alike. cells : key results as printed, empty if the run
    lacks the test, each with the mark of the host's part, or ``""``.
    """

    run: FoundRun
    name: str
    folder: str
    host: str
    away: str
    outcomes: tuple[tuple[str, str, str], ...]
    cells: tuple[tuple[str, str], ...]
    disk_bytes: int | None

    @property
    def disk(self) -> str:
        """Its space on disk as printed; empty if unknown."""
        return "" if self.disk_bytes is None else space_label(self.disk_bytes)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTable:
    """Rows with their key results. groups : test and count of the columns that stand side by side."""

    columns: tuple[KeyColumn, ...]
    groups: tuple[tuple[str, int], ...]
    rows: tuple[RunRow, ...]
    more_columns: int

    @property
    def disk_bytes(self) -> int:
        """Known space of the runs of this host, in bytes."""
        return sum(row.disk_bytes or 0 for row in self.rows)


def run_table(runs: Sequence[FoundRun], *, columns_max: int | None = COLUMNS_MAX) -> RunTable:
    """Lay runs out. columns_max : of key results; those that most runs have. None: all."""
    columns, count = key_columns(runs, columns_max), len(key_columns(runs))
    # Columns of a test stand together.
    tests = list(dict.fromkeys(column.test for column in columns))
    ordered = tuple(sorted(columns, key=lambda column: tests.index(column.test)))
    return RunTable(
        columns=ordered,
        groups=tuple((test, len(list(part))) for test, part in groupby(ordered, key=lambda column: column.test)),
        rows=tuple(_row(run, ordered) for run in runs),
        more_columns=count - len(columns),
    )


def space_label(size_bytes: int) -> str:
    """Space on disk, in base 10. Worked: 2_500_000 -> ``"2.5 MB"``, 1_500_000_000 -> ``"1.50 GB"``."""
    return gigabytes_label(size_bytes) if size_bytes >= GB else f"{size_bytes / MB:,.1f} MB"


def _row(run: FoundRun, columns: Sequence[KeyColumn]) -> RunRow:
    listed = run.listed
    results, folder = key_results(listed), listed.run.rpartition("/")[2]
    return RunRow(
        run=run,
        name=listed.name or folder,
        folder=folder,
        host=listed.lab or listed.system or listed.host,
        away="" if run.folder is not None else unicode_name(given_name(run.host)),
        outcomes=tuple(_outcomes(listed)),
        cells=tuple(_cell(results.get(column)) for column in columns),
        disk_bytes=None if run.folder is None or listed.missing else bytes_on_disk(run.folder),
    )


def _outcomes(run: ListedRun) -> Iterator[tuple[str, str, str]]:
    """Tests by outcome. Worked: three steady tests -> one outcome ``steady`` with their names."""
    for verdict in dict.fromkeys(test.verdict for test in run.tests):
        tests = ", ".join(test.test for test in run.tests if test.verdict == verdict)
        yield STATE_LEVELS[verdict], STATE_WORDS[verdict], tests


def _cell(number: Quoted | None) -> tuple[str, str]:
    if number is None:
        return "", ""
    if number.value is None:
        return "n/a", ""
    return number_text(number.value, number.unit), number.mark if number.mark in _MARKED else ""


async def runs_page(site: Site, request: Request) -> Response:
    """The runs that the address asks for, the newest first unless it says otherwise."""
    try:
        view = view_of(request.query_params, site.parents)
    except UsageError as error:
        return refused(site, request, 400, (error.thing, error.reason, error.remedy))
    bring_up(site)
    all_columns = bool(view.values("columns"))
    result, table = await aside(lambda: _listed(site, view.query, all_columns=all_columns))
    return shown(site, request, "runs", **_values(site, view, result, table))


def _listed(site: Site, query: Query, *, all_columns: bool) -> tuple[FoundRuns | None, RunTable]:
    """The page of runs; None without an index, or with one of an older version."""
    with reading(site.place) as reader:
        result = find_runs(reader, query) if reader else None
    return result, run_table(result.runs if result else (), columns_max=None if all_columns else COLUMNS_MAX)


def _values(site: Site, view: View, result: FoundRuns | None, table: RunTable) -> dict[str, Any]:
    total, failure = result.total if result else 0, site.jobs.failure(UPDATE)
    page_count = max(-(-total // PAGE_RUNS), 1)
    return {
        "view": view,
        "fields": FIELDS,
        "heads": [_head(view, key, title) for key, title in _COLUMNS],
        "number_heads": [_head(view, column, column.item) for column in table.columns],
        "table": table,
        "total": total,
        "page_count": page_count,
        "pages": _pages(view, page_count),
        "space": space_label(table.disk_bytes),
        "folders": list(map(str, site.folders)),
        "update": site.jobs.state(UPDATE) or "",
        "update_failure": failure.text if failure else "",
        "is_new": result is None or (not total and not view.is_filtered),
    }


def _head(view: View, sort: str | KeyColumn, title: str) -> dict[str, str]:
    """A head of the table. order : empty if the list is sorted by another column. address : of a click."""
    key = list(sort) if isinstance(sort, KeyColumn) else [sort]
    if view.query.sort != sort:
        return {"title": title, "order": "", "address": view.address(sort=key, order=[], page=[])}
    turned = "up" if view.query.descending else "down"
    order = "descending" if view.query.descending else "ascending"
    return {"title": title, "order": order, "address": view.address(sort=key, order=[turned], page=[])}


def _pages(view: View, page_count: int) -> dict[str, str]:
    """Addresses of the pages before and after; a page beyond the last leads back to that."""
    page = view.query.page
    before, after = min(page - 1, page_count), page + 1
    return {
        "before": view.address(page=[str(before)]) if before >= 1 else "",
        "after": view.address(page=[str(after)]) if after <= page_count else "",
    }
