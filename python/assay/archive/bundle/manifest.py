"""The manifest of a bundle: the files that it holds with size and digest, and what it says of its run."""

from __future__ import annotations

import hashlib
import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from assay.engine.codec import canonical, decode, parse
from assay.errors import StoreError
from assay.run.store.tables import TABLE_NAME
from assay.spec.files import open_bounded

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


MANIFEST, SIGNATURE = "manifest.json", "signature.json"
SCHEMA = 1
MANIFEST_BYTES_MAX = 16 << 20
FILES_MAX = 50_000
TOTAL_BYTES_MAX = 1 << 36
"""64 GiB: of all files of a bundle, unpacked."""
RATIO_MAX = 300
"""Unpacked bytes for each byte of the bundle; run folders come to less than 50."""
NAME_LETTERS_MAX = 100
"""The most that the header of a tar member holds."""

_SMALL_BYTES_MAX = {"run.json": 16 << 20, "journal.jsonl": 1 << 30, "report_date.json": 1000, "advice.txt": 1 << 20}
_NAMES = re.compile(
    r"run\.json|journal\.jsonl|report_date\.json|advice\.txt|run\.log"
    rf"|{TABLE_NAME}"
    r"|traces/[A-Za-z0-9_][A-Za-z0-9._-]*\.parquet"
)
_UNKNOWN = "take it from its maker again, or use the version that wrote it"

_Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
_Text = Annotated[str, Field(max_length=100)]
_CHUNK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleFile:
    """One file of a run folder. name : below the folder. size_bytes, sha256 : of its content."""

    name: str
    size_bytes: Annotated[int, Field(ge=0, le=TOTAL_BYTES_MAX)]
    sha256: _Digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """The first file of a bundle: what it holds, and facts of its run.

    final_hash : SHA-256 of the last line of the journal in it. complete : whether that line ends a run.
    redacted : names and serials were replaced by the maker. original_hash : the final hash before that, where it may be
    given away; None otherwise. files : by name, in order.
    """

    schema: int
    run_id: Annotated[str, Field(pattern=r"^[0-9A-Za-z-]{1,64}$")]
    final_hash: _Digest
    complete: bool
    redacted: bool
    original_hash: _Digest | None
    tool: _Text
    tool_version: _Text
    files: Annotated[tuple[BundleFile, ...], Field(max_length=FILES_MAX)]

    @property
    def total_bytes(self) -> int:
        """Size of all files, unpacked."""
        return sum(file.size_bytes for file in self.files)

    def encoded(self) -> bytes:
        """The bytes that are stored and signed."""
        return canonical(asdict(self)) + b"\n"


def is_documented(name: str) -> bool:
    """Whether a file of this name belongs to a run folder. Worked: ``run.json`` does, ``x.sh`` does not."""
    return len(name) <= NAME_LETTERS_MAX and _NAMES.fullmatch(name) is not None


def read_manifest(content: bytes, *, name: str, bundle_bytes: int | None = None) -> Manifest:
    """Read a manifest that anybody may have made.

    name : of the bundle, for messages. bundle_bytes : its size; None if the manifest alone is looked at.
    Raises StoreError if it is of another form, names a file that no run folder has, or a bundle would unpack to more
    than it may.
    """
    result = parse(content, name=f"{name}: {MANIFEST}")
    if result.get("schema") != SCHEMA:
        raise StoreError(name, f"{MANIFEST} has a form this version does not know", _UNKNOWN)
    manifest = decode(Manifest, result, name=f"{name}: {MANIFEST}")
    if fault := _fault(manifest, bundle_bytes):
        raise StoreError(name, fault, "do not use it; take it from its maker again")
    return manifest


def _fault(manifest: Manifest, bundle_bytes: int | None) -> str | None:
    names = [file.name for file in manifest.files]
    strange = next((name for name in names if not is_documented(name)), None)
    if strange is not None:
        return f"names the file {strange[:NAME_LETTERS_MAX]!r}, which is none of a run folder"
    if names != sorted(set(names)):
        return "names a file twice, or not in order"
    if len({name.lower() for name in names}) < len(names):
        return "names two files that differ in capital letters alone"
    if missing := {"run.json", "journal.jsonl"} - set(names):
        return f"holds no {min(missing)}"
    return _size_fault(manifest, bundle_bytes)


def _size_fault(manifest: Manifest, bundle_bytes: int | None) -> str | None:
    large = next(
        (file for file in manifest.files if file.size_bytes > _SMALL_BYTES_MAX.get(file.name, TOTAL_BYTES_MAX)), None
    )
    if large is not None:
        most = _SMALL_BYTES_MAX.get(large.name, TOTAL_BYTES_MAX)
        return f"lists {large.name} with {large.size_bytes:,} bytes; at most {most:,} are taken"
    total = manifest.total_bytes
    if total > TOTAL_BYTES_MAX:
        return f"would unpack to {total:,} bytes; at most {TOTAL_BYTES_MAX:,} are taken"
    if bundle_bytes is not None and total > RATIO_MAX * bundle_bytes:
        return f"would unpack to {total / bundle_bytes:,.0f} times its size; at most {RATIO_MAX} times is taken"
    return None


def bundle_file(folder: Path, name: str, *, bytes_max: int = TOTAL_BYTES_MAX) -> BundleFile:
    """A file of a run folder with its size and SHA-256. Raises StoreError if it cannot be read, or is larger."""
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
