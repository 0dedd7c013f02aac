"""What was asked of each step, kept once per journal: steps name it by the digest of its content."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from assay.engine.codec import canonical, decode, encode
from assay.engine.records import ActiveRange, StepSpec
from assay.errors import StoreError
from assay.run.store.forms import Asked
from assay.run.store.settings import impossible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.run.store.journal import Entry

_DIGITS = 16
_NOWHERE = ActiveRange(segment_starts=(), segment_bytes=0)
_DAMAGED = "the run was changed or damaged, or written by another version of Assay"


@dataclass
class AskedWriter:
    """Names specifications of steps, and hands out what is to be written before a name is used."""

    _names: dict[StepSpec, str] = field(default_factory=dict)
    _written: set[str] = field(default_factory=set)

    def named(self, steps: Sequence[StepSpec]) -> tuple[list[str], dict[str, Any] | None]:
        """The names of steps in order, and the data of the line that must stand before them; None where none must."""
        ranges: dict[str, Any] = {}
        specs: dict[str, Any] = {}
        for step in dict.fromkeys(steps):
            if step not in self._names:
                self._names[step] = self._add(step, ranges, specs)
        names = [self._names[step] for step in steps]
        return names, {"ranges": ranges, "specs": specs} if specs else None

    def _add(self, step: StepSpec, ranges: dict[str, Any], specs: dict[str, Any]) -> str:
        active_range = encode(step.active_range)
        range_name = spec_name(active_range)
        if range_name not in self._written:
            ranges[range_name] = active_range
        spec = {**encode(replace(step, active_range=_NOWHERE)), "active_range": range_name}
        name = spec_name(spec)
        specs[name] = spec
        self._written |= {range_name, name}
        return name


@dataclass
class AskedReader:
    """Takes the lines of the kind ``asked`` and gives specifications back by name."""

    _ranges: dict[str, ActiveRange] = field(default_factory=dict)
    _specs: dict[str, StepSpec] = field(default_factory=dict)

    def take(self, entry: Entry) -> None:
        """Take a line. Raises StoreError where something in it is not what its name says."""
        asked = decode(Asked, entry.data, name=entry.place)
        for name, content in asked.ranges.items():
            _hold(name, content, entry)
            self._ranges[name] = decode(ActiveRange, content, name=f"{entry.place}: ranges.{name}")
        for name, content in asked.specs.items():
            _hold(name, content, entry)
            self._specs[name] = self._spec(content, f"{entry.place}: specs.{name}")

    def _spec(self, content: dict[str, Any], place: str) -> StepSpec:
        range_name = content.get("active_range")
        if not isinstance(range_name, str) or range_name not in self._ranges:
            raise StoreError(place, "active_range: names no range of this run", _DAMAGED)
        spec = decode(StepSpec, {**content, "active_range": encode(_NOWHERE)}, name=place)
        spec = replace(spec, active_range=self._ranges[range_name])
        if fault := impossible(spec, "spec"):
            raise StoreError(place, fault, _DAMAGED)
        return spec

    def specs(self, names: Sequence[str], entry: Entry) -> tuple[StepSpec, ...]:
        """What was asked, by name. Raises StoreError for a name that no line before has."""
        for name in names:
            if name not in self._specs:
                raise StoreError(entry.place, f"asked: {name} is in no line before", _DAMAGED)
        return tuple(self._specs[name] for name in names)


def spec_name(content: dict[str, Any]) -> str:
    """What a specification or a range is called in the journal: the first 16 digits of the SHA-256 of its content."""
    return hashlib.sha256(canonical(content)).hexdigest()[:_DIGITS]


def _hold(name: str, content: dict[str, Any], entry: Entry) -> None:
    if spec_name(content) != name:
        raise StoreError(entry.place, f"{name}: is not the digest of what it names", _DAMAGED)
