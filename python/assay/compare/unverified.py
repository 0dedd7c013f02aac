"""Figures that Iometer wrote, beside those of runs: paired by what was asked, one figure each, with no spread.

```
results.csv --read_results--> Results --unverified_of--> Unverified, each run of the file with the stage that is like it
```
Nothing vouches for such figures: they stand apart from the numbers of runs, in no rank, and no gate uses them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from assay.compare.load import Load, differences_of, load_of_file, loads_of_run
from assay.compare.side import side_of
from assay.errors import UsageError
from assay.spec.units import MB, MIB

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.compare.load import StageLoad
    from assay.compare.numbers import NumberName
    from assay.compare.side import Side
    from assay.compare.subject import Subject
    from assay.workloads.iometer.results_read import ResultRow, ResultRun, Results

FILES_MAX = 10
NO_INTERVAL = "single value of a file, spread unknown"
NO_STAGE = "no stage like it"
_FIGURES = (
    ("IOPS", "IOPS", "iops"),
    ("MB/s", "MB/s", "mb_per_s"),
    ("Average response time", "ms", "latency_ms_mean_of_ios"),
    ("Maximum response time", "ms", "latency_ms_max"),
)
"""What both hold: title, unit, and the name that the number has in a run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """The number of a subject that a figure lies beside. reason : why it has no ratio; empty where it has one.

    ratio : the figure of the file over this value.
    """

    letter: str
    stage: str
    value: float | None
    ratio: float | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OldFigure:
    """One figure of one run of a file. run : its number in the file, from 1. spec, load : what was asked of the drive.

    title, unit : of the figure. value : None where the file has none. entries : by subject.
    """

    run: int
    spec: str
    load: str
    title: str
    unit: str
    value: float | None
    entries: tuple[Beside, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unverified:
    """A file of results that Iometer wrote. letter : ``U1``, ``U2``. called : as the user named it."""

    letter: str
    called: str
    version: str
    run_count: int
    figures: tuple[OldFigure, ...]

    @property
    def alike(self) -> bool:
        """Whether any of its figures lies beside one of a run."""
        return any(entry.ratio is not None for figure in self.figures for entry in figure.entries)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why figures have no ratio, each reason once with the run of the file and the subject."""
        reasons = (
            f"run {figure.run} ({figure.spec}), {entry.letter}: {entry.reason}"
            for figure in self.figures
            for entry in figure.entries
            if entry.reason
        )
        return tuple(dict.fromkeys(reasons))


def unverified_of(
    results: Sequence[Results], subjects: Sequence[Subject], *, despite: bool, blind: bool
) -> tuple[Unverified, ...]:
    """The files of others beside the subjects, in the order given. blind : their names are not to be told.

    Raises UsageError for more than ten files, and for one of which no run is like a stage of a run, unless ``despite``
    was asked for: then all of it is shown apart.
    Worked: 100,000 IOPS in the file beside 80,000 of A -> a ratio of 1.25, and no interval.
    """
    if len(results) > FILES_MAX:
        raise UsageError("RESULTS.csv", f"{len(results)} given", f"name at most {FILES_MAX} files of Iometer")
    stages = [list(_stages(subject)) for subject in subjects]
    found = tuple(_file(index, result, subjects, stages) for index, result in enumerate(results, 1))
    for one in () if despite else found:
        _check_alike(one)
    return tuple(replace(one, called="blind") for one in found) if blind else found


def _check_alike(unverified: Unverified) -> None:
    if not unverified.alike:
        why = "; ".join(unverified.reasons[:3]) or "it has no row of kind ALL"
        reason = f"has no run with the workload of a compared stage: {why}"
        remedy = "compare it with a run of the same file (assay run DRIVE --icf FILE), or add --despite"
        raise UsageError(unverified.called, reason, remedy)


@dataclass(frozen=True, slots=True)
class _Stage:
    """A stage of a subject with its numbers. names : the numbers of the stage as a whole, by name."""

    asked: StageLoad
    names: dict[str, NumberName]


def _stages(subject: Subject) -> Iterator[_Stage]:
    """What a subject measured that Iometer has words for; tests whose numbers are of no stage have none."""
    first = subject.first
    for report in first.tests:
        for asked in loads_of_run(report.test, first.run.identity):
            names: dict[str, NumberName] = {}
            for number in first.numbers.values():
                if number.name.test == report.prefix and dict(number.name.cell).get("stage") == asked.name:
                    # All streams of a stage together come first.
                    names.setdefault(number.name.name, number.name)
            if names:
                yield _Stage(asked, names)


def _file(index: int, results: Results, subjects: Sequence[Subject], stages: Sequence[Sequence[_Stage]]) -> Unverified:
    versions = dict.fromkeys(one.version for one in results.series if one.version)
    figures = [
        figure
        for number, run in enumerate(results.runs, 1)
        for figure in _figures(number, run, list(zip(subjects, stages, strict=True)))
    ]
    return Unverified(
        letter=f"U{index}",
        called=results.source,
        version=", ".join(versions) or "not stated",
        run_count=sum(1 for _ in results.runs),
        figures=tuple(figures),
    )


def _figures(number: int, run: ResultRun, beside: Sequence[tuple[Subject, Sequence[_Stage]]]) -> Iterator[OldFigure]:
    row = next((row for row in run.rows if row.kind == "ALL"), None)
    if row is None:
        return
    load = load_of_file(run, row)
    paired = [(subject, *_pair(load, stages)) for subject, stages in beside]
    for title, unit, name in _FIGURES:
        value = _value(row, name)
        entries = tuple(_beside(subject, stage, name, reason, value) for subject, stage, reason in paired)
        yield OldFigure(
            run=number, spec=load.name, load=load.text, title=title, unit=unit, value=value, entries=entries
        )


def _pair(load: Load, stages: Sequence[_Stage]) -> tuple[_Stage | None, str]:
    """The stage that was asked the same, of several that of the same name; else the reason why there is none."""
    if load.errors:
        return None, f"{load.errors:,} I/Os failed"
    named = [stage for stage in stages if stage.asked.name_in_file.casefold() == load.name.casefold()]
    alike = [stage for stage in stages if not differences_of(load, stage.asked.load)]
    chosen = [one for one in alike if one in named] or alike
    if len(chosen) == 1:
        return chosen[0], ""
    if chosen:
        return None, f"{len(chosen)} stages are like it"
    if named:
        # Of one cycled through several depths, that which is nearest to it.
        nearest = min(named, key=lambda one: len(differences_of(load, one.asked.load)))
        return nearest, "; ".join(differences_of(load, nearest.asked.load))
    return None, NO_STAGE


def _beside(subject: Subject, stage: _Stage | None, name: str, reason: str, value: float | None) -> Beside:
    side = side_of(subject, stage.names[name]) if stage and name in stage.names else None
    why = reason or _not_counted(side, value)
    own = side.value if side else None
    ratio = value / own if not why and own and value is not None else None
    return Beside(letter=subject.letter, stage=stage.asked.name if stage else "", value=own, ratio=ratio, reason=why)


def _not_counted(side: Side | None, value: float | None) -> str:
    if side is None or not side.counts:
        return (side.reason or side.state) if side else "n/a in its report"
    if value is None:
        return "not in the file"
    return "" if side.value else "is zero in the run"


def _value(row: ResultRow, name: str) -> float | None:
    """A figure of a row in our units. Worked: 22.572 MBps of 2^20 bytes -> 23.668 MB/s."""
    if name == "mb_per_s":
        rate = row.mebibytes_per_s()
        return None if rate is None else rate * MIB / MB
    columns = {
        "iops": "IOps",
        "latency_ms_mean_of_ios": "Average Response Time",
        "latency_ms_max": "Maximum Response Time",
    }
    return row.cells.get(columns[name])
