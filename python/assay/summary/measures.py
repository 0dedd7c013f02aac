"""The names of the numbers that tests have, what each is of many, and the host's part in each."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from assay.results.captured import POINT_SHARES
from assay.results.host_part import average_part, busy_steps, calm_of_step, part_level, step_part
from assay.results.host_tail import host_excess, late_ns_near_maximum
from assay.results.measured import counted_sequences
from assay.spec.units import MILLISECOND_NS
from assay.summary.record import Measure
from assay.words.coded import coded
from assay.words.digits import nth
from assay.words.printed import NOT_AVAILABLE, number_text, paragraph, words
from assay.words.text import text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from assay.engine.records import StoredSequence, StoredTest
    from assay.results.finding import Level
    from assay.summary.record import Key, Mark, Sources, Stat
    from assay.words.coded import Coded, Number


SHARES = (0.5, 0.9, 0.95, 0.99, 0.999, 0.9999, 0.99999)
"""Percentiles of every part of a distribution."""
MEAN, MAXIMUM = "latency_ms_mean_of_ios", "latency_ms_max"
"""Of the response times of all I/Os."""
MEANS = ("latency_ms_mean_of_rounds", MEAN)
"""Keys of the mean response time of a cell; where it has both, the first is the one of its test."""


def percentile_key(share: float) -> str:
    """The key of a percentile. Worked: 0.999 -> ``"latency_ms_p99.9"``."""
    return f"latency_ms_{nth(share)}"


_QUANTILES = {nth(share): share for share in sorted({*SHARES, *POINT_SHARES})}


def quantile_of(key: str) -> float | None:
    """Which percentile a key is of, in (0, 1); None of any other. Worked: ``due_ms_p99.9`` -> 0.999."""
    return _QUANTILES.get(key.rpartition("_")[2])


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
    **dict.fromkeys(map(percentile_key, _QUANTILES.values()), "percentile"),
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
    **{percentile_key(share): f"{share * 100:g} % response time" for share in _QUANTILES.values()},
}


_SHORT = {**dict.fromkeys(MEANS, "mean"), MAXIMUM: "max", **{f"latency_ms_{name}": name for name in _QUANTILES}}
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


LATE_BEYOND = 0.5
"""A percentile is marked where the host was late in this share of the time that is beyond it: late I/Os come on top of
those that are slow on a quiet host."""
LATE_OF_MAXIMUM = 0.5
"""A maximum is marked where the host was late by this share of it."""
_MARKS: dict[Level, Mark | None] = {"unknown": "uncalibrated", "warn": "warn", "invalid": "invalid", "pass": None}
"""What the level of a known part makes of a number."""


def bounded(test: StoredTest, measures: Iterable[Measure]) -> Iterator[Measure]:
    """The numbers of a test with bound and mark; unchanged where time is virtual.

    A number without a value, an amount and a count have neither. One that is invalid by itself loses its value.
    Worked: waits of 2 % of the time in the steps of a cell -> its IOPS with bound 0.02 and mark ``warn``.
    """
    if not any(sequence.host for sequence in test.sequences):
        yield from measures
        return
    host = _Host(test)
    for measure in measures:
        bound, mark = host.of(measure) if measure.value is not None else (None, None)
        marked = replace(measure, bound=bound, mark=mark)
        if mark == "invalid":
            basis = coded("withheld", reason=coded("host-part-number", share=bound))
            yield replace(marked, value=None, rounds=(), tracked=False, basis=basis)
        else:
            note = host_note(marked)
            yield replace(marked, basis=coded("noted", basis=marked.basis, note=note)) if note else marked


def host_note(measure: Measure) -> Coded | None:
    """What the host did to a number, where its mark says that it did; None where it has none, or it is not known.

    Worked: IOPS with bound 0.02 and mark ``warn`` -> ``"host's part up to 2.0 %"``.
    """
    if measure.mark == "uncalibrated":
        return coded("not-calm")
    if measure.mark != "warn":
        return None
    if measure.stat == "maximum":
        return coded("host-beside", late_ms=measure.bound)
    return coded("host-wakes" if measure.stat == "percentile" else "host-bound", share=measure.bound)


def moved_share(measure: Measure) -> float:
    """By which share the host may have moved a number; 0 where it is not marked, or its bound is no share of it."""
    is_share = measure.stat not in {"maximum", "percentile"}
    return measure.bound or 0.0 if measure.mark == "warn" and is_share else 0.0


@dataclass
class _Host:
    test: StoredTest
    _parts: dict[Sources, float | None] = field(default_factory=dict)

    def of(self, measure: Measure) -> tuple[float | None, Mark | None]:
        """Bound and mark of one number."""
        if measure.stat in {"amount", "count"}:
            return None, None
        if measure.stat == "maximum":
            return self._maximum(measure)
        part = self._part(measure.sources)
        if measure.stat == "ratio":
            # Both numbers that it is of may be off.
            part = None if part is None else 2 * part
        if measure.stat == "percentile":
            return self._percentile(measure, part)
        return part, self._mark(part)

    def _mark(self, part: float | None) -> Mark | None:
        if part is None:
            return "unknown"
        return _MARKS[part_level(part, self.test.calibration)]

    def _part(self, sources: Sources) -> float | None:
        """Of the steps that a number comes from, by their length; else the largest of any step that measured."""
        if not sources:
            return self._worst
        # Rate, mean and percentiles of a cell come from the same steps.
        if sources not in self._parts:
            self._parts[sources] = average_part(self._steps(sources), self.test.calibration)
        return self._parts[sources]

    @cached_property
    def _worst(self) -> float | None:
        parts = [step_part(sequence, step, self.test.calibration) for sequence, step in self._counted]
        known = [part for part in parts if part is not None]
        return max(known) if known and len(known) == len(parts) else None

    @cached_property
    def _counted(self) -> Sequence[tuple[StoredSequence, int]]:
        return [
            (sequence, step)
            for sequence in counted_sequences(self.test)
            for step in busy_steps(sequence)
            if sequence.steps[step].span_ns
        ]

    def _steps(self, sources: Sources) -> Sequence[tuple[StoredSequence, int]]:
        return [(self.test.sequences[sequence], step) for sequence, step in sources] or self._counted

    def _percentile(self, measure: Measure, part: float | None) -> tuple[float | None, Mark | None]:
        """The worst of its sequences; a host that shows in the rate shows in every percentile."""
        excesses = [self._excess(measure, sequence, step) for sequence, step in self._steps(measure.sources)]
        if not excesses or None in excesses or part is None:
            return None, "unknown"
        share, sure = (max(shares) for shares in zip(*filter(None, excesses), strict=True))
        late = sure > LATE_BEYOND * (1 - (quantile_of(measure.key) or 0))
        mark = self._mark(part)
        return max(share, 0.0), "warn" if late or mark == "invalid" else mark

    def _excess(self, measure: Measure, sequence: StoredSequence, step: int) -> tuple[float, float] | None:
        value_ns = float(measure.value or 0) * MILLISECOND_NS
        calm = calm_of_step(sequence, step, self.test.calibration)
        return host_excess(sequence.host, calm, value_ns) if sequence.host else None

    def _maximum(self, measure: Measure) -> tuple[float | None, Mark | None]:
        late = [late_ns_near_maximum(sequence, sequence.steps[step]) for sequence, step in self._steps(measure.sources)]
        if not late or None in late:
            return None, "unknown"
        bound = max(late_ns or 0 for late_ns in late) / MILLISECOND_NS
        return bound, "warn" if bound >= LATE_OF_MAXIMUM * float(measure.value or 0) else None
