"""The files of a run as a bundle holds them: read in chunks, with their digests."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from assay.archive.bundle.manifest import TOTAL_BYTES_MAX, BundleFile
from assay.errors import StoreError
from assay.spec.files import open_bounded

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_CHUNK_BYTES = 1 << 20


def bundle_file(folder: Path, name: str, *, bytes_max: int = TOTAL_BYTES_MAX) -> BundleFile:
    """A file of a run folder with its size and SHA-256. Raises StoreError where it cannot be read, or is larger."""
    digest, size_bytes = hashlib.sha256(), 0
    for chunk in chunks(folder, name, bytes_max=bytes_max):
        digest.update(chunk)
        size_bytes += len(chunk)
    return BundleFile(name=name, size_bytes=size_bytes, sha256=digest.hexdigest())


def chunks(folder: Path, name: str, *, bytes_max: int = TOTAL_BYTES_MAX) -> Iterator[bytes]:
    """The content of a file of a run folder, part by part. Raises StoreError as ``bundle_file``."""
    try:
        with open_bounded(folder, name, bytes_max=bytes_max) as file:
            while chunk := file.read(_CHUNK_BYTES):
                yield chunk
    except OSError as error:
        reason = error.strerror or "cannot be read"
        raise StoreError(str(folder / name), reason, "make it readable, or leave the run out") from None
