"""Measures equal points with our engine and with fio in turn; gives the differences with their uncertainty."""

from assay.host.points import POINTS, CheckPoint
from assay.tools.crosscheck.run import AGREEMENT, Crosscheck, Difference, crosscheck_drive, differences, point_verdict

__all__ = [
    "AGREEMENT",
    "POINTS",
    "CheckPoint",
    "Crosscheck",
    "Difference",
    "crosscheck_drive",
    "differences",
    "point_verdict",
]
