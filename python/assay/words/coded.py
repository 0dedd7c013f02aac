"""What is said as a code with values, where it happened, and what it is about; every output words it."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal

from assay.words import digits
from assay.words.printed import mix_label, paragraph

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


Number = float | Fraction


@dataclass(frozen=True, slots=True)
class Coded:
    """A statement: its code in the table of words, and the values in it.

    A value may be a statement of its own, or a tuple of such. One that is None is left out, with the part of the words
    that it is in.
    """

    code: str
    values: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Range:
    """Numbers from the least to the greatest, which stand for one that differs from place to place."""

    least: Number
    greatest: Number


def coded(code: str, **values: Any) -> Coded:
    """A statement. Worked: ``coded("few-rounds", count=3)``."""
    return Coded(code=code, values=values)


def quantity(value: Number | None, unit: str) -> Coded | None:
    """A number with its unit, as part of a statement; None without one. Worked: 2 ms -> ``"2 ms"``."""
    if value is None:
        return None
    code = _CODES.get(unit, "amount")
    return coded(code, value=value, unit=unit if code == "amount" else None)


_CODES = {"ms": "time", "x": "ratio", "MB/s": "throughput", "LBA": "exact", "sectors": "exact"}


@dataclass(frozen=True, slots=True)
class Place:
    """One place. stem : in the singular where there is a number, as ``round``. number : None where there is none.

    Worked: ``Place("round", 3)`` is printed ``"round 3"``, ``Place("whole run")`` as it is.
    """

    stem: str
    number: int | None = None

    def __str__(self) -> str:
        """As printed."""
        return self.stem if self.number is None else f"{self.stem} {self.number}"


NOWHERE = Place("")
"""Of the whole test or host."""


def joined_places(places: Iterable[Place]) -> str:
    """Places in few words. Worked: round 2, round 3, round 7, group A -> ``"rounds 2-3, 7; group A"``."""
    numbers: dict[str, list[int]] = {}
    for one in dict.fromkeys(places):
        numbers.setdefault(one.stem, []).extend([] if one.number is None else [one.number])
    return "; ".join(_joined(stem, sorted(result)) for stem, result in numbers.items())


def _joined(stem: str, numbers: Sequence[int]) -> str:
    if not numbers:
        return stem
    return f"{stem} {numbers[0]}" if len(numbers) == 1 else f"{stem}s {number_spans(numbers)}"


def number_spans(numbers: Sequence[int]) -> str:
    """Ascending numbers in few words. Worked: 1, 2, 3, 7 -> ``"1-3, 7"``."""
    runs = [[number for _, number in run] for _, run in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0])]
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


Order = Literal["RND", "SEQ"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What an insight is about; a field that says nothing is None.

    order : of the accesses. read_pct : 100 reads, 0 writes, else a mix. size_bytes : of a transfer.
    depth : I/Os in flight. stream, variant, group : a part of the test by its name, at most one of them.
    """

    order: Order | None = None
    read_pct: int | None = None
    size_bytes: int | None = None
    depth: int | None = None
    stream: str | None = None
    variant: str | None = None
    group: str | None = None

    @property
    def part(self) -> str | None:
        """The part by its name."""
        return self.stream or self.variant or self.group


ALL_IOS = Subject()
"""All I/Os of a test."""


_ORDERS = {"RND": "random ", "SEQ": "sequential ", None: ""}
_SIDES = {None: "I/Os", 100: "reads", 0: "writes"}


def subject_text(subject: Subject) -> str:
    """What an insight is about, in the middle of a sentence.

    Worked: 4 KiB writes at random places at QD 8 -> ``"random 4 KiB writes at QD 8"``; all I/Os -> ``"I/Os"``.
    """
    size = f"{digits.block(subject.size_bytes)} " if subject.size_bytes else ""
    mix = subject.read_pct
    side = _SIDES.get(mix) or f"{mix_label(mix or 0)} I/Os"
    depth = f" at QD {subject.depth:,}" if subject.depth else ""
    part = f" ({paragraph(subject.part)})" if subject.part else ""
    return f"{_ORDERS[subject.order]}{size}{side}{depth}{part}"
