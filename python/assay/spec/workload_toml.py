"""Workloads in plan files: the table ``[workload]`` as text, and read again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict

from assay.errors import PlanError, UsageError
from assay.spec.toml_file import FILE_BYTES_MAX, read_toml, validated
from assay.spec.workload import Workload  # noqa: TC001 - read by pydantic

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_TABLE = "workload"


class _Holder(BaseModel):
    """The part of a plan that is read here; its other keys are of no interest."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    workload: Workload


def read_workload(path: Path) -> Workload:
    """The workload of a plan file. Raises PlanError with the place of each fault, or where the file has none."""
    table, positions = read_toml(path)
    if _TABLE not in table:
        raise PlanError(str(path), f"has no table [{_TABLE}]", "name a plan with this table")
    return validated(_Holder, path, {_TABLE: table[_TABLE]}, positions).workload


def workload_plan(workload: Workload, drive: str) -> str:
    """A plan file that runs a workload, as TOML. drive : the drive that it names.

    What has its default is not written. Raises UsageError where the text is longer than a plan may be.
    """
    lines = [
        "# A plan of Assay. Name your drive here, or on the command line before this file.",
        "schema = 1",
        f"drive = {_toml(drive)}",
        f"studies = [{_toml(_TABLE)}]",
        "",
        *_workload_lines(workload),
    ]
    text = "\n".join(lines) + "\n"
    size = len(text.encode("utf-8", "replace"))
    if size > FILE_BYTES_MAX:
        reason = f"takes {size:,} bytes as a plan, which may have {FILE_BYTES_MAX:,}"
        raise UsageError(workload.title or "the workload", reason, "convert fewer runs at a time")
    return text


def _workload_lines(workload: Workload) -> Iterator[str]:
    content = workload.model_dump(exclude_defaults=True)
    stages = content.pop("stages")
    yield f"[{_TABLE}]"
    for key, value in content.items():
        yield f"{key} = {_toml(value)}" if key != "left_out" else _list(key, value)
    for stage in stages:
        streams = stage.pop("streams")
        yield from ("", f"[[{_TABLE}.stages]]", *_pairs(stage))
        if not streams:
            yield "streams = []"
        for stream in streams:
            yield from ("", f"[[{_TABLE}.stages.streams]]", *_pairs(stream))


def _pairs(table: dict[str, Any]) -> Iterator[str]:
    for key, value in table.items():
        yield _list(key, value) if key == "lines" else f"{key} = {_toml(value)}"


def _list(key: str, values: tuple[Any, ...]) -> str:
    """A list with an entry on each line."""
    return "\n".join([f"{key} = [", *(f"  {_toml(value)}," for value in values), "]"])


def _toml(value: Any) -> str:
    """A value as TOML has it. Worked: 50.0 -> ``50``; a table -> ``{ size_bytes = 4096 }``."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_toml(inner)}" for key, inner in value.items()) + " }"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, str):
        # JSON leaves the one control character as it is that TOML does not take.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return json.dumps(value)
