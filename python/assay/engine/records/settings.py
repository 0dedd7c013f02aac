"""What tests were set to do: what every test settles, and those of a single access pattern."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, Self

from assay.engine.records.drive import CacheState
from assay.engine.records.stimulus import AccessPattern, DataPattern
from assay.spec.demand import Demand


@dataclass(frozen=True, slots=True, kw_only=True)
class TestSettings:
    """What every test settles, after edition, plan, scale and drive were taken into account.

    procedure : name of the test or study in the registry. test : that of this run of it, such as ``tp-128``.
    edition : name of the edition.
    range_amount_bytes, segment_count : the test ActiveRange; segment_count is None where the range is contiguous.
    range_limit, slope_limit : allowed excursions of the five-point rule, as fractions of the average.
    histogram_ns : length of the response-time histogram step behind the test, 0 for none.
    stall_limit_ns : longest silence of the drive with I/Os outstanding that a measurement may have; 0 means any.
    void_limit : rounds or samples that may be void before the test is given up.
    purges : the drive is purged for it.
    """

    procedure: str
    test: str
    edition: str
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
    purges: bool = True

    @property
    def test_label(self) -> str:
        """The test as printed. Worked: ``tp-128`` -> ``"TP-128"``."""
        return self.test.upper()

    @property
    def demands(self) -> tuple[Demand, ...]:
        """Every demand that the test makes."""
        return (self.demand,)

    @property
    def transfer_bytes_max(self) -> int:
        """The largest transfer of the test; 0 where its settings do not tell."""
        return 0

    @property
    def requires_steady_state(self) -> bool:
        """Whether a test that is not steady at its last round has missed what was asked of it."""
        return True

    @property
    def switches_write_cache(self) -> bool:
        """Whether the test switches the write cache between two sequences."""
        return False

    def fault(self) -> str | None:
        """What is wrong with settings that somebody may have made up, None where nothing is."""
        return None

    def with_stall_policy(self, limit_ns: int, void_limit: int) -> Self:
        """These settings with a limit of silence and of void rounds, for their preconditioning as well."""
        held = {part.name: getattr(self, part.name) for part in fields(self)}
        parts: dict[str, Any] = {
            name: value.with_stall_policy(limit_ns, void_limit)
            for name, value in held.items()
            if isinstance(value, TestSettings)
        }
        return replace(self, stall_limit_ns=limit_ns, void_limit=void_limit, **parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class PatternSettings(TestSettings):
    """What a test of a single access pattern used. pattern : its accesses; label : their name."""

    pattern: AccessPattern
    label: str

    @property
    def transfer_bytes_max(self) -> int:
        """The largest transfer of the pattern."""
        return max(size for size, _ in self.pattern.sizes)


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Cell:
    """One cell of a test loop: read share in percent (integer, 0 to 100) and transfer size in bytes."""

    read_pct: int
    transfer_bytes: int
