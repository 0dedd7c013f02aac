"""Makes a bundle of a run folder: the same run gives the same bytes."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from assay.archive.bundle.archive import write_archive
from assay.archive.bundle.manifest import (
    FILES_MAX,
    MANIFEST,
    SCHEMA,
    SIGNATURE,
    TOTAL_BYTES_MAX,
    BundleFile,
    Manifest,
    bundle_file,
    chunks,
    is_documented,
    read_manifest,
)
from assay.archive.bundle.redact import LEFT_OUT, hash_before, is_redacted, known_labels, leaks_in, redact
from assay.archive.bundle.signature import signed
from assay.errors import FolderBusyError, StoreError
from assay.run.store.read import read_run
from assay.run.store.status import run_state
from assay.run.store.tables import TABLE_NAME
from assay.spec.files import open_inside
from assay.version import tool_version

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from assay.engine.records import StoredRun

SUFFIX = ".assay"
_LOG = "run.log"
_SINGLE_FILES = ("run.json", "journal.jsonl", "report_date.json", "advice.txt", _LOG)
_TRACES = "traces"
_TABLE = re.compile(rf'"({TABLE_NAME})":"[0-9a-f]{{64}}"'.encode())
_REWRITTEN = ("run.json", "journal.jsonl")


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """A bundle that was written. path : its file. fingerprint : of the key that signed it, None if none did."""

    path: Path
    manifest: Manifest
    size_bytes: int
    fingerprint: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Source:
    """The content of a bundle. places : the folder that each file is read from."""

    places: dict[str, Path]
    final_hash: str
    redacted: bool
    original_hash: str | None


def export_run(
    folder: Path,
    out: Path,
    *,
    key: Ed25519PrivateKey | None = None,
    redacted: bool = False,
    log: bool = False,
    further: dict[str, str] | None = None,
) -> Exported:
    """Write a run folder as one file.

    out : the file, which must not exist. key : that signs it. redacted : replace names and serials by labels. log :
    take ``run.log`` along, which may name the host. further : more that a redacted bundle must not hold, with its kind.
    Raises FolderBusyError if the run goes on, VerificationError if it was changed, StoreError if it cannot be
    read or written, or cannot be redacted.
    """
    _refuse_running(folder)
    run = read_run(folder)
    with tempfile.TemporaryDirectory(prefix="assay-export-") as kept:
        names = _names(folder, run, log=log and not redacted)
        # What is redacted has no names left to take out.
        if redacted and not is_redacted(run.description):
            names = [name for name in names if name not in LEFT_OUT]
            source = _redacted(folder, run, names, Path(kept), further or {})
        else:
            source = _as_it_is(folder, run, names)
        manifest = _manifest(run, source)
        read_manifest(manifest.encoded(), name=str(out))
        signature = signed(key, manifest.encoded()) if key else None
        _write(out, _members(manifest, signature.encoded() if signature else None, source.places))
    fingerprint = signature.fingerprint if signature else None
    return Exported(path=out, manifest=manifest, size_bytes=out.stat().st_size, fingerprint=fingerprint)


def _refuse_running(folder: Path) -> None:
    if run_state(folder).state in {"running", "suspended"}:
        raise FolderBusyError(str(folder), "the run goes on", "export it once it has ended: assay status shows when")


def _names(folder: Path, run: StoredRun, *, log: bool) -> list[str]:
    """The documented files of a run that are there, in order; tables that no line of the journal names are none."""
    single = [name for name in _SINGLE_FILES if name != _LOG or log]
    names = [name for name in single if (folder / name).is_file() and not (folder / name).is_symlink()]
    traces = folder / _TRACES
    if traces.is_dir() and not traces.is_symlink():
        names += [f"{_TRACES}/{path.name}" for path in traces.glob("*.parquet") if not path.is_symlink()]
    names += _tables(folder)
    strange = next((name for name in names if not is_documented(name)), None)
    size_bytes = sum(os.lstat(folder / name).st_size for name in names)
    if size_bytes > TOTAL_BYTES_MAX:
        reason = f"has {size_bytes:,} bytes where a bundle can hold {TOTAL_BYTES_MAX:,}"
        raise StoreError(str(folder), reason, "give the folder away as it is")
    if strange is not None or len(names) > FILES_MAX:
        reason = f"has a file {strange!r} that no bundle can hold" if strange else f"has more than {FILES_MAX:,} files"
        raise StoreError(str(folder), reason, f"run {run.run_id} cannot be exported as it is")
    return sorted(names)


def _tables(folder: Path) -> list[str]:
    """The tables that the journal names: it was read before, so each is there."""
    with os.fdopen(open_inside(folder, "journal.jsonl"), "rb") as file:
        tables = {name.decode() for line in file for name in _TABLE.findall(line)}
    return sorted(tables)


def _as_it_is(folder: Path, run: StoredRun, names: list[str]) -> _Source:
    return _Source(
        places=dict.fromkeys(names, folder),
        final_hash=run.journal.hash if run.journal else "",
        redacted=is_redacted(run.description),
        original_hash=hash_before(run.description),
    )


def _redacted(folder: Path, run: StoredRun, names: list[str], kept: Path, further: dict[str, str]) -> _Source:
    """The run without names; what is written anew goes into the folder ``kept``."""
    original_hash = _hash_to_keep(run)
    final_hash = redact(folder, kept, further=further, original_hash=original_hash)
    labels = known_labels(folder)
    for name in names:
        if name not in _REWRITTEN and any(leaks_in(chunk, labels) for chunk in chunks(folder, name)):
            raise StoreError(str(folder / name), "holds a name that is to be redacted", "leave this run out")
    places = {name: kept if name in _REWRITTEN else folder for name in names}
    return _Source(places=places, final_hash=final_hash, redacted=True, original_hash=original_hash)


def _hash_to_keep(run: StoredRun) -> str | None:
    """The final hash before redaction, where it may be given away.

    Who knows all else of a run could try serials until this hash comes out, unless what is taken away holds something
    that nobody can guess: the number of the host.
    """
    return run.journal.hash if run.journal and run.platform.host_id else None


def _manifest(run: StoredRun, source: _Source) -> Manifest:
    return Manifest(
        schema=SCHEMA,
        run_id=run.run_id,
        final_hash=source.final_hash,
        complete=run.journal is not None and run.journal.complete,
        redacted=source.redacted,
        original_hash=source.original_hash,
        tool="Assay",
        tool_version=tool_version(),
        files=tuple(bundle_file(place, name) for name, place in sorted(source.places.items())),
    )


def _members(
    manifest: Manifest, signature: bytes | None, places: dict[str, Path]
) -> Iterator[tuple[str, int, Iterable[bytes]]]:
    for name, content in ((MANIFEST, manifest.encoded()), (SIGNATURE, signature)):
        if content is not None:
            yield name, len(content), [content]
    for file in manifest.files:
        yield file.name, file.size_bytes, _unchanged(places[file.name], file)


def _unchanged(folder: Path, member: BundleFile) -> Iterator[bytes]:
    """The content of a file. Raises StoreError if it changed since the manifest was made."""
    digest = hashlib.sha256()
    for chunk in chunks(folder, member.name):
        digest.update(chunk)
        yield chunk
    if digest.hexdigest() != member.sha256:
        raise StoreError(
            str(folder / member.name), "changed while it was exported", "export the run once nobody writes"
        )


def _write(out: Path, members: Iterator[tuple[str, int, Iterable[bytes]]]) -> None:
    """Put the bundle in place whole, and never over another file."""
    draft = out.with_name(f".{out.name}-{secrets.token_hex(8)}")
    try:
        if out.exists() or out.is_symlink():
            raise StoreError(str(out), "is there already", "name another file with --out")
        out.parent.mkdir(parents=True, exist_ok=True)
        try:
            with draft.open("xb") as file:
                write_archive(file, members)
                os.fsync(file.fileno())
            draft.rename(out)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        reason = error.strerror or "cannot be written"
        raise StoreError(str(out), reason, "free some space, or name another file with --out") from None
