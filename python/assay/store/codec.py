"""Records to JSON and back."""

from __future__ import annotations

import json
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from assay.errors import StoreError

T = TypeVar("T")

_TABLES = (
    "histogram",
    "intended_histogram",
    "lead_in_histogram",
    "series_io_count",
    "series_bytes",
    "series_latency_ns_sum",
    "series_latency_ns_max",
)
STEP_WITHOUT_TABLES = {"read": set(_TABLES), "write": set(_TABLES)}
"""What of a StepRecord goes to Parquet instead of the journal."""


_ADAPTERS: dict[type, TypeAdapter[Any]] = {}


def _adapter(record: type) -> TypeAdapter[Any]:
    # Building one takes milliseconds; there are a dozen kinds of record.
    if record not in _ADAPTERS:
        _ADAPTERS[record] = TypeAdapter(record)
    return _ADAPTERS[record]


def encode(record: object, *, exclude: Any = None) -> Any:
    """A record as JSON values; floats keep every bit. ``exclude`` is as in pydantic."""
    return _adapter(type(record)).dump_python(record, mode="json", exclude=exclude)


def decode(record: type[T], value: object, *, name: str) -> T:
    """JSON values as a record.

    Raises StoreError naming ``name`` where they do not fit.
    """
    try:
        decoded: T = _adapter(record).validate_python(value)
    except ValidationError as error:
        fault = error.errors()[0]
        where = ".".join(str(part) for part in fault["loc"])
        raise StoreError(name, f"{where}: {fault['msg']}", "use the version of Assay that wrote it") from None
    return decoded


def canonical(value: object) -> bytes:
    """JSON with sorted keys on one line, so that equal values give equal bytes."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()
