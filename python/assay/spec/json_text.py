"""JSON that anybody may have written: one reader, strict and bounded before anything in it is compared or joined."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

DEPTH_MAX = 32
"""Levels of objects and lists; what Assay writes has fewer than ten."""
VALUES_MAX = 1 << 20
"""Of a text, with those inside of others."""
_INTEGER_BITS_MAX = 96
"""Of integers, and of floats before their point: no time, size or count of a run comes near."""
_NUMBER_LETTERS_MAX = 400
_OUTSIDE = "is out of all range"


def json_object(content: bytes | str, *, values_max: int = VALUES_MAX) -> dict[str, Any]:
    """Read a JSON object. values_max : how many values it may have, at all depths; the caller bounds its bytes.

    Raises ValueError with the reason where it is none, a key comes twice, a number is out of all range, or it is nested
    more deeply than 32 levels.
    Worked: ``{"a": 1, "a": 2}`` -> ``holds the key 'a' twice``.
    """
    try:
        value = json.loads(
            content, object_pairs_hook=_unique, parse_int=_integer, parse_float=_number, parse_constant=_constant
        )
    except (json.JSONDecodeError, UnicodeDecodeError):
        raise ValueError("is not JSON") from None
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    if not isinstance(value, dict):
        raise ValueError("is no JSON object")  # noqa: TRY004 - all that is wrong with a text is one kind of error
    _check_size(value, values_max)
    return value


def _check_size(value: dict[str, Any], values_max: int) -> None:
    """Level by level, since what reads the values later recurses or compares them."""
    level: list[Any] = [value]
    for _ in range(DEPTH_MAX):
        values_max -= sum(map(len, level))
        if values_max < 0:
            raise ValueError("has more values than any that Assay writes")
        inside = (part.values() if isinstance(part, dict) else part for part in level)
        level = [inner for part in inside for inner in part if isinstance(inner, dict | list)]
        if not level:
            return
    raise ValueError("is nested too deeply")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"holds the key {twice[:40]!r} twice")
    return result


def _integer(text: str) -> int:
    if len(text) > _INTEGER_BITS_MAX or abs(value := int(text)) >> _INTEGER_BITS_MAX:
        raise ValueError(f"holds the number {text[:20]}..., which {_OUTSIDE}")
    return value


def _number(text: str) -> float:
    value = float(text) if len(text) <= _NUMBER_LETTERS_MAX else math.inf
    if not math.isfinite(value) or abs(value) >= float(1 << _INTEGER_BITS_MAX):
        raise ValueError(f"holds the number {text[:20]}, which {_OUTSIDE}")
    return value


def _constant(text: str) -> NoReturn:
    raise ValueError(f"holds {text}, which {_OUTSIDE}")
