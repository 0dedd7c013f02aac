"""How even each drive is: its seconds, and its slow I/Os beside its usual ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.results.consistency import consistency, seconds_of
from assay.summary.pages.model import Table, with_values
from assay.words.digits import share, span, times
from assay.words.printed import NOT_AVAILABLE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from assay.compare.comparison import Comparison
    from assay.compare.subject import Subject
    from assay.summary.pages.distribution import Part

_COLUMNS = (
    "Cell", "Drive", "Median", "p99.9 over median", "Max over median", "Variation of seconds", "Worst second",
)  # fmt: skip
_SLOW = 0.999


def consistency_table(
    comparison: Comparison, test: str, shown: str, parts: Mapping[str, Sequence[tuple[Subject, Part]]]
) -> Table | None:
    """A row per part and drive; None where no response time is known. Columns without a value are left out.

    Variation of seconds: the standard deviation of the completions per second over their mean. Worst second: the
    fewest completions over those of the median second.
    """
    letters = [subject.letter for subject in comparison.subjects]
    rows = [
        (label, one.title, *_values(one, test, part))
        for label, listed in parts.items()
        for one, part in sorted(listed, key=lambda pair: letters.index(pair[0].letter))
    ]
    if not rows:
        return None
    table = Table(caption=f"{shown}: consistency", columns=_COLUMNS, rows=tuple(rows), merged=("Cell",))
    return with_values(table, kept=_COLUMNS[:3])


def _values(subject: Subject, test: str, part: Part) -> tuple[str, ...]:
    middle, slow, most = part.times.percentile(0.5), part.times.percentile(_SLOW), part.latency_ms_max
    report = next(one for one in subject.first.tests if one.prefix == test)
    even = consistency(seconds_of(report.test, part.label))
    return (
        _text(middle, span),
        _text(slow / middle if slow and middle else None, times),
        _text(most / middle if most and middle else None, times),
        _text(even.variation, share),
        _text(even.worst, share),
    )


def _text(value: float | None, printed: Callable[[float], str]) -> str:
    return NOT_AVAILABLE if value is None else printed(value)
