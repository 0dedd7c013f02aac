"""Many run folders from one: each is whole, with another identity, time and hash chain, and the numbers of that one."""

from __future__ import annotations

import hashlib
import json
import os
from typing import TYPE_CHECKING, Any

from assay.engine.codec import canonical
from assay.run.store.journal import sealed

if TYPE_CHECKING:
    from pathlib import Path

_APART_NS = 3600 * 10**9
DRIVES, FIRMWARES, HOSTS = 40, 5, 7
"""How many different ones there are."""


def synthetic_runs(run: Path, folder: Path, count: int, *, first: int = 0, **identity: Any) -> None:
    """Make runs in a folder, an hour apart, the oldest first.

    run : the folder that they are made from. count : how many. first : number of the first.
    identity : what else of the drive is to be another, such as ``kind="block"``.
    Tables are hard links to those of the run, on the same file system.
    """
    document = json.loads((run / "run.json").read_bytes())
    lines = [json.loads(line) for line in (run / "journal.jsonl").read_bytes().splitlines()]
    tables = [path.relative_to(run) for path in sorted(run.glob("*/*.parquet"))]
    for number in range(first, first + count):
        path = folder / f"run-{number:05}"
        path.mkdir(parents=True)
        head = canonical(_document({**document, "identity": {**document["identity"], **identity}}, number))
        (path / "run.json").write_bytes(head)
        (path / "journal.jsonl").write_bytes(_journal(lines, head, number * _APART_NS))
        for table in tables:
            (path / table).parent.mkdir(exist_ok=True)
            os.link(run / table, path / table)


def _document(document: dict[str, Any], number: int) -> dict[str, Any]:
    identity, platform = document["identity"], document["platform"]
    return {
        **document,
        "run_id": f"{number:016x}-synthetic",
        "started_wall_ns": document["started_wall_ns"] + number * _APART_NS,
        "description": {"name": f"night {number}", "tags": f"bay {number % DRIVES}, nightly"},
        "identity": {**identity, "serial": f"SYN{number % DRIVES:04}", "firmware": f"1.{number % FIRMWARES}"},
        "platform": {**platform, "host_id": f"{number % HOSTS:016x}"},
    }


def _journal(lines: list[dict[str, Any]], head: bytes, later_ns: int) -> bytes:
    previous, made = hashlib.sha256(head).hexdigest(), []
    for line in lines:
        entry = {key: value for key, value in line.items() if key != "hash"}
        made.append(sealed({**entry, "wall_ns": entry["wall_ns"] + later_ns, "previous": previous}))
        previous = hashlib.sha256(made[-1]).hexdigest()
    return b"".join(made)
