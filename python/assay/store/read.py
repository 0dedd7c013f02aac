"""Reading a run folder."""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from assay.errors import StoreError, VerificationError
from assay.records import (
    AnySettings,
    CrossStimulusSettings,
    DemandSettings,
    DriveCondition,
    DriveIdentity,
    DriveRecord,
    HostCertificate,
    HostRecord,
    IdleRecoverySettings,
    LoopSettings,
    MeasurementWindow,
    Platform,
    PurgeRecord,
    SaturationSettings,
    SkippedTest,
    StepRecord,
    StoredProgram,
    StoredRun,
    StoredTest,
    StudySettings,
)
from assay.store.codec import canonical, decode
from assay.store.journal import Entry, read_journal, write_durably
from assay.store.series import with_series
from assay.store.tables import read_histograms
from assay.store.trace_summary import trace_summary
from assay.store.traces import TRACES, latency_reader, trace_name
from assay.store.write import HISTOGRAMS, INTENDED, RUN_DOCUMENT, RUN_SCHEMA, SERIES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from assay.records import HistogramTable

_REPORT_DATE = "report_date.json"

_KINDS: dict[str, type[AnySettings]] = {
    "loop": LoopSettings,
    "saturation": SaturationSettings,
    "idle-recovery": IdleRecoverySettings,
    "cross-stimulus": CrossStimulusSettings,
    "study": StudySettings,
    "demand": DemandSettings,
}


def read_run(folder: Path, *, histograms: bool = False) -> StoredRun:
    """Read a run folder as far as it goes; an unfinished or crashed run gives what was measured.

    histograms : read the response-time counts of every step and the seconds of studies, too, and sum up what was
    captured.
    Raises VerificationError where its journal or a table is not what was written, StoreError where it is no run folder,
    cannot be read, or is of a newer form.
    """
    head, document = _document(folder)
    entries = list(read_journal(folder, head))
    tables = _checked_tables(folder, entries)
    engine = _engine(entries)
    name = str(folder / RUN_DOCUMENT)
    identity = decode(DriveIdentity, document["identity"], name=name)
    tests = _tests(entries, tables if histograms else {})
    traces = _Traces(folder, identity.capacity_bytes if histograms else None)
    tests = [traces.joined(test) for test in tests]
    purges = [test.purge.deviation for test in tests if test.purge and test.purge.deviation]
    return StoredRun(
        run_id=document["run_id"],
        identity=identity,
        platform=decode(Platform, document["platform"], name=name),
        certificate=_certificate(document, name),
        description=document["description"],
        plan=document["plan"],
        profile=document["profile"],
        deviations=tuple(dict.fromkeys([*document["deviations"], *purges])),
        started_wall_ns=document["started_wall_ns"],
        report_date_ns=_report_date(folder),
        skipped=tuple(decode(SkippedTest, test, name=name) for test in document["skipped"]),
        engine=engine,
        conditions=tuple(
            decode(DriveCondition, entry.data, name="journal") for entry in entries if entry.kind == "condition"
        ),
        tests=tuple(tests),
    )


def _certificate(document: dict[str, Any], name: str) -> HostCertificate | None:
    """Runs of earlier versions have none."""
    stored = document.get("certificate")
    return None if stored is None else decode(HostCertificate, stored, name=name)


def list_runs(folder: Path) -> Iterator[Path]:
    """The run folders directly below a folder, by name."""
    if folder.is_dir():
        yield from sorted(path.parent for path in folder.glob(f"*/{RUN_DOCUMENT}"))


@dataclass
class _Test:
    settings: AnySettings
    started_wall_ns: int
    tables: dict[str, bytes]
    purge: PurgeRecord | None = None
    programs: list[StoredProgram] = field(default_factory=list)
    conditions: list[DriveCondition] = field(default_factory=list)
    verdict: MeasurementWindow | None = None
    ended: str | None = None
    ended_wall_ns: int | None = None

    def take(self, entry: Entry) -> None:
        match entry.kind:
            case "purged":
                self.purge = decode(PurgeRecord, entry.data, name="journal")
            case "steps":
                self._take_steps(entry.data)
            case "test_condition":
                self.conditions.append(decode(DriveCondition, entry.data, name="journal"))
            case "verdict":
                self.verdict = decode(MeasurementWindow, entry.data, name="journal")
            case "test_ended" if self.ended is None:
                self.ended, self.ended_wall_ns = entry.data["reason"], entry.wall_ns

    def _take_steps(self, data: dict[str, Any]) -> None:
        steps = tuple(decode(StepRecord, step, name="journal") for step in data["steps"])
        series = [name for name in data["tables"] if name in self.tables and name.startswith(f"{SERIES}/")]
        program = StoredProgram(
            phase=data["phase"],
            index=data["index"],
            # Only studies look at seconds; the series of a day of samples would take their memory for nothing.
            steps=with_series(steps, self.tables[series[0]]) if series and data["phase"] == "variant" else steps,
            histograms=self._histograms(data, HISTOGRAMS),
            intended=self._histograms(data, INTENDED),
            host=decode(HostRecord, data["host"], name="journal") if "host" in data else None,
            drive=decode(DriveRecord, data["drive"], name="journal") if "drive" in data else None,
        )
        self.programs.append(program)

    def _histograms(self, data: dict[str, Any], kind: str) -> HistogramTable | None:
        """The table of a kind, None where there is none or it was not read."""
        names = [name for name in data["tables"] if name in self.tables and name.startswith(f"{kind}/")]
        return read_histograms(self.tables[names[0]]) if names else None

    def stored(self) -> StoredTest:
        return StoredTest(
            settings=self.settings,
            started_wall_ns=self.started_wall_ns,
            ended_wall_ns=self.ended_wall_ns,
            purge=self.purge,
            programs=tuple(self.programs),
            verdict=self.verdict,
            ended=self.ended,
            conditions=tuple(self.conditions),
        )


def _tests(entries: list[Entry], tables: dict[str, bytes]) -> list[StoredTest]:
    tests: list[_Test] = []
    for entry in entries:
        if entry.kind == "test_started":
            settings: AnySettings = decode(
                _settings_kind(entry.data["settings"]), entry.data["settings"], name="journal"
            )
            tests.append(_Test(settings, entry.wall_ns, tables))
        elif tests:
            tests[-1].take(entry)
    return [test.stored() for test in tests]


@dataclass
class _Traces:
    """Finds what was captured of each program; captures are in nobody's digest, so a missing one is none."""

    folder: Path
    capacity_bytes: int | None
    taken: Counter[str] = field(default_factory=Counter)

    def joined(self, test: StoredTest) -> StoredTest:
        return replace(test, programs=tuple(self._joined(test.settings.test, program) for program in test.programs))

    def _joined(self, name: str, program: StoredProgram) -> StoredProgram:
        path = self.folder / TRACES / trace_name(self.taken, name, program.phase, program.index)
        if not path.exists() or not program.steps:
            return program
        captured = latency_reader(path) if program.phase == "point" else None
        if self.capacity_bytes is None:
            return replace(program, captured=captured)
        found = trace_summary(path, step_count=len(program.steps), capacity_bytes=self.capacity_bytes)
        return replace(program, captured=captured, trace=found)


def _engine(entries: list[Entry]) -> dict[str, str]:
    """What was in force; a fact that changed during the run is given with all its values in order."""
    values: dict[str, dict[str, None]] = {}
    for entry in entries:
        for name, text in entry.data.items() if entry.kind == "engine" else ():
            values.setdefault(name, {})[text] = None
    return {name: ", later ".join(texts) for name, texts in values.items()}


def _settings_kind(settings: dict[str, Any]) -> type[AnySettings]:
    """The kind that the settings say; test loops of early versions said none."""
    name = settings.get("kind", "loop")
    if name not in _KINDS:
        raise StoreError("journal", f"holds a test of kind {name!r}", "use the version of Assay that wrote it")
    return _KINDS[name]


def _checked_tables(folder: Path, entries: list[Entry]) -> dict[str, bytes]:
    """Read the tables by name.

    Raises StoreError where one is missing, VerificationError where it is not the one that the journal names.
    """
    contents: dict[str, bytes] = {}
    tables = [pair for entry in entries if entry.kind == "steps" for pair in entry.data["tables"].items()]
    for name, digest in tables:
        try:
            content = (folder / name).read_bytes()
        except OSError as error:
            raise StoreError(str(folder / name), error.strerror or "cannot be read", "the run is damaged") from None
        if hashlib.sha256(content).hexdigest() != digest:
            reason, remedy = "is not the table that was written", "the run was changed or damaged; do not trust it"
            raise VerificationError(str(folder / name), reason, remedy)
        contents[name] = content
    return contents


def _document(folder: Path) -> tuple[bytes, dict[str, Any]]:
    path = folder / RUN_DOCUMENT
    try:
        head = path.read_bytes()
        document = json.loads(head)
    except OSError as error:
        raise StoreError(str(folder), f"is no run folder ({error.strerror})", "name a folder with run.json") from None
    except ValueError:
        raise StoreError(str(path), "is not JSON", "the run was changed or damaged") from None
    if not isinstance(document, dict) or document.get("schema") != RUN_SCHEMA:
        raise StoreError(str(path), "has a form this version does not know", "use the version that wrote it")
    return head, document


def _report_date(folder: Path) -> int:
    """The instant of the first rendering, fixed from then on."""
    path = folder / _REPORT_DATE
    try:
        return int(json.loads(path.read_bytes())["wall_ns"])
    except FileNotFoundError:
        return time.time_ns()
    except (OSError, ValueError, KeyError, TypeError):
        raise StoreError(str(path), "cannot be read", "remove it; a new report date is then fixed") from None


def fix_report_date(folder: Path, run: StoredRun) -> None:
    """Store the report date of a first rendering. Raises StoreError where it cannot be written."""
    path = folder / _REPORT_DATE
    if path.exists():
        return
    try:
        write_durably(path, canonical({"wall_ns": run.report_date_ns}))
    except OSError as error:
        raise StoreError(str(path), error.strerror or "cannot be written", "make the run folder writable") from None
