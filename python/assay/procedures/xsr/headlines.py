"""The numbers of cross stimulus recovery that people quote: throughput at the end of each group, and the recovery."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.pages.headline import Headline
from assay.procedures.xsr.result import end_samples, slowest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.procedures.xsr.result import CrossStimulusResult


def cross_stimulus_headlines(
    result: CrossStimulusResult, recovery: str, demand: str, sample: str
) -> Iterator[Headline]:
    """Throughput of each access group in its last tenth, the slowest I/O, and minutes until the last one has recovered.

    recovery : what the recovery time is called. demand : such as ``32 outstanding``. sample : how long one is.
    Worked: three groups -> five numbers, the last in minutes.
    """
    for number, group in enumerate(result.groups, 1):
        item, basis = f"{group.label}, group {number} at its end", f"mean of its last tenth, {demand}"
        yield Headline(item=item, unit="MB/s", value=group.end_mb_per_s, values=end_samples(group), basis=basis)
    found = slowest(result)
    if found:
        basis = f"all groups: in group {found.group}, minute {found.minute:,.0f}"
        yield Headline(item="Slowest I/O", unit="ms", value=found.latency_ms, basis=basis)
    if result.groups:
        reason = "n/a: not whole" if result.lowest_share is None else "n/a: not recovered"
        basis = reason if result.recovery_minutes is None else f"the last group, in samples of {sample}"
        yield Headline(item=recovery, unit="min", value=result.recovery_minutes, basis=basis)
