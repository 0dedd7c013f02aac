"""The table of studies in a plan file."""

from __future__ import annotations

from typing import Self

from assay.plan.data_file import check_data_file
from assay.plan.options import DemandOptions
from assay.spec.datum import FileName


class StudyOptions(DemandOptions):
    """Choices for studies. data_file : bytes that the data-pattern study writes as a variant."""

    data_file: FileName = ""

    def looked(self) -> Self:
        """Raise UsageError where the file to write from cannot be read or is empty."""
        if self.data_file:
            check_data_file(self.data_file)
        return self
