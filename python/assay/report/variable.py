"""How each variable of a loop test is named and printed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.records import LoopSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """Names of a variable. axis : of plots. noun : in boxes and tables. column : in CSV and JSON."""

    axis: str
    noun: str
    column: str
    decimals: int

    def text(self, value: float) -> str:
        """Print a value. Worked: IOPS 3147.046 -> ``"3147.0"``; a response time of 0.35 ms -> ``"0.350"``."""
        return f"{value:z.{self.decimals}f}"


_SHOWN = {
    "iops": Shown(axis="IOPS", noun="IOPS", column="iops", decimals=1),
    "throughput": Shown(axis="Throughput (MB/s)", noun="MB/s", column="mb_per_s", decimals=1),
    "latency": Shown(axis="Time (ms)", noun="Latency (ms)", column="latency_ms_average", decimals=3),
}


def shown(settings: LoopSettings) -> Shown:
    """How a test's variable is printed."""
    return _SHOWN[settings.variable]
