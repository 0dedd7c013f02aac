"""The conditions of a test: what two runs must share for their numbers to be compared."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records import StoredTest

_NO_CONDITION = frozenset({"procedure", "test", "edition", "not_applicable"})
"""Settings that are no condition of their own: names, and what the drive cannot do."""


def test_conditions(test: StoredTest) -> dict[str, Any]:
    """The settings of a test that are conditions, by their names. Worked: ``demand.queue_depth`` -> 8."""
    flat = _flat(asdict(test.settings), "")
    return {key: value for key, value in flat if key.rpartition(".")[2] not in _NO_CONDITION}


def _flat(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    """The leaves of nested settings. Worked: ``{"demand": {"queue_depth": 8}}`` -> ``("demand.queue_depth", 8)``."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _flat(inner, f"{name}.{key}" if name else str(key))
    else:
        yield name, value
