"""What a study was set to do: variants of one workload on the same drive, each made ready for itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from assay.engine.records.drive import CacheState
from assay.engine.records.settings import TestSettings
from assay.engine.records.stimulus import AccessPattern
from assay.spec.demand import Demand

StudyVariable = Literal["iops", "throughput", "response", "largest", "relative"]
StudyReading = Literal["stages", "grid", "change", "stability", "demand"]
StudyRole = Literal["prepare", "measure", "trim"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyStep:
    """One step of a variant, ``samples`` times in a row.

    role : ``prepare`` (no part of the result), ``measure``, or ``trim`` (the range is given back to the drive, no I/O).
    from_bytes, length_bytes : its range, contiguous; with ``segment_count`` so many equal pieces at random over the
        drive, ``length_bytes`` in all.
    span_ns, amount_bytes : what ends each sample; the other is 0.
    place : where it stands on the x axis of a figure over what the steps vary; None where the variant has a place.
    series : of such a figure; empty means the variant.
    segment_starts : first bytes of equal pieces, ``length_bytes`` in all; empty where it has another range.
    """

    role: StudyRole
    label: str
    pattern: AccessPattern
    demand: Demand
    length_bytes: int
    from_bytes: int = 0
    segment_count: int | None = None
    span_ns: int = 0
    amount_bytes: int = 0
    samples: int = 1
    place: float | None = None
    series: str = ""
    segment_starts: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyVariant:
    """One curve of a study. purge : before its steps. write_cache : set before them, None leaves it as it is."""

    label: str
    purge: bool
    steps: tuple[StudyStep, ...]
    place: float | None = None
    write_cache: CacheState | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyPlot:
    """A figure of a study.

    kind : samples over ``time``, every second of the steps (``seconds``), or settled values over the ``places``.
    variable : ``relative`` is every second's IOPS in per cent of their median.
    only : the stage or variant that it shows; empty means all. x_title, x_scale : of places.
    """

    kind: Literal["time", "seconds", "places"]
    variable: StudyVariable
    only: str = ""
    x_title: str = ""
    x_scale: Literal["linear", "log"] = "linear"


@dataclass(frozen=True, slots=True, kw_only=True)
class StudySettings(TestSettings):
    """What a study used. ``test`` is ``study-NAME``.

    title, question, outline, preparation : in the words of the report. sample_ns : of a sample that
    is not longer for a reason of its own. variants : in the order they run.
    reading : which table is made: values per ``stages``, a ``grid`` of places and variants, the ``change`` of a stage
        that comes again, ``stability`` per second, or a ``demand`` map.
    settled_share : of the last samples of a stage, whose mean is its value.
    recovered_share : of its first value, at which a stage that comes again has recovered.
    not_run : variants that this drive cannot run, with the reason.
    """

    title: str
    question: str
    outline: str
    preparation: str
    sample_ns: int
    variants: tuple[StudyVariant, ...]
    plots: tuple[StudyPlot, ...]
    reading: StudyReading
    settled_share: float
    recovered_share: float
    not_run: tuple[tuple[str, str], ...] = ()

    @property
    def switches_write_cache(self) -> bool:
        """A variant may ask for it."""
        return any(variant.write_cache is not None for variant in self.variants)

    @property
    def demands(self) -> tuple[Demand, ...]:
        """Every demand that the study makes."""
        return (self.demand, *(step.demand for variant in self.variants for step in variant.steps))

    @property
    def transfer_bytes_max(self) -> int:
        """The largest transfer of all variants."""
        return max(size for variant in self.variants for step in variant.steps for size, _ in step.pattern.sizes)
