"""A stored run as an object of facts and frames."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.archive.frames.library import FrameLibrary, frame_maker
from assay.archive.frames.tables import RunTables, TestTables
from assay.archive.rendering import stored_run
from assay.errors import UsageError
from assay.procedures.conformity import conformity_label
from assay.report import records_of_tests
from assay.report.formats.write import foreign
from assay.results.outcome import withheld_reason
from assay.run.store.read import steps_of_tests
from assay.spec.nearest import did_you_mean
from assay.spec.units import SECOND_NS
from assay.words.outcomes import is_cut_short
from assay.words.text import text_or_none

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from assay.engine.records import DriveIdentity, StoredRun


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedTest:
    """One test of a run. Its frames are made when they are asked for.

    name : in the run; the second IOPS test is ``iops-2``. procedure : what it measures, such as ``iops``.
    ended : ``steady``, ``round-limit`` and so on, None after a crash. reached : whether its last verdict was steady,
    None without one. withheld : why its numbers may not be printed, None where they may.
    arrow : the same tables as pyarrow has them.
    """

    name: str
    procedure: str
    ended: str | None
    reached: bool | None
    withheld: str | None
    arrow: TestTables = field(repr=False)
    _frame: Callable[[Any], Any] = field(repr=False)

    @property
    def measures(self) -> Any:
        """Every number, a row each: cell, label, name, unit, value, least and greatest round, rounds."""
        return self._frame(self.arrow.measures)

    @property
    def cells(self) -> Any:
        """The numbers with a row per cell and a column per name."""
        return self._frame(self.arrow.cells)

    @property
    def series(self) -> Any:
        """Every second of every step: I/Os, bytes, sum and maximum of response times."""
        return self._frame(self.arrow.series)

    @property
    def histograms(self) -> Any:
        """The counts of response times of every step."""
        return self._frame(self.arrow.histograms)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedRun:
    """A stored run.

    id : of the run. drive : that was tested. edition : its name. label : ``conforming``, ``not conforming: ...`` or
    ``simulated drive``. started : instant in UTC. complete : every test ended by a rule of its own.
    tests : by name, in the order they ran; another name raises UsageError.
    arrow : tables of the whole run as pyarrow has them.
    """

    id: str
    folder: Path
    drive: DriveIdentity
    edition: str
    label: str
    started: datetime
    complete: bool
    tests: Mapping[str, LoadedTest]
    arrow: RunTables = field(repr=False)
    _frame: Callable[[Any], Any] = field(repr=False)

    @property
    def findings(self) -> Any:
        """Everything that a reader must know of the run: test, kind, where, what."""
        return self._frame(self.arrow.findings)


class _Tests(dict[str, LoadedTest]):
    """The tests of a run, which says which there are where another is asked for."""

    def __missing__(self, name: str) -> LoadedTest:
        known = f"it has {', '.join(self) or 'none'}"
        raise UsageError(f"test {str(name)[:40]!r}", "is not in this run", did_you_mean(str(name), self, known))


def load_run(folder: str | Path, *, frames: FrameLibrary | None = None) -> LoadedRun:
    """Read a run folder; see ``assay.load``."""
    maker, folder = frame_maker(frames), Path(folder)
    return foreign(lambda: _loaded(stored_run(folder), folder, maker), str(folder))


def is_complete(run: StoredRun) -> bool:
    """Whether a run went to its end. Worked: one that was interrupted -> not, though its journal is whole."""
    ended = run.journal is not None and run.journal.complete
    return ended and not any(is_cut_short(test.ended) for test in run.tests)


def _loaded(run: StoredRun, folder: Path, frame: Callable[[Any], Any]) -> LoadedRun:
    reports = records_of_tests(run)
    # The journal is read again only for tables, and once for those of all tests.
    steps = cache(lambda: steps_of_tests(folder))
    tests = [
        _test(TestTables(report=report, folder=folder, number=index, steps=steps), frame)
        for index, report in enumerate(reports)
    ]
    return LoadedRun(
        id=run.run_id,
        folder=folder,
        drive=run.identity,
        edition=str(run.edition.get("name", "")),
        label=conformity_label(run),
        started=datetime.fromtimestamp(run.started_wall_ns / SECOND_NS, UTC),
        complete=is_complete(run),
        tests=_Tests({test.name: test for test in tests}),
        arrow=RunTables(run=run, reports=reports),
        _frame=frame,
    )


def _test(tables: TestTables, frame: Callable[[Any], Any]) -> LoadedTest:
    report = tables.report
    test = report.test
    return LoadedTest(
        name=report.name,
        procedure=test.settings.procedure,
        ended=test.ended,
        reached=test.verdict.reached if test.verdict else None,
        withheld=text_or_none(withheld_reason(test)),
        arrow=tables,
        _frame=frame,
    )
