"""Tables of numbers: columns as data, rows as values. Every output is made of them."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field, fields
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

from assay.summary.pages.model import Table
from assay.words.coded import Coded
from assay.words.digits import nth
from assay.words.printed import NOT_AVAILABLE, milliseconds_text, one_decimal, paragraph, words
from assay.words.text import text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


Raw = float | int | str | bool | Coded | None
"""What a row holds. None : not known. A statement : why there is none."""

T = TypeVar("T")

if TYPE_CHECKING:
    Declared = Sequence[tuple["Column", Callable[[T], Raw]]]
    """The columns of a table, each with what fills it from the source of a row."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    key : its name in CSV files and ``results.json``. title, unit : as people read it; the key where it has no title.
    role : a ``key`` tells the rows apart.
    On pages ``page_title`` stands above it, the heading where it is empty; ``printer`` prints a value, None prints it
    by its unit; ``missing`` stands where there is no value.
    """

    key: str
    title: str = ""
    unit: str = ""
    _: KW_ONLY
    role: Literal["key", "value"] = "value"
    page_title: str = ""
    printer: Callable[[Any], str] | None = field(default=None, compare=False)
    missing: str = NOT_AVAILABLE

    @property
    def heading(self) -> str:
        """Title and unit. Worked: transfer size in KiB -> ``"Transfer size (KiB)"``."""
        title = self.title or self.key
        return f"{title} ({self.unit})" if self.unit else title


def picked(declared: Declared[T], *keys: str) -> Declared[T]:
    """The columns of these keys, in the order of the keys."""
    known = {column.key: (column, fill) for column, fill in declared}
    return tuple(known[key] for key in keys)


class Pivot(NamedTuple):
    """A view of a table: a row for each ``down``, a column for each ``across``, ``value`` in the cells.

    All are keys of columns. mark : of the column whose true values mark a cell.
    """

    down: tuple[str, ...]
    across: str
    value: str
    mark: str = ""


class Lines(NamedTuple):
    """A view of a table: ``y`` over ``x``, a line for each ``by``, a figure for each ``each``; all are keys of columns.

    log : which axes are logarithmic, such as ``x``.
    """

    x: str
    y: str
    by: tuple[str, ...] = ()
    each: str = ""
    log: Literal["", "x", "y"] = ""


class Words(NamedTuple):
    """How a CSV file has what is no number and no text."""

    none: str = "n/a"
    yes: str = "yes"
    no: str = "no"


WORDS = Words()


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultTable:
    """A table of numbers, unrounded.

    key : stem of its file and name of its sheet. title : as people read it. rows : a value per column.
    pivots, lines : views of it. section : ``results`` where it stands among the results of its test, by its pivots if
    it has any; ``data`` where only its sheet has it. brief : keys of the columns that a page of its test has room for;
    the first ones where it is empty. words : of its CSV file.
    """

    key: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Raw, ...], ...]
    pivots: tuple[Pivot, ...] = ()
    lines: tuple[Lines, ...] = ()
    section: Literal["results", "data"] = "data"
    brief: tuple[str, ...] = ()
    words: Words = WORDS

    def place(self, key: str) -> int:
        """The place of a column. Raises ValueError where it has none of this key."""
        return [column.key for column in self.columns].index(key)


def table_of(key: str, title: str, declared: Declared[T], sources: Iterable[T], **more: Any) -> ResultTable:
    """A table with a row for each source. declared : its columns, each with what fills it. more : fields of the table.

    Worked: columns of ``x`` and ``2 * x`` of the sources 1 and 2 -> rows ``((1, 2), (2, 4))``.
    """
    rows = tuple(tuple(fill(source) for _, fill in declared) for source in sources)
    return ResultTable(key=key, title=title, columns=tuple(column for column, _ in declared), rows=rows, **more)


def table_of_columns(
    key: str, title: str, declared: Sequence[tuple[Column, Iterable[Raw]]], **more: Any
) -> ResultTable:
    """A table of columns that are given whole, all of one length. more : fields of the table."""
    rows = tuple(zip(*(values for _, values in declared), strict=True))
    return ResultTable(key=key, title=title, columns=tuple(column for column, _ in declared), rows=rows, **more)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pivoted:
    """A table as one of its pivots has it.

    down, across, value : the columns of the pivot. headings : values of ``across``. rows : values of ``down`` and those
    of the cells. marked : places of cells among rows and headings, from 0; mark : the column that says so, if any.
    """

    down: tuple[Column, ...]
    across: Column
    value: Column
    headings: tuple[Raw, ...]
    rows: tuple[tuple[tuple[Raw, ...], tuple[Raw, ...]], ...]
    marked: frozenset[tuple[int, int]]
    mark: Column | None


def pivoted(table: ResultTable, pivot: Pivot) -> Pivoted | None:
    """A view of a table; None where two rows would stand in one cell.

    Worked: rows of 4 and 8 KiB at 0 and 100 % reads -> two rows and two headings, both ascending.
    """
    down = [table.place(key) for key in pivot.down]
    across, value = table.place(pivot.across), table.place(pivot.value)
    mark = table.place(pivot.mark) if pivot.mark else None
    result = {(tuple(row[place] for place in down), row[across]): row for row in table.rows}
    if len(result) < len(table.rows):
        return None
    lines, headings = _ascending(line for line, _ in result), _ascending(heading for _, heading in result)
    cells = [[result.get((line, heading)) for heading in headings] for line in lines]
    marked = (
        (line, index)
        for line, row in enumerate(cells)
        for index, cell in enumerate(row)
        if cell and mark is not None and cell[mark] is True
    )
    return Pivoted(
        down=tuple(table.columns[place] for place in down),
        across=table.columns[across],
        value=table.columns[value],
        headings=tuple(headings),
        rows=tuple(
            (line, tuple(cell[value] if cell else None for cell in row)) for line, row in zip(lines, cells, strict=True)
        ),
        marked=frozenset(marked),
        mark=None if mark is None else table.columns[mark],
    )


def _ascending(found: Iterable[T]) -> list[T]:
    """Each once: numbers ascending, others as they come."""
    each = list(dict.fromkeys(found))
    numeric = all(isinstance(part, int | float) for one in each for part in (one if isinstance(one, tuple) else (one,)))
    return sorted(each) if numeric else each  # type: ignore[type-var]


BLOCK_KIB = Column("block_kib", "Transfer size", "KiB", role="key")
READ_PCT = Column("read_pct", "Reads", "%", role="key")
WRITE_PCT = Column("write_pct", "Writes", "%")
THREADS = Column("thread_count", "Threads", role="key")
DEPTH = Column("queue_depth", "Queue depth", role="key")
TOTAL_OIO = Column("total_oio", "Total OIO")
ROUND = Column("round", "Round", role="key")
MINUTE = Column("minute", "Time", "min", role="key")
VARIANT = Column("variant", "Variant", role="key")
ACCESSES = Column("accesses", "Accesses", role="key")
GROUP = Column("group", "Access group", role="key")
LABEL = Column("label", "Accesses", role="key")
SECOND = Column("second", "Time", "s", role="key")
IOPS = Column("iops", "IOPS")
MB_PER_S = Column("mb_per_s", "Throughput", "MB/s")
WRITTEN = Column("tgbw_gb", "Written", "GB")
FILLS = Column("drive_fills", "Drive fills")
DEPTH_FOUND = Column("effective_queue_depth", "Effective queue depth")
MEAN = Column("latency_ms_mean", "Mean response time", "ms")
MEAN_OF_IOS = Column("latency_ms_mean_of_ios", "Mean response time", "ms")
MEAN_OF_ROUNDS = Column("latency_ms_mean_of_rounds", "Mean response time of the rounds", "ms")
MAXIMUM = Column("latency_ms_max", "Largest response time", "ms")
LATENCY = Column("latency_ms", "Response time", "ms", role="key")
IO_COUNT = Column("io_count", "I/Os")
ERRORS = Column("error_count", "Errors")
HOST = Column("host", "Host")
HOST_REASON = Column("host_reason", "What the host did")
UNIT = Column("unit", "Unit")

SAMPLE_COLUMNS: Declared[Any] = (
    (MINUTE, attrgetter("sample.minute")),
    (IOPS, attrgetter("sample.iops")),
    (MB_PER_S, attrgetter("sample.throughput")),
    (MEAN, attrgetter("sample.latency_ms_mean")),
    (MAXIMUM, attrgetter("sample.latency_ms_max")),
)
"""The numbers of a row that has a ``sample`` of a series."""
_SHARED = (
    BLOCK_KIB, READ_PCT, WRITE_PCT, THREADS, DEPTH, TOTAL_OIO, ROUND, MINUTE, VARIANT, ACCESSES, GROUP, LABEL, SECOND,
    IOPS, MB_PER_S, WRITTEN, FILLS, DEPTH_FOUND, MEAN, MEAN_OF_IOS, MEAN_OF_ROUNDS, MAXIMUM, LATENCY, IO_COUNT, ERRORS,
    HOST, HOST_REASON, UNIT,
)  # fmt: skip
_BY_KEY = {one.key: one for one in _SHARED}


def named(keys: Iterable[str]) -> tuple[Column, ...]:
    """Columns by their keys: a shared one, else one whose title is the key in words."""
    titles = ((key, words(key)) for key in keys)
    return tuple(_BY_KEY.get(key) or Column(key, title[:1].upper() + title[1:]) for key, title in titles)


def field_columns(kind: type[Any]) -> Declared[Any]:
    """A column for each field of a record."""
    names = [field.name for field in fields(kind)]
    return tuple(zip(named(names), map(attrgetter, names), strict=True))


def percentile_columns(shares: Iterable[float], prefix: str = "latency_ms") -> tuple[Column, ...]:
    """A column of response times per share. Worked: 0.999 -> ``latency_ms_p99.9``, titled ``99.9 %``, in ms."""
    return tuple(Column(f"{prefix}_{nth(share)}", f"{share * 100:g} %", "ms") for share in shares)


def printed_table(table: ResultTable, **more: Any) -> Table:
    """A table of numbers as pages print it. more : fields of the printed table; its caption is the title otherwise.

    Worked: a column of IOPS with 3147.046 and nothing -> ``"3,147.0"`` and ``"n/a"`` under ``"IOPS"``.
    """
    rows = (zip(table.columns, row, strict=True) for row in table.rows)
    return Table(
        columns=tuple(column.page_title or column.heading for column in table.columns),
        rows=tuple(tuple(printed_value(column, value) for column, value in row) for row in rows),
        **{"caption": table.title, **more},
    )


def printed_pivot(table: ResultTable, down: str, across: str, value: str, heading: str = "{}", **more: Any) -> Table:
    """A view of a table as pages print it: a row for each value of a column, a column for each of another.

    down, across, value : keys of columns. heading : of what stands across. more : as ``printed_table``, and ``corner``,
    what stands over the rows; the heading of their column otherwise.
    Raises ValueError where two rows would stand in one cell.
    Worked: two variants at 8 places -> eight rows of three texts.
    """
    view = pivoted(table, Pivot((down,), across, value))
    if view is None:
        raise ValueError(f"{table.key}: two rows in a cell")
    (rows,) = view.down
    return Table(
        columns=(
            more.pop("corner", rows.page_title or rows.heading),
            *(heading.format(printed_value(view.across, one)) for one in view.headings),
        ),
        rows=tuple(
            (printed_value(rows, one), *(printed_value(view.value, cell) for cell in cells))
            for (one,), cells in view.rows
        ),
        **{"caption": table.title, **more},
    )


def printed_value(column: Column, value: Raw) -> str:
    """A value of a column as pages print it: times as a histogram resolves them, other fractions with a decimal.

    Worked: 0.35 in ms -> ``"0.350"``, 1,200.04 MB/s -> ``"1,200.0"``, None in a column without a printer -> ``"n/a"``.
    """
    if value is None:
        return column.missing
    if column.printer:
        return column.printer(value)
    if isinstance(value, Coded):
        return text(value)
    if isinstance(value, str):
        return paragraph(value)
    if isinstance(value, int):
        return f"{value:,}" if not isinstance(value, bool) else ("no", "yes")[value]
    return milliseconds_text(value) if column.unit == "ms" else one_decimal(value)
