"""The conditions of a test, which runs share where a number is followed over time."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

_NAMES = ("conditions_key", "conditions")


def upgrade() -> None:
    """Add the columns; runs that were read before get theirs when they are read again."""
    for name in _NAMES:
        op.add_column("assay_tests", sa.Column(name, sa.Text, nullable=False, server_default=""))


def downgrade() -> None:
    """Take them away."""
    for name in _NAMES:
        op.drop_column("assay_tests", name)
