"""The API as an OpenAPI 3.1 document, made from its table of addresses and the models that it answers with."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from assay.web.api import ADDRESSES
from assay.web.forms import ApiError

if TYPE_CHECKING:
    from pydantic.json_schema import JsonSchemaMode

    from assay.web.api import ApiAddress, Parameter

_SCHEMAS = "#/components/schemas/"
_ERRORS = {
    "400": "A parameter has a value that it cannot have.",
    "401": "No session, and no token of a program.",
    "503": "The index cannot be read.",
}
_MISSING = {"404": "There is no such run."}
_WAITING = {"202": {"description": "It is being made; ask again after the seconds of Retry-After."}}


def openapi() -> dict[str, Any]:
    """The document; equal for equal models.

    Worked: ``openapi()["paths"]["/api/v1/runs/{run}"]["get"]["parameters"][0]["name"]`` is ``"run"``.
    """
    forms: list[tuple[int, JsonSchemaMode, TypeAdapter[Any]]] = [
        (index, "serialization", TypeAdapter(form))
        for index, form in enumerate((*(address.form for address in ADDRESSES), ApiError))
    ]
    answers, definitions = TypeAdapter.json_schemas(forms, by_alias=True, ref_template=f"{_SCHEMAS}{{model}}")
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Assay",
            "version": "1",
            "description": "Read-only. Values are those that commands print with --json.",
        },
        "security": [{"program": []}],
        "paths": {
            address.path: {"get": _operation(address, answers[index, "serialization"])}
            for index, address in enumerate(ADDRESSES)
        },
        "components": {
            "schemas": definitions.get("$defs", {}),
            "securitySchemes": {
                "program": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "Made with: assay serve link --role program",
                }
            },
        },
    }


def _operation(address: ApiAddress, answer: dict[str, Any]) -> dict[str, Any]:
    named = re.findall(r"\{(\w+)\}", address.path)
    errors = _ERRORS | (_MISSING if named else {})
    return {
        "operationId": re.sub(r"\W+", "_", address.path.removeprefix("/api/v1/")).strip("_"),
        "summary": address.text,
        "parameters": [*map(_of_path, named), *map(_of_query, address.parameters)],
        "responses": {
            "200": {"description": address.text, "content": _json(answer)},
            **(_WAITING if address.jobs else {}),
            **{
                status: {"description": text, "content": _json({"$ref": f"{_SCHEMAS}ApiError"})}
                for status, text in sorted(errors.items())
            },
        },
    }


def _of_path(name: str) -> dict[str, Any]:
    return {
        "name": name,
        "in": "path",
        "required": True,
        "description": "Address of a run.",
        "schema": {"type": "string"},
    }


def _of_query(parameter: Parameter) -> dict[str, Any]:
    return {
        "name": parameter.name,
        "in": "query",
        "required": False,
        "description": parameter.text,
        "schema": {"type": "array", "items": _value(parameter)} if parameter.repeated else _value(parameter),
    }


def _value(parameter: Parameter) -> dict[str, Any]:
    """The schema of a parameter."""
    if parameter.minimum is not None:
        return {"type": "integer", "minimum": parameter.minimum, "maximum": parameter.maximum}
    return {"type": "string"} | ({"enum": list(parameter.words)} if parameter.words else {})


def _json(schema: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}
