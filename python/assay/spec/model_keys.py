"""What files that people write may hold, from the models that read them: kind, legal range and default of each key."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from pydantic import BaseModel

_TEXT_LETTERS_SAID = 500
"""A limit of letters beyond this is no matter of interest."""
_ABOUT = re.compile(r"(?:^|(?<=\. )|(?<=\n))((?:[a-z_]\w*)(?:, [a-z_]\w*)*) : ", re.MULTILINE)


class Form:
    """The keys of a model by its JSON schema."""

    def __init__(self, model: type[BaseModel]) -> None:
        content = model.model_json_schema(by_alias=True)
        self.properties: dict[str, dict[str, Any]] = content["properties"]
        self._defs: dict[str, Any] = content.get("$defs", {})

    def table(self, key: str) -> dict[str, dict[str, Any]] | None:
        """The keys of a table, None where the key is none."""
        result = self._resolved(self.properties[key])
        if result.get("type") != "object" or "properties" not in result:
            return None
        # What the tool fills in by itself is no key for people.
        return {name: one for name, one in result["properties"].items() if not one.get("readOnly")}

    def legal(self, schema: dict[str, Any]) -> str:
        """What a value may be, in words. Worked: a number above 0 and up to 1 -> ``number above 0 up to 1``."""
        schema = self._resolved(schema)
        if "anyOf" in schema:
            words = [self.legal(one) for one in schema["anyOf"] if one.get("type") != "null"]
            return " or ".join(dict.fromkeys(words))
        if "enum" in schema:
            return ", ".join(map(str, schema["enum"]))
        if "const" in schema:
            return str(schema["const"])
        return _KINDS.get(schema.get("type", ""), _any)(self, schema)

    def _resolved(self, schema: dict[str, Any]) -> dict[str, Any]:
        name = schema.get("$ref", "").rpartition("/")[2]
        return self._defs[name] if name else schema

    def _list(self, schema: dict[str, Any]) -> str:
        most = f", at most {schema['maxItems']}" if "maxItems" in schema else ""
        return f"list of: {self.legal(schema['items'])}{most}"


def about(model: type[BaseModel]) -> dict[str, str]:
    """What the documentation of a model says of its keys, one sentence or two each; of its bases as well.

    Worked: ``scale : multiplies durations, in (0, 1].`` -> ``{"scale": "multiplies durations, in (0, 1]"}``.
    """
    result: dict[str, str] = {}
    for one in reversed(model.__mro__):
        text = "" if one.__module__.startswith(("pydantic", "builtins")) else " ".join((one.__doc__ or "").split())
        parts = _ABOUT.split(text)
        for names, words in zip(parts[1::2], parts[2::2], strict=True):
            result |= dict.fromkeys(names.split(", "), words.strip().rstrip(".").replace("``", ""))
    return result


def number(value: float) -> str:
    """A number as people write it. Worked: 60.0 -> ``60``; 2**63 -> ``9223372036854775808``."""
    return str(int(value)) if float(value).is_integer() else f"{value:g}"


def _number(_form: Form, schema: dict[str, Any]) -> str:
    kind = "whole number" if schema["type"] == "integer" else "number"
    words = [
        f"{word} {number(schema[key])}"
        for key, word in (("minimum", "from"), ("exclusiveMinimum", "above"), ("maximum", "to"))
        if key in schema
    ]
    below = [f"below {number(schema['exclusiveMaximum'])}"] if "exclusiveMaximum" in schema else []
    return " ".join([kind, *words, *below])


def _text(_form: Form, schema: dict[str, Any]) -> str:
    most = schema.get("maxLength", 0)
    return f"text of at most {most} letters" if 0 < most <= _TEXT_LETTERS_SAID else "text"


def _any(_form: Form, _schema: dict[str, Any]) -> str:
    return "any value"


_KINDS: dict[str, Callable[[Form, dict[str, Any]], str]] = {
    "integer": _number,
    "number": _number,
    "string": _text,
    "boolean": lambda _form, _schema: "true or false",
    "array": Form._list,  # noqa: SLF001 - its own module's
    "object": lambda _form, _schema: "table",
}
