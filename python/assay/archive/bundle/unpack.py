"""Takes a bundle of anybody: everything in it is checked before anything is written."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

from assay.archive.bundle.archive import ArchiveReader
from assay.archive.bundle.origin import Origin, level_of
from assay.archive.bundle.redact import is_redacted
from assay.archive.bundle.signature import Signature, read_signature
from assay.errors import StoreError, VerificationError
from assay.run.store import ORIGIN
from assay.run.store.read import read_run
from assay.spec.files import is_plain_name, open_named, sync_folder, write_inside

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.archive.bundle.keys import PublicKey
    from assay.archive.bundle.manifest import Manifest
    from assay.archive.bundle.origin import Level
    from assay.engine.records import StoredRun

_REMEDY = "do not use it; take it from its maker again"
_SPARE_BYTES = 64 << 20
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """A bundle that was read whole and is what its manifest says. signature : holds for the manifest; None without."""

    path: Path
    manifest: Manifest
    manifest_bytes: bytes
    signature: Signature | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A bundle that lies unpacked in a folder. run : as it was read there, without its response times."""

    bundle: Bundle
    folder: Path
    run: StoredRun


@contextmanager
def opened(path: Path) -> Iterator[Opened]:
    """Check a bundle and unpack it into a folder that is gone afterwards; nothing is written before all is checked.

    Raises StoreError if it is no bundle, damaged, cut, or holds what it may not; VerificationError if a file is
    not the one that its manifest names, or its signature does not hold; and as ``read_run``.
    """
    with _file(path) as file:
        bundle = _inspected(file, path)
        with tempfile.TemporaryDirectory(prefix="assay-bundle-") as above:
            folder = Path(above) / (path.stem if is_plain_name(path.stem) else bundle.manifest.run_id)
            yield _unpacked(file, bundle, folder)


def import_bundle(path: Path, into: Path, *, draft_name: str | None = None) -> Opened:
    """Check a bundle and put its run into a folder of runs, under the name of the file, with where it comes from.

    The rules are not checked: a run that breaks some is imported, and its level says so once it was checked.
    draft_name : of the folder in ``into`` that it is unpacked to first; drawn where None.
    Raises as ``opened``; StoreError if a folder of this name is there, or the run cannot be written.
    """
    with _file(path) as file:
        bundle = _inspected(file, path)
        target = into / (path.stem if is_plain_name(path.stem) else bundle.manifest.run_id)
        _refuse_existing(target)
        try:
            into.mkdir(parents=True, exist_ok=True)
            with _draft(into, draft_name or f".import-{secrets.token_hex(8)}") as (above, draft):
                # One folder deeper: a run that is not whole is in no list of runs.
                result = _unpacked(file, bundle, Path(f"/proc/self/fd/{draft}/run"))
                _keep_origin(result)
                _refuse_existing(target)
                os.rename("run", target.name, src_dir_fd=draft, dst_dir_fd=above)
            sync_folder(into)
        except OSError as error:
            reason = error.strerror or "cannot be written"
            raise StoreError(str(into), reason, "free some space, or name another folder with --into") from None
    return Opened(bundle=bundle, folder=target, run=result.run)


@contextmanager
def _draft(into: Path, name: str) -> Iterator[tuple[int, int]]:
    """Descriptors of a folder and of a new one in it, which is gone afterwards.

    Who may write to the folder can put another in the place of the new one, but changes nothing in that which is open.
    """
    above = os.open(into, _FOLDER)
    try:
        # Of an import that was killed.
        shutil.rmtree(name, ignore_errors=True, dir_fd=above)
        os.mkdir(name, 0o700, dir_fd=above)
        draft = os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=above)
        try:
            status = os.fstat(draft)
            if status.st_uid != os.geteuid() or any(os.scandir(draft)):
                raise StoreError(str(into), "is changed by others meanwhile", "name another folder with --into")
            yield above, draft
        finally:
            os.close(draft)
            shutil.rmtree(name, ignore_errors=True, dir_fd=above)
    finally:
        os.close(above)


def _file(path: Path) -> IO[bytes]:
    try:
        return open_named(path)
    except OSError as error:
        raise StoreError(str(path), error.strerror or "cannot be read", "name a file that assay export wrote") from None


def _inspected(file: IO[bytes], path: Path) -> Bundle:
    reader = ArchiveReader(file, str(path))
    for _, content in reader.files():
        for _ in content:
            pass
    signature = reader.signature
    return Bundle(
        path=path,
        manifest=reader.manifest,
        manifest_bytes=reader.manifest_bytes,
        signature=None if signature is None else read_signature(signature, reader.manifest_bytes, name=str(path)),
    )


def _unpacked(file: IO[bytes], bundle: Bundle, folder: Path) -> Opened:
    """Unpack a bundle that was checked, and read the run in it. Raises also where the file changed meanwhile."""
    _refuse_full(folder.parent, bundle)
    reader = ArchiveReader(file, str(bundle.path))
    if reader.manifest_bytes != bundle.manifest_bytes:
        raise StoreError(str(bundle.path), "changed while it was read", "try again")
    folder.mkdir()
    for member, content in reader.files():
        path = folder / member.name
        path.parent.mkdir(exist_ok=True)
        with path.open("xb") as out:
            for chunk in content:
                out.write(chunk)
    return Opened(bundle=bundle, folder=folder, run=_read(folder, bundle))


def _read(folder: Path, bundle: Bundle) -> StoredRun:
    """Read the unpacked run: form, hash chain and tables. Raises VerificationError if the manifest differs."""
    run, manifest = read_run(folder), bundle.manifest
    stated = (manifest.run_id, manifest.final_hash, manifest.complete, manifest.redacted)
    actual = (run.run_id, *((run.journal.hash, run.journal.complete) if run.journal else ("", False)))
    if (*actual, is_redacted(run.description)) != stated:
        raise VerificationError(str(bundle.path), "its manifest describes a different run from its content", _REMEDY)
    return run


def _keep_origin(unpacked: Opened) -> None:
    origin = Origin.of(unpacked.bundle.manifest_bytes, unpacked.bundle.signature)
    write_inside(unpacked.folder, ORIGIN, origin.encoded())


def _refuse_existing(target: Path) -> None:
    if target.exists() or target.is_symlink():
        raise StoreError(str(target), "is there already", "rename the file, or name another folder with --into")


def _refuse_full(folder: Path, bundle: Bundle) -> None:
    needed = bundle.manifest.total_bytes + _SPARE_BYTES
    free = shutil.disk_usage(folder).free
    if free < needed:
        reason = f"only {free / 1e6:,.0f} MB are free, {needed / 1e6:,.0f} MB are needed"
        raise StoreError(str(folder), reason, "free some space, or name another folder")


def bundle_level(bundle: Bundle, keys: Sequence[PublicKey], *, passed: bool | None) -> Level:
    """How far a bundle is vouched for. keys : that the user trusts. passed : whether its run keeps all rules."""
    return level_of(bundle.signature, keys, passed=passed, redacted=bundle.manifest.redacted)


def is_bundle(path: Path) -> bool:
    """Whether a path is a bundle and no run folder: a file."""
    return os.path.isfile(path)  # noqa: PTH113 - no error for names that no file can have
