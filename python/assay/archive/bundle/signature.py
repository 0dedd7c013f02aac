"""The signature of a bundle: who stands for its manifest, and so for every file of it."""

from __future__ import annotations

import base64
import binascii
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from assay.archive.bundle.keys import PublicKey, is_signed_by, sign
from assay.engine.codec import canonical, decode, parse
from assay.errors import StoreError, VerificationError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

_REMEDY = "do not use it; take it from its maker again"
_Encoded = Annotated[str, Field(pattern=r"^[A-Za-z0-9+/]{40,100}={0,2}$")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """``signature.json``. key : public key; signature : of the manifest's bytes; both in base 64."""

    schema: Literal[1] = 1
    key: _Encoded
    signature: _Encoded

    @property
    def raw_key(self) -> bytes:
        """The 32 bytes of the public key."""
        return _bytes(self.key)

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the key."""
        return PublicKey(self.raw_key, "").fingerprint

    def encoded(self) -> bytes:
        """The bytes that are stored."""
        return canonical(asdict(self)) + b"\n"


def signed(key: Ed25519PrivateKey, manifest: bytes) -> Signature:
    """Sign the bytes of a manifest."""
    public, signature = key.public_key().public_bytes_raw(), sign(key, manifest)
    return Signature(key=base64.b64encode(public).decode(), signature=base64.b64encode(signature).decode())


def read_signature(content: bytes, manifest: bytes, *, name: str) -> Signature:
    """Read a signature and hold it against the manifest that it is of. name : of the bundle, for messages.

    Raises StoreError if it is none, VerificationError if it is not the one of this manifest by its key.
    """
    result = decode(Signature, parse(content, name=f"{name}: signature"), name=f"{name}: signature")
    check_signature(result, manifest, name=name)
    return result


def check_signature(found: Signature, manifest: bytes, *, name: str) -> None:
    """Raise VerificationError if a signature is not the one of this manifest; StoreError if it is none."""
    try:
        raw, signature = found.raw_key, _bytes(found.signature)
    except (binascii.Error, ValueError):
        raise StoreError(name, "holds a signature of another form", _REMEDY) from None
    if not is_signed_by(raw, signature, manifest):
        raise VerificationError(name, "its signature does not match its manifest: either was changed", _REMEDY)


def signer_name(signature: Signature, keys: Iterable[PublicKey]) -> str | None:
    """The name under which the user trusts the key of a signature; None if untrusted."""
    return next((key.name for key in keys if key.raw == signature.raw_key), None)


def _bytes(text: str) -> bytes:
    return base64.b64decode(text, validate=True)
