"""Pages, tables and results of a report as lines of text that can be compared and read.

Indented lines belong to the line above them that is indented less.
"""

from __future__ import annotations

import csv
import hashlib
import json
from typing import TYPE_CHECKING, Any

from assay.summary.pages.model import Box, Figure, Table, Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from assay.summary.pages.model import Block, Header, Heat, Page, Series

ROWS_MAX = 400
"""Rows of a CSV file that are kept in clear; of longer ones the first ``ROWS_FIRST``, and a digest for each column."""
ROWS_FIRST = 10
ITEMS_MAX = 5
"""Items of a list in JSON whose values have a line each."""
FLAT_ITEMS_MAX = 40
"""Items of a longer list that have a line each, where they hold no lists; of others a digest for each path in them."""
VALUES_MAX = 8
"""Values that are kept in clear; of more a digest."""
TEXT_MAX = 40
"""Letters of a value that are shown beside a digest."""


def page_lines(pages: Iterable[Page]) -> Iterator[str]:
    """All that is printed on pages. A header that stands on the page before is not written again."""
    before: Header | None = None
    for page in pages:
        yield f"page {page.place}: {_line(page.title)}, {_line(page.subtitle)}"
        yield from _indented(_head_lines(page))
        yield from _indented(["header: as before"] if page.header == before else _header_lines(page.header))
        before = page.header
        for block in page.all_blocks:
            yield from _indented(block_lines(block))


def _head_lines(page: Page) -> Iterator[str]:
    texts = {"part": page.part, "outcome": page.outcome, "banner": page.banner, "notice": page.notice}
    yield from (f"{name}: {_line(text)}" for name, text in texts.items() if text)


def _header_lines(header: Header | None) -> Iterator[str]:
    if header is None:
        return
    yield f"header {header.form}: {_cells((header.organisation, header.revision))}"
    yield from _indented(map(_cells, (*header.dates, *header.parties)))
    for group in header.groups:
        yield f"  {_line(group.title)}"
        yield from _indented(map(_cells, group.entries), 2)


def block_lines(block: Block) -> Iterator[str]:
    """All that is printed of a block: a title, and indented lines."""
    match block:
        case Table():
            yield f"table: {_cells(filter(None, (block.caption, block.spanner)))}"
            yield from _indented(_table_lines(block))
        case Box():
            yield f"box: {_line(block.title)}"
            yield from _indented(map(_cells, block.entries))
        case Text():
            yield "text"
            yield from _indented(map(_line, block.paragraphs))
        case Figure():
            yield f"figure {block.name}: {block.kind}"
            yield from _indented(_figure_lines(block))


def _table_lines(table: Table) -> Iterator[str]:
    yield f"columns: {_cells(table.columns)}"
    for place, row in enumerate(table.rows):
        marks = {column for line, column in table.marked if line == place}
        yield _cells(f"{text} *" if column in marks else text for column, text in enumerate(row))
    yield from (f"note: {_line(note)}" for note in table.notes)
    if table.bars:
        yield f"bars of {table.bars.column}: {digest(table.bars.shares)}"


def _figure_lines(figure: Figure) -> Iterator[str]:
    yield f"x: {_cells((figure.x_label, figure.x_scale))}"
    yield f"y: {_cells((figure.y_label, figure.y_drawn_scale))}"
    titles = {"z": figure.z_title, "legend": figure.legend_title, "window": figure.span and str(figure.span)}
    yield from (f"{name}: {_line(text)}" for name, text in titles.items() if text)
    for name, ticks in (("x ticks", figure.ticks), ("y ticks", figure.y_ticks)):
        if ticks:
            yield f"{name}: {_cells(f'{tick.label} at {tick.at}' for tick in ticks)}"
    yield from map(_series_line, figure.series)
    yield from _heat_lines(figure.heat) if figure.heat else ()


def _series_line(series: Series) -> str:
    return f"series {_line(series.label)}: x {digest(series.x)}; y {digest(series.y)}"


def _heat_lines(heat: Heat) -> Iterator[str]:
    yield f"colours: {_line(heat.colour_title)}"
    yield f"edges: x {digest(heat.x_edges)}; y {digest(heat.y_edges)}"
    for values in heat.rows:
        yield f"fields: {digest(values)}"
    yield from map(_cells, heat.texts)


def csv_lines(name: str, content: str) -> Iterator[str]:
    """A CSV file: columns, count of rows, and the rows; see ``ROWS_MAX``."""
    columns, *rows = list(csv.reader(content.splitlines())) or [[]]
    yield f"file {name}"
    yield f"  columns: {_cells(columns)}"
    yield f"  {len(rows)} rows"
    if len(rows) <= ROWS_MAX:
        yield from _indented(map(_cells, rows))
        return
    for title, values in zip(columns, zip(*rows, strict=True), strict=True):
        yield f"  column {title}: {digest(values)}"
    yield from _indented(map(_cells, rows[:ROWS_FIRST]))


def json_lines(name: str, content: str) -> Iterator[str]:
    """A JSON file: a line for each value; see ``ITEMS_MAX``.

    Worked: ``{"a": {"b": 1}, "c": [2]}`` -> ``a.b: 1`` and ``c[0]: 2``.
    """
    yield f"file {name}"
    yield from _indented(_value_lines("", json.loads(content)))


def _value_lines(path: str, value: Any) -> Iterator[str]:
    if isinstance(value, dict) and value:
        for name, inner in value.items():
            yield from _value_lines(f"{path}.{name}" if path else name, inner)
    elif isinstance(value, list) and 0 < len(value) <= ITEMS_MAX:
        for place, inner in enumerate(value):
            yield from _value_lines(f"{path}[{place}]", inner)
    elif isinstance(value, list) and value:
        yield from _item_lines(path, value) if _is_short(value) else _list_lines(path, value)
    else:
        yield f"{path}: {json.dumps(value)}"


def _is_short(items: list[Any]) -> bool:
    inner = [value for item in items for value in (item.values() if isinstance(item, dict) else [item])]
    return len(items) <= FLAT_ITEMS_MAX and not any(isinstance(value, (dict, list)) for value in inner)


def _item_lines(path: str, items: list[Any]) -> Iterator[str]:
    """A line for each record; one for a list of plain values."""
    if any(isinstance(item, dict) for item in items):
        yield from (f"{path}[{place}]: {json.dumps(item)}" for place, item in enumerate(items))
    else:
        yield f"{path}: {json.dumps(items)}"


def _list_lines(path: str, items: list[Any]) -> Iterator[str]:
    found: dict[str, list[Any]] = {}
    for inner, value in _leaves(path, items):
        found.setdefault(inner, []).append(value)
    yield from (f"{inner}: {digest(values)}" for inner, values in found.items())


def _leaves(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict) and value:
        for name, inner in value.items():
            yield from _leaves(f"{path}.{name}", inner)
    elif isinstance(value, list) and value:
        for inner in value:
            yield from _leaves(f"{path}[*]", inner)
    else:
        yield path, value


def digest(values: Sequence[Any]) -> str:
    """Few values in clear; of many their count, the first, the last and 12 digits of the SHA-256 of all.

    Worked: ``(1, 2, 3)`` -> ``1, 2, 3``; of the numbers from 1 to 9 it begins with ``9 values, 1 to 9, ``.
    """
    if len(values) <= VALUES_MAX:
        return ", ".join(_line(str(value)) for value in values) or "no values"
    found = hashlib.sha256(json.dumps(values, default=float).encode()).hexdigest()[:12]
    return f"{len(values)} values, {_shown(values[0])} to {_shown(values[-1])}, {found}"


def _shown(value: object) -> str:
    return _line(str(value))[:TEXT_MAX]


def _cells(texts: Iterable[object]) -> str:
    return " | ".join(_line(str(text)) for text in texts)


def _line(text: str) -> str:
    """A text on one line."""
    return text.replace("\n", "\\n")


def _indented(lines: Iterable[str], depth: int = 1) -> Iterator[str]:
    yield from ("  " * depth + line for line in lines)
