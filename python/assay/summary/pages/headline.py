"""The few numbers that people quote of a drive, as the first page shows them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import ceil, floor
from typing import TYPE_CHECKING, Any

from assay.summary.measures import LAST, MEAN, SETTLED, measure_part
from assay.words.printed import NOT_AVAILABLE, milliseconds_text, minutes_label
from assay.words.text import text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from assay.engine.records import StoredRun
    from assay.summary.record import Measure

_TENFOLD = 10
_OURS = frozenset({"of", "last", "part", "baseline", "bound", "mark"})
"""Fields that say where a number stands on pages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Headline:
    """One number that people quote.

    item : what it is of, such as ``RND 4KiB R``. unit : ``IOPS``, ``MB/s``, ``ms``, ``GB``, ``%`` or ``x`` for a ratio.
    value : None where none may be printed. values : the rounds that it is the average of; empty for others.
    basis : what it comes from, or why there is none. claim : key of the data sheet's claim in the plan, or None.
    last : that of the last sample, where there is no value because no level was reached.
    part : what of the response times of a demand it is, such as ``99.9 %``, which ends its item; empty for others.
    baseline : its key in the baseline of the plan where that is another than that of the claim.
    bound, mark : the host's part in it, as in ``Measure``.
    of : the item of another number of the test that it is the average response time of, in whose row a table has it.
    """

    item: str
    unit: str
    value: float | None
    basis: str
    values: tuple[float, ...] = ()
    claim: str | None = None
    last: float | None = None
    part: str = ""
    of: str = ""
    baseline: str | None = None
    bound: float | None = None
    mark: str | None = None

    @property
    def text(self) -> str:
        """The value as printed."""
        return NOT_AVAILABLE if self.value is None else number_text(self.value, self.unit)

    @property
    def spread(self) -> str:
        """Least and greatest of its rounds, n/a without any. Worked: 90, 100, 110 IOPS -> ``"90.0 - 110.0"``."""
        if self.value is None or not self.values:
            return NOT_AVAILABLE
        return f"{number_text(min(self.values), self.unit)} - {number_text(max(self.values), self.unit)}"


def quoted_headlines(measures: Iterable[Measure]) -> tuple[Headline, ...]:
    """The numbers that people quote, of all numbers of a test.

    The mean response time of a cell that has a rate is that of the rate; several response times of a cell without one
    are parts of one subject.
    """
    quoted = [measure for measure in measures if measure.quoted]
    return tuple(_headline(one, quoted) for one in quoted)


def _headline(measure: Measure, quoted: Sequence[Measure]) -> Headline:
    same = [other for other in quoted if other.cell == measure.cell]
    rate = next((other.printed for other in same if other.unit != "ms"), "")
    times = [other for other in same if other.unit == "ms"]
    return Headline(
        item=measure.printed,
        unit=measure.unit,
        value=None if measure.value is None else float(measure.value),
        values=tuple(map(float, measure.rounds)) if measure.stat == "mean" else (),
        basis=text(measure.basis) if measure.basis else "",
        claim=measure.claim,
        baseline=measure.baseline,
        bound=measure.bound,
        mark=measure.mark,
        part=measure_part(measure.key) if len(times) > 1 and measure in times else "",
        of=rate if measure.key == MEAN else "",
        last=next((float(other.value) for other in quoted if _is_last_of(other, measure) and other.value), None),
    )


def _is_last_of(other: Measure, measure: Measure) -> bool:
    """Whether a number is the last sample of one that did not settle."""
    return measure.value is None and measure.cell == SETTLED and other.cell == LAST and other.key == measure.key


def number_text(value: float, unit: str) -> str:
    """Print a value of a unit.

    Worked: 24632.04 IOPS -> ``"24,632.0"``, 0.35 ms -> ``"0.350"``, a ratio (x) of 0.1234 -> ``"0.123"``, one of 19.504
    -> ``"19.5"``, 3 min -> ``"3"``.
    """
    if unit == "ms":
        return milliseconds_text(value)
    if unit == "min":
        return minutes_label(value).removesuffix(" min") if value >= 1 else f"{value:.3g}"
    return f"{value:z.3f}" if unit == "x" and abs(value) < _TENFOLD else f"{value:z,.1f}"


def claimed(run: StoredRun, headline: Headline) -> float | None:
    """What the data sheet claims of a number, as the plan states it."""
    claims: dict[str, Any] = run.plan.get("claims") or {}
    return claims.get(headline.claim) if headline.claim else None


def baseline_of(run: StoredRun, headline: Headline) -> float | None:
    """What the number was in the baseline of the plan, None where it states none."""
    baseline: dict[str, Any] = run.plan.get("baseline") or {}
    key = headline.baseline or headline.claim
    return baseline.get(key) if key else None


def share_of(headline: Headline, whole: float | None) -> float | None:
    """The number over another. Worked: 45,000 of 50,000 IOPS -> 0.9; None without either."""
    return headline.value / whole if whole and headline.value is not None else None


def claim_share(run: StoredRun, headline: Headline) -> float | None:
    """The number over its claim, as ``share_of``."""
    return share_of(headline, claimed(run, headline))


def share_text(share: float) -> str:
    """A share in per cent; where that would round to the whole, with two digits that say on which side of it.

    Worked: 0.9 -> ``"90 %"``, 0.9998 -> ``"99.98 %"``.
    """
    if share == 1 or f"{share:.0%}" != "100%":
        return f"{share:.0%}".replace("%", " %")
    ten_thousandths = floor(share * 10_000) if share < 1 else ceil(share * 10_000)
    return f"{ten_thousandths / 100:.2f} %"


def claim_text(claim: float, unit: str) -> str:
    """Print a claim as the plan states it. Worked: 40,000 IOPS -> ``at least 40,000``, 0.3 ms -> ``at most 0.3``."""
    return f"{'at most' if unit == 'ms' else 'at least'} {claim:,.12g}"


def claim_met(run: StoredRun, headline: Headline) -> str:
    """Whether a number is what the data sheet claims, rates at least and times at most; empty without either.

    Worked: 45,000 IOPS where 50,000 are claimed -> ``"NO"``; 0.2 ms where 0.3 ms are claimed -> ``"YES"``.
    """
    claim = claimed(run, headline)
    if claim is None or headline.value is None:
        return ""
    met = headline.value <= claim if headline.unit == "ms" else headline.value >= claim
    return "YES" if met else "NO"


def headline_results(headlines: Sequence[Headline]) -> list[dict[str, Any]]:
    """The same numbers in ``results.json``, unrounded."""
    return [{key: value for key, value in asdict(headline).items() if key not in _OURS} for headline in headlines]
