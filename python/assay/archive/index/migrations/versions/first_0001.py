"""The first tables: runs with their tags, tests, headline numbers and measures."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

# As they were then: what the tables become later is in later files.
_RUN_TEXTS = (
    ("site", False), ("parent", False), ("folder", False), ("look", False), ("made_by", False), ("run_id", False),
    ("name", False), ("started", False), ("tool_version", False), ("edition", False), ("suite", False),
    ("operator", False), ("lab", False), ("host", False), ("system", False), ("label", False), ("label_class", False),
    ("deviations", False),
    ("level", False), ("drive", False), ("drive_id", True), ("drive_kind", True), ("drive_model", True),
    ("drive_serial", True), ("drive_firmware", True), ("journal_hash", False), ("exit_codes", False), ("fault", True),
    ("numbers_fault", True),
)  # fmt: skip
_TEST_TEXTS = (
    ("test", False), ("procedure", False), ("edition", False), ("verdict", False), ("measured", False),
    ("ended", True), ("withheld", True),
)  # fmt: skip


def upgrade() -> None:
    """Make them."""
    op.create_table(
        "assay_runs",
        sa.Column("key", sa.Integer, nullable=False),
        *_texts(_RUN_TEXTS),
        sa.Column("missing_since_ns", sa.BigInteger),
        sa.Column("run_schema", sa.Integer),
        sa.Column("started_wall_ns", sa.BigInteger),
        sa.Column("drive_capacity_bytes", sa.BigInteger),
        sa.Column("journal_lines", sa.BigInteger, nullable=False),
        sa.Column("complete", sa.Boolean, nullable=False),
        sa.Column("interrupted", sa.Boolean, nullable=False),
        sa.Column("withheld", sa.Boolean, nullable=False),
        sa.Column("exit_code", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_assay_runs"),
        sa.UniqueConstraint("site", "parent", "folder", name="uq_assay_runs"),
    )
    _part("assay_tags", "assay_runs", "run_key", *_texts((("tag", False),)))
    _part(
        "assay_tests",
        "assay_runs",
        "run_key",
        *_texts(_TEST_TEXTS),
        sa.Column("reached", sa.Boolean, nullable=False),
        sa.Column("cut_short", sa.Boolean, nullable=False),
        sa.Column("started_wall_ns", sa.BigInteger, nullable=False),
        sa.Column("ended_wall_ns", sa.BigInteger),
    )
    _part(
        "assay_headlines",
        "assay_tests",
        "test_key",
        *_texts((("item", False), ("unit", False), ("basis", False))),
        *(sa.Column(name, sa.Double) for name in ("value", "least", "greatest", "claim")),
    )
    _part(
        "assay_measures",
        "assay_tests",
        "test_key",
        *_texts(
            (("cell", False), ("label", False), ("name", False), ("unit", False), ("better", False), ("rounds", False))
        ),
        sa.Column("value", sa.Double),
        sa.Column("judged", sa.Boolean, nullable=False),
    )


def downgrade() -> None:
    """Take them away."""
    for name in ("assay_measures", "assay_headlines", "assay_tests", "assay_tags", "assay_runs"):
        op.drop_table(name)


def _texts(names: tuple[tuple[str, bool], ...]) -> list[sa.Column[Any]]:
    return [sa.Column(name, sa.Text, nullable=nullable) for name, nullable in names]


def _part(table: str, whole: str, key: str, *columns: sa.Column[Any]) -> None:
    """A table of what belongs to a row of another, and goes with it."""
    op.create_table(
        table,
        sa.Column("key", sa.Integer, nullable=False),
        sa.Column(key, sa.Integer, nullable=False),
        sa.Column("place", sa.Integer, nullable=False),
        *columns,
        sa.PrimaryKeyConstraint("key", name=f"pk_{table}"),
        sa.ForeignKeyConstraint([key], [f"{whole}.key"], name=f"fk_{table}_{key}", ondelete="CASCADE"),
    )
    op.create_index(f"ix_{table}_{key}", table, [key])
