"""The line that is kept of a run that was checked."""

from __future__ import annotations

import hashlib
import json
import re
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from assay.spec.state_file import append_line, file_state, read_lines
from assay.version import tool_version

if TYPE_CHECKING:
    from collections.abc import Mapping

NAME = "checked.jsonl"
"""Of the file in the state folder."""
_RULES = Path(__file__).parents[1] / "verify"
_DIGITS = 16
_SEAL = re.compile(rb'"hash":"([0-9a-f]{64})"\}\n?')


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
    """The version of the rules: that of the tool, and a digest of their code. Worked: ``0.1.0-0123456789abcdef``."""
    digest = hashlib.sha256()
    for path in sorted(_RULES.glob("*.py")):
        digest.update(path.read_bytes())
    return f"{tool_version()}-{digest.hexdigest()[:_DIGITS]}"


def seal_of(end: bytes) -> str:
    """The hash in the last bytes of a journal, by which the checks of a run are looked up; empty where there is none.

    Worked: ``...,"hash":"ab..."}`` -> ``"ab..."``.
    """
    seals = _SEAL.findall(end)
    return seals[-1].decode() if seals and end.rstrip(b"\n").endswith(seals[-1] + b'"}') else ""


def look_of(end: bytes, kept: Mapping[str, list[Check]]) -> str:
    """What of the kept checks bears on a journal with this end: it differs once a run was checked."""
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
    """None of a line that is torn, or of another form."""
    try:
        content = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(content, dict) or content.keys() != _FIELDS:
        return None
    texts = all(isinstance(content[name], str) for name in _FIELDS - {"passed"})
    return Check(**content) if texts and isinstance(content["passed"], bool) else None
