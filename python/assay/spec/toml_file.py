"""TOML and texts of files, bounded, with the place of every key for errors."""

from __future__ import annotations

import codecs
import re
import tomllib
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError

from assay.errors import PlanError, joined
from assay.spec.files import open_named
from assay.spec.model_faults import ModelFault, model_faults

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path


def named_bytes(path: Path, *, bytes_max: int, remedy: str) -> bytes:
    """The bytes of a file without a byte order mark. bytes_max : in whole MiB. Raises PlanError for a larger one."""
    try:
        with open_named(path) as file:
            raw = file.read(bytes_max + 1)
    except OSError as error:
        raise PlanError(str(path), error.strerror or "cannot be read", remedy) from None
    if len(raw) > bytes_max:
        raise PlanError(str(path), f"is larger than {bytes_max >> 20} MiB", remedy)
    return without_mark(raw)


def named_text(path: Path, *, bytes_max: int, remedy: str) -> str:
    """Read a named file as UTF-8 text. Raises PlanError if it is none."""
    try:
        return named_bytes(path, bytes_max=bytes_max, remedy=remedy).decode("utf-8")
    except UnicodeDecodeError:
        raise PlanError(str(path), "is not UTF-8 text", remedy) from None


def without_mark(content: bytes) -> bytes:
    """The beginning of a file without the mark that some editors write there."""
    return content.removeprefix(codecs.BOM_UTF8)


M = TypeVar("M", bound=BaseModel)

FILE_BYTES_MAX = 1 << 20
_DOTS_MAX = 100_000
"""In a file: each one in a key makes a table, of some 1,000 bytes while it is read."""

_PLACE = re.compile(r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)", re.DOTALL)

Positions = dict[str, tuple[int, int]]
FileKind = Literal["plan", "edition", "model", "faults", "limits", "alerts"]


class _Kind(NamedTuple):
    """What one kind of file is called, the keys that tell it, and how it is named on the command line."""

    is_one: str
    keys: tuple[str, ...]
    remedy: str


_KINDS: dict[FileKind, _Kind] = {
    "plan": _Kind("is a plan", ("drive", "tests", "suite", "studies"), "run it with assay run {path}"),
    "model": _Kind("describes a simulated drive", ("parameters",), "name it as the drive sim:{path}"),
    "edition": _Kind("is an edition", ("market", "base"), "name it with --edition {path}"),
    "faults": _Kind("is a file of faults", ("faults",), "name it as in sim:NAME?faults={path}"),
    "limits": _Kind("is a file of limits", ("limits",), "name it after a run: assay limits RUN {path}"),
    "alerts": _Kind("is a file of alerts", ("alert",), "root puts it at /etc/assay/alerts.toml"),
}


def read_toml(path: Path) -> tuple[dict[str, Any], Positions]:
    """Read a file of at most 1 MiB; the place (line, column, from 1) of each key by its dotted path.

    TOML 1.0 in UTF-8, also with a byte order mark.

    Raises PlanError where it cannot be read or is not TOML.
    """
    return toml_table(named_text(path, bytes_max=FILE_BYTES_MAX, remedy="name a readable TOML file"), path)


def toml_table(text: str, path: Path) -> tuple[dict[str, Any], Positions]:
    """Read a TOML text that anybody may have sent. path : what it is called in errors. Raises PlanError."""
    # Loading the native module is spared to those who read no file.
    from assay._native import toml_positions  # noqa: PLC0415

    if len(text) > FILE_BYTES_MAX:
        raise PlanError(str(path), "is larger than 1 MiB", "make it smaller")
    if text.count(".") > _DOTS_MAX:
        raise PlanError(str(path), f"has more than {_DOTS_MAX:,} dots", "make it smaller")
    # First, since it bounds the depth: the reader of values takes the square of that of a key.
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
        raise joined(fault_errors(path, positions, model_faults(error, model, table)), str(path)) from None


def refuse_other_kind(path: Path, table: Mapping[str, Any], kind: FileKind) -> None:
    """Raise PlanError where a table tells of a file that is another than the ``kind`` asked for, and of none such."""
    if table.keys() & set(_KINDS[kind].keys):
        return
    for other in _KINDS.values():
        if table.keys() & set(other.keys):
            raise PlanError(str(path), other.is_one, other.remedy.format(path=path))


def fault_errors(path: Path, positions: Positions, found: Iterable[ModelFault]) -> list[PlanError]:
    """Each fault with its place, in the order of the file."""
    ordered = sorted(found, key=lambda fault: (_position(positions, fault.key), fault.key))
    return [PlanError(_place(path, positions, one.key), one.reason, one.remedy) for one in ordered]


def place_error(path: Path, positions: Positions, key: str, reason: str, remedy: str = "correct the file") -> PlanError:
    """One fault as an error with its place. key : dotted. The native module's own remedy stands behind its reason."""
    text, own, meant = reason.partition("; did you mean ")
    return PlanError(_place(path, positions, key), text, f"did you mean {meant}" if own else remedy)


def _syntax_error(path: Path, error: ValueError | RecursionError) -> PlanError:
    """What the reader of values refuses: it knows TOML 1.0 only, and no number of more than 4,300 digits."""
    if isinstance(error, RecursionError):
        return PlanError(str(path), "is nested too deeply", "correct the file")
    match = _PLACE.fullmatch(str(error))
    if match is None:
        # The limit of digits is told with advice for programmers; others are of dates, in plain words.
        reason = "holds a number of too many digits" if "digits" in str(error) else str(error)
        return PlanError(str(path), reason, "correct the TOML syntax")
    thing = f"{path}:{match[2]}:{match[3]}" if match[2] else str(path)
    return PlanError(thing, f"{match[1]} (read as TOML 1.0)", "correct the TOML syntax")


def _place(path: Path, positions: Positions, key: str) -> str:
    line, column = _position(positions, key)
    return f"{path}:{line}:{column} {key}"


def _position(positions: Positions, key: str) -> tuple[int, int]:
    """Line and column of a key, or of the table that it is missing in."""
    while key and key not in positions:
        key = key.rpartition(".")[0]
    return positions.get(key, (1, 1))
