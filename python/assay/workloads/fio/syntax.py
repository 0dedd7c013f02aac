"""Sections and keys of a job file with their lines; what they mean is decided elsewhere."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from assay.errors import PlanError
from assay.spec.nearest import did_you_mean
from assay.workloads.fio.keys import ALIASES, EXCLUSIVE, IGNORED, READ, REFUSED

if TYPE_CHECKING:
    from pathlib import Path

NAME_LENGTH_MAX = 127
"""Of a stream; fio itself takes 255."""
_HEAD = re.compile(r"\[(.*)\]")
_COMMENT = re.compile(r"[;#]")
_VARIABLE = re.compile(r"\$(\{|pagesize|mb_memory|ncpus)")


@dataclass(frozen=True, slots=True)
class Setting:
    """A value as it stands in the file, None for a key alone, and its line, from 1."""

    value: str | None
    line: int


@dataclass(slots=True)
class Section:
    """One job, with the global settings that stand before it."""

    name: str
    line: int
    settings: dict[str, Setting] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a fault is: file, line and section."""

    path: Path
    section: str

    def fault(self, line: int, key: str, reason: str, remedy: str) -> PlanError:
        """The fault as an error that names file, line, section and key."""
        return PlanError(f"{self.path}:{line} [{self.section}]{f' {key}' * bool(key)}", reason, remedy)


def sections(path: Path, text: str) -> list[Section]:
    """The jobs of a file in order. Raises PlanError with line and section where it is not well formed."""
    shared: dict[str, Setting] = {}
    jobs: list[Section] = []
    current: Section | None = None
    for line, raw in enumerate(text.split("\n"), 1):
        words = _COMMENT.split(raw, maxsplit=1)[0].strip()
        if not words:
            continue
        if words.startswith("["):
            current = _opened(path, line, words, shared)
            if current.settings is not shared:
                jobs.append(current)
        else:
            _add(path, line, words, current)
    if not jobs:
        raise PlanError(str(path), "holds no job", "write a section, as [job], with its keys below")
    return jobs


def _opened(path: Path, line: int, words: str, shared: dict[str, Setting]) -> Section:
    match = _HEAD.fullmatch(words)
    if match is None or not 1 <= len(match[1]) <= NAME_LENGTH_MAX or not match[1].isprintable():
        raise PlanError(f"{path}:{line}", "is no head of a section", f"write [NAME], 1 to {NAME_LENGTH_MAX} letters")
    # Globals hold for the jobs behind them only.
    is_global = match[1].startswith("global")
    return Section(match[1], line, shared if is_global else dict(shared))


def _add(path: Path, line: int, words: str, current: Section | None) -> None:
    key, equals, value = (part.strip() for part in words.partition("="))
    if current is None:
        raise PlanError(
            f"{path}:{line}", f"{key[:80]!r} stands before any section", "write [global] or [NAME] above it"
        )
    place = Place(path, current.name)
    name = ALIASES.get(key, key)
    if key.startswith("include ") or name in REFUSED:
        reason, remedy = REFUSED["include" if key.startswith("include ") else name]
        raise place.fault(line, key[:80], reason, remedy)
    if name not in READ and name not in IGNORED:
        remedy = did_you_mean(key, (*READ, *IGNORED, *ALIASES), "remove it: what it changes cannot be repeated here")
        raise place.fault(line, key[:80], "is no key that Assay reads from job files", remedy)
    if _VARIABLE.search(value):
        raise place.fault(line, key, "holds a variable", "write its value: Assay reads no environment and runs nothing")
    # The last one holds, as with fio; of two names for one value the later takes the place of the other.
    current.settings.pop(EXCLUSIVE.get(name, ""), None)
    current.settings[name] = Setting(value if equals else None, line)
