"""The records between results and outputs. They hold; words, colours and digits come from codes, levels and formats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay.engine.records import DriveIdentity, Platform, ReferencePoint
    from assay.words.coded import Coded, Number

Level = Literal["good", "warn", "bad", "unknown"]
"""What colours follow."""

State = Literal[
    "withheld", "cut-short", "not-steady", "not-settled", "not-judged", "steady", "no-rule", "not-run"
]  # fmt: skip
"""How a test came out. ``not-settled`` : a rule that is not required did not hold. ``no-rule`` : its procedure has
none."""

Stat = Literal["mean", "percentile", "minimum", "maximum", "ratio", "amount", "count"]
"""What a number is of many."""

Mark = Literal["warn", "invalid", "uncalibrated", "unknown"]
"""What the host's part makes of a number. ``uncalibrated`` : small, but the host was never seen quiet.
``unknown`` : the kernel does not count it, or the run is older."""

Sources = tuple[tuple[int, int], ...]
Better = Literal["higher", "lower", "neither"]
Key = tuple[tuple[str, "str | int | float"], ...]
"""Columns and values that tell a cell apart, such as ``(("block_kib", 4), ("read_pct", 100))``."""

_BETTER: dict[str, Better] = {"IOPS": "higher", "MB/s": "higher", "commands/s": "higher", "ms": "lower", "min": "lower"}
_COMPARED: frozenset[Stat] = frozenset({"mean", "percentile", "minimum", "maximum"})


Spoken = tuple[tuple[str, ...], "Coded"]
"""Labels of tests and what they show; no label where it is of all."""
ALL_TESTS = "all"
"""Stands for the labels of tests where a statement is of none alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """A statement with a level."""

    level: Level
    said: Coded


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """One number of a test, unrounded.

    cell : what it is of. key : of the number, as the column of a table: ``iops``, ``latency_ms_p99.9``.
    label : the cell as printed. name : as printed where it is quoted: limits, gates and index know it; else the label.
    unit : ``IOPS``, ``MB/s``, ``ms``, ``min``, ``GB``, ``%``, or ``x`` for a ratio.
    value : None where there is none; ``basis`` then says why. rounds : the same of each round, oldest first; empty
    where it was measured once. basis : what it comes from.
    tracked : the verdict of steady state is about this very number. quoted : one of the few that people quote.
    claim, baseline : its key among the claims of a data sheet, and in the baseline of a plan.
    sources : the steps that it comes from, as (sequence in the test, step in the sequence); empty: any that measured.
    bound : the host's part in it: of rates and means a share, of percentiles the share that was late by a tenth of them
    beyond a quiet host's (``host_excess``), of maxima the lateness in ms. mark : what that makes of it; None: nothing.
    """

    cell: Key
    key: str
    label: str
    unit: str
    value: Number | None
    stat: Stat
    name: str = ""
    rounds: tuple[Number, ...] = ()
    tracked: bool = False
    quoted: bool = False
    basis: Coded | None = None
    claim: str | None = None
    baseline: str | None = None
    sources: Sources = ()
    bound: float | None = None
    mark: Mark | None = None

    @property
    def printed(self) -> str:
        """Its name, or its label where it has no other."""
        return self.name or self.label

    @property
    def identity(self) -> tuple[Key, str]:
        """Equal for the same number of two runs of a test."""
        return self.cell, self.key

    @property
    def extremes(self) -> tuple[Number, Number] | None:
        """As ``extremes_of``."""
        return extremes_of(self.value, self.stat, self.rounds)

    @property
    def better(self) -> Better:
        """Whether a higher or a lower value is the better drive; neither of a ratio, an amount or a count."""
        return _BETTER.get(self.unit, "neither") if self.stat in _COMPARED else "neither"

    def share_of(self, stated: float) -> float | None:
        """Its value over a claim or a baseline; None without a value. Worked: 45,000 of 50,000 IOPS -> 0.9."""
        return None if self.value is None or not stated else float(self.value) / stated

    def meets(self, claim: float) -> bool | None:
        """Whether it is what a data sheet claims, a time at most, a rate at least; None without a value.

        Worked: 45,000 IOPS where 50,000 are claimed -> False; 0.2 ms where 0.3 ms are claimed -> True.
        """
        if self.value is None:
            return None
        return float(self.value) <= claim if self.better == "lower" else float(self.value) >= claim


def extremes_of(value: Number | None, stat: Stat, rounds: Sequence[Number]) -> tuple[Number, Number] | None:
    """Least and greatest round of a mean; None of another number, and where there is no value.

    Worked: a mean of 90, 100 and 110 IOPS -> 90 and 110.
    """
    return (min(rounds), max(rounds)) if value is not None and stat == "mean" and rounds else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """What a verdict was taken over: numbers from 1 of rounds or samples, or the minutes of samples over time."""

    first: int
    last: int
    minutes: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """How a test came out, with what stands beside that.

    required : steady state was required of it. reason : why it is withheld, cut short or not judged.
    ended : as stored. unstable_count : cells that moved of which the rule says nothing.
    host : how many measured parts the test system disturbed, and of how many; None where nobody watched.
    void_count : places of which no result comes. short_count : steps with fewer completions than I/Os in flight.
    missed : steady state was required and not reached, whether or not the results are withheld.
    """

    state: State
    required: bool
    ended: str | None
    windows: tuple[Window, ...] = ()
    reason: Coded | None = None
    unstable_count: int = 0
    host: tuple[int, int] | None = None
    void_count: int = 0
    short_count: int = 0
    missed: bool = False


Slot = Literal[
    "random-read",
    "random-write",
    "sequential-read",
    "sequential-write",
    "time-read",
    "time-write",
    "settled",
    "idle",
    "recovery",
    "demand-max",
    "own-1",
    "own-2",
    "own-3",
    "own-4",
]
"""The places of tiles on a summary, in their order."""
SLOTS: tuple[Slot, ...] = get_args(Slot)
OWN_SLOTS: tuple[Slot, ...] = SLOTS[-4:]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """One of the few numbers of a summary. title : what it is.

    value : identity of a number of the test; then : of the one that it becomes or goes on to, as of the settled level
    behind the first sample, or of the 99.9th percentile behind the median.
    """

    slot: Slot
    title: Coded
    value: tuple[Key, str]
    then: tuple[Key, str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TestSummary:
    """One test. name : in the run. prefix : the same with its number. label : as printed. procedure : its kind.

    outstanding : I/Os in flight in the steps that measured, each once, the fewest first. extent : as headers print it.
    title, question : what it measures. said : what it shows, gravest first. caveats : what to know beside its verdict.
    withheld : why no number of it may be printed; None where they may. held : whether the stored rule of steady state
    held; None without one. stalled_ms : the longest stall that is worth knowing. conditions : the settings under which
    numbers of two runs may be compared, by their names.
    """

    name: str
    prefix: str
    label: str
    procedure: str
    outstanding: tuple[int, ...]
    extent: str
    verdict: Verdict
    measures: tuple[Measure, ...]
    tiles: tuple[Tile, ...]
    title: str
    question: str
    said: tuple[Coded, ...]
    caveats: tuple[Status, ...]
    withheld: Coded | None
    held: bool | None
    stalled_ms: float | None
    conditions: Mapping[str, Any]

    def measure(self, identity: tuple[Key, str]) -> Measure | None:
        """The number of an identity; None where the test has none."""
        return next((measure for measure in self.measures if measure.identity == identity), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """One run, for its summary page, terminal and lists.

    model : of the drive as printed. facts : of it besides capacity, such as interface and firmware.
    label_class : how far it conforms, in one word, and label_level the level of that. level : how far
    it is vouched for.
    not_begun : tests of the plan behind one that was stopped. held : limits and claims that were met, missed and not
    decided; None where the plan states none. exit_codes : every reason not to exit with 0, strongest first.
    wall_s : None where it did not end. said : what it shows, gravest first, each with the labels of its tests,
    none where it is of all. caveats : gravest first. claims : of a data sheet, by their key.
    scale, seed : of the plan. is_imported : it is of another host. reference : of the host's reference drive, if any.
    """

    run_id: str
    model: str
    facts: tuple[str, ...]
    edition: str
    edition_title: str
    label_class: str
    label_level: Level
    deviations: tuple[str, ...]
    level: str
    started_wall_ns: int
    wall_s: float | None
    driven_s: float
    tests: tuple[TestSummary, ...]
    skipped: tuple[tuple[str, str], ...]
    not_begun: tuple[str, ...]
    held: Held | None
    exit_codes: tuple[int, ...]
    said: tuple[Spoken, ...]
    caveats: tuple[Status, ...]
    claims: Mapping[str, float]
    identity: DriveIdentity
    platform: Platform
    scale: float
    seed: int | None
    is_imported: bool
    reference: tuple[ReferencePoint, ...]

    @property
    def is_simulated(self) -> bool:
        """Whether the drive is a model, whose time is virtual."""
        return self.identity.kind == "simulated"


Outcome = Literal["pass", "fail", "not decided"]
"""How a number came out that is held against a limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldNumber:
    """A number held against a limit. name : as printed. apart : how many times beyond its bound it is, 1 at it.

    unit : empty of counts. bound : the one that is missed, or the nearer one; is_least : that it is one from below.
    """

    name: str
    outcome: Outcome
    value: Number | None
    bound: Number
    unit: str
    is_least: bool
    apart: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """How many limits and claims came out how. worst : the one that is missed farthest; None where none is.

    numbers : each of them, the worst first.
    """

    met: int
    missed: int
    undecided: int
    worst: Missed | None = None
    numbers: tuple[HeldNumber, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Missed:
    """A limit that is missed. name : of the number, as printed. value, bound : in its unit."""

    name: str
    value: Number
    bound: Number
    unit: str
