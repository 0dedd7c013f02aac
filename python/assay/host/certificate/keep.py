"""Keeps certificates, one file each, in the user's data folder."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from pydantic import TypeAdapter, ValidationError

from assay.errors import StoreError
from assay.host.certificate.record import Certificate
from assay.spec.files import read_user_file, user_folder, write_user_file

if TYPE_CHECKING:
    from pathlib import Path


_FOLDER = "assay/certificates"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What is kept: certificates, the newest first, and names of files that could not be read as one."""

    certificates: tuple[Certificate, ...]
    unreadable: tuple[str, ...] = ()


def certificate_folder() -> Path:
    """Where certificates are kept: ``assay/certificates`` in XDG_DATA_HOME, or in ``~/.local/share``."""
    return user_folder("data") / _FOLDER


def keep_certificate(certificate: Certificate) -> Path:
    """Write a certificate under its date; its path. Raises StoreError."""
    stamp = datetime.fromtimestamp(certificate.made_wall_ns // 10**9, UTC).strftime("%Y%m%dT%H%M%SZ")
    path = certificate_folder() / f"{stamp}.json"
    try:
        content = json.dumps(asdict(certificate), indent=2).encode()
        write_user_file(user_folder("data"), f"{_FOLDER}/{path.name}", content)
    except OSError as error:
        raise StoreError(str(path), error.strerror or str(error), "set XDG_DATA_HOME to a writable folder") from None
    return path


def kept_certificates() -> Kept:
    """Everything that is kept; a damaged file hides no other."""
    adapter: TypeAdapter[Certificate] = TypeAdapter(Certificate)
    certificates: list[Certificate] = []
    unreadable: list[str] = []
    for path in sorted(certificate_folder().glob("*.json")):
        try:
            content = read_user_file(user_folder("data"), f"{_FOLDER}/{path.name}")
            certificates.append(adapter.validate_json(content or b""))
        except (OSError, ValidationError):
            unreadable.append(path.name)
    certificates.sort(key=lambda certificate: certificate.made_wall_ns, reverse=True)
    return Kept(certificates=tuple(certificates), unreadable=tuple(unreadable))
