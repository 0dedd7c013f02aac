"""What a rule is, and what breaks one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from assay.archive.verify.evidence import Evidence

Part = Literal["folder", "tables", "steps", "drive", "verdicts", "report"]
PARTS: tuple[Part, ...] = ("folder", "tables", "steps", "drive", "verdicts", "report")
"""In the order in which they are checked. What rests on a folder or tables that are not what was written says nothing,
so that the others are left unchecked where a rule of the first two is broken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """One place where a rule does not hold. place : file, line, step or key. found, expected : as printed."""

    place: str
    found: str
    expected: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A rule that every run folder holds to.

    id : stable, such as ``W-05``. sentence : what holds, one sentence. source : where that is stated: a document of
    this project, or the specification. check : every place of a run folder where it does not hold. of_form : it
    compares what only one version of the form of the report has. applies : whether the run stores what it asks for;
    where an earlier version did not, the rule is left unchecked.
    """

    id: str
    part: Part
    sentence: str
    source: str
    check: Callable[[Evidence], Iterable[Broken]]
    of_form: bool = False
    applies: Callable[[Evidence], bool] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A rule that a run folder breaks, with the place, what was found there, and what was expected."""

    rule: str
    place: str
    found: str
    expected: str
