"""The numbers of cross stimulus recovery: throughput at the end of each group, the slowest I/O, and the recovery."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.procedures.xsr.result import end_samples, slowest
from assay.summary.measures import MAXIMUM, quoted
from assay.words.coded import coded
from assay.words.printed import outstanding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.procedures.xsr.result import CrossStimulusResult
    from assay.procedures.xsr.settings import CrossStimulusSettings
    from assay.summary.record import Measure


def cross_stimulus_measures(
    settings: CrossStimulusSettings, result: CrossStimulusResult, recovery: str
) -> Iterator[Measure]:
    """Throughput of each access group in its last tenth, the slowest I/O, and minutes until the last one has recovered.

    recovery : what the recovery time is called. Worked: three groups -> five numbers, the last in minutes.
    """
    ends = coded("last-tenth", outstanding=outstanding(settings.demand))
    for number, group in enumerate(result.groups, 1):
        name = f"{group.label}, group {number} at its end"
        yield quoted((("group", number),), "MB/s", name, group.end_mb_per_s, ends, rounds=end_samples(group))
    measures = slowest(result)
    if measures:
        where = coded("slowest-in", group=measures.group, minute=measures.minute)
        yield quoted((), "ms", "Slowest I/O", measures.latency_ms, where, key=MAXIMUM)
    if result.groups:
        none = coded("not-whole" if result.lowest_share is None else "not-recovered")
        known = coded("last-group", sample=settings.sample_ns)
        basis = none if result.recovery_minutes is None else known
        yield quoted((("group", len(result.groups)),), "min", recovery, result.recovery_minutes, basis)
