"""Cross stimulus recovery's table in an edition."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from assay.spec.datum import Datum, Strict
from assay.spec.edition_data import BlockKib, DemandDatum, RangeDatum, Seconds, Share


class AccessGroupDatum(Strict):
    """One access group of cross stimulus recovery; writes only."""

    access: Literal["random", "sequential"]
    block_kib: BlockKib
    hours: float = Field(gt=0, le=7 * 24)


class CrossStimulusTable(Strict):
    """Parameters of cross stimulus recovery.

    groups : access groups in the order they run. recovered_share : of the mean throughput of the first group, at which
    the third counts as recovered.
    """

    section: Datum[int]
    status: Datum[Literal["REQUIRED", "OPTIONAL"]]
    test_range: Datum[RangeDatum]
    demand: Datum[DemandDatum]
    sample_seconds: Datum[Seconds]
    groups: Datum[Annotated[tuple[AccessGroupDatum, ...], Field(min_length=1, max_length=9)]]
    recovered_share: Datum[Share]
