"""Which runs this user checked on this host: a line per check in the user's state folder, where nobody else can write.

A check belongs to the content of a run folder, as digests. The report is no part of it: it is made from the run.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from assay.run.store import JOURNAL_NAME, RUN_DOCUMENT, TRACES
from assay.run.store.tables import TABLE_KINDS
from assay.spec.files import open_bounded, open_inside
from assay.spec.state_file import append_line, file_state, read_lines
from assay.version import tool_version

if TYPE_CHECKING:
    from collections.abc import Mapping


NAME = "checked.jsonl"
"""Name of the file in the state folder."""
_RULES = Path(__file__).parent / "verify"
_DIGITS = 16
_SEAL = re.compile(rb'"hash":"([0-9a-f]{64})"\}\n?')
_CHUNK, _TAIL_BYTES = 1 << 20, 128
_HASHED_BYTES_MAX = 1 << 31
"""Bytes of all files that are hashed; files beyond count by size and times, as captures do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """How the rules came out for the content of a run folder.

    run_id : of the run. document, journal, tables : as of ``RunContent``. journal_hash : of the last line, the head of
    the chain; seal : the hash at the end of that line. rules : their version. passed : none was broken.
    """

    run_id: str
    document: str
    journal: str
    journal_hash: str
    seal: str
    tables: str
    rules: str
    passed: bool

    def encoded(self) -> bytes:
        """The line, without its end."""
        return json.dumps(asdict(self), separators=(",", ":")).encode()


_FIELDS = {field.name for field in fields(Check)}


@cache
def rules_version() -> str:
    """The version of the rules: version of the tool, and a digest of their code. Worked: ``0.1.0-0123456789abcdef``."""
    digest = hashlib.sha256()
    for path in sorted(_RULES.glob("*.py")):
        digest.update(path.read_bytes())
    return f"{tool_version()}-{digest.hexdigest()[:_DIGITS]}"


def seal_of(end: bytes) -> str:
    """The hash in the last bytes of a journal, by which the checks of a run are looked up; empty if there is none.

    Worked: ``...,"hash":"ab..."}`` -> ``"ab..."``.
    """
    seals = _SEAL.findall(end)
    return seals[-1].decode() if seals and end.rstrip(b"\n").endswith(seals[-1] + b'"}') else ""


def look_of(end: bytes, kept: Mapping[str, list[Check]]) -> str:
    """The kept checks of a journal with this end, as a text that changes once the run is checked."""
    checks = kept.get(seal_of(end), [])
    return hashlib.sha256(checks[-1].encoded()).hexdigest()[:_DIGITS] if checks else ""


def kept_checks() -> dict[str, list[Check]]:
    """The checks by these rules by the seal of the journal, the newest last; none where they cannot be read."""
    with suppress(OSError):
        return _kept(file_state(NAME))
    return {}


def keep(check: Check) -> str | None:
    """Keep a check, unless it is the last of its run already; why it cannot be kept, else None."""
    try:
        if kept_checks().get(check.seal, [None])[-1] != check:
            append_line(NAME, check.encoded())
    except OSError as error:
        return error.strerror or "cannot be written"
    return None


@lru_cache(maxsize=1)
def _kept(known: tuple[int, ...]) -> dict[str, list[Check]]:
    """Read anew where the file is another."""
    del known
    result: dict[str, list[Check]] = {}
    for line in read_lines(NAME):
        check = _decoded(line)
        if check is not None and check.rules == rules_version():
            result.setdefault(check.seal, []).append(check)
    return result


def _decoded(line: bytes) -> Check | None:
    """The check in a line; None if the line is torn, or has another form."""
    try:
        content = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(content, dict) or content.keys() != _FIELDS:
        return None
    texts = all(isinstance(content[name], str) for name in _FIELDS - {"passed"})
    return Check(**content) if texts and isinstance(content["passed"], bool) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunContent:
    """SHA-256 of what is in a run folder, as hex digits.

    document : of ``run.json``. journal : of the whole journal, whose last line is the head of the chain. tables : of
    every table, with its name; captures, and tables beyond 2 GiB in all, stand there with size and times.
    """

    document: str
    journal: str
    tables: str


def run_content(folder: Path) -> RunContent:
    """The content of a run folder now. Raises OSError if it cannot be read, or holds a link."""
    tables, left = hashlib.sha256(), _HASHED_BYTES_MAX
    document, journal = (_digest(folder, name, left) for name in (RUN_DOCUMENT, JOURNAL_NAME))
    for name in sorted(name for kind in (*TABLE_KINDS, TRACES) for name in _inside(folder, kind)):
        size = 0 if name.startswith(f"{TRACES}/") else os.lstat(folder / name).st_size
        digest = _digest(folder, name, left) if 0 < size <= left else _state(folder, name)
        left -= min(size, left)
        tables.update(f"{name} {digest}\n".encode("utf-8", "surrogateescape"))
    return RunContent(document=document, journal=journal, tables=tables.hexdigest())


def journal_seal(folder: Path) -> str:
    """The hash at the end of the journal; empty of a last line that is not whole. Raises OSError."""
    with os.fdopen(open_inside(folder, JOURNAL_NAME), "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(size - _TAIL_BYTES, 0))
        return seal_of(file.read())


def known_result(run_id: str, journal_hash: str, content: RunContent, seal: str) -> bool | None:
    """Whether a run with this content keeps all rules by an earlier check; None without one."""
    known = run_id, journal_hash, content.document, content.journal, content.tables
    fitting = [
        check.passed
        for check in kept_checks().get(seal, [])
        if (check.run_id, check.journal_hash, check.document, check.journal, check.tables) == known
    ]
    return fitting[-1] if fitting else None


def _inside(folder: Path, kind: str) -> list[str]:
    try:
        return [f"{kind}/{name}" for name in os.listdir(folder / kind)]  # noqa: PTH208 - names alone
    except FileNotFoundError:
        return []


def _digest(folder: Path, name: str, bytes_max: int) -> str:
    digest = hashlib.sha256()
    with open_bounded(folder, name, bytes_max=bytes_max) as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def _state(folder: Path, name: str) -> str:
    status = os.lstat(folder / name)
    return f"{status.st_mode:o} {status.st_size} {status.st_mtime_ns} {status.st_ctime_ns} {status.st_ino}"
