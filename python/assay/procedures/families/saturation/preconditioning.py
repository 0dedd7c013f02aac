"""Preconditioning by samples inside a test, seen as the write saturation that it is."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assay.procedures.families.saturation.result import sampled_result
from assay.results.outcome import withheld_reason

if TYPE_CHECKING:
    from assay.engine.records import StoredTest
    from assay.procedures.families.saturation.result import SaturationResult
    from assay.procedures.families.saturation.settings import SaturationSettings


def preconditioning_result(test: StoredTest, settings: SaturationSettings, capacity_bytes: int) -> SaturationResult:
    """The samples that a test wrote until steady, with their verdict.

    settings : of the preconditioning. capacity_bytes : user capacity, the unit of drive fills.
    A verdict is recomputed from the samples; it is withheld where the whole test is.
    """
    samples = test.stage("sample")
    part = replace(test, settings=settings, sequences=samples, verdict=None)
    return sampled_result(part, capacity_bytes, withheld_reason(test))
