"""A bundle as a file: members of a tar archive in one frame of Zstandard, written and read as a stream.

The same files give the same bytes, so there is one header that a member of a name and size can have. A reader knows
from the manifest which members come, in which order, and takes no other: no link, device, path, or further member can
be in what it takes.
"""

from __future__ import annotations

import hashlib
import io
import os
import tarfile
from typing import IO, TYPE_CHECKING, Any

from assay.archive.bundle.manifest import MANIFEST, MANIFEST_BYTES_MAX, SIGNATURE, read_manifest
from assay.errors import StoreError, VerificationError
from assay.words.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from assay.archive.bundle.manifest import BundleFile, Manifest


MAGIC = b"\x28\xb5\x2f\xfd"
WINDOW_BYTES_MAX = 8 << 20
_BLOCK_BYTES_MAX = 128 << 10
_CHECKSUM_BYTES = 4
_RLE, _RESERVED = 1, 3
_SINGLE, _UNUSED, _CHECKSUM, _DICTIONARY = 0x20, 0x18, 0x04, 0x03
_CONTENT_SIZE_BYTES = (0, 2, 4, 8)
_BLOCK_BYTES = tarfile.BLOCKSIZE
_END = bytes(2 * _BLOCK_BYTES)
_CHUNK_BYTES = 1 << 20
_SIGNATURE_BYTES_MAX = 1 << 12
_REMEDY = "do not use it; take it from its maker again"


class FrameError(ValueError):
    """The file is not one whole frame of Zstandard."""


def check_frame(file: IO[bytes]) -> None:
    """Walk over the blocks of the frame that a file is, without decompressing any; the file is left at its start.

    Raises FrameError if it is another file, cut off, goes on after the frame, or needs too much memory.
    """
    size = os.fstat(file.fileno()).st_size
    file.seek(0)
    has_checksum = _check_head(file)
    while not _skip_block(file, size):
        pass
    if has_checksum:
        file.seek(_CHECKSUM_BYTES, os.SEEK_CUR)
    end = file.tell()
    if end > size:
        raise FrameError("is cut off")
    if end < size:
        raise FrameError(f"has {size - end:,} bytes after its end")
    file.seek(0)


def _check_head(file: IO[bytes]) -> bool:
    """Read the head of a frame; whether a checksum stands at its end."""
    if file.read(len(MAGIC)) != MAGIC:
        raise FrameError("is no bundle: it is not compressed with Zstandard")
    descriptor, window = (_number(file, 1) for _ in range(2))
    if descriptor & (_SINGLE | _UNUSED | _DICTIONARY):
        raise FrameError("is compressed in another way than assay export does")
    base = 1 << (10 + (window >> 3))
    if base + (base >> 3) * (window & 7) > WINDOW_BYTES_MAX:
        raise FrameError(f"asks for a window of more than {WINDOW_BYTES_MAX:,} bytes")
    file.seek(_CONTENT_SIZE_BYTES[descriptor >> 6], os.SEEK_CUR)
    return bool(descriptor & _CHECKSUM)


def _skip_block(file: IO[bytes], size: int) -> bool:
    """Go over one block; whether it is the last one."""
    head = _number(file, 3)
    kind, block_bytes = head >> 1 & 3, head >> 3
    if kind == _RESERVED or block_bytes > _BLOCK_BYTES_MAX:
        raise FrameError("is damaged: it holds a block of no known kind")
    if not block_bytes and not head & 1:
        # A sparse file has any number of them.
        raise FrameError("is damaged: it holds an empty block before its last")
    file.seek(1 if kind == _RLE else block_bytes, os.SEEK_CUR)
    if file.tell() > size:
        raise FrameError("is cut off")
    return bool(head & 1)


def _number(file: IO[bytes], count: int) -> int:
    result = file.read(count)
    if len(result) < count:
        raise FrameError("is cut off")
    return int.from_bytes(result, "little")


def write_archive(file: IO[bytes], members: Iterable[tuple[str, int, Iterable[bytes]]]) -> None:
    """Write members, each a name, a size and its content, in this order. file : stays open, at its end.

    Raises StoreError if a content has not the size that was said; OSError if the file cannot be written.
    """
    import pyarrow as pa  # noqa: PLC0415 - slow to import

    with (
        os.fdopen(os.dup(file.fileno()), "wb") as copy,
        pa.CompressedOutputStream(pa.PythonFile(copy, "w"), "zstd") as out,
    ):
        for name, size_bytes, content in members:
            out.write(header(name, size_bytes))
            written = sum(_written(out, chunk) for chunk in content)
            if written != size_bytes:
                raise StoreError(name, "changed while it was exported", "export the run once nobody writes to it")
            out.write(bytes(-size_bytes % _BLOCK_BYTES))
        out.write(_END)


def header(name: str, size_bytes: int) -> bytes:
    """The one header that a member of this name and size has."""
    info = tarfile.TarInfo(name)
    info.size, info.mode = size_bytes, 0o644
    return info.tobuf(tarfile.GNU_FORMAT, "ascii", "strict")


def _written(out: Any, chunk: bytes) -> int:
    out.write(chunk)
    return len(chunk)


class ArchiveReader:
    """Reads a bundle from its begin to its end; nothing of it is taken that the manifest does not name.

    name : of the bundle, for messages. manifest, manifest_bytes, signature : as stored; the last None if there is
    none.
    Raises StoreError if it is no bundle, damaged, or holds what it may not.
    """

    manifest: Manifest
    manifest_bytes: bytes
    signature: bytes | None

    def __init__(self, file: IO[bytes], name: str) -> None:
        self.name = name
        self._head = b""
        bundle_bytes = os.fstat(file.fileno()).st_size
        self._foreign(lambda: check_frame(file))
        self._source = self._foreign(lambda: _decompressed(file))
        self.manifest_bytes = self._small(MANIFEST, MANIFEST_BYTES_MAX)
        self.manifest = read_manifest(self.manifest_bytes, name=name, bundle_bytes=bundle_bytes)
        self._head = self._exactly(_BLOCK_BYTES)
        signed = self._head[:_BLOCK_BYTES].startswith(SIGNATURE.encode() + b"\0")
        self.signature = self._small(SIGNATURE, _SIGNATURE_BYTES_MAX) if signed else None

    def files(self) -> Iterator[tuple[BundleFile, Iterator[bytes]]]:
        """Every file with its content, which must be read before the next; each is held against its SHA-256 at its end.

        Raises VerificationError if a content is not the one that the manifest names, StoreError as above.
        """
        for file in self.manifest.files:
            self._take_header(file.name, file.size_bytes)
            yield file, self._content(file)
        if self._take(len(_END)) != _END:
            raise self._fault("holds more files than its manifest names")
        if self._foreign(lambda: self._source.read(1)):
            raise self._fault("continues after its last file")

    def _content(self, bundle_file: BundleFile) -> Iterator[bytes]:
        digest, left = hashlib.sha256(), bundle_file.size_bytes
        while left:
            chunk = self._exactly(min(left, _CHUNK_BYTES))
            digest.update(chunk)
            left -= len(chunk)
            yield chunk
        if digest.hexdigest() != bundle_file.sha256:
            raise VerificationError(
                f"{self.name}: {bundle_file.name}", "is not the file that the manifest names", _REMEDY
            )
        self._padding(bundle_file.size_bytes)

    def _small(self, name: str, bytes_max: int) -> bytes:
        """The content of a member whose size is not known before."""
        head = self._take(_BLOCK_BYTES)
        size_bytes = self._size(head)
        allowed_bytes = min(max(size_bytes, 0), bytes_max)
        if head != header(name, allowed_bytes):
            raise self._fault(_why_not(head, name, allowed_bytes))
        content = self._exactly(size_bytes)
        self._padding(size_bytes)
        return content

    def _take_header(self, name: str, size_bytes: int) -> None:
        head = self._take(_BLOCK_BYTES)
        if head != header(name, size_bytes):
            raise self._fault(_why_not(head, name, size_bytes))

    def _size(self, head: bytes) -> int:
        try:
            return tarfile.TarInfo.frombuf(head, "ascii", "strict").size
        except (tarfile.HeaderError, UnicodeError):
            return -1

    def _padding(self, size_bytes: int) -> None:
        if any(self._exactly(-size_bytes % _BLOCK_BYTES)):
            raise self._fault("holds data between its files")

    def _take(self, count: int) -> bytes:
        """The next bytes; first those that were looked at before."""
        taken, self._head = self._head, b""
        return taken + self._exactly(count - len(taken))

    def _exactly(self, count: int) -> bytes:
        result = bytearray()
        while len(result) < count:
            result += self._some(count - len(result))
        return bytes(result)

    def _some(self, count: int) -> bytes:
        result: bytes = self._foreign(lambda: self._source.read(count))
        if not result:
            raise self._fault("is cut off")
        return result

    def _foreign(self, work: Callable[[], Any]) -> Any:
        """Do what the bytes of another can upset."""
        import pyarrow as pa  # noqa: PLC0415 - slow to import

        try:
            return work()
        except FrameError as error:
            raise self._fault(str(error)) from None
        except (OSError, pa.ArrowException, ValueError, MemoryError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else "it is damaged"
            raise self._fault(f"cannot be read: {reason}") from None

    def _fault(self, reason: str) -> StoreError:
        return StoreError(self.name, reason, _REMEDY)


def _decompressed(file: IO[bytes]) -> Any:
    import pyarrow as pa  # noqa: PLC0415 - slow to import

    return pa.CompressedInputStream(pa.PythonFile(_Bytes(file.fileno()), "r"), "zstd")


class _Bytes(io.RawIOBase):
    """The bytes of an open file from its begin on, with a place of its own; closing it leaves the file open."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor, self._place = descriptor, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        result = os.preadv(self._descriptor, [buffer], self._place)
        self._place += result
        return result


def _why_not(head: bytes, name: str, size_bytes: int) -> str:
    """The fault of a header that differs from the header of this member."""
    if not any(head):
        return f"ends before {name}"
    try:
        result = tarfile.TarInfo.frombuf(head, "utf-8", "surrogateescape")
    except (tarfile.HeaderError, UnicodeError):
        return f"is damaged before {name}"
    return _strange_member(result) or _other_member(result, name, size_bytes)


def _strange_member(found: tarfile.TarInfo) -> str | None:
    """Why no bundle has this member."""
    said = visible(found.name[:80])
    if found.issym() or found.islnk():
        return f"holds the link {said!r}; a bundle has none"
    if not found.isreg():
        return f"holds {said!r}, which is no regular file"
    if found.name.startswith("/") or ".." in found.name.split("/"):
        return f"holds {said!r}, which leads out of the folder"
    return None


def _other_member(found: tarfile.TarInfo, name: str, size_bytes: int) -> str:
    if found.name != name:
        return f"holds {visible(found.name[:80])!r} where {name} must come"
    if found.size != size_bytes:
        return f"holds {name} with {found.size:,} bytes, which is not the size that it may have"
    return f"holds {name} with an owner, date or mode that assay export does not write"
