"""Which accesses a statement is about, and how that is put."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from assay.words import digits
from assay.words.printed import mix_label, paragraph

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
