"""``results.json``: every number of a report, unrounded, with what it rests on."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from assay.procedures.checks import kept_checks
from assay.procedures.conformity_label import conformity_label, deviations
from assay.procedures.run_findings import finding_data
from assay.report.annex.sequence_table import sequence_table
from assay.report.first_page.insights import insights_of_test, run_sentences, sentences
from assay.report.test_page.claims import baseline_data, claim_data
from assay.results import host_checks
from assay.results.finding import facts
from assay.results.reference import reference_checks
from assay.summary.pages.distribution import percentile_data
from assay.summary.pages.headline import headline_results
from assay.summary.pages.results import judged_step
from assay.summary.table import records

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.engine.records import StoredRun
    from assay.engine.records.reference import ReferenceDrive
    from assay.summary.findings import Found
    from assay.summary.pages.distribution import Distribution
    from assay.summary.pages.test_report import TestReport

RESULTS = "results.json"
SCHEMA = 3
"""Version of this form; 2: ``in_short`` holds the key findings; 3: ``checks`` hold I/O of other devices (C27)."""


def results_json(
    run: StoredRun, tests: Sequence[TestReport], spread: Sequence[Distribution | None], findings: Sequence[Found]
) -> bytes:
    """Write a run's results as JSON text, ASCII only, keys in a fixed order.

    spread : the response times of each test, None of one that has no such tables. findings : what a reader must know.
    Numbers are unrounded; what is unknown or may not be printed is null. Rates also carry their exact
    numerator and denominator.
    """
    content = {
        "schema": SCHEMA,
        "run_id": run.run_id,
        "journal": asdict(run.journal) if run.journal else None,
        "label": conformity_label(run),
        "deviations": list(deviations(run)),
        "origin": asdict(run.origin) if run.origin else None,
        "findings": records(finding_data(findings)),
        "identity": asdict(run.identity),
        "platform": asdict(run.platform),
        "certificate": asdict(run.certificate) if run.certificate else None,
        "checks": [
            facts(reference_check) for reference_check in (*host_checks(run), *reference_checks(_reference(run)))
        ],
        "description": run.description,
        "plan": run.plan,
        "started_wall_ns": run.started_wall_ns,
        "report_date_ns": run.report_date_ns,
        "in_short": [line for _, line in run_sentences(run, tests)],
        "claims": records(claim_data(run, tests)),
        "baseline": records(baseline_data(run, tests)),
        "tests": [_test(*pair) for pair in zip(tests, spread, strict=True)],
        "skipped": [asdict(test) for test in run.skipped],
    }
    return (json.dumps(content, indent=1, default=str) + "\n").encode("ascii")


def _test(test_report: TestReport, spread: Distribution | None) -> dict[str, Any]:
    """A test; a simulated drive has a clock of its own, and what it tells is no wall clock."""
    result = _facts_of(test_report, spread)
    return _on_drive_clock(result) if test_report.run.identity.kind == "simulated" else result


def _on_drive_clock(value: Any) -> Any:
    """The same with ``start_drive_ns`` for ``start_wall_ns`` of every step."""
    if isinstance(value, dict):
        return {
            "start_drive_ns" if name == "start_wall_ns" else name: _on_drive_clock(inner)
            for name, inner in value.items()
        }
    return [_on_drive_clock(inner) for inner in value] if isinstance(value, list) else value


def _facts_of(test_report: TestReport, spread: Distribution | None) -> dict[str, Any]:
    test = test_report.test
    return {
        "settings": asdict(test.settings),
        "started_wall_ns": test.started_wall_ns,
        "ended_wall_ns": test.ended_wall_ns,
        "ended": test.ended,
        "sequences": records(sequence_table(test)),
        "headlines": headline_results(test_report.headlines()),
        "in_short": list(sentences(insights_of_test(test_report))),
        "purge": asdict(test.purge) if test.purge else None,
        **test_report.results(),
        **({"percentiles": records(percentile_data(spread))} if spread else {}),
        "checks": [facts(kept_check) for kept_check in kept_checks(test_report)],
        "histogram": [judged_step(step, test.settings) for step in test.steps("histogram")],
    }


def _reference(run: StoredRun) -> ReferenceDrive | None:
    return run.certificate.reference if run.certificate else None
