"""Faults that are injected into a simulated drive: ``[[faults]]`` of its model file, or of a file of their own."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from assay.errors import PlanError
from assay.spec.datum import Strict
from assay.spec.files import open_named
from assay.spec.toml_file import FILE_BYTES_MAX, read_toml, refuse_other_kind, validated

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_Kind = Literal["media-error", "timeout", "stall", "reset", "shrink", "gone"]
_Direction = Literal["read", "write", "both"]
_Outcome = Literal["error", "retry"]
_Errno = Literal["EIO", "ENODEV", "ENOSPC", "ENODATA", "ETIME", "ENOLINK", "EILSEQ", "ETIMEDOUT", "EREMOTEIO"]

Seconds = Annotated[float, Field(strict=True)]
Amount = Annotated[int, Field(strict=True, ge=0, lt=1 << 63)]
"""What the native module can hold; each key's own range is narrower and checked there."""


class Fault(Strict):
    """One fault as a file states it; what is None is absent. Ranges, and which keys a kind takes, are checked natively.

    kind : what goes wrong. Its trigger is exactly one of at_s (s of virtual time), every_s (s, each time up to
    jitter_s later), after_written_bytes, after_commands, and rate (a probability per command).
    count : how often at most. direction, first_lba, lba_count : which commands a media error or a timeout hits.
    until_written : blocks fail until they are written. duration_s : of a stall or reset, time limit of a command, time
    that a media error adds. outcome : whether commands fail or are sent again. errno : the error they end with.
    capacity_bytes : what is left of a drive that shrinks.
    """

    kind: _Kind
    at_s: Seconds | None = None
    every_s: Seconds | None = None
    jitter_s: Seconds | None = None
    after_written_bytes: Amount | None = None
    after_commands: Amount | None = None
    rate: Seconds | None = None
    count: Amount | None = None
    direction: _Direction | None = None
    first_lba: Amount | None = None
    lba_count: Amount | None = None
    until_written: Annotated[bool, Field(strict=True)] | None = None
    duration_s: Seconds | None = None
    outcome: _Outcome | None = None
    errno: _Errno | None = None
    capacity_bytes: Amount | None = None


class FaultFile(Strict):
    """A file of faults."""

    schema_version: Literal[1] = Field(alias="schema")
    faults: tuple[Fault, ...] = Field(min_length=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class InjectedFaults:
    """The faults of one file. sha256 : of the file, in hexadecimal digits."""

    path: str
    sha256: str
    faults: tuple[Fault, ...]


def read_fault_file(path: Path) -> InjectedFaults:
    """Read a file of faults. Raises PlanError with the places of what is wrong in it."""
    table, positions = read_toml(path)
    refuse_other_kind(path, table, "faults")
    return injected(path, validated(FaultFile, path, table, positions).faults)


def injected(path: Path, faults: tuple[Fault, ...]) -> InjectedFaults:
    """Faults with the hash of the file that they stand in. Raises PlanError where it cannot be read."""
    try:
        with open_named(path) as file:
            digest = hashlib.sha256(file.read(FILE_BYTES_MAX)).hexdigest()
    except OSError as error:
        raise PlanError(str(path), error.strerror or "cannot be read", "name a readable TOML file") from None
    return InjectedFaults(path=str(path), sha256=digest, faults=faults)


def faults_text(faults: tuple[Fault, ...]) -> str:
    """The faults as the native module reads them: a JSON list."""
    return json.dumps([fault.model_dump(exclude_none=True) for fault in faults])


def fault_label(fault: Fault) -> str:
    """A fault in one line, for people.

    Worked: ``{kind = "stall", at_s = 30, duration_s = 5}`` -> ``"stall of 5 s, at 30 s"``.
    """
    length = "" if fault.duration_s is None else f" of {fault.duration_s:g} s"
    return ", ".join((f"{fault.kind}{length}", *_when(fault), *_what(fault)))


def _when(fault: Fault) -> Iterator[str]:
    if fault.at_s is not None:
        yield f"at {fault.at_s:g} s"
    if fault.every_s is not None:
        yield f"every {fault.every_s:g} s" + (f" and up to {fault.jitter_s:g} s" if fault.jitter_s else "")
    if fault.after_written_bytes is not None:
        yield f"after {fault.after_written_bytes:,} bytes written"
    if fault.after_commands is not None:
        yield f"after {fault.after_commands:,} commands"
    if fault.rate is not None:
        yield f"at a rate of {fault.rate:g} per command"
    if fault.count is not None:
        yield f"at most {fault.count:,} times"


def _what(fault: Fault) -> Iterator[str]:
    if fault.direction not in {None, "both"}:
        yield f"{fault.direction}s only"
    if fault.first_lba is not None or fault.lba_count is not None:
        first = fault.first_lba or 0
        yield f"from LBA {first:,}" + ("" if fault.lba_count is None else f" to {first + fault.lba_count - 1:,}")
    if fault.until_written:
        yield "until written"
    if fault.outcome is not None:
        yield "commands sent again" if fault.outcome == "retry" else "commands failed"
    if fault.errno is not None:
        yield fault.errno
    if fault.capacity_bytes is not None:
        yield f"to {fault.capacity_bytes:,} bytes"
