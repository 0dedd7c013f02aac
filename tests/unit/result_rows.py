"""Tables of ``results.json`` as rows of values by column."""

from __future__ import annotations

from typing import Any


def rows_of(table: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows of a table."""
    keys = [column["key"] for column in table["columns"]]
    return [dict(zip(keys, row, strict=True)) for row in table["rows"]]


def table_rows(test: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """The rows of the table of a test whose key ends so."""
    (table,) = (table for table in test["tables"] if table["key"].endswith(f"_{name}"))
    return rows_of(table)
