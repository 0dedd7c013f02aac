"""Plans: what to run on which drive, from a TOML file, the command line, or both."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, ValidationError, field_validator, model_validator

from assay.datum import Strict
from assay.errors import UsageError, ValueRangeError
from assay.files import open_named
from assay.profile import PatternDatum, PatternName, QueueDepths, ThreadCounts, WorkloadName, load_profile
from assay.records import DataPattern, Demand, IoPath, PurgeMethod, SaturationStop
from assay.toml_file import fault_error, faults, read_toml
from assay.units import KIB

TestName = Literal["wsat", "iops", "tp", "lat", "hir", "xsr", "ecw", "dirth"]
SuiteName = Literal["basic", "client", "enterprise", "advanced", "blind-survey"]
StudyName = Literal[
    "data-pattern", "write-cache", "oio", "over-provisioning", "active-range", "workload-dependency", "stability",
    "cell-order", "alignment", "trim", "demand-map", "xsr-reverse",
]  # fmt: skip
_BASIC: tuple[TestName, ...] = ("wsat", "iops", "tp", "lat")

SUITES: dict[SuiteName, tuple[str, tuple[TestName, ...]]] = {
    "basic": ("pts-c-1.0", _BASIC),
    "client": ("pts-c-1.0", _BASIC),
    "enterprise": ("pts-e-1.1", _BASIC),
    "advanced": ("pts-e-1.1", ("hir", "xsr", "ecw", "dirth")),
    "blind-survey": ("pts-0.9", _BASIC),
}
"""What a suite implies for the profile and the tests, unless the plan says else."""

SUITE_STUDIES: dict[SuiteName, tuple[StudyName, ...]] = {
    "blind-survey": ("data-pattern", "active-range", "xsr-reverse")
}
"""The studies of a suite behind its tests: level II of the Calypso Blind Survey 2010."""

_DEMANDING = ("wsat", "iops", "tp", "hir", "xsr")
"""Tests whose demand is the tester's choice; latency has one I/O outstanding."""

_ARRIVAL = re.compile(r"(fixed|poisson):(\d{1,10}(?:\.\d{1,6})?)")
_ARRIVALS_MIN, _ARRIVALS_MAX = 0.001, 1e9

_POOL_KIB_MIN = 0.5
_STORED_SHARES = (0.05, 0.95)
"""Of compressible data; as ``DataPattern`` of the native core, which refuses others too."""
_DATA_FILE_BYTES_MAX = 1 << 30

Text = Annotated[str, Field(max_length=2000)]


def parse_arrival(text: str) -> tuple[Literal["fixed", "poisson"], float]:
    """Read how I/Os arrive: the process, and I/Os per second over all threads, above 0.001 and at most 1e9.

    Raises ValueError for anything else. Worked: ``poisson:5000`` -> ``("poisson", 5000.0)``.
    """
    match = _ARRIVAL.fullmatch(text)
    if match is None or not _ARRIVALS_MIN < float(match[2]) <= _ARRIVALS_MAX:
        raise ValueError(f"{text!r} is not fixed:RATE or poisson:RATE with 0.001 < RATE <= 1e9 I/Os per second")
    return ("fixed" if match[1] == "fixed" else "poisson"), float(match[2])


def _is_arrival(text: str) -> str:
    parse_arrival(text)
    return text


class ReportTexts(Strict):
    """What only people know, printed in the report."""

    objective: Text = ""
    baseline: Text = ""
    samples: Text = ""
    sponsor: Text = ""
    auditor: Text = ""
    notes: Text = ""
    vendor: Text = ""
    nand_type: Text = ""
    interface: Text = ""
    form_factor: Text = ""
    features: Text = ""
    system: Text = ""
    hba: Text = ""
    primary_storage: Text = ""
    operator: Text = ""
    file_system: Text = ""
    platform_serial: Text = ""
    pcie: Text = ""
    peripherals: Text = ""


class DemandOptions(Strict):
    """The demand, which the specification leaves to the tester in most tests."""

    thread_count: int | None = Field(default=None, ge=1, le=1024)
    queue_depth: int | None = Field(default=None, ge=1, le=4096)

    def demand(self, default: Demand) -> Demand:
        """The tester's demand, or the profile's where the tester has not chosen.

        Worked: a queue depth of 16 over a default of 1 x 8 -> 1 x 16.
        """
        return Demand(
            thread_count=self.thread_count or default.thread_count,
            queue_depth=self.queue_depth or default.queue_depth,
        )


class LoopOptions(DemandOptions):
    """Choices that the specification leaves to the tester, for one test loop.

    arrival : ``fixed:RATE`` or ``poisson:RATE`` makes it an open loop, which is a listed deviation.
    """

    round_limit: int | None = Field(default=None, ge=5, le=1000)
    arrival: Annotated[str, AfterValidator(_is_arrival)] | None = None

    def demand(self, default: Demand) -> Demand:
        """The same with the rate at which I/Os arrive; TC x QD then only limits how many are outstanding.

        Worked: ``fixed:5000`` over a default of 1 x 8 -> at most 8 outstanding of 5,000 a second.
        """
        closed = DemandOptions.demand(self, default)
        if self.arrival is None:
            return closed
        process, rate = parse_arrival(self.arrival)
        return replace(closed, arrivals_per_s=rate, arrival_process=process)


class LatencyOptions(LoopOptions):
    """The same for latency. histogram_minutes : of the response-time histogram behind it; None means the edition's."""

    histogram_minutes: float | None = Field(default=None, ge=0, le=24 * 60)


class SaturationOptions(DemandOptions):
    """Choices for the write saturation test; None means the edition's.

    stop : ``first`` of time, amount and five-point rule, or one of them alone.
    workloads : each is a test of its own, with its own purge.
    """

    stop: SaturationStop | None = None
    time_hours: float | None = Field(default=None, gt=0, le=7 * 24)
    amount_multiple: float | None = Field(default=None, gt=0, le=1000)
    histogram_minutes: float | None = Field(default=None, ge=0, le=24 * 60)
    workloads: tuple[WorkloadName, ...] = Field(default=("rnd-4k-write",), min_length=1)


class StudyOptions(DemandOptions):
    """Choices for studies. data_file : bytes that the data-pattern study writes as one of its variants."""

    data_file: str = ""


class GridOptions(Strict):
    """Choices for a test over a grid of demands; None means the edition's.

    art_limit_ms : bound on the average response time of the Max point, which the specification has at 5 ms.
    thread_counts, queue_depths : a grid of one's own.
    """

    round_limit: int | None = Field(default=None, ge=5, le=1000)
    art_limit_ms: float | None = Field(default=None, gt=0)
    thread_counts: ThreadCounts | None = None
    queue_depths: QueueDepths | None = None


class IntensityOptions(GridOptions):
    """The same for demand intensity.

    patterns : names that the edition or ``assay.pattern`` knows, or patterns of one's own; each is a test of its own.
    Empty means the edition's first, and in the suite ``advanced`` all that it names.
    """

    patterns: tuple[PatternName | PatternDatum, ...] = Field(default=(), max_length=20)

    @model_validator(mode="after")
    def _told_apart(self) -> Self:
        names = [one if isinstance(one, str) else one.name for one in self.patterns]
        if len(set(names)) != len(names):
            raise ValueError("two patterns have one name")
        return self


class Claims(Strict):
    """What the drive's data sheet claims, printed beside what was measured. Rates in IOPS and MB/s, times in ms."""

    rnd_4k_write_iops: float | None = Field(default=None, gt=0)
    rnd_4k_read_iops: float | None = Field(default=None, gt=0)
    seq_write_mb_per_s: float | None = Field(default=None, gt=0)
    seq_read_mb_per_s: float | None = Field(default=None, gt=0)
    write_latency_ms: float | None = Field(default=None, gt=0)
    read_latency_ms: float | None = Field(default=None, gt=0)


class SpecialNote(Strict):
    """One line of the Test Sponsor - Special Notes."""

    item: Text
    notation: Text = ""
    comments: Text = ""


class DataOptions(Strict):
    """Content of the data written; anything but random is a listed deviation. As a text: ``compressible:0.5``."""

    kind: Literal["random", "compressible", "stamped", "repeating", "file"] = "random"
    stored_share: float = Field(default=1.0, gt=0, le=1)
    pool_kib: float = Field(default=0, ge=0, le=1024 * 1024)
    path: str = ""

    @model_validator(mode="before")
    @classmethod
    def _of_text(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        kind, colon, text = value.partition(":")
        field = {"compressible": "stored_share", "repeating": "pool_kib", "file": "path"}.get(kind)
        if colon and field is None:
            raise ValueError(f"{kind} data take no value behind a colon")
        return {"kind": kind, field: text} if colon and field else {"kind": kind}

    @model_validator(mode="after")
    def _complete(self) -> Self:
        least, most = _STORED_SHARES
        if self.kind == "compressible" and not least <= self.stored_share <= most:
            raise ValueError(f"compressible data need stored_share of {least} to {most}, not {self.stored_share:g}")
        if self.kind == "repeating" and self.pool_kib < _POOL_KIB_MIN:
            raise ValueError(f"a repeating pattern needs pool_kib of at least {_POOL_KIB_MIN}")
        if self.kind == "file" and not self.path:
            raise ValueError("a file pattern needs path")
        return self

    def check_file(self) -> None:
        """Raise UsageError where the file to write from cannot be read or is empty."""
        if self.kind != "file":
            return
        try:
            with open_named(Path(self.path)) as file:
                size = os.fstat(file.fileno()).st_size
        except OSError as error:
            raise UsageError(self.path, error.strerror or "cannot be read", "name a readable data file") from None
        if not 0 < size <= _DATA_FILE_BYTES_MAX:
            raise UsageError(self.path, "is no regular file of 1 byte to 1 GiB", "name a file with data")

    def to_pattern(self) -> DataPattern:
        """The same as a DataPattern record."""
        return DataPattern(
            kind=self.kind,
            stored_share=self.stored_share,
            pool_bytes=int(self.pool_kib * KIB),
            path=self.path,
        )


class Plan(Strict):
    """A complete plan.

    drive : path, by-id link or ``sim:NAME``. scale : multiplies durations, in (0, 1]; 1 is the specification.
    seed : of the address streams and segment places; None draws one, which the report states.
    capture : keep every completion of what is measured: its time and response time, or also its place and size.
    pin : CPUs of the threads on a real drive: ``auto``, ``none``, or a list such as ``0,2,4-7``.
    io_path : the way that the I/Os of a real drive take; ``auto`` probes it.
    io_time_limit_seconds : an I/O of a real drive that takes longer ends the run as a device failure.
    stall_limit_seconds : longest time in which a drive may complete nothing; beyond, a round or sample is void.
    on_stall : after a void round or sample, ``continue`` with a window that begins anew, or ``stop``.
    purge : how a real drive is purged; ``auto`` takes the strongest way that needs no name.
    write_cache : ``edition`` sets what the edition demands, where the drive can; else ``on``, ``off`` or ``as-is``.
    """

    schema_version: Literal[1] = Field(default=1, alias="schema")
    drive: Annotated[str, Field(min_length=1, max_length=4096)]
    suite: SuiteName = "client"
    profile: str | None = None
    tests: tuple[TestName, ...] = ()
    studies: tuple[StudyName, ...] = ()
    seed: int | None = Field(default=None, ge=0, lt=2**63)
    scale: float = Field(default=1.0, gt=0, le=1)
    file_target: bool = False
    capture: Literal["none", "times", "addresses"] = "none"
    pin: str = "auto"
    io_path: IoPath | Literal["auto"] = "auto"
    io_time_limit_seconds: float = Field(default=35, ge=1, le=3600)
    stall_limit_seconds: float = Field(default=2, ge=0.5, le=3600)
    on_stall: Literal["continue", "stop"] = "continue"
    purge: PurgeMethod | Literal["auto"] = "auto"
    write_cache: Literal["edition", "on", "off", "as-is"] = "edition"
    report: ReportTexts = ReportTexts()
    special_notes: tuple[SpecialNote, ...] = Field(default=(), max_length=12)
    claims: Claims = Claims()
    wsat: SaturationOptions = SaturationOptions()
    iops: LoopOptions = LoopOptions()
    tp: LoopOptions = LoopOptions()
    lat: LatencyOptions = LatencyOptions()
    hir: DemandOptions = DemandOptions()
    xsr: DemandOptions = DemandOptions()
    study: StudyOptions = StudyOptions()
    ecw: GridOptions = GridOptions()
    dirth: IntensityOptions = IntensityOptions()
    data: DataOptions = DataOptions()

    @field_validator("pin")
    @classmethod
    def _cpus(cls, pin: str) -> str:
        if re.fullmatch(r"auto|none|\d{1,5}(-\d{1,5})?(,\d{1,5}(-\d{1,5})?)*", pin, re.ASCII) is None:
            raise ValueError("give auto, none, or CPUs such as 0,2,4-7")
        return pin

    def resolved(self) -> Plan:
        """The plan with what the suite implies filled in, checked against the world.

        Raises UsageError for an unknown profile or a data file that cannot be read.
        Worked: ``Plan(drive="sim:x", suite="enterprise").resolved().profile`` is ``"pts-e-1.1"``.
        """
        profile = load_profile(self.edition)
        self.data.check_file()
        if self.study.data_file:
            DataOptions(kind="file", path=self.study.data_file).check_file()
        # Studies that are named run alone, unless tests or a suite are named beside them.
        alone = bool(self.studies) and "suite" not in self.model_fields_set
        tests = self.tests or (() if alone else SUITES[self.suite][1])
        studies = self.studies if self.studies or self.tests else SUITE_STUDIES.get(self.suite, ())
        filled: dict[str, Any] = {"profile": self.edition, "tests": tests, "studies": studies}
        if self.suite == "advanced" and not self.tests and profile.dirth and not self.dirth.patterns:
            # Of the suite, every pattern that the edition names is a test; of the test alone, the first.
            names = tuple(pattern.name for pattern in profile.dirth.patterns.value)
            filled["dirth"] = self.dirth.model_copy(update={"patterns": names})
        return self.model_copy(update=filled)

    @property
    def edition(self) -> str:
        """Name of the profile: the plan's own, or the one that its suite implies."""
        return SUITES[self.suite][0] if self.profile is None else self.profile

    def options(self, test: str) -> LoopOptions:
        """The tester's choices for a test; ``tp-128`` and ``tp-1024`` share those of ``tp``."""
        chosen: LoopOptions = getattr(self, test.partition("-")[0])
        return chosen


def load_plan(path: Path | None, overrides: dict[str, Any], choices: dict[str, Any] | None = None) -> Plan:
    """Read a plan file, apply what the command line says, and check everything.

    path : the TOML file, or None for a plan made of ``overrides`` alone.
    overrides : top-level keys that win over the file. choices : keys of the table of every test that do; with an
    ``arrival`` among them those of the demand also hold for latency, where they then limit what is outstanding.
    Raises PlanError naming file, line and column of the first fault and listing the others; UsageError for an
    ``arrival`` on write saturation.
    """
    _check_arrival(choices or {})
    table, positions = read_toml(path) if path else ({}, {})
    if "suite" in overrides:
        # A suite named on the command line brings its own edition and tests.
        table = {key: value for key, value in table.items() if key not in {"profile", "tests", "studies"}}
    elif overrides.keys() & {"tests", "studies"}:
        table = _without_tests(table)
    merged = {**table, **overrides}
    for test in (*_BASIC, "study") if choices else ():
        merged[test] = {**_table(merged.get(test)), **_choices(test, choices or {})}
    try:
        plan = Plan.model_validate(merged).resolved()
    except ValidationError as error:
        if path is not None:
            raise fault_error(path, positions, error) from None
        key, reason = faults(error)[0]
        raise ValueRangeError(f"option {key}", reason, "give a value inside the range") from None
    if "arrival" in (choices or {}) and "wsat" in plan.tests:
        reason = "write saturation asks for all that the drive takes, so nothing arrives at a rate"
        raise UsageError("--arrival", reason, "name the tests with --test iops,tp,lat")
    return plan


def _check_arrival(choices: dict[str, Any]) -> None:
    """Named as the option: the tables that it goes into are nothing that the user wrote."""
    try:
        parse_arrival(choices.get("arrival", "fixed:1"))
    except ValueError as error:
        raise ValueRangeError("--arrival", str(error), "write for example --arrival poisson:5000") from None


def _choices(test: str, choices: dict[str, Any]) -> dict[str, Any]:
    """What of the command line's choices goes into the table of a test."""
    if test in {"wsat", "study"}:
        return {key: value for key, value in choices.items() if key != "arrival"}
    return choices if test in _DEMANDING or "arrival" in choices else {}


def _without_tests(table: dict[str, Any]) -> dict[str, Any]:
    """What remains of a file where the command line names tests or studies: the edition of its suite, at the most."""
    suite = table.get("suite")
    implied = {"profile": SUITES[suite][0]} if suite in SUITES else {}
    return {**implied, **{key: value for key, value in table.items() if key not in {"suite", "tests", "studies"}}}


def _table(value: object) -> dict[str, Any]:
    # Anything but a table is left to the model to refuse.
    return value if isinstance(value, dict) else {}
