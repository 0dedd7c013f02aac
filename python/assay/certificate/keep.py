"""Keeps certificates, one file each, in the user's data folder."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.errors import StoreError

if TYPE_CHECKING:
    from assay.certificate.measure import Certificate


def certificate_folder() -> Path:
    """Where certificates are kept: ``assay/certificates`` in XDG_DATA_HOME, or in ``~/.local/share``."""
    base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share"
    return Path(base) / "assay" / "certificates"


def keep_certificate(certificate: Certificate) -> Path:
    """Write a certificate under its date; its path. Raises StoreError."""
    stamp = datetime.fromtimestamp(certificate.made_wall_ns // 10**9, UTC).strftime("%Y%m%dT%H%M%SZ")
    path = certificate_folder() / f"{stamp}.json"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_suffix(".part")
        draft.write_text(json.dumps(asdict(certificate), indent=2), "utf-8")
        draft.replace(path)
    except OSError as error:
        raise StoreError(str(path), error.strerror or str(error), "set XDG_DATA_HOME to a writable folder") from None
    return path


def kept_certificates() -> list[dict[str, Any]]:
    """All that are kept, the newest first, as JSON values."""
    paths = sorted(certificate_folder().glob("*.json"), reverse=True)
    return [json.loads(path.read_text("utf-8")) for path in paths]
