"""What a host idle recovery test says of the drive, in sentences for the first page: what idle time brings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.pages.effect import STANDS_OUT, Effect
from assay.pages.printed import milliseconds_text, one_decimal, percent, rate_or_na
from assay.spec.units import SECOND_NS, duration_label

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.procedures.hir.result import IdleRecoveryResult, WaitState
    from assay.procedures.hir.settings import IdleRecoverySettings

EQUAL_SHARE = 0.01
"""Bursts so near to the highest are the same."""
_SLOWER = 1.05


def idle_effects(settings: IdleRecoverySettings, result: IdleRecoveryResult) -> Iterator[Effect]:
    """What the least idle time brings from which on longer ones bring no more than 1 %.

    Of less than twice the baseline it is told how much less that is than the longest idle time over that of the burst.
    Worked: bursts of 5 s that gain 6.2 % after 5 s of idle time and after 50 s -> 10 / 1.062 times, of 5 s.
    """
    found = sorted((one.idle_s, one.over_baseline) for one in result.states if one.over_baseline)
    if not found:
        return
    longest, gain = found[-1]
    enough = next(idle for idle, over in found if abs(over - gain) <= EQUAL_SHARE * gain)
    share = longest * SECOND_NS / settings.burst_ns
    idle, burst, most = (
        duration_label(round(one)) for one in (enough * SECOND_NS, settings.burst_ns, longest * SECOND_NS)
    )
    more = f", up to {most} no more" if enough < longest else ""
    brings = f"{(gain - 1) * 100:+.1f} % IOPS{more} ({settings.label})"
    text = f"{idle} of idle time after each burst of {burst} bring {brings}"
    few = gain < STANDS_OUT
    yield Effect(kind="idle", times=share / gain if few else gain, text=text, expected=few)


def slow_returns(result: IdleRecoveryResult) -> tuple[str, ...]:
    """That bursts without idle time before them have slower I/Os than those after it, by more than 5 %.

    The first burst of a wait state is one without. Worked: 10.9 ms at most after idle time and 12.1 ms without -> one
    sentence.
    """
    bursts = [one.bursts.latency_ms_max for one in result.states]
    rested = [time for times in bursts for time in times[1:] if time]
    first = [time for times in bursts for time in times[:1] if time]
    without = [*first, *(time for one in result.states for time in one.returned.latency_ms_max if time)]
    if not rested or not without or max(without) <= max(rested) * _SLOWER:
        return ()
    both = f"{milliseconds_text(max(without))} ms against {milliseconds_text(max(rested))} ms"
    return (f"The slowest I/O of bursts without idle time before them took {both} at most after idle time.",)


def gained(result: IdleRecoveryResult) -> tuple[str, ...]:
    """What the shortest idle time after each burst gains over the baseline; nothing without either.

    Worked: bursts of 1,062 IOPS after 5 s over a baseline of 1,000 -> ``"... 1,062.0 IOPS, +6.2 % ..."``.
    """
    found = [one for one in result.states if one.mean_iops is not None and one.over_baseline is not None]
    if not found or result.baseline_iops is None:
        return ()
    shortest = min(found, key=lambda one: one.idle_s)
    idle, change = duration_label(round(shortest.idle_s * SECOND_NS)), ((shortest.over_baseline or 0) - 1) * 100
    said = f"After {idle} idle each, bursts give {rate_or_na(shortest.mean_iops)} IOPS, {change:+.1f} %"
    return (f"{said} against the steady baseline ({one_decimal(result.baseline_iops)}).",)


def equal_gains(states: Sequence[WaitState]) -> tuple[str, ...]:
    """That more idle time gives no more, where the bursts of all wait states are within 1 % of the highest.

    Worked: bursts of 3,455.7 IOPS after 5 s and 3,456.0 after 50 s -> one sentence.
    """
    found = sorted((one.idle_s, one.mean_iops) for one in states if one.mean_iops is not None)
    rates = [rate for _, rate in found]
    if len(rates) < 2 or max(rates) - min(rates) > EQUAL_SHARE * max(rates):  # noqa: PLR2004 - two to compare
        return ()
    share = (max(rates) - min(rates)) / max(rates) * 100
    least, most = (duration_label(round(one[0] * SECOND_NS)) for one in (found[0], found[-1]))
    said = f"The bursts after idle times of {least} to {most} are within {share:.2g} % of each other"
    return (f"{said}: idle time beyond {least} gave no more (rule: within {percent(EQUAL_SHARE)}).",)
