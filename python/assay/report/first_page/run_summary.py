"""A run as one record: what its summary page, the terminal and lists read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.errors import EXIT_NOT_MET, EXIT_WITHHELD, strongest_first
from assay.procedures.conformity import conformity_class, deviations
from assay.procedures.registry import find_procedure
from assay.procedures.run_findings import beyond, checks_beyond
from assay.report.annex.trust import level_label
from assay.report.first_page.insights import further_said, run_insights, run_said
from assay.results import driven_s
from assay.results.queue_depths import asked_depths
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


def summarise_run(run: StoredRun, reports: Sequence[TestRecord], held: Held | None) -> RunSummary:
    """Gather what is said of a run. held : how its limits and claims came out, None where it states none."""
    result = run_insights(run, reports, held)
    tests = tuple(_summary_of(report, result) for report in reports)
    edition, listed = reports[0].edition, deviations(run)
    last_ns = run.tests[-1].ended_wall_ns
    return RunSummary(
        run_id=run.run_id,
        model=model_label(run),
        capacity_bytes=run.identity.capacity_bytes,
        facts=tuple(_facts(run)),
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
        said=run_said(run, reports, result),
        caveats=tuple(_caveats(run, listed)),
        claims={key: value for key, value in (run.plan.get("claims") or {}).items() if value is not None},
        identity=run.identity,
        platform=run.platform,
        scale=run.plan.get("scale", 1.0),
        seed=run.plan.get("seed"),
        is_imported=run.origin is not None,
        reference=run.certificate.reference.points if run.certificate and run.certificate.reference else (),
    )


def _facts(run: StoredRun) -> Iterator[str]:
    """Interface, medium and firmware, those that are known."""
    firmware = run.identity.firmware
    known = (interface_label(run), nand_label(run), f"firmware {printable(firmware)}" if firmware else UNKNOWN)
    return (one for one in known if one != UNKNOWN)


def _summary_of(report: TestRecord, insights: Sequence[Insight]) -> TestSummary:
    """One test; of it what the run does not say. insights : the insights of the run."""
    name = report.test.settings.procedure
    stalls = [one for one in report.insights if one.kind == "stalls" and is_raised(one)]
    return TestSummary(
        name=report.name,
        prefix=report.prefix,
        label=report.label,
        procedure=name,
        outstanding=asked_depths(report.test),
        extent=report.facts.extent,
        verdict=report.verdict,
        measures=report.measures,
        tiles=report.tiles,
        title=short_title(name),
        question=find_procedure(name).question,
        said=further_said(insights, report),
        caveats=tuple(_remarks(report)),
        withheld=report.withheld,
        held=None if report.test.verdict is None else report.test.verdict.reached,
        stalled_ms=max((stall.values["longest_ms"] for stall in stalls), default=None),
        conditions=test_conditions(report.test),
    )


def _remarks(report: TestRecord) -> Iterator[Status]:
    """What a reader must know of a test that its verdict does not say."""
    for one in checks_beyond(report):
        yield Status(level="bad" if one.level == "invalid" else "warn", said=beyond(one).what)
    told = (*(finding.reason for finding in report.findings if finding.reason), *report.remarks)
    # That it ended unjudged is its verdict.
    yield from (Status(level="unknown", said=one) for one in told if one.code != "ended-unjudged")


def short_title(procedure: str) -> str:
    """The title of a procedure without its short name. Worked: ``Latency (LAT)`` -> ``"Latency"``."""
    return find_procedure(procedure).title.partition(" (")[0]


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
