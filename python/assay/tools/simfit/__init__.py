"""Fits the parameters of a simulated drive to published figures. No curve is stored: only physics is varied.

What physics does not give is left as a residual and listed.
"""

from __future__ import annotations

from assay.tools.simfit.measure import Rig, left_alone, measured, read_targets
from assay.tools.simfit.search import EVALUATIONS_MIN, Fit, fit, misfit, refine, residuals, scattered

__all__ = [
    "EVALUATIONS_MIN",
    "Fit",
    "Rig",
    "fit",
    "left_alone",
    "measured",
    "misfit",
    "read_targets",
    "refine",
    "residuals",
    "scattered",
]
