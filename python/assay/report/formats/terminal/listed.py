"""A run in one line of a list, as ``assay runs`` prints it and ``assay runs --json`` has it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from assay.errors import EXIT_OK, AssayError, InterruptedRunError, StoreError
from assay.procedures.conformity import conformity_label, deviations
from assay.report import records_of_tests
from assay.report.annex.trust import level_label
from assay.report.formats.write import foreign
from assay.results.ended import measured_extent, missed_steady_state
from assay.results.outcome import stored_exit_codes, withheld_reason
from assay.summary.forms import ListedDrive, ListedRun, ListedTest, Quoted, Withheld, round_range
from assay.summary.measures import basis_text
from assay.summary.pages.header import model_label
from assay.summary.verdict import NO_RULE, framed, ruled_by
from assay.words.outcomes import is_cut_short
from assay.words.printed import utc
from assay.words.text import text_or_none
from assay.words.visible import unicode_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from assay.engine.records import StoredRun, StoredTest
    from assay.summary.forms import LabelClass, Verdict
    from assay.summary.record import Measure, State

_UNKNOWN = "unknown"
_CAPACITY_BYTES_MAX = 1 << 63


@dataclass(frozen=True, slots=True, kw_only=True)
class RunNumbers:
    """How the tests of a run came out, and all their numbers. fault : why there are none, else None."""

    verdicts: tuple[State, ...]
    measures: tuple[tuple[Measure, ...], ...]
    fault: str | None = None


def run_numbers(run: StoredRun) -> RunNumbers:
    """The numbers of a run; none where what is stored of it contradicts itself."""
    if not run.tests:
        return RunNumbers(verdicts=(), measures=())
    try:
        tests = foreign(lambda: records_of_tests(run), f"run {run.run_id}")
    except AssayError as error:
        verdicts = tuple(
            framed(test, NO_RULE if test.verdict is None else ruled_by(test.verdict), withheld_reason(test)).state
            for test in run.tests
        )
        return RunNumbers(verdicts=verdicts, measures=((),) * len(run.tests), fault=str(error))
    return RunNumbers(
        verdicts=tuple(test.verdict.state for test in tests), measures=tuple(test.measures for test in tests)
    )


def listed_run(
    run: StoredRun, folder: str, *, run_schema: int | None = None, numbers: RunNumbers | None = None
) -> ListedRun:
    """A run as a list has it.

    run : with its histograms, which some of the numbers that people quote come from.
    folder : as the user is to name it. run_schema : of the form of the folder. numbers : of the run, where they are
    known already.
    Raises StoreError where its edition is not known, or its drive larger than any.
    """
    codes, numbers = stored_exit_codes(run), numbers or run_numbers(run)
    of_tests = zip(run.tests, numbers.verdicts, numbers.measures, strict=True)
    tests = tuple(_test(test, state, tuple(_quoted(run, measures))) for test, state, measures in of_tests)
    drive, platform, departures = _drive(run, folder), run.platform, deviations(run)
    label_class: LabelClass = "not-conforming" if departures else "conforming"
    return ListedRun(
        run=folder,
        run_id=run.run_id,
        name=run.description.get("name", ""),
        tags=tuple(filter(None, run.description.get("tags", "").split(", "))),
        started=utc(run.started_wall_ns),
        started_wall_ns=run.started_wall_ns,
        drive=drive.path,
        drive_facts=drive,
        edition=str(run.edition.get("name", "")),
        suite=str(run.plan.get("suite") or ""),
        operator=run.description.get("operator", ""),
        lab=run.description.get("lab", ""),
        host=platform.host_id or "",
        system=platform.system or platform.motherboard or platform.cpu or "",
        tool_version=platform.tool_version,
        label=conformity_label(run),
        label_class="simulated" if run.identity.kind == "simulated" else label_class,
        deviations=departures,
        level=level_label(run),
        complete=run.journal is not None and run.journal.complete,
        interrupted=any(test.ended == InterruptedRunError.slug for test in run.tests),
        journal_hash=run.journal.hash if run.journal else "",
        journal_lines=run.journal.line_count if run.journal else 0,
        run_schema=run_schema,
        exit_code=next(iter(codes), EXIT_OK),
        exit_codes=codes,
        tests=tests,
        withheld=tuple(Withheld(test=test.test, reason=test.withheld) for test in tests if test.withheld),
        fault=None,
        numbers_fault=numbers.fault,
        missing=False,
    )


def unreadable_run(folder: str, error: AssayError) -> ListedRun:
    """A folder that cannot be read as a run, with the reason."""
    texts = (
        "run_id", "name", "edition", "suite", "operator", "lab", "host", "system", "tool_version", "journal_hash",
    )  # fmt: skip
    missing = ("started_wall_ns", "drive_facts", "run_schema", "numbers_fault")
    blank: dict[str, Any] = {
        **dict.fromkeys(texts, ""),
        **dict.fromkeys(missing),
        **dict.fromkeys(("tags", "deviations", "tests", "withheld"), ()),
        **dict.fromkeys(("complete", "interrupted", "missing"), False),
        **dict.fromkeys(("started", "drive", "label", "label_class", "level"), _UNKNOWN),
    }
    codes = (error.exit_code,)
    return ListedRun(run=folder, journal_lines=0, exit_code=codes[0], exit_codes=codes, fault=str(error), **blank)


def _drive(run: StoredRun, folder: str) -> ListedDrive:
    if run.identity.capacity_bytes >= _CAPACITY_BYTES_MAX:
        raise StoreError(folder, "is of a drive larger than any", "the run was changed or damaged")
    identity = run.identity
    return ListedDrive.of_records(
        identity,
        id=unicode_name(identity.id),
        path=unicode_name(identity.path),
        model=model_label(run),
        firmware=identity.firmware or None,
        serial=unicode_name(identity.serial) if identity.serial else None,
    )


def _quoted(run: StoredRun, measures: Iterable[Measure]) -> Iterator[Quoted]:
    """The numbers that people quote, unrounded, with what their data sheet claims."""
    claims = run.plan.get("claims") or {}
    for measure in (measure for measure in measures if measure.quoted):
        yield Quoted.of_records(
            measure,
            item=measure.printed,
            value=None if measure.value is None else float(measure.value),
            **round_range(measure.value, measure.stat, measure.rounds),
            basis=basis_text(measure),
            claim=claims.get(measure.claim) if measure.claim else None,
        )


def _test(test: StoredTest, state: State, numbers: tuple[Quoted, ...]) -> ListedTest:
    return ListedTest.of_records(
        test.settings,
        test,
        measured=measured_extent(test),
        reached=not missed_steady_state(test),
        withheld=text_or_none(withheld_reason(test)),
        # A test that was not run is in no list.
        verdict=cast("Verdict", state),
        cut_short=test.ended is not None and is_cut_short(test.ended),
        headlines=numbers,
    )
