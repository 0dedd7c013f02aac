"""A run without names: identities, hosts, people and paths become labels, and the hash chain is made anew behind it.

Numbers, settings, what was asked and what was measured stay as they are, so that a redacted run gives the same results.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from typing import TYPE_CHECKING, Any

from assay.archive.bundle.labels import Labels
from assay.archive.bundle.redact_places import NOTE, learn_identities, redact_document, redact_entry
from assay.engine.codec import canonical, decode
from assay.engine.records import DriveEvent
from assay.errors import StoreError
from assay.results.events import disturbs
from assay.run.store import JOURNAL_NAME, RUN_DOCUMENT
from assay.run.store.document import read_document
from assay.run.store.journal import sealed
from assay.spec.files import open_inside, read_inside

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LEFT_OUT = ("advice.txt", "run.log")
"""Texts of free form that nothing reads."""
REDACTED = "redacted"
"""Key in the description of a run: what was done to it."""
_HASH = "Its final hash before was"
_DIGEST = re.compile(rf"{_HASH} ([0-9a-f]{{64}})")
_BYTES_MAX = 64 << 20
_REMEDY = "export it without --redact, or leave this run out"


def redact(folder: Path, target: Path, *, further: dict[str, str], original_hash: str | None) -> str:
    """Write ``run.json`` and the journal of a run without names into another folder; the final hash of what is written.

    further : more that must not be in it, such as the name of this host, each with its kind. original_hash : the final
    hash before; None where it is not to be given away.
    Raises StoreError where something cannot be taken out of it without changing a result.
    """
    document = json.loads(read_inside(folder, RUN_DOCUMENT, bytes_max=_BYTES_MAX))
    labels = Labels()
    learn_identities(document, labels)
    for text, kind in further.items():
        labels.learn(kind, text)
    head = canonical(_noted(redact_document(document, labels), original_hash))
    (target / RUN_DOCUMENT).write_bytes(head)
    read_document(target)
    previous = hashlib.sha256(head).hexdigest()
    with (target / JOURNAL_NAME).open("wb") as file:
        for line in _lines(folder, labels, previous):
            file.write(line)
            previous = hashlib.sha256(line).hexdigest()
    _check(target, known_labels(folder))
    return previous


def is_redacted(description: dict[str, str]) -> bool:
    """Whether a run says of itself that it was redacted."""
    return REDACTED in description


def hash_before(description: dict[str, str]) -> str | None:
    """The final hash of a redacted run before it was; None where it is not given."""
    result = _DIGEST.search(description.get(REDACTED, ""))
    return result[1] if result else None


def leaks_in(content: bytes, labels: Labels) -> bool:
    """Whether bytes of any kind hold a name that is long enough not to be there by chance."""
    lower = content.lower()
    return any(long_secret in lower for long_secret in labels.long_secrets())


def known_labels(folder: Path) -> Labels:
    """What must not be in the other files of a run."""
    labels = Labels()
    learn_identities(json.loads(read_inside(folder, RUN_DOCUMENT, bytes_max=_BYTES_MAX)), labels)
    return labels


def _noted(document: dict[str, Any], original_hash: str | None) -> dict[str, Any]:
    before = f" {_HASH} {original_hash}." if original_hash else ""
    return {**document, "description": {**document["description"], REDACTED: f"{NOTE}{before}"}}


def _lines(folder: Path, labels: Labels, previous: str) -> Iterator[bytes]:
    """The lines of the journal anew; a torn last one is left out."""
    names: dict[str, str] = {}
    with os.fdopen(open_inside(folder, JOURNAL_NAME), "rb") as file:
        for raw in file:
            if not raw.endswith(b"\n"):
                return
            entry = json.loads(raw)
            del entry["hash"]
            data = redact_entry(entry["kind"], entry["data"], labels, names)
            _check_events(entry["data"], data, f"{folder / JOURNAL_NAME}: line {entry['seq'] + 1}")
            line = sealed({**entry, "data": data, "previous": previous})
            previous = hashlib.sha256(line).hexdigest()
            yield line


def _check_events(before: dict[str, Any], after: dict[str, Any], place: str) -> None:
    """Raise StoreError where a line of the kernel's log would mean another thing without the names in it."""
    for old, new in zip(_events(before), _events(after), strict=True):
        meant = [disturbs(decode(DriveEvent, one, name=place)) for one in (old, new)]
        if meant[0] != meant[1]:
            raise StoreError(place, "a line of the kernel's log cannot be redacted without another meaning", _REMEDY)


def _events(data: dict[str, Any]) -> list[dict[str, Any]]:
    steps = data.get("steps")
    return [event for step in steps for event in step.get("drive_events", [])] if isinstance(steps, list) else []


def _check(folder: Path, labels: Labels) -> None:
    """Raise StoreError where a name is left at a place that is no free text, as the label of an access pattern."""
    for name in (RUN_DOCUMENT, JOURNAL_NAME):
        with (folder / name).open("rb") as file:
            for number, line in enumerate(file, 1):
                if labels.may_leak(line) and any(map(labels.leak, _texts(json.loads(line)))):
                    reason = f"line {number} would still hold a name of the drive, the host or a person"
                    raise StoreError(name, reason, _REMEDY)


def _texts(value: Any) -> Iterator[str]:
    """Every text of a JSON value, keys among them."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, part in value.items():
            yield key
            yield from _texts(part)
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part)
