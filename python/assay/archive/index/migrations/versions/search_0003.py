"""Addresses of runs and drives, texts to search in, what was done to a drive, and notes."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from alembic import op

if TYPE_CHECKING:
    from collections.abc import Callable

revision = "0003"
down_revision = "0002"

# As they were then.
_FOLDS = (
    "name", "host", "system", "lab", "drive", "drive_id", "drive_serial", "drive_model", "drive_firmware",
)  # fmt: skip
_TEST_FOLDS = ("test", "procedure", "edition")
_TEXTS = {
    "assay_runs": ("address", "drive_address", *(f"{name}_folded" for name in _FOLDS), "words", "health"),
    "assay_tags": ("tag_folded",),
    "assay_tests": tuple(f"{name}_folded" for name in _TEST_FOLDS),
}
_NUMBERS = ("wear_pct_first", "wear_pct_last", "temperature_c_max")
_INDEXES = {
    "ix_assay_runs_address": ("address",),
    "ix_assay_runs_drive_address": ("drive_address",),
    "ix_assay_runs_started_wall_ns": ("started_wall_ns", "missing_since_ns", "site", "parent", "address"),
}
_MANY = 1000


def upgrade() -> None:
    """Add them; runs that were read before get their addresses and texts here, their bytes when they are read again."""
    for table, names in _TEXTS.items():
        for name in names:
            op.add_column(table, sa.Column(name, sa.Text, nullable=False, server_default=""))
    op.add_column("assay_runs", sa.Column("written_bytes", sa.BigInteger))
    for name in _NUMBERS:
        op.add_column("assay_runs", sa.Column(name, sa.Double))
    _fill("assay_tags", ("tag",), _folds)
    _fill("assay_tests", _TEST_FOLDS, _folds)
    _fill("assay_runs", ("site", "parent", "folder", *_FOLDS), _run)
    _fill_words()
    for name, columns in _INDEXES.items():
        op.create_index(name, "assay_runs", list(columns))
    op.create_table(
        "assay_notes",
        sa.Column("address", sa.Text, nullable=False),
        sa.Column("hidden", sa.Boolean, nullable=False),
        sa.Column("bad", sa.Boolean, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("note", sa.Text, nullable=False),
        sa.Column("role", sa.Text, nullable=False),
        sa.Column("at_ns", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("address", name="pk_assay_notes"),
    )


def downgrade() -> None:
    """Take them away. Tables are changed as they are: SQLite would lose what belongs to a run with a copied table."""
    op.drop_table("assay_notes")
    for name in _INDEXES:
        op.drop_index(name, "assay_runs")
    for name in ("written_bytes", *_NUMBERS):
        op.drop_column("assay_runs", name)
    for table, names in _TEXTS.items():
        for name in names:
            op.drop_column(table, name)


def _fill(table: str, names: tuple[str, ...], made: Callable[[dict[str, Any]], dict[str, str]]) -> None:
    """Give every row its new values. made : of the values of a row."""
    connection = op.get_bind()
    source = sa.table(table, *(sa.column(name) for name in ("key", *names)))
    rows = [dict(row) for row in connection.execute(sa.select(source)).mappings()]
    changes = [{"row_key": row["key"], **made(row)} for row in rows]
    for begin in range(0, len(changes), _MANY):
        part = changes[begin : begin + _MANY]
        columns: list[Any] = [sa.column(name) for name in part[0] if name != "row_key"]
        changed = sa.table(table, sa.column("key"), *columns)
        connection.execute(sa.update(changed).where(changed.c.key == sa.bindparam("row_key")), part)


def _fill_words() -> None:
    """Of each run its texts, tags and tests, a line each."""
    parts: dict[int, list[str]] = {}
    for table, column in (("assay_tags", "tag_folded"), ("assay_tests", "test_folded")):
        rows = op.get_bind().execute(sa.text(f"SELECT run_key, {column} FROM {table} ORDER BY key"))  # noqa: S608 - ours
        for key, text in rows:
            parts.setdefault(key, []).append(text)
    folds = tuple(f"{name}_folded" for name in _FOLDS)

    def made(row: dict[str, Any]) -> dict[str, str]:
        texts = [row["site"].casefold(), row["folder"].casefold(), *(row[name] for name in folds)]
        return {"words": "\n".join(filter(None, [*texts, *parts.get(row["key"], ())]))}

    _fill("assay_runs", ("site", "folder", *folds), made)


def _folds(row: dict[str, Any]) -> dict[str, str]:
    return {f"{name}_folded": (value or "").casefold() for name, value in row.items() if name != "key"}


def _run(row: dict[str, Any]) -> dict[str, str]:
    serial = row["drive_serial"]
    drive = f"{row['drive_model']}\n{serial or ''}\n{'' if serial else row['drive_id']}"
    return {
        "address": _digest("\n".join((row["site"], row["parent"], row["folder"]))),
        "drive_address": "" if row["drive_id"] is None else _digest(drive),
        **_folds({name: row[name] for name in _FOLDS}),
    }


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:20]
