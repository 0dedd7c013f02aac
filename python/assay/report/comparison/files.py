"""A comparison and a gate as files: pages (PDF, HTML), workbook, CSV, JSON."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from assay.compare.subject import LoadedRun
from assay.report import records_of_tests, render_pages
from assay.report.comparison.facts import comparison_data, comparison_facts, gate_data, gate_facts
from assay.report.comparison.gate import junit_xml
from assay.report.comparison.pages import comparison_report, gate_report
from assay.report.first_page.run_summary import summarise_run
from assay.report.formats.data import table_csv

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from assay.compare.comparison import Comparison
    from assay.compare.gate import GateResult
    from assay.compare.numbers import Price
    from assay.engine.records import StoredRun
    from assay.summary.pages.model import Report, Table
    from assay.summary.table import ResultTable

NAME = "comparison"


def loaded_run(run: StoredRun, path: str, price: Price | None = None) -> LoadedRun:
    """A stored run ready to be compared. path : as the user named it. price : of its drive.

    Raises as ``records_of_tests``.
    """
    records = records_of_tests(run)
    content = run.journal.hash if run.journal else run.run_id
    summary = summarise_run(run, records, None)
    return LoadedRun(path=path, summary=summary, content=content, records=lambda: records, price=price)


def write_comparison(
    comparison: Comparison, folder: Path, published: Sequence[Table] = (), assets_at: str = ""
) -> list[Path]:
    """Write a comparison as ``report.pdf``, ``report.html``, ``comparison.xlsx``, ``comparison.json`` and CSV files.

    published : figures of others, for a page behind all others. assets_at : as of ``report.render``.
    Returns the paths. The same runs give the same bytes. Raises StoreError where the folder cannot be written.
    """
    facts = json.dumps(comparison_facts(comparison).as_json(), indent=1).encode()
    report = comparison_report(comparison, published)
    return _write(folder, report, comparison_data(comparison), facts, assets_at=assets_at)


def write_gate(gate_result: GateResult, folder: Path, exit_code: int, *, undecided_fails: bool) -> list[Path]:
    """Write a gate as one page (``report.pdf``, ``report.html``), workbook, JSON, CSV and ``junit.xml``; the paths."""
    facts = json.dumps(gate_facts(gate_result, exit_code).as_json(), indent=1).encode()
    junit = {"junit.xml": junit_xml(gate_result, undecided_fails=undecided_fails)}
    return _write(folder, gate_report(gate_result), (gate_data(gate_result),), facts, more=junit)


def _write(
    folder: Path,
    report: Report,
    tables: Sequence[ResultTable],
    facts: bytes,
    *,
    more: dict[str, bytes] | None = None,
    assets_at: str = "",
) -> list[Path]:
    from assay.report.formats.workbook import (  # noqa: PLC0415 - heavy
        Block,
        Book,
        workbook,
    )

    book = Book(
        title=report.title,
        label=report.label,
        footer=report.colophon,
        date=datetime(*report.date, tzinfo=UTC),
        blocks=(Block(report.title, (), tuple(tables)),),
    )
    others = {f"{table.key}.csv": table_csv(table) for table in tables}
    others |= {f"{NAME}.json": facts, f"{NAME}.xlsx": workbook(book), **(more or {})}
    return render_pages(report, folder, others, assets_at)
