"""Keys that bundles are signed with: the user's own, and those of others that the user trusts.

They lie in the user's folder of settings. The private key is readable by the user alone, or is not used.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import re
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING
from unicodedata import name as unicode_name
from unicodedata import normalize

from assay.errors import StoreError, UsageError
from assay.spec.files import open_named, read_user_file, write_user_file
from assay.words.visible import visible

if TYPE_CHECKING:
    from pathlib import Path

    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey


_PRIME = 2**255 - 19
_ORDER_8 = int.from_bytes(bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"), "little")
_SMALL_ORDER = frozenset({0, 1, _PRIME - 1, _ORDER_8, _PRIME - _ORDER_8})
"""y of the eight points of small order: of order 4, 1, 2, and twice two of order 8, which differ in the sign of x."""
PRIVATE_KEY, PUBLIC_KEY, TRUSTED_KEYS = "signing_key.pem", "signing_key.pub", "trusted_keys"
NAME_LETTERS_MAX = 60
_KIND = "assay-ed25519"
_CONTEXT = b"assay bundle 1\n"
"""Stands before what is signed, so that the key signs nothing else by mistake."""
_KEY_BYTES = 32
_FILE_BYTES_MAX = 1 << 20
_FINGERPRINT_DIGITS = 32
_SCRIPTS = {"LATIN", "CJK", "HIRAGANA", "KATAKANA", "HANGUL"}
"""Others have letters that look like Latin ones."""
_EUROPEAN_MAX = 0x17F
"""Last code point of Latin Extended-A: letters beyond it look like ASCII letters and signs."""
_LEVEL = re.compile(r"[,;:]|check|verif|sign|replicat|redact|unknown key|rules")
_REMEDY = "name a file that assay key make wrote"


def is_weak(key: bytes) -> bool:
    """Whether a public key is a point of small order, or is written in another way than the one that is allowed.

    key : 32 bytes: y in little endian, and the sign of x in the highest bit.
    Worked: the point of order 1, a 1 and 31 zeros -> weak; 2**255 - 19, which is 0 written otherwise -> weak.
    """
    y = int.from_bytes(key, "little") & (2**255 - 1)
    return y >= _PRIME or y in _SMALL_ORDER


@dataclass(frozen=True, slots=True)
class PublicKey:
    """A key that signatures are checked with. raw : its 32 bytes. name : whose it is, as the user calls him."""

    raw: bytes
    name: str

    @property
    def fingerprint(self) -> str:
        """The first 32 digits of the SHA-256 of the key, which people compare."""
        return hashlib.sha256(self.raw).hexdigest()[:_FINGERPRINT_DIGITS]

    @property
    def line(self) -> str:
        """The key as a line of a text file. Worked: ``assay-ed25519 BASE64 Lab 2``."""
        return f"{_KIND} {base64.b64encode(self.raw).decode()} {self.name}\n"


def make_key(folder: Path, name: str) -> PublicKey:
    """Make a key pair in a folder, which is made if missing. name : whose it is.

    Raises UsageError if there is one already, or the name is no name; StoreError if it cannot be written.
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
    path, encoded = folder / PRIVATE_KEY, key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    if os.path.lexists(path):
        raise UsageError(str(path), "is there already", "show it with assay key show; move it away first")
    _keep(folder, PRIVATE_KEY, encoded, mode=0o600)
    _keep(folder, PUBLIC_KEY, public.line.encode())
    return public


def own_public_key(folder: Path) -> PublicKey | None:
    """The user's own public key, None without one. Raises StoreError if it cannot be read."""
    content = _kept(folder, PUBLIC_KEY)
    return None if content is None else _only(_keys(content, folder / PUBLIC_KEY), folder / PUBLIC_KEY)


def read_public_key(path: Path) -> PublicKey:
    """The key in a text file that somebody handed out. Raises StoreError if there is none in it."""
    try:
        with open_named(path) as file:
            content = file.read(_FILE_BYTES_MAX)
    except OSError as error:
        raise StoreError(str(path), error.strerror or "cannot be read", _REMEDY) from None
    return _only(_keys(content, path), path)


def _only(keys: list[PublicKey], path: Path) -> PublicKey:
    if len(keys) != 1:
        raise StoreError(str(path), f"holds {len(keys)} keys", f"name a file with a single line: {_KIND} BASE64 NAME")
    return keys[0]


def trusted_keys(folder: Path) -> tuple[PublicKey, ...]:
    """The keys that the user trusts, his own first. Raises StoreError if they cannot be read."""
    own, content = own_public_key(folder), _kept(folder, TRUSTED_KEYS)
    return (*([own] if own else []), *_keys(content or b"", folder / TRUSTED_KEYS))


def trust_key(folder: Path, key: PublicKey) -> None:
    """Trust a key; a key that is trusted already stays as it is.

    Raises UsageError if another key has its name, or it has another name; StoreError if it cannot be kept.
    """
    _check_name(key.name)
    known = trusted_keys(folder)
    if key in known:
        return
    if any(other.name.casefold() == key.name.casefold() or other.raw == key.raw for other in known):
        path = folder / TRUSTED_KEYS
        raise UsageError(
            key.name, f"this name or this key is trusted already, in {path}", "give another name with --name"
        )
    before = _kept(folder, TRUSTED_KEYS) or b""
    gap = b"\n" if before and not before.endswith(b"\n") else b""
    _keep(folder, TRUSTED_KEYS, before + gap + key.line.encode())


def signer(folder: Path) -> Ed25519PrivateKey | None:
    """The user's private key, None without one.

    Raises StoreError if others may read it, or it is no such key.
    """
    from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415 - slow to import
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415
    from cryptography.hazmat.primitives.serialization import load_pem_private_key  # noqa: PLC0415

    path, content = folder / PRIVATE_KEY, _kept(folder, PRIVATE_KEY)
    if content is None:
        return None
    if path.lstat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise StoreError(str(path), "is accessible to other users", "chmod 600 it, or create a new key")
    try:
        key = load_pem_private_key(content, None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise StoreError(str(path), "is not an Ed25519 private key", "move it away and run assay key make") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise StoreError(str(path), "is not an Ed25519 private key", "move it away and run assay key make")
    return key


def sign(key: Ed25519PrivateKey, content: bytes) -> bytes:
    """The signature of a manifest, 64 bytes; the same each time."""
    return key.sign(_CONTEXT + content)


def is_signed_by(raw: bytes, signature: bytes, content: bytes) -> bool:
    """Whether the key of these 32 bytes signed a manifest; False for a weak key."""
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 - slow to import
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415

    if is_weak(raw):
        return False
    try:
        Ed25519PublicKey.from_public_bytes(raw).verify(signature, _CONTEXT + content)
    except (InvalidSignature, ValueError):
        return False
    return True


def _kept(folder: Path, name: str) -> bytes | None:
    """A file of the user's own, None without one. Raises StoreError if it cannot be read, or is a link."""
    try:
        return read_user_file(folder.parent, f"{folder.name}/{name}")
    except OSError as error:
        remedy = "make it a regular file that you can read"
        raise StoreError(str(folder / name), error.strerror or "cannot be read", remedy) from None


def _keep(folder: Path, name: str, content: bytes, *, mode: int = 0o644) -> None:
    """Write a file of the user's own. Raises StoreError if it cannot be written, or a folder of it is a link."""
    try:
        write_user_file(folder.parent, f"{folder.name}/{name}", content, mode=mode)
    except OSError as error:
        remedy = "make the folder writable, and no link"
        raise StoreError(str(folder / name), error.strerror or "cannot be written", remedy) from None


def _keys(content: bytes, path: Path) -> list[PublicKey]:
    try:
        lines = [line.strip() for line in content.decode("utf-8").splitlines()]
    except UnicodeDecodeError:
        raise StoreError(str(path), "is no text", _REMEDY) from None
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
    if is_weak(raw):
        raise StoreError(str(path), "holds a key whose signatures anybody can make", "ask its owner for another key")
    return PublicKey(raw, name)


def _is_name(name: str) -> bool:
    """Whether a name can stand in a level: it looks like no other name, and like no part of a level."""
    if not 0 < len(name) <= NAME_LETTERS_MAX or not name == name.strip() == visible(name) == normalize("NFKC", name):
        return False
    return all(map(_is_plain, name)) and "  " not in name and not _LEVEL.search(name.casefold())


def _is_plain(letter: str) -> bool:
    """Whether a letter is seen and looks like no other: ASCII, European or East Asian, and no filler or mark."""
    if letter.isascii() or letter.isdecimal():
        return letter.isascii()
    script, *words = unicode_name(letter, "").split(" ")
    seen = letter.isalpha() and script in _SCRIPTS and "FILLER" not in words
    return seen and (script != "LATIN" or (ord(letter) <= _EUROPEAN_MAX and "DOTLESS" not in words))


def _check_name(name: str) -> None:
    if not _is_name(name):
        raise UsageError(
            "--name",
            f"must be 1 to {NAME_LETTERS_MAX} printable letters, Latin or East Asian, and no part of a level",
            "give another",
        )
