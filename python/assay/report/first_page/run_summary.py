"""A run as one record: what its summary page, the terminal and lists read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.errors import EXIT_NOT_MET, EXIT_WITHHELD, strongest_first
from assay.procedures.conformity import conformity_class, deviations
from assay.procedures.registry import find_procedure
from assay.procedures.run_findings import beyond, checks_beyond
from assay.report.annex.trust import level_label
from assay.report.first_page.insights import further_said, run_insights, run_said
from assay.results.ended import driven_s
from assay.results.step import asked_depths
from assay.spec.units import SECOND_NS
from assay.summary.conditions import test_conditions
from assay.summary.findings import break_texts
from assay.summary.insights import is_raised
from assay.summary.pages.header import interface_label, model_label, nand_label
from assay.summary.record import Held, RunSummary, Status, TestSummary
from assay.summary.verdict import exit_codes_of
from assay.words.coded import coded
from assay.words.printed import UNKNOWN, printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.engine.records import StoredRun
    from assay.summary.insights import Insight
    from assay.summary.pages.test_record import TestRecord


def summarise_run(run: StoredRun, records: Sequence[TestRecord], held: Held | None) -> RunSummary:
    """Gather what is said of a run. held : how its limits and claims came out, None where it states none."""
    insights = run_insights(run, records, held)
    tests = tuple(_summary_of(record, insights) for record in records)
    edition, listed = records[0].edition, deviations(run)
    firmware = f"firmware {printable(run.identity.firmware)}" if run.identity.firmware else UNKNOWN
    last_ns = run.tests[-1].ended_wall_ns
    return RunSummary(
        run_id=run.run_id,
        model=model_label(run),
        facts=tuple(fact for fact in (interface_label(run), nand_label(run), firmware) if fact != UNKNOWN),
        edition=edition.name,
        edition_title=edition.title,
        label_class=conformity_class(run),
        label_level="warn" if listed or run.identity.kind == "simulated" else "good",
        deviations=listed,
        level=level_label(run),
        started_wall_ns=run.started_wall_ns,
        wall_s=None if last_ns is None else (last_ns - run.started_wall_ns) / SECOND_NS,
        driven_s=driven_s(run),
        tests=tests,
        skipped=tuple((one.test, one.reason) for one in run.skipped),
        not_begun=not_begun(run),
        held=held,
        exit_codes=exit_codes(tests, held),
        said=run_said(run, records, insights),
        caveats=tuple(_caveats(run, listed)),
        claims={key: value for key, value in (run.plan.get("claims") or {}).items() if value is not None},
        identity=run.identity,
        platform=run.platform,
        scale=run.plan.get("scale", 1.0),
        seed=run.plan.get("seed"),
        is_imported=run.origin is not None,
        reference=run.certificate.reference.points if run.certificate and run.certificate.reference else (),
    )


def _summary_of(test: TestRecord, insights: Sequence[Insight]) -> TestSummary:
    """One test, with what the run does not say of it already. insights : the insights of the run."""
    procedure = find_procedure(test.test.settings.procedure)
    stalls = [insight for insight in test.insights if insight.kind == "stalls" and is_raised(insight)]
    caveats = [
        Status(level="bad" if check.level == "invalid" else "warn", said=beyond(check).what)
        for check in checks_beyond(test)
    ]
    remarks = (*(finding.reason for finding in test.findings if finding.reason), *test.remarks)
    # That it ended unjudged is its verdict.
    caveats += [Status(level="unknown", said=remark) for remark in remarks if remark.code != "ended-unjudged"]
    return TestSummary(
        name=test.name,
        prefix=test.prefix,
        label=test.label,
        procedure=procedure.name,
        outstanding=asked_depths(test.test),
        extent=test.facts.extent,
        verdict=test.verdict,
        measures=test.measures,
        tiles=test.tiles,
        # Without its short name: of ``Latency (LAT)`` ``Latency``.
        title=procedure.title.partition(" (")[0],
        question=procedure.question,
        said=further_said(insights, test),
        caveats=tuple(caveats),
        withheld=test.withheld,
        held=None if test.test.verdict is None else test.test.verdict.reached,
        stalled_ms=max((stall.values["longest_ms"] for stall in stalls), default=None),
        conditions=test_conditions(test.test),
    )


def not_begun(run: StoredRun) -> tuple[str, ...]:
    """The tests of the plan behind one that was stopped.

    Worked: a client suite that was interrupted in its second test -> ``("tp", "lat")``.
    """
    known = {test.settings.procedure for test in run.tests} | {one.procedure or one.test for one in run.skipped}
    planned = (*(run.plan.get("tests") or ()), *(run.plan.get("studies") or ()))
    return tuple(name for name in planned if name not in known)


def exit_codes(tests: Sequence[TestSummary], held: Held | None) -> tuple[int, ...]:
    """Every reason not to exit with 0, strongest first. held : of a plan that states limits.

    Worked: withheld, and a limit missed -> ``(5, 8)``.
    """
    codes = set[int]().union(*(exit_codes_of(test.verdict) for test in tests)) if tests else {EXIT_WITHHELD}
    if held and (held.missed or held.undecided):
        codes.add(EXIT_NOT_MET)
    return strongest_first(codes)


def _caveats(run: StoredRun, listed: Sequence[str]) -> Iterator[Status]:
    """What a reader must know of the run beside the verdicts, gravest first."""
    if names := not_begun(run):
        yield Status(level="bad", said=coded("not-begun", count=len(names), names=", ".join(names)))
    yield from (Status(level="warn", said=coded("reason", reason=line)) for line in break_texts(run))
    if run.skipped:
        listing = ", ".join(one.test for one in run.skipped)
        yield Status(level="unknown", said=coded("skipped", count=len(run.skipped), names=listing))
    if listed:
        yield Status(level="warn", said=coded("deviations", count=len(listed), listed="; ".join(listed)))
