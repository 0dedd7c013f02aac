"""The host's part in each number: its bound and its mark."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

_TABLES = ("assay_headlines", "assay_measures")


def upgrade() -> None:
    """Add the columns; runs that were read before have none."""
    for table in _TABLES:
        op.add_column(table, sa.Column("bound", sa.Double))
        op.add_column(table, sa.Column("mark", sa.Text))


def downgrade() -> None:
    """Take them away."""
    for table in _TABLES:
        with op.batch_alter_table(table) as batch:
            batch.drop_column("mark")
            batch.drop_column("bound")
