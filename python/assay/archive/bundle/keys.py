"""Keys that bundles are signed with: the user's own, and those of others that the user trusts.

They lie in the user's folder of settings. The private key is readable by the user alone, or is not used.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.errors import StoreError, UsageError
from assay.spec.files import open_named
from assay.words.visible import visible

if TYPE_CHECKING:
    from pathlib import Path

    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

PRIVATE_KEY, PUBLIC_KEY, TRUSTED_KEYS = "signing_key.pem", "signing_key.pub", "trusted_keys"
NAME_LETTERS_MAX = 60
_KIND = "assay-ed25519"
_CONTEXT = b"assay bundle 1\n"
"""Stands before what is signed, so that the key signs nothing else by mistake."""
_KEY_BYTES = 32
_FILE_BYTES_MAX = 1 << 20
_FINGERPRINT_DIGITS = 16


@dataclass(frozen=True, slots=True)
class PublicKey:
    """A key that signatures are checked with. raw : its 32 bytes. name : whose it is, as the user calls him."""

    raw: bytes
    name: str

    @property
    def fingerprint(self) -> str:
        """What people compare: the first 16 digits of the SHA-256 of the key."""
        return hashlib.sha256(self.raw).hexdigest()[:_FINGERPRINT_DIGITS]

    @property
    def line(self) -> str:
        """The key as a line of a text file. Worked: ``assay-ed25519 BASE64 Lab 2``."""
        return f"{_KIND} {base64.b64encode(self.raw).decode()} {self.name}\n"


def make_key(folder: Path, name: str) -> PublicKey:
    """Make a key pair in a folder, which is made if missing. name : whose it is.

    Raises UsageError where there is one already, or the name is no name; StoreError where it cannot be written.
    """
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415 - slow to import
    from cryptography.hazmat.primitives.serialization import (  # noqa: PLC0415
        Encoding,
        NoEncryption,
        PrivateFormat,
    )

    _check_name(name)
    key = Ed25519PrivateKey.generate()
    public = PublicKey(key.public_key().public_bytes_raw(), name)
    path = folder / PRIVATE_KEY
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _write_new(path, key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()), 0o600)
        (folder / PUBLIC_KEY).write_text(public.line, "utf-8")
    except FileExistsError:
        raise UsageError(str(path), "is there already", "show it with assay key show; move it away first") from None
    except OSError as error:
        raise StoreError(str(path), error.strerror or "cannot be written", "make the folder writable") from None
    return public


def own_public_key(folder: Path) -> PublicKey | None:
    """The user's own public key, None where there is none. Raises StoreError where it cannot be read."""
    path = folder / PUBLIC_KEY
    return read_public_key(path) if path.exists() else None


def read_public_key(path: Path) -> PublicKey:
    """The key in a text file that somebody handed out. Raises StoreError where there is none in it."""
    result = _read_keys(path)
    if len(result) != 1:
        raise StoreError(str(path), f"holds {len(result)} keys", f"name a file with a single line: {_KIND} BASE64 NAME")
    return result[0]


def trusted_keys(folder: Path) -> tuple[PublicKey, ...]:
    """The keys that the user trusts, his own first. Raises StoreError where they cannot be read."""
    path, own = folder / TRUSTED_KEYS, own_public_key(folder)
    return (*([own] if own else []), *(_read_keys(path) if path.exists() else []))


def trust_key(folder: Path, key: PublicKey) -> None:
    """Add a key to those that are trusted; one that is there stays as it is.

    Raises UsageError where another key has its name, or it has another name; StoreError where it cannot be kept.
    """
    _check_name(key.name)
    known = trusted_keys(folder)
    if key in known:
        return
    if any(one.name == key.name or one.raw == key.raw for one in known):
        path = folder / TRUSTED_KEYS
        raise UsageError(
            key.name, f"this name or this key is trusted already, in {path}", "give another name with --name"
        )
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with (folder / TRUSTED_KEYS).open("a", encoding="utf-8") as file:
            file.write(key.line)
    except OSError as error:
        raise StoreError(str(folder / TRUSTED_KEYS), error.strerror or "cannot be written", "free the folder") from None


def signer(folder: Path) -> Ed25519PrivateKey | None:
    """The user's private key, None where there is none.

    Raises StoreError where others may read it, or it is no such key.
    """
    from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415 - slow to import
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415
    from cryptography.hazmat.primitives.serialization import load_pem_private_key  # noqa: PLC0415

    path = folder / PRIVATE_KEY
    if not path.exists():
        return None
    try:
        with open_named(path) as file:
            if os.fstat(file.fileno()).st_mode & (stat.S_IRWXG | stat.S_IRWXO):
                raise StoreError(str(path), "is accessible to other users", "chmod 600 it, or create a new key")
            key = load_pem_private_key(file.read(_FILE_BYTES_MAX), None)
    except OSError as error:
        raise StoreError(str(path), error.strerror or "cannot be read", "make it readable for you") from None
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise StoreError(str(path), "is not an Ed25519 private key", "move it away and run assay key make") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise StoreError(str(path), "is not an Ed25519 private key", "move it away and run assay key make")
    return key


def sign(key: Ed25519PrivateKey, content: bytes) -> bytes:
    """The signature of a manifest, 64 bytes; the same each time."""
    return key.sign(_CONTEXT + content)


def is_signed_by(raw: bytes, signature: bytes, content: bytes) -> bool:
    """Whether a signature is that of a manifest by the key of these 32 bytes."""
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 - slow to import
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415

    try:
        Ed25519PublicKey.from_public_bytes(raw).verify(signature, _CONTEXT + content)
    except (InvalidSignature, ValueError):
        return False
    return True


def _read_keys(path: Path) -> list[PublicKey]:
    try:
        with open_named(path) as file:
            content = file.read(_FILE_BYTES_MAX).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "is no text"
        raise StoreError(str(path), reason or "cannot be read", "name a file that assay key make wrote") from None
    lines = [line.strip() for line in content.splitlines()]
    return [_key(line, path) for line in lines if line and not line.startswith("#")]


def _key(line: str, path: Path) -> PublicKey:
    kind, _, rest = line.partition(" ")
    encoded, _, name = rest.partition(" ")
    try:
        raw = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        raw = b""
    if kind != _KIND or len(raw) != _KEY_BYTES or not _is_name(name):
        raise StoreError(str(path), "holds a line that is no public key", f"each is: {_KIND} BASE64 NAME")
    return PublicKey(raw, name)


def _is_name(name: str) -> bool:
    return 0 < len(name) <= NAME_LETTERS_MAX and name == name.strip() == visible(name)


def _check_name(name: str) -> None:
    if not _is_name(name):
        raise UsageError("--name", f"must be a text of 1 to {NAME_LETTERS_MAX} printable letters", "give another")


def _write_new(path: Path, content: bytes, mode: int) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
    with os.fdopen(descriptor, "wb") as file:
        os.fchmod(file.fileno(), mode)
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
