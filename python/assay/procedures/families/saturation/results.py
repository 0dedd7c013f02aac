"""The numbers of a write saturation in ``results.json``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.procedures.families.saturation.tables import mark_results
from assay.summary.pages.results import judged_step, window_results
from assay.words.text import text_or_none

if TYPE_CHECKING:
    from assay.engine.records import StoredTest
    from assay.procedures.families.saturation.result import SaturationResult


def saturation_results(test: StoredTest, result: SaturationResult) -> dict[str, Any]:
    """The numbers of a write saturation test."""
    return {
        "error_count": result.error_count,
        "withheld": text_or_none(result.withheld),
        "window": window_results(result.window, result.withheld),
        "steady_iops": result.steady_iops,
        "plateau": result.plateau,
        "marks": mark_results(result),
        "samples": [judged_step(step, test.settings) for step in test.steps("sample")],
    }
