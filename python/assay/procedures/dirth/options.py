"""Demand intensity's table in a plan file."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from assay.procedures.dirth.edition import IntensityTable, PatternDatum, PatternName
from assay.procedures.families.grid.options import GridOptions


class IntensityOptions(GridOptions):
    """The same for demand intensity.

    patterns : names that the edition or ``assay.engine.pattern`` knows, or custom patterns; each is a separate test.
    Empty means the edition's first, and in the suite ``advanced`` all that it names.
    """

    patterns: tuple[PatternName | PatternDatum, ...] = Field(default=(), max_length=20)

    def of_suite(self, table: IntensityTable) -> Self:
        """Every pattern that the edition names, where the tester names none."""
        names = tuple(pattern.name for pattern in table.patterns.value)
        return self if self.patterns else self.model_copy(update={"patterns": names})

    @model_validator(mode="after")
    def _told_apart(self) -> Self:
        names = [pattern if isinstance(pattern, str) else pattern.name for pattern in self.patterns]
        if len(set(names)) != len(names):
            raise ValueError("two patterns have the same name")
        return self
