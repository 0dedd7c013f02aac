"""Printed texts whose colours follow a level."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from assay.summary.record import Level


class Leveled(str):
    """A printed text whose colour follows a level, whatever it says. Worked: ``Leveled("not settled", "warn")``."""

    __slots__ = ("level",)
    level: Level

    def __new__(cls, text: str, level: Level) -> Self:
        """A text with its level."""
        made = super().__new__(cls, text)
        made.level = level
        return made

    def __getnewargs__(self) -> tuple[str, Level]:  # type: ignore[override]
        """What a copy is made from."""
        return str(self), self.level
