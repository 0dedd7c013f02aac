"""The files that a run and a comparison can be downloaded as: the bar, the address and the child process read these."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """title : of the link. file : name of the file that is made, in its own folder of the cache."""

    title: str
    file: str


CSV_FILE = "csv.zip"
BUNDLE = "bundle"
RUN_FORMATS = {
    "pdf": Format(title="PDF", file="report.pdf"),
    "html": Format(title="HTML", file="report.html"),
    "xlsx": Format(title="Workbook", file="report.xlsx"),
    "csv": Format(title="CSV", file=CSV_FILE),
    "json": Format(title="JSON", file="results.json"),
    BUNDLE: Format(title="Bundle", file="run.assay"),
}
"""By their keys in an address; all but the bundle are formats of ``assay report``."""
COMPARISON_FORMATS = {
    "pdf": Format(title="PDF", file="report.pdf"),
    "html": Format(title="HTML", file="report.html"),
    "xlsx": Format(title="Workbook", file="comparison.xlsx"),
    "csv": Format(title="CSV", file=CSV_FILE),
    "json": Format(title="JSON", file="comparison.json"),
}
"""What ``assay compare --out`` writes, its CSV files as one archive."""
