"""Redaction of a run: identities, hosts, people and paths become labels, and the hash chain is made anew.

Numbers, settings, demands and measurements stay as they are, so that a redacted run gives the same results.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from assay.engine.codec import canonical, decode
from assay.engine.records import DriveEvent
from assay.errors import StoreError
from assay.results.events import disturbs
from assay.run.store import JOURNAL_NAME, RUN_DOCUMENT
from assay.run.store.document import read_document
from assay.run.store.journal import sealed, spec_name
from assay.spec.files import open_inside, read_inside

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


_WHOLE_LETTERS_MAX = 6
"""A name as short as this counts as a whole word only: inside words it occurs by chance."""
_BYTES_LETTERS_MIN = 8
_DEVICES = "/dev/"
_OTHER = "redacted-text"
"""For a letter that matches in capitals only, such as the long s."""
_PREFIXES = ("nvme.", "eui.", "naa.", "wwn-0x", "uuid.", "sim:", "loop:", "0x")
_PATH = re.compile(r"(?<![\w/.:])/[\w.@+:-]+(?:/[\w.@+:-]+)*/?")
_ADDRESS = re.compile(
    r"\b[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]\b"  # of a PCIe function
    r"|\b\d{1,3}:\d{1,3}:\d{1,3}:\d{1,5}\b"  # of a SCSI device
    r"|\b(?:0x|naa\.|eui\.|wwn-0x)?(?:[0-9a-f]{32}|[0-9a-f]{16})\b"  # names of the whole world
    r"|\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b",
    re.IGNORECASE,
)
NOTE = (
    "by its maker: labels stand for the drive's model, serials, firmware and paths, for the host, for people and their "
    "notes; equal labels were equal texts; the hash chain was made anew."
)
_IDENTITY = {
    "id": "drive", "path": "path", "model_number": "model", "serial": "serial", "firmware": "firmware", "wwn": "wwn",
    "eui": "eui", "nguid": "nguid", "controller": "controller", "file_id": "file",
}  # fmt: skip
_KEPT_OF_DESCRIPTION = {"nand_type", "interface", "form_factor", "pcie", "file_system", "redacted"}
_PEOPLE = ("operator", "sponsor", "auditor", "lab", "platform_serial")
_PATH_KEYS = {"path", "data_file", "drive"}
_LOOP = "loop:"
_DATA_ORIGIN = "data origin"
LEFT_OUT = ("advice.txt", "run.log")
"""Free texts that nothing reads."""
REDACTED = "redacted"
"""Key in the description of a run: how it was redacted."""
_HASH = "Its final hash before was"
_DIGEST = re.compile(rf"{_HASH} ([0-9a-f]{{64}})")
_BYTES_MAX = 64 << 20
_REMEDY = "export it without --redact, or leave this run out"


@dataclass
class Labels:
    """Labels by text and kind. They are kept while one bundle is made, and written nowhere."""

    _labels: dict[tuple[str, str], str] = field(default_factory=dict)
    _given: set[str] = field(default_factory=set)
    _counts: Counter[str] = field(default_factory=Counter)
    _secrets: dict[str, str] = field(default_factory=dict)
    _pattern: re.Pattern[str] | None = None

    def label(self, kind: str, text: str) -> str:
        """The label of a text. Worked: the first serial -> ``redacted-serial-1``, the same again -> the same."""
        if not text or text in self._given:
            return text
        if (kind, text) not in self._labels:
            self._counts[kind] += 1
            self._labels[kind, text] = f"redacted-{kind}-{self._counts[kind]}"
            self._given.add(self._labels[kind, text])
        return self._labels[kind, text]

    def learn(self, kind: str, text: str | None) -> None:
        """Redact a text from now on wherever people or the kernel wrote it."""
        for variant in _variants(text or ""):
            self._secrets.setdefault(variant.lower(), self.label(kind, text or ""))
        self._pattern = None

    def words(self, text: str) -> str:
        """A free text with labels for learned texts, paths and addresses of devices."""
        if self._secrets:
            text = self._known().sub(lambda match: self._secrets.get(match[0].lower(), _OTHER), text)
        text = _PATH.sub(lambda match: self.label("path", match[0]), text)
        return _ADDRESS.sub(lambda match: self.label("address", match[0]), text)

    def leak(self, text: str) -> bool:
        """Whether a text still holds a learned text, as a whole word or, if long, anywhere."""
        return bool(self._secrets) and self._known().search(text) is not None

    def long_secrets(self) -> list[bytes]:
        """Learned texts that are long enough to be searched in bytes of any kind."""
        return [
            secret.encode("utf-8", "surrogatepass") for secret in self._secrets if len(secret) >= _BYTES_LETTERS_MIN
        ]

    def may_leak(self, line: bytes) -> bool:
        """Whether a line of JSON, in ASCII, may hold a learned text; quick, and False is certain."""
        lower = line.lower()
        return any(json.dumps(secret)[1:-1].lower().encode() in lower for secret in self._secrets)

    def _known(self) -> re.Pattern[str]:
        if self._pattern is None:
            longest_first = sorted(self._secrets, key=len, reverse=True)
            self._pattern = re.compile("|".join(map(_pattern, longest_first)), re.IGNORECASE)
        return self._pattern


def _pattern(text: str) -> str:
    # An underscore is no letter of a name: udev joins model and serial with it.
    whole = len(text) <= _WHOLE_LETTERS_MAX
    return rf"(?<![^\W_]){re.escape(text)}(?![^\W_])" if whole else re.escape(text)


def _variants(text: str) -> list[str]:
    """The ways in which a name is written. Worked: ``/dev/sdb`` -> itself and ``sdb``; ``A B`` -> also ``A_B``."""
    text = text.strip()
    bare = next((text.removeprefix(prefix) for prefix in _PREFIXES if text.startswith(prefix)), text)
    last = bare.rpartition("/")[2]
    variants = [text, bare, bare.partition("?")[0]]
    if text.startswith(_DEVICES) or len(last) >= _BYTES_LETTERS_MIN:
        variants.append(last)
    joined = (variant.replace(" ", "_") for variant in variants)
    return [variant for variant in dict.fromkeys([*variants, *joined]) if len(variant) > 1]


def learn_identities(document: dict[str, Any], labels: Labels) -> None:
    """Learn every name that the drive, the host and people have in ``run.json``."""
    for identity in _identities(document):
        for key, kind in _IDENTITY.items():
            labels.learn(kind, identity.get(key))
    labels.learn("host", document["platform"].get("host_id"))
    labels.learn("path", _text(document["plan"].get("drive")))
    for texts in (document["description"], document["plan"].get("report") or {}):
        for key in _PEOPLE:
            labels.learn(key.replace("_", "-"), _text(texts.get(key)))


def redact_document(document: dict[str, Any], labels: Labels) -> dict[str, Any]:
    """``run.json`` without names."""
    certificate = document["certificate"]
    return {
        **document,
        "identity": _identity(document["identity"], labels),
        "platform": _platform(document["platform"], labels),
        "certificate": certificate and _certificate(certificate, labels),
        "description": {key: _described(key, text, labels) for key, text in document["description"].items()},
        "plan": _plan(document["plan"], labels),
        "edition": _free(document["edition"], labels),
        "deviations": _free(document["deviations"], labels),
        "skipped": [{**test, "reason": labels.words(test["reason"])} for test in document["skipped"]],
    }


def redact_entry(kind: str, data: dict[str, Any], labels: Labels, names: dict[str, str]) -> dict[str, Any]:
    """The data of a line of the journal without names.

    names : digests of demands that changed, old to new; filled as lines come.
    """
    if redacted := _KINDS.get(kind):
        return redacted(data, labels, names)
    return {key: _free(value, labels) for key, value in data.items()}


def _identities(document: dict[str, Any]) -> list[dict[str, Any]]:
    reference = (document["certificate"] or {}).get("reference")
    return [document["identity"], *([reference["drive"]] if reference else [])]


def _identity(identity: dict[str, Any], labels: Labels) -> dict[str, Any]:
    hidden = {key: labels.label(kind, identity[key]) for key, kind in _IDENTITY.items() if identity.get(key)}
    if identity["id"].startswith(_LOOP):
        # Readers take the kind of a target from this.
        hidden["id"] = _LOOP + hidden["id"]
    free = {key: _free(identity[key], labels) for key in ("interface", "media", "refusals", "faults")}
    return {**identity, **free, **hidden, "diskseq": None}


def _platform(platform: dict[str, Any], labels: Labels) -> dict[str, Any]:
    kept = {"tool", "tool_version", "build", "host_id"}
    host = platform.get("host_id")
    result = {key: value if key in kept else _free(value, labels) for key, value in platform.items()}
    return {**result, "host_id": host and labels.label("host", host)}


def _certificate(certificate: dict[str, Any], labels: Labels) -> dict[str, Any]:
    reference = certificate.get("reference")
    return {
        **certificate,
        **{key: labels.words(certificate[key]) for key in ("reason", "method")},
        "reference": reference and {**reference, "drive": _identity(reference["drive"], labels)},
    }


def _described(key: str, text: str, labels: Labels) -> str:
    return labels.words(text) if key in _KEPT_OF_DESCRIPTION else labels.label(key.replace("_", "-"), text)


def _plan(plan: dict[str, Any], labels: Labels) -> dict[str, Any]:
    result = {key: _settings(value, labels) for key, value in plan.items()}
    if isinstance(plan.get("drive"), str):
        result["drive"] = labels.label("path", plan["drive"])
    if isinstance(plan.get("report"), dict):
        result["report"] = {key: _report_texts(key, value, labels) for key, value in plan["report"].items()}
    if isinstance(plan.get("special_notes"), list):
        result["special_notes"] = [_labelled("note", note, labels) for note in plan["special_notes"]]
    return result


def _report_texts(key: str, value: Any, labels: Labels) -> Any:
    if isinstance(value, list):
        return [_report_texts(key, text, labels) for text in value]
    return _described(key, value, labels) if isinstance(value, str) else value


def _labelled(kind: str, texts: dict[str, Any], labels: Labels) -> dict[str, Any]:
    return {key: labels.label(kind, text) if isinstance(text, str) else text for key, text in texts.items()}


def _settings(value: Any, labels: Labels, key: str = "") -> Any:
    """Settings with labels for paths at any depth; other texts stay."""
    if isinstance(value, dict):
        return {name: _settings(part, labels, name) for name, part in value.items()}
    if isinstance(value, list):
        return [_settings(part, labels, key) for part in value]
    if isinstance(value, str) and value and (key in _PATH_KEYS or (key == "edition" and "/" in value)):
        return labels.label("path", value)
    return value


def _free(value: Any, labels: Labels) -> Any:
    """A value with labels in its free texts at any depth."""
    if isinstance(value, dict):
        return {key: _free(part, labels) for key, part in value.items()}
    if isinstance(value, list):
        return [_free(part, labels) for part in value]
    return labels.words(value) if isinstance(value, str) else value


def _redacted_demands(data: dict[str, Any], labels: Labels, names: dict[str, str]) -> dict[str, Any]:
    """The demands of steps under the digests that they have without names."""
    specs = {}
    for old, spec in data["specs"].items():
        redacted = _settings(spec, labels)
        # The name of an access pattern may not change, nor a digest without need.
        names[old] = old if redacted == spec else spec_name(redacted)
        specs[names[old]] = redacted
    return {**data, "specs": specs}


def _steps(data: dict[str, Any], labels: Labels, names: dict[str, str]) -> dict[str, Any]:
    steps = {**data, "asked": [names.get(name, name) for name in data["asked"]]}
    steps["steps"] = [
        {**step, "drive_events": _free(step["drive_events"], labels)} if step.get("drive_events") else step
        for step in data["steps"]
    ]
    if data.get("drive"):
        steps["drive"] = _free(data["drive"], labels)
    return steps


def _free_but(kept: str, data: dict[str, Any], labels: Labels) -> dict[str, Any]:
    return {key: value if key == kept else _free(value, labels) for key, value in data.items()}


_KINDS: dict[str, Callable[[dict[str, Any], Labels, dict[str, str]], dict[str, Any]]] = {
    "asked": _redacted_demands,
    "steps": _steps,
    "test_started": lambda data, labels, _: {**data, "settings": _settings(data["settings"], labels)},
    "test_ended": lambda data, labels, _: _free_but("reason", data, labels),
    "verdict": lambda data, *_: data,
    "advice": lambda data, labels, _: _labelled("advice", data, labels),
    # Written data follow from this number, which looks like the name of a device.
    "engine": lambda data, labels, _: _free_but(_DATA_ORIGIN, data, labels),
}
"""Lines of other kinds have facts and free texts only."""


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def redact(folder: Path, target: Path, *, further: dict[str, str], original_hash: str | None) -> str:
    """Write ``run.json`` and the journal of a run without names into another folder. Returns their final hash.

    further : more texts to redact, such as the name of this host, each with its kind. original_hash : the final hash
    before; None to withhold it.
    Raises StoreError if a name cannot be redacted without changing a result.
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
    """Whether the description of a run says that it was redacted."""
    return REDACTED in description


def hash_before(description: dict[str, str]) -> str | None:
    """The final hash of a redacted run before it was; None if it is not given."""
    result = _DIGEST.search(description.get(REDACTED, ""))
    return result[1] if result else None


def leaks_in(content: bytes, labels: Labels) -> bool:
    """Whether bytes of any kind hold a learned text that is too long to occur by chance."""
    lower = content.lower()
    return any(long_secret in lower for long_secret in labels.long_secrets())


def known_labels(folder: Path) -> Labels:
    """The names that the other files of a run must not hold."""
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
    """Raise StoreError if a line of the kernel's log would have another meaning without its names."""
    for old, new in zip(_events(before), _events(after), strict=True):
        meant = [disturbs(decode(DriveEvent, event, name=place)) for event in (old, new)]
        if meant[0] != meant[1]:
            raise StoreError(place, "a line of the kernel's log cannot be redacted without another meaning", _REMEDY)


def _events(data: dict[str, Any]) -> list[dict[str, Any]]:
    steps = data.get("steps")
    return [event for step in steps for event in step.get("drive_events", [])] if isinstance(steps, list) else []


def _check(folder: Path, labels: Labels) -> None:
    """Raise StoreError if a name is left in a text that is not free, such as the label of an access pattern."""
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
