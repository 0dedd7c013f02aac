"""The location of the index: a file of SQLite by its path, or a database of PostgreSQL by its URL."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assay.errors import StoreError, UsageError
from assay.spec.files import user_folder

_POSTGRESQL = re.compile(r"(postgresql|postgres)(\+psycopg)?://", re.IGNORECASE)
_PORT = re.compile(r"[0-9,]*")
_SQLITE = "sqlite:///"
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_REMEDY = "name a file, or postgresql://USER@HOST/DATABASE"
_DRIVER = "install the wheel with its extra: pip install 'WHEEL[postgresql]'"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A database. path : of SQLite's file, None for PostgreSQL. shown : its name without any password.

    url : of PostgreSQL; it may hold a password, and is therefore in no text of this record.
    is_own : whether it is the one that no user named; only that is replaced where it is damaged.
    """

    shown: str
    path: Path | None = None
    url: str = field(default="", repr=False)
    is_own: bool = False


def default_place() -> Place:
    """The index that is used where none is named: ``assay/index.sqlite`` in XDG_STATE_HOME, or in ``~/.local/state``.

    It is not in the folder of runs, which may be read-only, another user's, or on a network: SQLite's write-ahead log
    takes a local file system.
    """
    path = user_folder("state") / "assay/index.sqlite"
    return Place(shown=str(path), path=path, is_own=True)


def named_place(text: str) -> Place:
    """The index that a user names.

    text : the path of a file, ``sqlite:///PATH``, or a URL of PostgreSQL as its own tools take it.
    Raises UsageError for another URL, or one that cannot be read; StoreError if PostgreSQL's driver is missing.
    Worked: ``postgresql://kim:secret@db/lab`` is shown as ``postgresql://kim@db/lab``.
    """
    if _POSTGRESQL.match(text):
        url = _POSTGRESQL.sub("postgresql://", text, count=1)
        return Place(shown=_shown(url), url=url)
    path = text.removeprefix(_SQLITE)
    if _SCHEME.match(path) or not path:
        raise UsageError("--index", "is no URL of a database that is known", _REMEDY)
    return Place(shown=path, path=Path(path).expanduser())


def driver() -> Any:
    """PostgreSQL's driver. Raises StoreError with how it is installed where it is not."""
    try:
        import psycopg  # noqa: PLC0415 - optional, and slow to load
    except ImportError:
        raise StoreError("PostgreSQL", "has no driver here (psycopg)", _DRIVER) from None
    return psycopg


def without_password(text: str, place: Place) -> str:
    """A text of a driver, which may repeat what it was called with, on one line and without the password."""
    for secret in filter(None, (_parameters(place.url).get("password") if place.url else None, place.url)):
        text = text.replace(secret, "***")
    return " ".join(text.split())


def has_password(text: str) -> bool:
    """Whether the name of an index holds a password, which ``ps`` would show. Raises as ``named_place``.

    Worked: ``postgresql://kim:secret@db/lab`` -> True; ``postgresql://kim@db/lab`` -> False.
    """
    url = named_place(text).url
    return bool(url and _parameters(url).get("password"))


def masked(text: str) -> str:
    """A setting that names an index, as it may be shown. Worked: ``postgresql://a:b@c/d`` -> ``postgresql://a@c/d``."""
    try:
        return named_place(text).shown
    except (UsageError, StoreError):
        # What cannot be taken apart may hold a password anywhere.
        return "(not shown: it cannot be read)" if "://" in text else text


def _shown(url: str) -> str:
    result = _parameters(url)
    host, port = result.get("host") or "", result.get("port")
    user = f"{result['user']}@" if result.get("user") else ""
    # A folder of sockets is no part of a URL's host.
    where = host if not host.startswith("/") else ""
    at = f"?host={host}" if host.startswith("/") else ""
    return f"postgresql://{user}{where}{f':{port}' if port and where else ''}/{result.get('dbname') or ''}{at}"


def _parameters(url: str) -> dict[str, str]:
    psycopg = driver()
    from psycopg.conninfo import conninfo_to_dict  # noqa: PLC0415 - as above

    try:
        parameters = {key: str(value) for key, value in conninfo_to_dict(url).items()}
    except psycopg.Error:
        # The driver's own words may hold a part of the password.
        raise UsageError("--index", "is no URL of PostgreSQL that can be read", _REMEDY) from None
    # A password with one of these signs would otherwise be taken, and shown, as another part of the URL.
    if "@" in parameters.get("host", "") + parameters.get("dbname", "") or not _PORT.fullmatch(
        parameters.get("port", "")
    ):
        remedy = "in a password write %40 for @, %2F for /, %3A for :, or leave it to PGPASSWORD or ~/.pgpass"
        raise UsageError("--index", "is no URL of PostgreSQL that can be read", remedy)
    return parameters
