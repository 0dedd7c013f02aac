"""Facts with their sources: the form of every parameter in editions and drive models."""

from __future__ import annotations

from typing import Annotated, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field

T = TypeVar("T")

FILE_MARK = {"format": "path"}
FileName = Annotated[str, Field(max_length=4096, json_schema_extra=FILE_MARK)]
"""A key that names a file; what reads plans of strangers knows it by this."""


OF_FILES = "ofFiles"
"""In the schema of a key: its choices that need the name of a file."""


class Strict(BaseModel):
    """A frozen model that rejects unknown keys and numbers that are none."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Datum(Strict, Generic[T]):
    """One parameter and the source that it rests on."""

    value: T
    source: str = Field(min_length=1)
