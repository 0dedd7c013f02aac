"""One file a change; Alembic reads them all."""
