"""The numbers of a write saturation in ``results.json``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.pages.results import judged_step, window_results
from assay.procedures.saturation.tables import mark_facts

if TYPE_CHECKING:
    from assay.engine.records import StoredTest
    from assay.procedures.saturation.result import SaturationResult


def saturation_results(test: StoredTest, result: SaturationResult) -> dict[str, Any]:
    """The numbers of a write saturation test."""
    marks = {
        "first": result.first,
        "peak": result.peak,
        "peak_drop": result.peak_drop,
        "level_reached": result.steady,
        "first_steady": result.first_steady,
    }
    return {
        "error_count": result.error_count,
        "withheld": result.withheld,
        "window": window_results(result.window, result.withheld),
        "steady_iops": result.steady_iops,
        "plateau": result.plateau,
        "marks": {name: mark_facts(mark) for name, mark in marks.items()},
        "samples": [judged_step(step, test.settings) for step in test.steps("sample")],
    }
