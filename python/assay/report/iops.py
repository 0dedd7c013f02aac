"""The pages of the IOPS test: six with one tracking variable (header form 1.0), eight with three (form 2.0).

Source: IOPS report pages of "Understanding SSD Performance Using the SNIA SSS PTS" (2012); PTS 2.0 reports
give each of the three tracking variables its own window page.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assay.records import Cell
from assay.report import iops_figures
from assay.report.header import header
from assay.report.label import banner, headline_window, no_window_reason
from assay.report.page import Box, Figure, Page, Table, Text
from assay.report.printed import (
    NOT_APPLICABLE,
    NOT_AVAILABLE,
    fit_formula,
    mix_label,
    one_decimal,
    paragraph,
    rounds_label,
    size_label,
)
from assay.units import kib_label
from assay.window import cell_label, iops_result

if TYPE_CHECKING:
    from assay.profile import Profile
    from assay.records import LoopSettings, StoredRun, StoredTest
    from assay.report.page import Block
    from assay.window import IopsResult

# The taller header of form 2.0 leaves flatter room for figures.
FLATTER = {"1.0": 1.0, "2.0": 1.2}
STRIP = ("objective", "baseline", "samples", "notes")
Sheet = tuple[str, tuple["Block", ...]]


def iops_pages(run: StoredRun, test: StoredTest, profile: Profile, *, prefix: str = "iops") -> tuple[Page, ...]:
    """Lay out every page of one IOPS test.

    profile : the edition, which gives titles and header form. prefix : begins the names of the figures.
    Returns 5 + n pages for n tracking variables: six for PTS 1.0 and 1.1, eight for PTS 2.0.
    Raises VerificationError where the stored verdict is not the one its rounds give.
    """
    result = iops_result(test)
    head = header(run, test, profile, result.window)
    sheets = _sheets(run, test, result, profile, prefix)
    return tuple(
        Page(
            number=number,
            count=len(sheets),
            title=_title(profile),
            subtitle=subtitle,
            header=head,
            banner=banner(test, result),
            blocks=tuple(_shaped(block, profile) for block in blocks),
        )
        for number, (subtitle, blocks) in enumerate(sheets, start=1)
    )


def _shaped(block: Block, profile: Profile) -> Block:
    return replace(block, aspect=block.aspect * FLATTER[profile.header]) if isinstance(block, Figure) else block


def _title(profile: Profile) -> str:
    if profile.header == "2.0":
        return "IOPS Test - Report Page"
    return f"{profile.market} IOPS ({profile.iops.status.value}) - Report Page"


def _sheets(run: StoredRun, test: StoredTest, result: IopsResult, profile: Profile, prefix: str) -> tuple[Sheet, ...]:
    settings = test.settings
    matrix = f"{profile.market} IOPS - ALL RW Mix & BS"
    plane = iops_figures.plane_figure(f"{prefix}-plane", result, settings)
    columns = iops_figures.columns_figure(f"{prefix}-columns", result, settings)
    return (
        _convergence_sheet(run, result, settings, prefix),
        _tracking_sheet(result, settings, prefix),
        *(_window_sheet(result, settings, cell, f"{prefix}-window-{i}") for i, cell in enumerate(settings.tracking, 1)),
        (f"{matrix} - Tabular Data", (_matrix_table(result, settings),)),
        (f"{matrix} - 2D Plot", (_or_reason(plane, result),)),
        (f"{matrix} - 3D Columns", (_or_reason(columns, result),)),
    )


def _convergence_sheet(run: StoredRun, result: IopsResult, settings: LoopSettings, prefix: str) -> Sheet:
    figure = iops_figures.convergence_figure(f"{prefix}-convergence", result, settings)
    return "Steady State Convergence Plot - All Block Sizes", (_strip(run), _or_reason(figure, result))


def _tracking_sheet(result: IopsResult, settings: LoopSettings, prefix: str) -> Sheet:
    figure = iops_figures.tracking_figure(f"{prefix}-tracking", result, settings)
    return "Steady State Measurement Window", (_or_reason(figure, result),)


def _window_sheet(result: IopsResult, settings: LoopSettings, cell: Cell, name: str) -> Sheet:
    several = len(settings.tracking) > 1
    subject = f"RND/{size_label(cell.transfer_bytes)}" + (f" {mix_label(cell.read_pct)}" if several else "")
    figure = iops_figures.window_figure(name, result, cell)
    box = _determination_box(result, cell)
    return f"Steady State Measurement Window - {subject}", (_or_reason(figure, result), box)


def _strip(run: StoredRun) -> Box:
    stated = {key: run.description.get(key, "").strip() for key in STRIP}
    return Box(
        title="Report",
        entries=tuple((key.capitalize(), paragraph(text or "not stated")) for key, text in stated.items()),
        wide=True,
    )


def _determination_box(result: IopsResult, cell: Cell) -> Box:
    """Lay out the Steady State Determination Data; n/a where no number may be printed."""
    window = headline_window(result)
    verdict = window.verdicts[cell_label(cell)] if window else None
    figures = (
        ("Average IOPS", verdict and one_decimal(verdict.average)),
        ("Allowed Maximum Data Excursion", verdict and one_decimal(verdict.excursion_allowed)),
        ("Measured Maximum Data Excursion", verdict and one_decimal(verdict.excursion_measured)),
        ("Allowed Maximum Slope Excursion", verdict and one_decimal(verdict.slope_allowed)),
        ("Measured Maximum Slope Excursion", verdict and one_decimal(verdict.slope_measured)),
        ("Least Squares Linear Fit Formula", verdict and fit_formula(verdict)),
    )
    entries = (
        ("Tracking Variable", f"IOPS, {cell_label(cell)}"),
        (
            "Measurement Window",
            f"Rounds {rounds_label(window.rounds)}" if window else no_window_reason(result),
        ),
        *((name, figure or NOT_AVAILABLE) for name, figure in figures),
        ("Steady", ("YES" if verdict.steady else "NO") if verdict else NOT_AVAILABLE),
    )
    return Box(title="Steady State Determination Data", entries=entries)


def _matrix_table(result: IopsResult, settings: LoopSettings) -> Table:
    mixes = sorted(settings.read_pcts)
    sizes = sorted({*settings.sizes_bytes, *settings.not_applicable})
    window = headline_window(result)
    origin = f"Average of rounds {rounds_label(window.rounds)}." if window else no_window_reason(result)
    reasons = (
        f"{NOT_APPLICABLE}: {size_label(size)} - {paragraph(reason)}"
        for size, reason in sorted(settings.not_applicable.items())
    )
    return Table(
        caption="IOPS by block size and read/write mix",
        spanner="Read / Write Mix %",
        columns=("Block Size (KiB)", *(mix_label(mix) for mix in mixes)),
        rows=tuple((kib_label(size), *(matrix_text(result, settings, mix, size) for mix in mixes)) for size in sizes),
        notes=(origin, *reasons),
    )


def matrix_text(result: IopsResult, settings: LoopSettings, read_pct: int, transfer_bytes: int) -> str:
    """Print one cell of the matrix: one decimal, ``N/A`` for a size the drive cannot run, else ``n/a``."""
    if transfer_bytes in settings.not_applicable:
        return NOT_APPLICABLE
    value = result.matrix.get(Cell(read_pct=read_pct, transfer_bytes=transfer_bytes))
    return NOT_AVAILABLE if value is None else one_decimal(value)


def _or_reason(figure: Figure | None, result: IopsResult) -> Figure | Text:
    reason = "n/a: no cell completed an I/O" if result.matrix else no_window_reason(result)
    return figure or Text(paragraphs=(reason,))
