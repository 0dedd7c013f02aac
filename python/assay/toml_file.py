"""TOML files that people write: read with the place of every key, so that each fault is named with line and column."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ValidationError

from assay.errors import PlanError
from assay.files import open_named

if TYPE_CHECKING:
    from pathlib import Path

M = TypeVar("M", bound=BaseModel)

FILE_BYTES_MAX = 1 << 20

_PLACE = re.compile(r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)", re.DOTALL)
_FAULTS_MAX = 10

Positions = dict[str, tuple[int, int]]


def read_toml(path: Path) -> tuple[dict[str, Any], Positions]:
    """Read a file of at most 1 MiB; the place (line, column, from 1) of each key by its dotted path.

    TOML 1.0 in UTF-8, also with a byte order mark.

    Raises PlanError where it cannot be read or is not TOML.
    """
    # Loading the native module is spared to those who read no file.
    from assay._native import toml_positions  # noqa: PLC0415

    try:
        with open_named(path) as file:
            raw = file.read(FILE_BYTES_MAX + 1)
        text = raw[:FILE_BYTES_MAX].decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "is not UTF-8 text"
        raise PlanError(str(path), reason or "cannot be read", "name a readable TOML file") from None
    if len(raw) > FILE_BYTES_MAX:
        raise PlanError(str(path), "is larger than 1 MiB", "name a TOML file that people write")
    positions = toml_positions(text, str(path))
    try:
        return tomllib.loads(text), positions
    except (ValueError, RecursionError) as error:
        raise _syntax_error(path, error) from None


def validated(model: type[M], path: Path, table: dict[str, Any], positions: Positions) -> M:
    """The table of a file as a model. Raises PlanError with the places of all that is wrong in it."""
    try:
        return model.model_validate(table)
    except ValidationError as error:
        raise fault_error(path, positions, error) from None


def faults(error: ValidationError) -> list[tuple[str, str]]:
    """The dotted key and the wording of each fault that a model found, of the first ten."""
    found = error.errors(include_url=False)[:_FAULTS_MAX]
    return [
        (".".join(str(part)[:80] for part in fault["loc"]), f"{fault['msg']} (got {fault['input']!r:.60})")
        for fault in found
    ]


def fault_error(path: Path, positions: Positions, error: ValidationError) -> PlanError:
    """All faults as one error, each with its place; the first is the thing that the error names."""
    placed = [(_place(path, positions, key), reason) for key, reason in faults(error)]
    (thing, first), *others = placed
    return PlanError(thing, "; ".join([first, *(f"{place}: {reason}" for place, reason in others)]), "correct the file")


def place_error(path: Path, positions: Positions, key: str, reason: str) -> PlanError:
    """One fault as an error with its place. key : dotted."""
    return PlanError(_place(path, positions, key), reason, "correct the file")


def _syntax_error(path: Path, error: ValueError | RecursionError) -> PlanError:
    """What the reader of values refuses: it knows TOML 1.0 only, and no number of more than 4,300 digits."""
    if isinstance(error, RecursionError):
        return PlanError(str(path), "is nested too deeply", "correct the file")
    match = _PLACE.fullmatch(str(error))
    if match is None:
        return PlanError(str(path), str(error), "correct the TOML syntax")
    thing = f"{path}:{match[2]}:{match[3]}" if match[2] else str(path)
    return PlanError(thing, f"{match[1]} (read as TOML 1.0)", "correct the TOML syntax")


def _place(path: Path, positions: Positions, key: str) -> str:
    known = key
    while known and known not in positions:
        known = known.rpartition(".")[0]
    line, column = positions.get(known, (1, 1))
    return f"{path}:{line}:{column} {key}"
