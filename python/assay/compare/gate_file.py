"""The limits of a gate by number, from a TOML file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from assay.compare.gate import Rule
from assay.errors import UsageError
from assay.spec.toml_file import read_toml, validated

if TYPE_CHECKING:
    from pathlib import Path

_SHARE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*%\s*")
_PERCENT = 100.0
_REMEDY = "write per cent, such as 5%"


def share_of(text: str) -> float:
    """The share that a text in per cent states. Worked: ``"5%"`` and ``"5 %"`` -> 0.05.

    Raises ValueError where it is none, or is not above zero and up to 100 %.
    """
    match = _SHARE.fullmatch(text)
    value = float(match[1]) / _PERCENT if match else 0.0
    if not 0 < value <= 1:
        raise ValueError("is no share above 0 % and up to 100 %")
    return value


def limit_of(text: str, thing: str) -> float:
    """The same of an option. Raises UsageError."""
    try:
        return share_of(text)
    except ValueError as error:
        raise UsageError(f"{thing} {text}", str(error), _REMEDY) from None


def _valid_share(text: str) -> str:
    share_of(text)
    return text


_Share = Annotated[str, Field(max_length=20), AfterValidator(_valid_share)]
_Pattern = Annotated[str, Field(min_length=1, max_length=200)]


class _Limit(BaseModel):
    """One limit: of which numbers, and how large."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    test: _Pattern = "*"
    item: _Pattern = "*"
    name: _Pattern = "*"
    fail_over: _Share


class GateFile(BaseModel):
    """A gate file. fail_over : of the numbers that people quote; without it only those of ``limit`` are gated."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    schema_version: Literal[1] = Field(default=1, alias="schema")
    fail_over: _Share | None = None
    limit: list[_Limit] = Field(default_factory=list, max_length=200)


def load_gate(path: Path) -> tuple[float | None, tuple[Rule, ...]]:
    """The limit of the numbers that people quote, and the rules, of a gate file.

    Raises PlanError with the place of every fault; UsageError where the file limits nothing.
    Worked: ``fail_over = "5%"`` -> 0.05 and no rule.
    """
    table, positions = read_toml(path)
    result = validated(GateFile, path, table, positions)
    if result.fail_over is None and not result.limit:
        raise UsageError(str(path), "limits nothing", 'write fail_over = "5%", or a table [[limit]]')
    rules = tuple(
        Rule(test=one.test, item=one.item, name=one.name, limit=share_of(one.fail_over)) for one in result.limit
    )
    return None if result.fail_over is None else share_of(result.fail_over), rules
