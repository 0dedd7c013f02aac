"""Where names stand in ``run.json`` and in the journal. What is not listed here is left as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.run.store.journal import spec_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from assay.archive.bundle.labels import Labels

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


def learn_identities(document: dict[str, Any], labels: Labels) -> None:
    """Take up every name that the drive, the host and people have in ``run.json``."""
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
        "skipped": [{**one, "reason": labels.words(one["reason"])} for one in document["skipped"]],
    }


def redact_entry(kind: str, data: dict[str, Any], labels: Labels, names: dict[str, str]) -> dict[str, Any]:
    """The data of a line of the journal without names.

    names : what was asked goes by the digest of its content; the digests that changed, filled as lines come.
    """
    work = _KINDS.get(kind)
    if work is not None:
        return work(data, labels, names)
    return {key: _free(value, labels) for key, value in data.items()}


def _identities(document: dict[str, Any]) -> list[dict[str, Any]]:
    reference = (document["certificate"] or {}).get("reference")
    return [document["identity"], *([reference["drive"]] if reference else [])]


def _identity(identity: dict[str, Any], labels: Labels) -> dict[str, Any]:
    hidden = {key: labels.label(kind, identity[key]) for key, kind in _IDENTITY.items() if identity.get(key)}
    if identity["id"].startswith(_LOOP):
        # The kind of a target is told from this.
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
        result["report"] = {key: _of_plan(key, value, labels) for key, value in plan["report"].items()}
    if isinstance(plan.get("special_notes"), list):
        result["special_notes"] = [_note(note, labels) for note in plan["special_notes"]]
    return result


def _of_plan(key: str, value: Any, labels: Labels) -> Any:
    if isinstance(value, list):
        return [_of_plan(key, one, labels) for one in value]
    return _described(key, value, labels) if isinstance(value, str) else value


def _note(note: dict[str, Any], labels: Labels) -> dict[str, Any]:
    return {key: labels.label("note", text) if isinstance(text, str) else text for key, text in note.items()}


def _settings(value: Any, labels: Labels, key: str = "") -> Any:
    """Settings keep their words; a path, at whatever depth, does not."""
    if isinstance(value, dict):
        return {name: _settings(part, labels, name) for name, part in value.items()}
    if isinstance(value, list):
        return [_settings(part, labels, key) for part in value]
    if isinstance(value, str) and value and (key in _PATH_KEYS or (key == "edition" and "/" in value)):
        return labels.label("path", value)
    return value


def _free(value: Any, labels: Labels) -> Any:
    """Free text at any depth."""
    if isinstance(value, dict):
        return {key: _free(part, labels) for key, part in value.items()}
    if isinstance(value, list):
        return [_free(part, labels) for part in value]
    return labels.words(value) if isinstance(value, str) else value


def _asked(data: dict[str, Any], labels: Labels, names: dict[str, str]) -> dict[str, Any]:
    """What was asked, under the digests that it has without the names."""
    specs = {}
    for old, spec in data["specs"].items():
        redacted = _settings(spec, labels)
        # The name of an access pattern may not change, nor a digest without need.
        names[old] = old if redacted == spec else spec_name(redacted)
        specs[names[old]] = redacted
    return {**data, "specs": specs}


def _steps(data: dict[str, Any], labels: Labels, names: dict[str, str]) -> dict[str, Any]:
    steps = {**data, "asked": [names.get(one, one) for one in data["asked"]]}
    steps["steps"] = [
        {**step, "drive_events": _free(step["drive_events"], labels)} if step.get("drive_events") else step
        for step in data["steps"]
    ]
    if data.get("drive"):
        steps["drive"] = _free(data["drive"], labels)
    return steps


def _started(data: dict[str, Any], labels: Labels, _: dict[str, str]) -> dict[str, Any]:
    return {**data, "settings": _settings(data["settings"], labels)}


def _same(data: dict[str, Any], _: Labels, __: dict[str, str]) -> dict[str, Any]:
    return data


def _advice(data: dict[str, Any], labels: Labels, _: dict[str, str]) -> dict[str, Any]:
    return {key: labels.label("advice", text) if isinstance(text, str) else text for key, text in data.items()}


def _ended(data: dict[str, Any], labels: Labels, _: dict[str, str]) -> dict[str, Any]:
    return {key: value if key == "reason" else _free(value, labels) for key, value in data.items()}


def _engine(data: dict[str, Any], labels: Labels, _: dict[str, str]) -> dict[str, Any]:
    # What was written follows from this number, which looks like the name of a device.
    return {key: value if key == _DATA_ORIGIN else _free(value, labels) for key, value in data.items()}


_KINDS: dict[str, Callable[[dict[str, Any], Labels, dict[str, str]], dict[str, Any]]] = {
    "asked": _asked,
    "steps": _steps,
    "test_started": _started,
    "test_ended": _ended,
    "verdict": _same,
    "advice": _advice,
    "engine": _engine,
}
"""Other lines are facts and free texts under keys of their own."""


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
