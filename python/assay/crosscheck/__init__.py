"""The same points by our engine and by fio in turn, and the differences with their uncertainty."""

from assay.crosscheck.compare import Crosscheck, Difference, differences
from assay.crosscheck.points import POINTS, CheckPoint
from assay.crosscheck.run import crosscheck_drive

__all__ = ["POINTS", "CheckPoint", "Crosscheck", "Difference", "crosscheck_drive", "differences"]
