"""What the five steps were set to do."""

from __future__ import annotations

from dataclasses import dataclass

from assay.engine.records.settings import Cell
from assay.procedures.families.saturation.result import SaturationSettings
from assay.procedures.studies.settings import StudySettings
from assay.results.step import cell_label
from assay.spec.demand import Demand

STEPS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class FiveStepsSettings(StudySettings):
    """A study whose third variant follows samples until steady.

    variants : one per step, in order. stability : the samples. sizes_bytes, read_pcts : of the surface.
    settled_limit to load_share : of the verdicts, as in ``FiveStepsOptions``.
    """

    stability: SaturationSettings
    sizes_bytes: tuple[int, ...]
    read_pcts: tuple[int, ...]
    settled_limit: float
    hole_share: float
    score_limit: float
    drop_limit: float
    load_share: float

    @property
    def surface(self) -> dict[str, Cell]:
        """The cells of the surface by the label of their step. Worked: ``RND 4KiB 65/35`` -> 65 % reads of 4 KiB."""
        cells = (Cell(read_pct=mix, transfer_bytes=size) for mix in self.read_pcts for size in self.sizes_bytes)
        return {cell_label(cell): cell for cell in cells}

    def fault(self) -> str | None:
        """Steps that the method does not have."""
        labels = [[step.label for step in variant.steps if step.role == "measure"] for variant in self.variants]
        five = len(labels) == STEPS and len(labels[0]) == len(labels[2]) == 1 and set(labels[1]) <= set(self.surface)
        return None if five else "has other steps than the five"

    @property
    def demands(self) -> tuple[Demand, ...]:
        """Every demand that the steps make."""
        return (
            self.demand,
            self.stability.demand,
            *(step.demand for variant in self.variants for step in variant.steps),
        )
