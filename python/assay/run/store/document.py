"""``run.json``, the date of the report, and the forms that ``codec.decode`` holds the journal's lines against."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import Field

from assay.engine.codec import canonical, decode, parse

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
from assay.errors import StoreError
from assay.run.store import RUN_DOCUMENT
from assay.run.store.tables import TABLE_NAME
from assay.spec.files import exists_inside, read_inside, write_inside

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from assay.engine.records import StoredRun


RUN_SCHEMA: Final = 5

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


_REPORT_DATE = "report_date.json"
_BYTES_MAX, _VALUES_MAX = 16 << 20, 100_000
_PRINTED_OF_PLAN = ("claims", "baseline", "special_notes")


def read_document(folder: Path) -> tuple[bytes, RunDocument]:
    """``run.json`` as it is and as read.

    Raises StoreError where it is missing, damaged, of another form, or lacks or doubles a key.
    """
    path, head = folder / RUN_DOCUMENT, read_head(folder)
    content = parse(head, name=str(path), values_max=_VALUES_MAX)
    if fault := _schema_fault(content.get("schema")):
        raise StoreError(str(path), fault, "use the version that wrote it")
    document = decode(RunDocument, content, name=str(path))
    printed = {key: document.plan[key] for key in _PRINTED_OF_PLAN if key in document.plan}
    decode(PlanTexts, printed, name=f"{path}: plan")
    return head, document


def read_head(folder: Path) -> bytes:
    """``run.json`` as it is. Raises StoreError where there is none that can be read."""
    try:
        return read_inside(folder, RUN_DOCUMENT, bytes_max=_BYTES_MAX)
    except OSError as error:
        raise no_run_folder(folder, error) from None


def list_runs(folder: Path) -> Iterator[Path]:
    """The run folders directly below a folder, by name. Raises StoreError where the folder cannot be looked at."""
    try:
        runs = sorted(path.parent for path in folder.glob(f"*/{RUN_DOCUMENT}")) if folder.is_dir() else []
    except OSError as error:
        raise StoreError(str(folder), error.strerror or "cannot be read", "name another folder") from None
    yield from runs


def no_run_folder(folder: Path, error: OSError) -> StoreError:
    """That a folder holds no run, with the cause where the folder itself is not the reason."""
    if isinstance(error, FileNotFoundError) and folder.is_dir():
        return StoreError(str(folder), "is no run folder: it holds no run.json", f"list runs with: assay runs {folder}")
    return StoreError(str(folder), f"is no run folder ({error.strerror})", "list runs with: assay runs")


def _schema_fault(schema: object) -> str | None:
    """Why a folder of a schema is not read; None where it is."""
    if schema == RUN_SCHEMA:
        return None
    if isinstance(schema, int) and schema > RUN_SCHEMA:
        return f"written by a newer Assay (schema {schema}); this version reads up to {RUN_SCHEMA}"
    if isinstance(schema, int) and schema > 0:
        return f"written by an Assay before its first release (schema {schema}); this version reads {RUN_SCHEMA}"
    return "has a schema unknown to this version"


def report_date(folder: Path) -> int:
    """The instant of the first rendering, fixed from then on; now, where there was none."""
    path = folder / _REPORT_DATE
    try:
        content = read_inside(folder, _REPORT_DATE, bytes_max=1000)
        return decode(ReportDate, parse(content, name=str(path)), name=str(path)).wall_ns
    except FileNotFoundError:
        return time.time_ns()
    except (OSError, StoreError) as error:
        reason = error.reason if isinstance(error, StoreError) else error.strerror or "cannot be read"
        raise StoreError(str(path), reason, "remove it; a new report date is then fixed") from None


def has_report_date(folder: Path) -> bool:
    """Whether a run was rendered before into its own folder. Raises StoreError where the folder cannot be read."""
    try:
        return exists_inside(folder, _REPORT_DATE)
    except OSError as error:
        raise StoreError(str(folder), error.strerror or "cannot be read", "name a folder that you may read") from None


def fix_report_date(folder: Path, run: StoredRun) -> None:
    """Store the report date of a first rendering. Raises StoreError where it cannot be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not exists_inside(folder, _REPORT_DATE):
            write_inside(folder, _REPORT_DATE, canonical({"wall_ns": run.report_date_ns}))
    except OSError as error:
        reason = error.strerror or "cannot be written"
        raise StoreError(
            str(folder / _REPORT_DATE), reason, "make the folder writable, or name another with assay report --out"
        ) from None
