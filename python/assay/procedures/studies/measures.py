"""The settled numbers of every stage of a study."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.pages.measure import Measure
from assay.pages.printed import paragraph

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.pages.measure import Key
    from assay.procedures.studies.result import StudyResult


def study_measures(result: StudyResult) -> Iterator[Measure]:
    """IOPS and MB/s of every stage that is whole. Their response times are those of the study's distribution."""
    for variant in result.variants:
        for number, stage in enumerate(variant.stages, 1):
            if stage.settled is None:
                continue
            key: Key = (("variant", variant.label), ("stage", number), ("accesses", stage.label))
            label = paragraph(f"{variant.label}: {stage.label}")
            yield Measure(cell=key, label=label, name="iops", unit="IOPS", value=stage.settled.iops)
            yield Measure(cell=key, label=label, name="mb_per_s", unit="MB/s", value=stage.settled.mb_per_s)
