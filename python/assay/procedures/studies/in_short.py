"""What a study says of the drive, in sentences for the first page: how variants differ, what its reading found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.pages.effect import Effect
from assay.pages.printed import milliseconds_text, minutes_label, one_decimal, percent
from assay.procedures.studies.readings import BAND_SHARE, COUNT_MIN, SAME_SHARE
from assay.spec.units import KIB, MB

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.procedures.studies.readings import Change, Proposal, Stability
    from assay.procedures.studies.result import StageResult, StudyResult, VariantResult
    from assay.procedures.studies.settings import StudySettings

    _Rates = Sequence[tuple[str, float]]


_SEVERAL = 2
_LARGE_BYTES = 128 * KIB
_QUARTER_MIN = 5
"""Fewer seconds are too few to say where a stage moves."""


def study_in_short(settings: StudySettings, result: StudyResult) -> Iterator[str]:
    """Sentences on a study; none of what may not be printed or did not run to its end.

    Worked: variants that settle at 2,906.0, 25,915.4 and 56,678.6 IOPS -> ``"AR 10 %: most IOPS (56,678.6), 19.5 times
    those of AR 100 % (2,906.0); AR 50 % 8.92 times."``
    """
    if result.withheld:
        return
    for name, rates in _compared(result.variants):
        yield f"{name}{_comparison(rates)}"
    for variant in result.variants:
        yield from (f"{variant.label}: {_change(one, settings.recovered_share)}" for one in variant.changes)
        yield from (f"{variant.label}: {_stability(one)}" for one in variant.stability if one)
        if any(variant.stability):
            yield from _moved_mb(variant, result.variants[0])
        if variant.proposal:
            yield f"{variant.label}: {_proposal(variant.proposal)}"


def _compared(variants: Sequence[VariantResult]) -> Iterator[tuple[str, _Rates]]:
    """What is laid side by side: variants at the same accesses, where they differ most; else stages of each variant."""
    plain = [one for one in variants if not (one.changes or any(one.stability) or one.proposal)]
    found = {one.label: {at.label: at.settled.iops for at in one.stages if at.settled} for one in plain}
    shared = set.intersection(*map(set, found.values())) if found else set()
    if len(found) < _SEVERAL or not shared:
        yield from ((f"{label}: ", [*rates.items()]) for label, rates in found.items() if len(rates) >= _SEVERAL)
        return
    by_accesses = {at: [(label, rates[at]) for label, rates in found.items()] for at in shared}
    widest = max(sorted(by_accesses), key=lambda at: _spread(by_accesses[at]))
    yield "" if len(by_accesses) == 1 else f"{widest}: ", by_accesses[widest]


def _spread(rates: _Rates) -> float:
    found = [rate for _, rate in rates]
    return max(found) - min(found) if not min(found) else max(found) / min(found)


def _comparison(rates: _Rates) -> str:
    (lowest, least), (_, most) = min(rates, key=lambda one: one[1]), max(rates, key=lambda one: one[1])
    best = _best(rates)
    if len(best) == len(rates):
        return f"all {len(rates)} within {percent(SAME_SHARE)}, {one_decimal(least)} to {one_decimal(most)} IOPS."
    equal = len(set(best.values())) == 1
    near = "the same" if equal else f"within {percent(SAME_SHARE)} of each other"
    same = f", {near}" if len(best) > 1 else ""
    told = f"{', '.join(best)}: most IOPS ({one_decimal(most)}{same})"
    if not least:
        return f"{told}, against none of {lowest}."
    between = [f"{label} {_times(rate / least)}" for label, rate in rates if label != lowest and label not in best]
    others = f"; {', '.join(between)} times" if between else ""
    return f"{told}, {_times(most / least)} times those of {lowest} ({one_decimal(least)}){others}."


def _best(rates: _Rates) -> dict[str, float]:
    """The variants that give the most IOPS, or as good as these. Worked: 100, 99.5 and 80 IOPS -> the first two."""
    most = max(rate for _, rate in rates)
    return {label: rate for label, rate in rates if rate >= (1 - SAME_SHARE) * most}


def study_effects(settings: StudySettings, result: StudyResult) -> Iterator[Effect]:
    """How far the variants lie apart; none of what may not be printed. Worked: 56,678.6 and 2,902.2 IOPS -> 19.5."""
    for _, rates in () if result.withheld else _compared(result.variants):
        (lowest, least), (_, most) = (pick(rates, key=lambda one: one[1]) for pick in (min, max))
        if least:
            text = (
                f"{', '.join(_best(rates))}: {_times(most / least)} times the IOPS of {lowest} ({settings.test_label})"
            )
            yield Effect(kind=settings.test, times=most / least, text=text)


def _times(ratio: float) -> str:
    """Three digits. Worked: 8.929 -> ``"8.93"``, 105.2 -> ``"105"``."""
    return f"{ratio:#.3g}".removesuffix(".")


def _change(change: Change, recovered_share: float) -> str:
    back = (
        "does not return"
        if change.recovery_minutes is None
        else f"takes {minutes_label(change.recovery_minutes)} to return"
    )
    return (
        f"{change.label} goes from {one_decimal(change.before)} to {one_decimal(change.after)} MB/s "
        f"({-change.drop_share * 100:+.0f} %) and {back} to {percent(recovered_share)} of the first."
    )


def _stability(found: Stability) -> str:
    middle = f"{one_decimal(found.median)} IOPS in the median of {found.count:,} seconds"
    if found.score is None:
        return f"{middle}, too few to judge seconds by (rule: {COUNT_MIN})."
    near = f"{found.score * 100:.0f} % of them lie within {percent(BAND_SHARE)} of it"
    return f"{middle}; {near}; the worst has {found.worst / found.median * 100:.0f} % of it."


def _moved_mb(variant: VariantResult, first: VariantResult) -> Iterator[str]:
    """What large transfers move, which their IOPS do not show, beside those of the first variant."""
    beside = first.stages[0].settled if first.stages and first is not variant else None
    for stage in variant.stages:
        if stage.settled and stage.settled.mb_per_s * MB >= _LARGE_BYTES * stage.settled.iops > 0:
            moved = stage.settled.mb_per_s
            times = ""
            if beside and beside.mb_per_s:
                alone = f"{one_decimal(beside.mb_per_s)} of {first.label}"
                times = f", {moved / beside.mb_per_s:.2f} times the {alone}"
            yield f"{variant.label}: {one_decimal(moved)} MB/s on average{times}{_drift(stage)}."


def _drift(stage: StageResult) -> str:
    """How far the last quarter of its seconds lies from the first, as the end of a sentence; empty of a few seconds.

    Worked: seconds of 10, 10, 10 and 11 IOPS, ten times each -> ``"; the last quarter of its seconds moves 10.0 % more
    than the first"``.
    """
    seconds, quarter = stage.second_iops, len(stage.second_iops) // 4
    if quarter < _QUARTER_MIN or not sum(seconds[:quarter]):
        return ""
    change = sum(seconds[-quarter:]) / sum(seconds[:quarter]) - 1
    told = f"{abs(change) * 100:.1f} % {'more' if change > 0 else 'less'} than"
    return f"; the last quarter of its seconds moves {told} the first"


def _proposal(found: Proposal) -> str:
    demand = found.demand
    return (
        f"{percent(round(found.share, 3))} of the most IOPS ({one_decimal(found.highest)}) are reached with TC "
        f"{demand.thread_count} x QD {demand.queue_depth}, {milliseconds_text(found.latency_ms_mean)} ms on average."
    )
