"""The I/Os that a sequence issued again, as a run folder keeps them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from assay.errors import StoreError
from assay.spec.files import open_inside

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from assay.workloads.traces import Batch


def replayed_ios(folder: Path, name: str) -> Iterator[Batch]:
    """The I/Os of a file of the folder ``replays``, batch by batch; times are due times from the opening of the window.

    Raises StoreError where it cannot be read, or has another form.
    """
    # With numpy and pyarrow, which are slow to import.
    from assay.workloads.traces import read_replay  # noqa: PLC0415

    path = str(folder / name)
    try:
        source = os.fdopen(open_inside(folder, name), "rb")
    except OSError as error:
        raise StoreError(path, error.strerror or "cannot be read", "the run is damaged") from None
    with source:
        yield from read_replay(source, path)
