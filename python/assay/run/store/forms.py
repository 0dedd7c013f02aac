"""The forms of ``run.json`` and of the journal's lines: what ``codec.decode`` holds them against."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field

# Read by pydantic when the program runs.
from assay.engine.records import (  # noqa: TC001
    DriveIdentity,
    DriveRecord,
    HostCertificate,
    HostRecord,
    MeasurementWindow,
    OnVoid,
    Platform,
    Role,
    SkippedTest,
    StepRecord,
)
from assay.run.store.tables import TABLE_NAME

RUN_SCHEMA = 5

_Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
_Name = Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")]
_TableName = Annotated[str, Field(pattern=f"^{TABLE_NAME}$")]
# Up to the year 2262, and so within every calendar that prints it.
_Instant = Annotated[int, Field(ge=0, lt=1 << 63)]
_Text = Annotated[str, Field(max_length=1 << 16)]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunDocument:
    """``run.json``: everything that is known before the first I/O. run_id : hexadecimal time and chance."""

    schema: Literal[5]
    run_id: Annotated[str, Field(pattern=r"^[0-9A-Za-z-]{1,64}$")]
    plan: dict[str, Any]
    edition: dict[str, Any]
    description: dict[str, _Text]
    identity: DriveIdentity
    platform: Platform
    certificate: HostCertificate | None
    deviations: tuple[_Text, ...]
    skipped: tuple[SkippedTest, ...]
    started_wall_ns: _Instant
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecialNote:
    """A line of the special notes that a plan states."""

    item: str
    notation: str
    comments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanTexts:
    """What of the plan is printed word by word."""

    claims: dict[str, float | None] | None = None
    baseline: dict[str, float | None] | None = None
    special_notes: tuple[SpecialNote, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of the journal. previous : SHA-256 of the line before. hash : of what stands before it in this one."""

    seq: int
    wall_ns: _Instant
    kind: str
    data: dict[str, Any]
    previous: _Digest
    hash: _Digest


@dataclass(frozen=True, slots=True, kw_only=True)
class TestStarted:
    """A test begins."""

    settings: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What steps were asked: ranges and specifications by the digest of their content."""

    ranges: dict[_Name, dict[str, Any]]
    specs: dict[_Name, dict[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """A sequence of steps ran. asked : the name of what each was asked; more than steps where it was cut short."""

    name: Annotated[str, Field(min_length=1, max_length=200)]
    stage: Annotated[str, Field(pattern=r"^[a-z][a-z-]{0,31}$")]
    index: Annotated[int, Field(ge=0, lt=10_000)]
    role: Role
    on_void: OnVoid
    keeps_ios: bool
    ramp_up_steps: Annotated[int, Field(ge=0, lt=10_000)] = 0
    asked: tuple[_Name, ...]
    steps: tuple[StepRecord, ...]
    tables: dict[_TableName, _Digest]
    host: HostRecord | None = None
    drive: DriveRecord | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A verdict. stage, covered : the sequences that its window is of."""

    window: MeasurementWindow
    stage: Annotated[str, Field(pattern=r"^[a-z][a-z-]{0,31}$")]
    covered: tuple[Annotated[int, Field(ge=0, lt=10_000)], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TestEnded:
    """A test ended. reason : ``steady``, ``time`` and so on, or the slug of an error."""

    reason: Annotated[str, Field(max_length=100)]
    detail: _Text = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DriveChanged:
    """The drive was changed or taken into use under a test. since_wall_ns : what ran since then is void."""

    since_wall_ns: _Instant
    reason: _Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumed:
    """A run was resumed. torn_bytes : of a line that was not whole. changed : of the test system, a line each."""

    torn_bytes: Annotated[int, Field(ge=0, lt=1 << 40)]
    changed: tuple[_Text, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """How I/Os are carried out, and what the block layer is set to."""

    facts: dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportDate:
    """When the report was first rendered."""

    wall_ns: _Instant
