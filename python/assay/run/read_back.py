"""Ends a test whose drive did not return what was written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.dut.real.read_back import WRONG_REMEDY
from assay.errors import WrongDataError
from assay.results.data_check import wrong_sectors
from assay.results.read_back import wrong_data
from assay.words.text import text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from assay.engine.records import DataCheck, DriveIdentity, ReadBack


def refuse_wrong(drive: DriveIdentity, record: ReadBack) -> None:
    """Raise WrongDataError where a drive returned other data than was written, or none."""
    if reason := wrong_data(record):
        raise WrongDataError(drive.path, text(reason), WRONG_REMEDY)


def refuse_wrong_sectors(drive: DriveIdentity, checks: Iterable[DataCheck]) -> None:
    """The same of whole read-backs, by the first that has a wrong sector."""
    if reason := next(filter(None, map(wrong_sectors, checks)), None):
        raise WrongDataError(drive.path, text(reason), WRONG_REMEDY)
