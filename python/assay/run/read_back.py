"""Ends a test whose drive did not return what was written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.dut.real.read_back import WRONG_REMEDY
from assay.errors import WrongDataError
from assay.results.read_back import wrong_data
from assay.words.text import text

if TYPE_CHECKING:
    from assay.engine.records import DriveIdentity, ReadBack


def refuse_wrong(drive: DriveIdentity, record: ReadBack) -> None:
    """Raise WrongDataError where a drive returned other data than was written, or none."""
    if reason := wrong_data(record):
        raise WrongDataError(drive.path, text(reason), WRONG_REMEDY)
