"""Files whose bytes a test writes."""

from __future__ import annotations

import os
from pathlib import Path

from assay.errors import UsageError
from assay.spec.files import open_named

DATA_FILE_BYTES_MAX = 1 << 30


def check_data_file(path: str) -> None:
    """Raise UsageError where a file to write from cannot be read, is empty or is larger than 1 GiB."""
    try:
        with open_named(Path(path)) as file:
            size = os.fstat(file.fileno()).st_size
    except OSError as error:
        raise UsageError(path, error.strerror or "cannot be read", "name a readable data file") from None
    if not 0 < size <= DATA_FILE_BYTES_MAX:
        raise UsageError(path, "is no regular file of 1 byte to 1 GiB", "name a file with data")
