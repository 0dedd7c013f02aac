"""A run in one line of a list, as ``assay runs`` prints it and ``assay runs --json`` has it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from assay.errors import EXIT_OK
from assay.pages.printed import paragraph, utc
from assay.report.conforming import conformity_label, deviations
from assay.report.overview import Facts, ShownDrive, shown_drive
from assay.results import measured_extent, missed_steady_state, stored_exit_codes, withheld_reason
from assay.spec.units import count_label

if TYPE_CHECKING:
    from assay.engine.records import StoredRun, StoredTest
    from assay.errors import AssayError

_UNKNOWN = "unknown"


class Withheld(Facts):
    """A test whose results are in no report."""

    test: str = Field(description="Its name.")
    reason: str = Field(description="Why they are withheld.")


class ListedTest(Facts):
    """One test of a run in a list."""

    test: str = Field(description="Its name.")
    edition: str = Field(description="The edition that it was run by.")
    measured: str = Field(description="What it measured whole, such as 5 rounds or 6 variants.")
    ended: str | None = Field(description="As in the results of a run; null where it goes on or was cut.")
    reached: bool = Field(description="False where a required steady state was not reached.")
    withheld: str | None = Field(description="Why its results are in no report; null where they are.")

    @property
    def outcome(self) -> str:
        """How it came out, in a few words. Worked: 25 rounds without steady state -> ``"round-limit, NOT STEADY"``."""
        said = [self.ended or "unfinished"]
        if self.ended == "round-limit":
            said.append("NOT STEADY")
        if self.withheld:
            said.append(f"RESULTS WITHHELD: {self.withheld}")
        return ", ".join(said)


class ListedRun(Facts):
    """A run folder in a list."""

    schema_version: Literal[1] = Field(default=1, alias="schema", description="Version of this form.")
    run: str = Field(description="The run folder.")
    name: str = Field(description="Name that the run was given; empty where none was.")
    tags: tuple[str, ...] = Field(description="Words that it was given to be found by.")
    started: str = Field(description="When the run began, in UTC.")
    started_wall_ns: int | None = Field(description="The same in nanoseconds since the Unix epoch; null if unknown.")
    drive: str = Field(description="Path or name of the drive.")
    drive_facts: ShownDrive | None = Field(description="More of the drive; null where the folder cannot be read.")
    label: str = Field(description="How far the run conforms.")
    deviations: tuple[str, ...] = Field(description="Every departure from the specification.")
    complete: bool = Field(description="Whether the journal ends as that of a finished run.")
    exit_code: int = Field(description="The strongest of exit_codes, 0 where there is none.")
    exit_codes: tuple[int, ...] = Field(description="Every reason not to exit with 0, strongest first.")
    tests: tuple[ListedTest, ...] = Field(description="The tests in the order they ran.")
    withheld: tuple[Withheld, ...] = Field(description="The tests whose results are withheld, and why.")
    fault: str | None = Field(description="Why the folder cannot be read; null where it can.")

    @property
    def short_label(self) -> str:
        """The label without its list. Worked: two deviations -> ``"not conforming, 2 deviations"``."""
        count = f", {count_label(len(self.deviations), 'deviation')}" if self.deviations else ""
        return self.label.partition(":")[0] + count


def listed_run(run: StoredRun, folder: str) -> ListedRun:
    """A run as a list has it. folder : as the user is to name it. Raises StoreError where its edition is not known."""
    codes, tests = stored_exit_codes(run), tuple(map(_test, run.tests))
    drive = shown_drive(run)
    return ListedRun(
        run=folder,
        name=run.description.get("name", ""),
        tags=tuple(filter(None, run.description.get("tags", "").split(", "))),
        started=utc(run.started_wall_ns),
        started_wall_ns=run.started_wall_ns,
        drive=drive.path,
        drive_facts=drive,
        label=conformity_label(run),
        deviations=deviations(run),
        complete=run.journal is not None and run.journal.complete,
        exit_code=next(iter(codes), EXIT_OK),
        exit_codes=codes,
        tests=tests,
        withheld=tuple(Withheld(test=one.test, reason=one.withheld) for one in tests if one.withheld),
        fault=None,
    )


def unreadable_run(folder: str, error: AssayError) -> ListedRun:
    """A folder that cannot be read as a run, with the reason."""
    return ListedRun(
        run=folder,
        name="",
        tags=(),
        started=_UNKNOWN,
        started_wall_ns=None,
        drive=_UNKNOWN,
        drive_facts=None,
        label=_UNKNOWN,
        deviations=(),
        complete=False,
        exit_code=error.exit_code,
        exit_codes=(error.exit_code,),
        tests=(),
        withheld=(),
        fault=str(error),
    )


def _test(test: StoredTest) -> ListedTest:
    withheld = withheld_reason(test)
    return ListedTest(
        test=test.settings.test,
        edition=test.settings.edition,
        measured=measured_extent(test),
        ended=test.ended,
        reached=not missed_steady_state(test),
        withheld=withheld and paragraph(withheld),
    )
