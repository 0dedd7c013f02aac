"""What a test or study is: its words, its tables, what it does, what it measured, and its pages, in one object."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from assay.plan.phases import PlannedPhase
from assay.spec.units import HOUR_SECONDS, SECOND_NS

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence

    from assay.engine.records import (
        DataPattern,
        DriveIdentity,
        Ending,
        SkippedTest,
        StoredTest,
        TestSettings,
    )
    from assay.plan.options import Options
    from assay.plan.until import Action, Records
    from assay.spec.datum import Strict
    from assay.spec.edition import Edition
    from assay.summary.pages.test_record import Shown, Source

    Course = Generator[Action, Records, Ending]

Table_co = TypeVar("Table_co", bound="Strict", covariant=True)
Chosen_co = TypeVar("Chosen_co", bound="Options", covariant=True)

LONGEST_NS = 7 * 24 * HOUR_SECONDS * SECOND_NS
"""What a test takes at most that only the drive ends, as a write saturation does."""

Kind = Literal["test", "study", "custom"]
"""``test`` : of the specification. ``study`` : a question beside it. ``custom`` : from another package."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What a test may know of its run beside its settings. seed : of segment places, 0 to 2**64 - 1."""

    drive: DriveIdentity
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Request(Generic[Table_co, Chosen_co]):
    """What a test is planned from.

    edition : the edition. table : the test's own in it. options : the test's own in the plan file.
    scale : multiplies durations, in (0, 1]. data : what is written.
    """

    edition: Edition
    table: Table_co
    options: Chosen_co
    drive: DriveIdentity
    scale: float
    data: DataPattern


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanSummary:
    """What a test repeats. Worked: ``rounds`` of ``56 cells`` of 60 s.

    notes : further lines for people. facts : further facts for programs, JSON values by name.
    """

    what: str
    steps: str
    step_ns: int
    notes: tuple[str, ...] = ()
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedTest:
    """What one test of a plan will do on a drive, and how that departs from the specification.

    run : what it does, from the settings: a generator that yields sequences of steps, acts and verdicts and is sent the
    records of each sequence.
    deviations : filled in for all tests alike, by what the procedure says of its settings.
    earliest_ns, latest_ns : device time of the test without purge and preconditioning; latest_ns is None where only the
    drive decides. written_first_bytes : of preconditioning. written_amount_bytes : that end a saturation test.
    phases : the parts of the test in order, with what each writes at most and how long it takes; empty where it does
    not say.
    purge_count : purges of the drive. kept_bytes : room for the completions that the test always keeps.
    step_count : steps that are stored, where their number is settled beforehand. outline : what is repeated, for the
    eyes of people.
    """

    settings: TestSettings
    run: Callable[[Any, Context], Course]
    deviations: tuple[str, ...] = ()
    earliest_ns: int
    latest_ns: int | None
    written_first_bytes: int = 0
    written_amount_bytes: int = 0
    step_count: int | None = None
    kept_bytes: int = 0
    phases: tuple[PlannedPhase, ...] = ()
    purge_count: int = 1
    outline: PlanSummary

    @property
    def written_bytes(self) -> int:
        """What the test is known to write; rounds of a given time write what the drive takes, and are not in it."""
        return self.written_first_bytes + self.written_amount_bytes

    @property
    def parts(self) -> tuple[PlannedPhase, ...]:
        """Its phases; of a test that states none, what its other fields allow: writes all the time."""
        if self.phases:
            return self.phases
        first = (PlannedPhase(name="preconditioning", amount_bytes=self.written_first_bytes),)
        latest_ns = LONGEST_NS if self.latest_ns is None else self.latest_ns
        timed = PlannedPhase(name=self.outline.what, least_ns=self.earliest_ns, most_ns=latest_ns, writing_ns=latest_ns)
        return (*(first if self.written_first_bytes else ()), timed)


Table = TypeVar("Table", bound="Strict")
Chosen = TypeVar("Chosen", bound="Options")


@dataclass(frozen=True, slots=True, kw_only=True)
class Procedure(Generic[Table, Chosen]):
    """One test or study: everything that the rest of the tool knows of it.

    name : on the command line, in plan files and in stored settings. title : on summary pages. header : the docstring
    of its module in the fixed form of all tests, from which its page under ``docs/procedures`` is made.
    question, outline, preconditioning : what it asks, what it does and how the drive is prepared, one sentence each.
    table : of its parameters in an edition, None where editions say nothing of it. options : of the tester's choices
    in a plan file, under the name ``options_name``, its own unless said otherwise. settings : what is stored of it.
    plan : what it does on a drive; several runs where each has its own purge. Raises TooSmallError and ValueRangeError.
    report : what a stored test of it shows.
    departures : how its settings, or a stored test of it, depart from the edition, in printed words.
    """

    name: str
    header: str = ""
    title: str
    question: str
    outline: str
    preconditioning: str
    kind: Kind = "test"
    table: type[Table] | None
    options: type[Chosen]
    options_name: str = ""
    settings: type[TestSettings]
    plan: Callable[[Request[Table, Chosen]], Sequence[PlannedTest | SkippedTest]]
    report: Callable[[Source], Shown]
    departures: Callable[[Any, Table, DriveIdentity, StoredTest | None], Iterator[str]]

    @property
    def key(self) -> str:
        """Name of its options in a plan file."""
        return self.options_name or self.name

    @property
    def label(self) -> str:
        """Its name in messages and figures. Worked: the study of OIO -> ``study-oio``."""
        return f"study-{self.name}" if self.kind == "study" else self.name
