"""A file that says how the tool gets on with a drive and a host, and nothing of whose they are.

It is meant to be sent by whoever tries a kind of drive first: which rules refuse, which limits of the host are in the
way, what the drive offers. Serial numbers, identities, paths and the host's own marks are left out by construction:
only facts that are listed here are written.
"""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any

from assay.dut.real.gate import stack_kinds
from assay.dut.real.platform import describe_platform
from assay.dut.real.purge import purge_time
from assay.dut.real.queue import queue_settings
from assay.dut.real.transport import command_set
from assay.errors import StoreError
from assay.results.finding import facts

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from assay.engine.records import DriveIdentity
    from assay.results.finding import Checked

SCHEMA = 1
_DRIVE = (
    *("kind", "capacity_bytes", "logical_block_bytes", "physical_block_bytes", "model_number", "firmware", "interface"),
    *("media", "write_cache", "controls", "namespace_count"),
)
_KNOWN = ("serial", "wwn", "eui", "nguid")
_PLATFORM = ("system", "cpu", "operating_system", "kernel", "tool_version", "build")
_REASON = ("name", "level", "measured", "limit")


def compatibility(identity: DriveIdentity, checks: Sequence[Checked], refusals: Sequence[str]) -> dict[str, Any]:
    """The facts of a drive on this host. checks : of ``audit_host``. refusals : of the gate, as ``examined``.

    Worked: a drive with the serial ``S123`` -> ``{"known": {"serial": True, ...}}``, and no ``S123`` anywhere.
    """
    platform, block, real = describe_platform(), identity.kind == "block", identity.kind != "simulated"
    content = {
        "schema": SCHEMA,
        "host": {name: getattr(platform, name) for name in _PLATFORM},
        "drive": {name: getattr(identity, name) for name in _DRIVE},
        "known": {name: getattr(identity, name) is not None for name in _KNOWN},
        "stack": stack_kinds(identity) if real else [],
        "queue": queue_settings(identity) if block else {},
        "commands": command_set(identity),
        "purge": purge_time(identity, "auto").method if block else None,
        "refusals": list(refusals),
        "checks": [{name: value for name, value in facts(check).items() if name in _REASON} for check in checks],
    }
    redacted: dict[str, Any] = json.loads(_redacted(json.dumps(content), identity))
    return redacted


def write_compatibility(path: Path, content: dict[str, Any]) -> None:
    """Write the file. Raises StoreError where there is one, or it cannot be written."""
    try:
        with path.open("x", encoding="utf-8") as file:
            json.dump(content, file, indent=2)
            file.write("\n")
    except OSError as error:
        raise StoreError(str(path), error.strerror or "cannot be written", "name a new file") from None


def _redacted(text: str, identity: DriveIdentity) -> str:
    """The text without what names this drive, this host, or a path on it, wherever a refusal quotes one."""
    own = (identity.id, identity.serial, identity.wwn, identity.eui, identity.nguid, os.uname().nodename)
    for one in sorted(filter(None, own), key=len, reverse=True):
        text = text.replace(json.dumps(one)[1:-1], "REDACTED")
    return re.sub(r"(?<![\w.])/(?!dev/[a-z0-9]+\b)[^\s,;:()\"\\]+", "PATH", text)
