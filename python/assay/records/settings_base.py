"""What every test is set to do, whatever its kind."""

from __future__ import annotations

from dataclasses import dataclass

from assay.records.drive import CacheState
from assay.records.stimulus import DataPattern, Demand


@dataclass(frozen=True, slots=True, kw_only=True)
class TestSettings:
    """What every test settles, after profile, plan, scale and drive were taken into account.

    test : ``wsat``, ``iops``, ``tp-128``, ``lat`` and so on. profile : name of the edition.
    range_amount_bytes, segment_count : the test ActiveRange; segment_count is None where the range is contiguous.
    range_limit, slope_limit : allowed excursions of the five-point rule, as fractions of the average.
    histogram_ns : length of the response-time histogram step behind the test, 0 for none.
    stall_limit_ns : longest silence of the drive with I/Os outstanding that a measurement may have; 0 means any.
    void_limit : rounds or samples that may be void before the test is given up.
    """

    test: str
    profile: str
    demand: Demand
    data: DataPattern
    range_amount_bytes: int
    segment_count: int | None
    range_limit: float
    slope_limit: float
    write_cache_required: CacheState
    histogram_ns: int = 0
    stall_limit_ns: int = 0
    void_limit: int = 0

    @property
    def demands(self) -> tuple[Demand, ...]:
        """Every demand that the test makes."""
        return (self.demand,)
