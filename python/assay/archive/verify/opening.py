"""What of a folder cannot be verified at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.engine.codec import parse
from assay.errors import StoreError
from assay.run.store import RUN_DOCUMENT
from assay.run.store.document import RUN_SCHEMA, read_head
from assay.run.store.journal import read_lines

if TYPE_CHECKING:
    from pathlib import Path


def refuse_unreadable(folder: Path) -> None:
    """Raise StoreError where a folder is no run, cannot be read, or states a form that this version does not know."""
    head = read_head(folder)
    read_lines(folder)
    try:
        schema = parse(head, name=RUN_DOCUMENT).get("schema")
    except StoreError:
        # Damaged: a rule says so.
        return
    if isinstance(schema, int) and schema > RUN_SCHEMA:
        path = str(folder / RUN_DOCUMENT)
        raise StoreError(path, f"has form {schema}; this version knows {RUN_SCHEMA}", "verify it with a newer version")
