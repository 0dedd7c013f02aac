"""Records to JSON and back. What is read may be anybody's, so it is held against the records' own fields."""

from __future__ import annotations

import json
from typing import Any, TypeVar

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic_core import SchemaValidator

from assay.errors import StoreError
from assay.spec.json_text import VALUES_MAX, json_object
from assay.spec.model_faults import fault_words

T = TypeVar("T")

_CHANGED = "the run was changed or damaged, or written by another version of Assay"

_ENCODERS: dict[type, TypeAdapter[Any]] = {}
_DECODERS: dict[Any, SchemaValidator] = {}


def encode(record: object, *, exclude: Any = None) -> Any:
    """A record as JSON values; floats keep every bit. ``exclude`` is as in pydantic."""
    # Making an adapter takes milliseconds; there are a dozen kinds of record.
    kind = type(record)
    if kind not in _ENCODERS:
        _ENCODERS[kind] = TypeAdapter(kind)
    return _ENCODERS[kind].dump_python(record, mode="json", exclude=exclude)


def decode(record: type[T], value: object, *, name: str) -> T:
    """JSON values as a record: every field of its own type, none missing, none unknown, at any depth.

    record : a dataclass, whose annotations are the schema. name : the file, and line, that the values come from.
    Raises StoreError naming ``name``, the place in it and the reason where they do not fit.
    Worked: ``decode(SkippedTest, {"test": "hir"}, name="run.json")`` raises ``run.json: reason: is missing``.
    """
    try:
        text = canonical(value)
    except (ValueError, RecursionError):
        raise StoreError(name, "holds a value that no run has", _CHANGED) from None
    return decode_text(record, text, name=name)


def decode_text(record: type[T], text: bytes, *, name: str) -> T:
    """Decode a record from JSON text."""
    try:
        decoded: T = _decoder(record).validate_json(b"[%b]" % text)[0]
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in fault["loc"][1:]) or "value"
        raise StoreError(name, f"{where}: {fault_words(fault)[0]}", _CHANGED) from None
    except (ValueError, RecursionError):
        raise StoreError(name, "holds a value that no run has", _CHANGED) from None
    return decoded


def canonical(value: object) -> bytes:
    """JSON with sorted keys on one line, so that equal values give equal bytes."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def parse(content: bytes, *, name: str, values_max: int = VALUES_MAX) -> dict[str, Any]:
    """Read a JSON object that anybody may have made, as ``json_object``. Raises StoreError naming ``name``."""
    try:
        return json_object(content, values_max=values_max)
    except ValueError as error:
        raise StoreError(name, str(error), _CHANGED) from None


def _decoder(record: Any) -> SchemaValidator:
    """Records are plain dataclasses; a tuple around one is what lets a configuration reach them all."""
    if record not in _DECODERS:
        config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)
        schema = TypeAdapter(tuple[record], config=config).core_schema
        _DECODERS[record] = SchemaValidator(_ending_early(schema))
    return _DECODERS[record]


def _ending_early(schema: Any) -> Any:
    """A schema whose lists stop at their first fault: a hostile list has millions, and one is shown."""
    if isinstance(schema, dict):
        result = {key: _ending_early(part) for key, part in schema.items()}
        return result | ({"fail_fast": True} if result.get("type") in {"tuple", "list"} else {})
    return [_ending_early(part) for part in schema] if isinstance(schema, list) else schema
