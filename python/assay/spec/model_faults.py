"""What a model finds wrong with a table that somebody wrote, in our own words: key, reason and remedy."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

from pydantic import BaseModel, ValidationError

from assay.errors import FAULTS_MAX
from assay.spec.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_SHOWN_MAX = 60
_KEY_MAX = 80
_RANGE_REMEDY = "give a value inside the range"
_SENTENCES: dict[str, tuple[str, str]] = {
    "missing": ("is missing", "add it"),
    "extra_forbidden": ("is not known here", "remove it"),
    "unexpected_keyword_argument": ("is not known here", "remove it"),
    "greater_than": ("is {value}, and must be more than {gt}", _RANGE_REMEDY),
    "greater_than_equal": ("is {value}, and must be at least {ge}", _RANGE_REMEDY),
    "less_than": ("is {value}, and must be less than {lt}", _RANGE_REMEDY),
    "less_than_equal": ("is {value}, and must be at most {le}", _RANGE_REMEDY),
    "finite_number": ("is {value}, and must be a finite number", _RANGE_REMEDY),
    "int_parsing_size": ("is {value}, a number of too many digits", _RANGE_REMEDY),
    "string_too_short": ("is too short: {min_length} or more characters are needed", "write a longer text"),
    "string_too_long": ("is longer than {max_length} characters", "write a shorter text"),
    "too_short": ("has {actual_length} entries, and needs at least {min_length}", "add what is missing"),
    "too_long": ("has more than {max_length} entries", "remove some"),
    "string_pattern_mismatch": (
        "is {value}, and may be at most 64 letters, digits, '.', '_' and '-', the first a letter or a digit",
        "choose another name",
    ),
}
"""Reason and remedy by the kind of fault. Kinds that are not here say what a value is not, or that it is of no use."""

_NOUNS = {
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "string_type": "a text",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "tuple_type": "a list",
    "list_type": "a list",
    "dict_type": "a table",
    "model_type": "a table",
    "model_attributes_type": "a table",
    "dataclass_type": "a table",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFault:
    """One fault. key : dotted, as somebody wrote it. value : what stands there, as far as it is printed."""

    key: str
    reason: str
    remedy: str


def model_faults(error: ValidationError, model: type[BaseModel], table: Mapping[str, Any]) -> list[ModelFault]:
    """Each fault that a model found in a table, one per key; a thousand at most.

    Where a key may be of several forms, it has one fault that names them all. Worked: ``seeed = 7`` in a plan ->
    key ``seeed``, reason ``is not known here``, remedy ``did you mean "seed"?``.
    """
    grouped: dict[tuple[str | int, ...], list[Mapping[str, Any]]] = {}
    for fault in error.errors(include_url=False):
        if len(grouped) == FAULTS_MAX:
            # A hostile file has a hundred thousand, and each is compared with every known word.
            break
        grouped.setdefault(_written_key(fault["loc"], table, fault["type"]), []).append(fault)
    # What is inside a value says more than that the value is of another form, or has too few entries.
    above = {key[:length] for key in grouped for length in range(len(key))}
    return [
        ModelFault(key=_dotted(key), reason=reason, remedy=remedy)
        for key, faults in grouped.items()
        if key not in above
        for reason, remedy in [_words(key, faults, model)]
    ]


def fault_words(fault: Mapping[str, Any]) -> tuple[str, str]:
    """Reason and remedy of one fault as pydantic lists it. Worked: ``missing`` -> ``is missing``."""
    return _words((), [fault], BaseModel)


def first_fault(error: ValidationError) -> tuple[str, str]:
    """Reason and remedy of the first thing that a model has against its values; the remedy may be empty.

    Worked: 100 where less than 100 is asked -> ``is 100, and must be less than 100``.
    """
    return fault_words(error.errors(include_url=False)[0])


def _written_key(loc: Sequence[str | int], table: Any, kind: str) -> tuple[str | int, ...]:
    """The place without the names of forms that were tried, which nobody wrote."""
    key: list[str | int] = []
    for part in loc:
        inside = isinstance(table, Mapping) and part in table
        if inside or (isinstance(table, list | tuple) and isinstance(part, int) and part < len(table)):
            table = table[part]
            key.append(part)
    return (*key, loc[-1]) if kind == "missing" else tuple(key)


def _dotted(key: Sequence[str | int]) -> str:
    return ".".join(str(part)[:_KEY_MAX] for part in key)


def _words(key: tuple[str | int, ...], faults: Sequence[Mapping[str, Any]], model: type[BaseModel]) -> tuple[str, str]:
    """Reason and remedy of what is wrong at one key: one fault, or one for each form that it may have."""
    kinds = [fault["type"] for fault in faults]
    value = shown(faults[0]["input"])
    if key and "extra_forbidden" in kinds:
        known = [name for one in _models_at(model, key[:-1]) for name in _keys(one)]
        return "is not known here", did_you_mean(str(key[-1]), known, "remove it")
    nouns = list(dict.fromkeys(_NOUNS[kind] for kind in kinds if kind in _NOUNS))
    if "literal_error" in kinds:
        return _none_of(faults, value, nouns)
    for fault in faults:
        if fault["type"] not in _NOUNS:
            return _sentence(fault, value)
    return f"is {value}, not {_listed(nouns)}", _form_remedy(model, key)


def _sentence(fault: Mapping[str, Any], value: str) -> tuple[str, str]:
    kind, context = fault["type"], fault.get("ctx", {})
    if kind in _SENTENCES:
        reason, remedy = _SENTENCES[kind]
        bounds = {name: shown(bound) for name, bound in context.items()}
        return reason.format(value=value, **bounds), remedy
    own = context.get("error")
    if isinstance(own, ValueError):
        # It says the reason, and may say the remedy.
        reason, remedy = (*map(str, own.args), "correct it")[:2]
        return reason, remedy
    return f"is {value}, which is of no use here", "correct it"


def _none_of(faults: Sequence[Mapping[str, Any]], value: str, nouns: Sequence[str]) -> tuple[str, str]:
    expected = [word for fault in faults for word in _expected(fault)]
    given = faults[0]["input"]
    known = ", ".join([*dict.fromkeys(expected), *nouns])
    if expected == ["1"]:
        return f"is {value}, and this version reads 1 only", "use the version of Assay that it was written for"
    remedy = "choose a listed value"
    return f"is {value}, none of {known}", did_you_mean(given, expected, remedy) if isinstance(given, str) else remedy


def _expected(fault: Mapping[str, Any]) -> list[str]:
    """The words that a fault would have taken. Worked: ``'on', 'off' or 1`` -> on, off, 1."""
    text = str(fault.get("ctx", {}).get("expected", ""))
    return [quoted or plain for quoted, plain in re.findall(r"'([^']*)'|(\d+)", text)]


def _form_remedy(model: type[BaseModel], key: Sequence[str | int]) -> str:
    """How a parameter with its source is written, where one stands without it."""
    sourced = any({"value", "source"} == set(_keys(one)) for one in _models_at(model, key))
    return 'write it as { value = ..., source = "..." }' if sourced else "correct it"


def _listed(words: Sequence[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} or {last}" if first else last


def shown(value: Any) -> str:
    """A value as it is printed in an error, on one line and not for long. Worked: ``"x"`` with its quotes, ``true``."""
    if isinstance(value, Mapping):
        return "a table"
    if isinstance(value, list | tuple):
        return "a list" if value else "an empty list"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return str(value).removesuffix(".0")
    text = f'"{value:.{_SHOWN_MAX}}"' if isinstance(value, str) else str(value)
    return text if len(text) <= _SHOWN_MAX + 2 else f"{text[:_SHOWN_MAX]}..."


def _models_at(model: type[BaseModel], key: Sequence[str | int]) -> list[type[BaseModel]]:
    """The models that a table at a key may be of. Lists, and tables with free keys, have entries of one form."""
    result = [model]
    for part in key:
        inner = [annotation for one in result for name, annotation in _fields(one) if name == part]
        result = [model for annotation in inner for model in _models(annotation)] if inner else result
    return result


def _fields(model: type[BaseModel]) -> Iterator[tuple[str, Any]]:
    for name, field in model.model_fields.items():
        yield field.alias or name, field.annotation


def _keys(model: type[BaseModel]) -> list[str]:
    return [name for name, _ in _fields(model)]


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models(part)
