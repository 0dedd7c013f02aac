"""Facts with their sources: the form of every parameter in editions and drive models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field
from pydantic_core.core_schema import no_info_before_validator_function

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler
    from pydantic_core import CoreSchema

T = TypeVar("T")

FILE_MARK = {"format": "path"}
FileName = Annotated[str, Field(max_length=4096, json_schema_extra=FILE_MARK)]
"""A key that names a file; what reads plans of strangers knows it by this."""


OF_FILES = "ofFiles"
"""In the schema of a key: its choices that need the name of a file."""


_SCALARS = {"int", "float", "bool", "str"}


def _take_as_it_is(schema: Any) -> None:
    """Have pydantic convert no scalar of a schema."""
    for inner in schema.values() if isinstance(schema, dict) else schema:
        if isinstance(inner, dict | list | tuple):
            _take_as_it_is(inner)
    if not isinstance(schema, dict):
        return
    if schema.get("type") in _SCALARS:
        schema["strict"] = True
    elif schema.get("type") == "literal" and int in map(type, schema["expected"]):
        schema |= no_info_before_validator_function(_no_flag, schema.copy())


def _no_flag(value: object) -> object:
    """Python takes true for 1. Raises ValueError."""
    if isinstance(value, bool):
        raise ValueError(f"is {str(value).lower()}, not a number", "correct it")  # noqa: TRY004 - pydantic lists it as a fault
    return value


class Strict(BaseModel):
    """A frozen model that rejects unknown keys, numbers that are none, and values of another kind than the key's.

    Worked: for a number, ``true`` and ``"1"`` are refused; 1 is taken where 1.0 may stand. Lists serve as tuples.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Have every number, text and flag taken as it is, at any depth."""
        schema = handler(source)
        _take_as_it_is(schema)
        return schema


class Datum(Strict, Generic[T]):
    """One parameter and the source that it rests on."""

    value: T
    source: str = Field(min_length=1)
