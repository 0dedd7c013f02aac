"""The numbers of a test as one flat list: what is compared, limited, listed and loaded of stored runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from assay.pages.distribution import SHARES
from assay.pages.printed import words
from assay.results import POINT_SHARES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from assay.pages.distribution import Distribution
    from assay.pages.headline import Headline

Better = Literal["higher", "lower", "neither"]
Key = tuple[tuple[str, "str | int | float"], ...]

_COLUMNS = {
    "IOPS": "iops",
    "MB/s": "mb_per_s",
    "commands/s": "commands_per_s",
    "ms": "latency_ms",
    "min": "minutes",
    "GB": "written_gb",
    "x": "ratio",
    "%": "percent",
}
MEASURE_NAMES = (
    *_COLUMNS.values(),
    "trimmed_mb_per_s",
    "latency_ms_mean_of_rounds",
    "latency_ms_mean_of_ios",
    *(f"latency_ms_p{share * 100:g}" for share in sorted({*SHARES, *POINT_SHARES})),
    "latency_ms_max",
)
"""The name of every number that a test of this package may have."""
_BETTER: dict[str, Better] = {"IOPS": "higher", "MB/s": "higher", "commands/s": "higher", "ms": "lower", "min": "lower"}


_WORDS = {
    "iops": "IOPS",
    "mb_per_s": "MB/s",
    "commands_per_s": "trims and flushes per second",
    "trimmed_mb_per_s": "trimmed MB/s",
    "latency_ms": "response time",
    "latency_ms_mean_of_rounds": "mean response time of the rounds",
    "latency_ms_mean_of_ios": "mean response time",
    "latency_ms_max": "largest response time",
    "minutes": "time",
    "written_gb": "written",
    "percent": "share",
}
_PERCENTILE = "latency_ms_p"


def measure_words(name: str) -> str:
    """Print the name of a number in words. Worked: ``latency_ms_p99.9`` -> ``"99.9 % response time"``."""
    if name not in _WORDS and name.startswith(_PERCENTILE):
        return f"{name.removeprefix(_PERCENTILE)} % response time"
    return _WORDS.get(name) or words(name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """One number of a test, unrounded.

    cell : columns and values that tell apart what it is of, such as ``(("block_kib", 4), ("read_pct", 100))``.
    label : the same as printed. name : of the number, as the column of a table. unit : ``IOPS``, ``MB/s``, ``ms``,
    ``min``, ``GB``, ``%`` or ``x`` for a ratio. value : None where it may not be printed or too few I/Os lie beyond a
    percentile. rounds : the same of each round of the window, oldest first; empty where it was measured once.
    judged : the verdict of steady state is about this very number.
    """

    cell: Key
    label: str
    name: str
    unit: str
    value: float | None
    rounds: tuple[float, ...] = ()
    judged: bool = False

    @property
    def is_quoted(self) -> bool:
        """Whether it is of an item of the first page, and no cell of a table."""
        return any(key == "item" for key, _ in self.cell[:1])

    @property
    def better(self) -> Better:
        """Whether a higher or a lower value is the better drive; neither of a ratio or an amount."""
        return _BETTER.get(self.unit, "neither")


def headline_measures(found: Iterable[Headline]) -> Iterator[Measure]:
    """The numbers that people quote as measures, each a cell of its own.

    Worked: ``RND 4KiB 0/100, settled`` of 2,500 IOPS -> cell ``(("item", "RND 4KiB 0/100, settled"),)``, name ``iops``.
    """
    for one in found:
        yield Measure(
            cell=(("item", one.item),),
            label=one.item,
            name=value_name(one.unit),
            unit=one.unit,
            value=one.value,
            rounds=one.values,
            judged=bool(one.values),
        )


def value_name(unit: str) -> str:
    """The column of a value of a unit. Worked: ``IOPS`` -> ``"iops"``; a unit of a user's own -> ``"value"``."""
    return _COLUMNS.get(unit, "value")


def distribution_measures(found: Distribution) -> Iterator[Measure]:
    """Mean, percentiles and maximum of the response times of every part, each over all its I/Os."""
    for part in found.parts:
        cell: Key = tuple(zip(found.columns, part.key, strict=True))
        values = {
            "latency_ms_mean_of_ios": part.latency_ms_mean,
            **{percentile_name(share): part.times.percentile(share) for share in SHARES},
            "latency_ms_max": part.latency_ms_max,
        }
        for name, value in values.items():
            yield Measure(cell=cell, label=part.label, name=name, unit="ms", value=value)


def percentile_name(share: float) -> str:
    """The column of a percentile. Worked: 0.999 -> ``"latency_ms_p99.9"``."""
    return f"latency_ms_p{share * 100:g}"
