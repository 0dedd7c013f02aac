"""The forms of what commands print of a run that more than one of them has; see docs/formats/output.md.

A command that reads them from the index loads nothing else of the product: that would take longer than the reading.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field

from assay.spec.units import count_label
from assay.summary.record import extremes_of
from assay.words.outcomes import ending_label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.summary.record import Stat
    from assay.words.coded import Number

Verdict = Literal["steady", "not-steady", "not-settled", "not-judged", "no-rule", "withheld", "cut-short"]
"""How a test came out in one word. ``not-settled`` : a rule that is not required did not hold. ``no-rule`` : its
procedure has none."""
GROUPS: dict[str, tuple[Verdict, ...]] = {
    "measured": ("not-settled", "not-judged", "no-rule"),
    "withheld": ("withheld", "cut-short"),
}
"""Words that lists take for several of them."""
LabelClass = Literal["conforming", "not-conforming", "simulated", "unknown"]
"""The label of a run without its list."""


def short_label(label_class: LabelClass, count: int) -> str:
    """A label without its list. count : of deviations. Worked: ``"not conforming, 2 deviations"``."""
    name = _LABELS[label_class]
    if not count:
        return name
    simulated = "; not conforming" if label_class == "simulated" else ""
    return f"{name}{simulated}, {count_label(count, 'deviation')}"


_LABELS: dict[LabelClass, str] = {
    "conforming": "conforming",
    "not-conforming": "not conforming",
    "simulated": "simulated drive",
    "unknown": "unknown",
}


class Facts(BaseModel):
    """What is printed as JSON: nothing but the fields, which do not change."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @classmethod
    def of_records(cls, *records: Any, **own: Any) -> Self:
        """The form of records: each field from ``own``, else the attribute of the first record that has it.

        Worked: a form of ``name`` and ``value``, a record with ``name`` and ``value=3`` in ``own`` -> both fields.
        """
        taken = {
            name: getattr(record, name)
            for record in reversed(records)
            for name in cls.model_fields
            if name not in own and hasattr(record, name)
        }
        return cls(**taken, **own)

    def as_json(self) -> dict[str, Any]:
        """Its fields by the names that files have."""
        return self.model_dump(mode="json", by_alias=True)


def round_range(value: Number | None, stat: Stat, rounds: Sequence[Number]) -> dict[str, float | None]:
    """The extremes of a number as two fields. Worked: a mean of 90 and 110 IOPS -> 90.0 and 110.0."""
    extremes = extremes_of(value, stat, [float(number) for number in rounds])
    least, greatest = map(float, extremes) if extremes else (None, None)
    return {"least": least, "greatest": greatest}


class Quoted(Facts):
    """A number that people quote of a drive."""

    item: str = Field(description="Its subject, such as RND 4KiB R.")
    unit: str = Field(description="IOPS, MB/s, ms, GB, or x for a ratio.")
    value: float | None = Field(description="Unrounded; null where none may be printed.")
    least: float | None = Field(description="Of the rounds that it is the average of; null for other numbers.")
    greatest: float | None = Field(description="Likewise.")
    basis: str = Field(description="What it comes from, or why there is none.")
    claim: float | None = Field(description="What the data sheet claims, as the plan states it.")
    bound: float | None = Field(
        default=None,
        description="The host's part: of a rate, a mean or a percentile a share, of a maximum its lateness in ms.",
    )
    mark: str | None = Field(
        default=None, description="warn, invalid, uncalibrated or unknown; null where the host has no part in it."
    )


class ShownDrive(Facts):
    """The drive of a run."""

    id: str = Field(description="Its full identity.")
    path: str = Field(description="Its path or name.")
    model: str = Field(description="Its model, or what it is, as the report has it.")
    firmware: str | None = Field(description="Its firmware revision; null where it reports none.")
    capacity_bytes: int = Field(description="Its user capacity.")
    kind: str = Field(description="block, loop, file or simulated.")


class Withheld(Facts):
    """A test whose results are in no report."""

    test: str = Field(description="Its name.")
    reason: str = Field(description="Why they are withheld.")


class ListedDrive(ShownDrive):
    """The drive of a run in a list."""

    serial: str | None = Field(description="Its serial number; null where it reports none.")


class ListedTest(Facts):
    """One test of a run in a list."""

    test: str = Field(description="Its name.")
    edition: str = Field(description="The edition that it was run by.")
    measured: str = Field(description="What it measured whole, such as 5 rounds or 6 variants.")
    ended: str | None = Field(description="As in the results of a run; null where it goes on or was cut.")
    reached: bool = Field(description="False where a required steady state was not reached.")
    withheld: str | None = Field(description="Why its results are in no report; null where they are.")
    procedure: str = Field(description="The procedure of the test; several tests can share it.")
    verdict: Verdict = Field(description="Its outcome; no-rule where its procedure requires no steady state.")
    cut_short: bool = Field(description="Whether it ended before its stop rule.")
    started_wall_ns: int = Field(description="When it began, in nanoseconds since the Unix epoch.")
    ended_wall_ns: int | None = Field(description="When it ended, likewise; null where it did not.")
    headlines: tuple[Quoted, ...] = Field(description="The numbers that people quote, where the test has any.")

    @property
    def outcome(self) -> str:
        """How it came out.

        Worked: Ctrl-C -> ``"it was interrupted, RESULTS WITHHELD: the test did not run to its end"``.
        """
        said = [] if self.reached else ["NOT STEADY"]
        said.append(ending_label(self.ended))
        if self.withheld:
            said.append(f"RESULTS WITHHELD: {self.withheld}")
        return ", ".join(said)


class ListedRun(Facts):
    """A run folder in a list."""

    schema_version: Literal[3] = Field(default=3, alias="schema", description="Version of this form.")
    run: str = Field(description="The run folder.")
    run_id: str = Field(description="The ID of the run; empty where the folder cannot be read.")
    name: str = Field(description="Name that the run was given; empty where none was.")
    tags: tuple[str, ...] = Field(description="Tags of the run, for searches.")
    started: str = Field(description="When the run began, in UTC.")
    started_wall_ns: int | None = Field(description="The same in nanoseconds since the Unix epoch; null if unknown.")
    drive: str = Field(description="Path or name of the drive.")
    drive_facts: ListedDrive | None = Field(description="More of the drive; null where the folder cannot be read.")
    edition: str = Field(description="Name of the edition; each test has its edition as well.")
    suite: str = Field(description="Name of the suite that the plan was made of; empty where it names none.")
    operator: str = Field(description="Who ran it, as the plan says; empty where it does not.")
    lab: str = Field(description="Where, likewise.")
    host: str = Field(description="ID of the host; empty where it is unknown.")
    system: str = Field(description="System of the host, as it reports itself; empty where it reports nothing.")
    tool_version: str = Field(description="Version of Assay that ran it.")
    label: str = Field(description="How far the run conforms.")
    label_class: LabelClass = Field(description="The same without its list.")
    deviations: tuple[str, ...] = Field(description="Every departure from the specification.")
    level: str = Field(description="Trust level; unknown where the folder cannot be read.")
    complete: bool = Field(description="Whether the journal ends as that of a finished run.")
    interrupted: bool = Field(description="Whether its user stopped it.")
    journal_hash: str = Field(description="SHA-256 of the last line of the journal, which holds the whole run.")
    journal_lines: int = Field(description="How many whole lines the journal has.")
    run_schema: int | None = Field(description="Version of the form of the run folder; null where it is not known.")
    exit_code: int = Field(description="The strongest of exit_codes, 0 where there is none.")
    exit_codes: tuple[int, ...] = Field(
        description="Every reason of the results not to exit with 0, strongest first; limits are not among them."
    )
    tests: tuple[ListedTest, ...] = Field(description="The tests in the order they ran.")
    withheld: tuple[Withheld, ...] = Field(description="The tests whose results are withheld, and why.")
    fault: str | None = Field(description="Why the folder cannot be read; null where it can.")
    numbers_fault: str | None = Field(
        description="Why no test has headlines although the folder can be read, else null."
    )
    missing: bool = Field(description="True where the folder was in the index and is there no more.")

    @property
    def short_label(self) -> str:
        """The label without its list. Worked: two deviations -> ``"not conforming, 2 deviations"``."""
        return short_label(self.label_class, len(self.deviations))
