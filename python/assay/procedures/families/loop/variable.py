"""How each variable of a loop test is named and printed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.words.printed import milliseconds_text, one_decimal

if TYPE_CHECKING:
    from collections.abc import Callable

    from assay.procedures.families.loop.settings import LoopSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """Names of a variable, and how a value is printed.

    axis : of plots. noun : in boxes and tables. spoken : in sentences. column : in CSV and JSON.
    Worked: IOPS 3147.046 -> ``"3,147.0"``; a response time of 0.35 ms -> ``"0.350"``, of 0.0021049 -> ``"0.00210"``.
    """

    axis: str
    noun: str
    spoken: str
    column: str
    text: Callable[[float], str]


_SHOWN = {
    "iops": Shown(axis="IOPS", noun="IOPS", spoken="IOPS", column="iops", text=one_decimal),
    "throughput": Shown(
        axis="Throughput (MB/s)", noun="MB/s", spoken="throughput", column="mb_per_s", text=one_decimal
    ),
    "latency": Shown(
        axis="Time (ms)",
        noun="Latency (ms)",
        spoken="the average response time",
        column="latency_ms_mean_of_rounds",
        text=milliseconds_text,
    ),
}


def shown(settings: LoopSettings) -> Shown:
    """How a test's variable is printed."""
    return _SHOWN[settings.variable]
