"""The names of the numbers that tests have, and what each is of many."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.results import POINT_SHARES
from assay.summary.pages.distribution import SHARES
from assay.summary.record import Measure
from assay.words.digits import nth
from assay.words.printed import NOT_AVAILABLE, number_text, paragraph, words
from assay.words.text import text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.summary.pages.distribution import Distribution
    from assay.summary.record import Key, Stat
    from assay.words.coded import Coded, Number

MEAN, MAXIMUM = "latency_ms_mean_of_ios", "latency_ms_max"
"""Of the response times of all I/Os."""
MEANS = ("latency_ms_mean_of_rounds", MEAN)
"""Keys of the mean response time of a cell; where it has both, the first is the one of its test."""


def percentile_key(share: float) -> str:
    """The key of a percentile. Worked: 0.999 -> ``"latency_ms_p99.9"``."""
    return f"latency_ms_{nth(share)}"


_QUANTILES = {nth(share): share for share in {*SHARES, *POINT_SHARES}}


def quantile_of(key: str) -> float | None:
    """Which percentile a key is of, in (0, 1); None of any other. Worked: ``due_ms_p99.9`` -> 0.999."""
    return _QUANTILES.get(key.rpartition("_")[2])


_PERCENTILES = tuple(percentile_key(share) for share in sorted({*SHARES, *POINT_SHARES}))
_STATS: dict[str, Stat] = {
    "iops": "mean",
    "mb_per_s": "mean",
    "commands_per_s": "mean",
    "latency_ms": "mean",
    "minutes": "amount",
    "written_gb": "amount",
    "ratio": "ratio",
    "percent": "ratio",
    "wrong_sectors": "count",
    "checked_sectors": "count",
    "first_wrong_lba": "count",
    "true_capacity_gb": "amount",
    "trimmed_mb_per_s": "mean",
    "latency_ms_mean_of_rounds": "mean",
    MEAN: "mean",
    **dict.fromkeys(_PERCENTILES, "percentile"),
    MAXIMUM: "maximum",
}
MEASURE_KEYS = (
    *_STATS,
    *(f"{kind}_{end}" for kind in ("due_ms", "late_ms") for end in ("mean_of_ios", *sorted(_QUANTILES), "max")),
)
"""The key of every number that a test of this package may have; of timed I/Os also from due, and the issue delay."""
_KEYS = {
    "IOPS": "iops",
    "MB/s": "mb_per_s",
    "commands/s": "commands_per_s",
    "ms": "latency_ms",
    "min": "minutes",
    "GB": "written_gb",
    "x": "ratio",
    "%": "percent",
}
_WORDS = {
    "iops": "IOPS",
    "mb_per_s": "MB/s",
    "commands_per_s": "trims and flushes per second",
    "trimmed_mb_per_s": "trimmed MB/s",
    "latency_ms": "response time",
    "latency_ms_mean_of_rounds": "mean response time of the rounds",
    MEAN: "mean response time",
    MAXIMUM: "largest response time",
    "minutes": "time",
    "written_gb": "written",
    "percent": "share",
    "wrong_sectors": "wrong sectors",
    "checked_sectors": "checked sectors",
    "first_wrong_lba": "first wrong LBA",
    "true_capacity_gb": "true capacity",
    **{percentile_key(share): f"{share * 100:g} % response time" for share in {*SHARES, *POINT_SHARES}},
}


_PARTS = {
    "latency_ms_mean_of_rounds": "average",
    MEAN: "average",
    MAXIMUM: "maximum",
    **{percentile_key(share): f"{share * 100:g} %" for share in {*SHARES, *POINT_SHARES}},
}
_SHORT = {
    **dict.fromkeys(MEANS, "mean"),
    MAXIMUM: "max",
    **{percentile_key(one): nth(one) for one in {*SHARES, *POINT_SHARES}},
}
FIRST: Key = (("sample", "first"),)
SETTLED: Key = (("sample", "settled"),)
LAST: Key = (("sample", "last"),)
"""Cells of a write saturation."""


def short_name(key: str) -> str:
    """A response time as people name it; empty of another number. Worked: ``latency_ms_p99.9`` -> ``"p99.9"``."""
    return _SHORT.get(key, "")


def stat_of(key: str) -> Stat:
    """What a number of this package is of many. Worked: ``latency_ms_p99.9`` -> ``percentile``."""
    return _STATS[key]


def key_of_unit(unit: str) -> str:
    """The key of a number of a unit. Worked: ``IOPS`` -> ``"iops"``; a unit of a user's own -> ``"value"``."""
    return _KEYS.get(unit, "value")


def measure_words(key: str) -> str:
    """A key in words.

    Worked: ``latency_ms_p99.9`` -> ``"99.9 % response time"``, ``due_ms_max`` -> ``"largest response time from due"``,
    ``late_ms_p50`` -> ``"50 % lateness"``.
    """
    kind, _, part = key.partition("_ms_")
    times = _WORDS.get(f"latency_ms_{part}", "")
    replayed = {"due": f"{times} from due", "late": times.replace("response time", "lateness")} if times else {}
    return _WORDS.get(key) or replayed.get(kind) or words(key)


def quoted(
    cell: Key,
    unit: str,
    name: str,
    value: Number | None,
    basis: Coded,
    *,
    key: str = "",
    label: str = "",
    **more: Any,
) -> Measure:
    """A number that people quote by a name of its own. key, label : where empty, that of its unit and the name."""
    key = key or key_of_unit(unit)
    return Measure(
        cell=cell,
        key=key,
        label=label or name,
        name=name,
        unit=unit,
        value=value,
        stat=_STATS.get(key, "mean"),
        basis=basis,
        quoted=True,
        **more,
    )


def measure_text(measure: Measure) -> str:
    """The value as printed; n/a where there is none. Worked: 33,332.4 IOPS -> ``"33,332.4"``."""
    return NOT_AVAILABLE if measure.value is None else number_text(float(measure.value), measure.unit)


def range_text(measure: Measure) -> str:
    """Least and greatest of its rounds, empty without any. Worked: 90, 100, 110 IOPS -> ``"90.0 - 110.0"``."""
    return " - ".join(number_text(float(value), measure.unit) for value in measure.extremes or ())


def basis_text(measure: Measure) -> str:
    """What it comes from, or why there is none, on one line; empty where nothing is stated."""
    return paragraph(text(measure.basis)) if measure.basis else ""


def distribution_measures(distribution: Distribution) -> Iterator[Measure]:
    """Mean, percentiles and maximum of the response times of every part, each over all its I/Os."""
    for part in distribution.parts:
        cell: Key = tuple(zip(distribution.columns, part.key, strict=True))
        values = {
            MEAN: part.latency_ms_mean,
            **{percentile_key(share): part.times.percentile(share) for share in SHARES},
            MAXIMUM: part.latency_ms_max,
        }
        for key, value in values.items():
            yield Measure(cell=cell, key=key, label=part.label, unit="ms", value=value, stat=stat_of(key))
