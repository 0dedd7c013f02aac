"""What a host idle recovery test prints below its tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.procedures.hir.insights import EQUAL_SHARE
from assay.spec.units import SECOND_NS, duration_label
from assay.words.printed import percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.procedures.hir.result import WaitState


def equal_gains(states: Sequence[WaitState]) -> tuple[str, ...]:
    """That more idle time gives no more, where the bursts of all wait states are within 1 % of the highest.

    Worked: bursts of 3,455.7 IOPS after 5 s and 3,456.0 after 50 s -> one sentence.
    """
    gains = sorted((state.idle_s, state.mean_iops) for state in states if state.mean_iops is not None)
    rates = [rate for _, rate in gains]
    if len(rates) < 2 or max(rates) - min(rates) > EQUAL_SHARE * max(rates):  # noqa: PLR2004 - two to compare
        return ()
    share = (max(rates) - min(rates)) / max(rates) * 100
    least, most = (duration_label(round(one[0] * SECOND_NS)) for one in (gains[0], gains[-1]))
    said = f"The bursts after idle times of {least} to {most} are within {share:.2g} % of each other"
    return (f"{said}: idle time beyond {least} gave no more (rule: within {percent(EQUAL_SHARE)}).",)
