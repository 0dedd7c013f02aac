"""The appendix of the on-screen report: what stands behind the numbers and has no room on paper."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from assay.datum import Datum
from assay.report.label import deviations
from assay.report.page import Table, Text
from assay.report.printed import (
    NOT_AVAILABLE,
    amount_label,
    cache_label,
    capacity_label,
    data_label,
    demand_label,
    mix_label,
    paragraph,
    percent,
    printable,
    size_label,
    utc,
)
from assay.steady import WINDOW_ROUNDS
from assay.units import duration_label, milliseconds
from assay.window import (
    cell_label,
    complete_rounds,
    effective_queue_depth,
    error_count,
    holds_queue_depth,
    max_latency_ns,
    mean_latency_ns,
    program_audits,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from assay.profile import Profile
    from assay.records import LoopSettings, StepRecord, StoredRun, StoredTest
    from assay.report.page import Block, Entry


def run_blocks(run: StoredRun) -> tuple[Block, ...]:
    """Lay out what all tests of a run share: deviations, drive, platform and description."""
    found = deviations(run)
    tables = (
        _facts("Drive", _identity(run)),
        _facts("Test platform", _platform(run)),
        _facts(
            "Engine and block layer", ((paragraph(key), paragraph(text)) for key, text in sorted(run.engine.items()))
        ),
        _facts("Description", ((key, paragraph(text)) for key, text in sorted(run.description.items()))),
    )
    return (
        Text(paragraphs=found or ("No deviation from the specification is recorded.",)),
        _facts("Plan", (("Seed", printable(run.plan.get("seed"))), ("Scale", printable(run.plan.get("scale"))))),
        *(table for table in tables if table.rows),
    )


def test_blocks(test: StoredTest, profile: Profile) -> tuple[Block, ...]:
    """Lay out what one test used: purge, settings, profile data with sources, its cells round by round."""
    name = test.settings.test.upper()
    return (
        _facts(f"{name}: purge", _purge(test)),
        _facts(f"{name}: settings", _settings(test.settings)),
        _sources(
            f"{name}: {profile.title} profile data and their sources", profile, test.settings.test.partition("-")[0]
        ),
        _audit(name, test),
        *_cell_tables(name, test),
    )


def _facts(caption: str, entries: Iterable[Entry]) -> Table:
    return Table(caption=caption, columns=("Item", "Value"), rows=tuple(entries))


def _identity(run: StoredRun) -> tuple[Entry, ...]:
    identity = run.identity
    return (
        ("Kind", identity.kind),
        ("Identity", printable(identity.id)),
        ("Path", printable(identity.path)),
        ("Model", printable(identity.model)),
        ("Serial", printable(identity.serial)),
        ("Firmware", printable(identity.firmware)),
        ("WWN", printable(identity.wwn)),
        ("Interface", printable(identity.interface)),
        ("Media", printable(identity.media)),
        ("Capacity", f"{capacity_label(identity.capacity_bytes)} ({identity.capacity_bytes:,} bytes)"),
        ("Logical block", f"{identity.logical_block_bytes} bytes"),
        ("Physical block", _bytes(identity.physical_block_bytes)),
        ("Write cache", cache_label(identity.write_cache)),
    )


def _platform(run: StoredRun) -> tuple[Entry, ...]:
    platform = run.platform
    return (
        ("System", paragraph(platform.system)),
        ("Motherboard", paragraph(platform.motherboard)),
        ("CPU", paragraph(platform.cpu)),
        ("Memory", _bytes(platform.memory_bytes)),
        ("Operating system", paragraph(platform.operating_system)),
        ("Kernel", paragraph(platform.kernel)),
        ("Clock source", paragraph(platform.clock_source)),
        ("Test software", paragraph(f"{platform.tool} {platform.tool_version}")),
        *((paragraph(key), paragraph(value)) for key, value in sorted(platform.extra.items())),
    )


def _purge(test: StoredTest) -> tuple[Entry, ...]:
    purge = test.purge
    if purge is None:
        return (("Purge", "none recorded"),)
    return (
        ("Method", paragraph(purge.method)),
        ("Proof", paragraph(purge.proof)),
        ("Deviation", paragraph(purge.deviation or "none")),
        ("Duration", duration_label(purge.span_ns)),
    )


def _settings(settings: LoopSettings) -> tuple[Entry, ...]:
    written = capacity_label(settings.preconditioning_bytes)
    return (
        ("Profile", printable(settings.profile)),
        ("Total OIO - TC/QD", demand_label(settings.demand)),
        ("Data pattern", data_label(settings.data)),
        ("Read/write mixes, in order", ", ".join(mix_label(mix) for mix in settings.read_pcts)),
        ("Block sizes, in order", ", ".join(size_label(size) for size in settings.sizes_bytes)),
        ("Step duration", duration_label(settings.step_ns)),
        ("Round limit", str(settings.round_limit)),
        ("Tracking variables", ", ".join(cell_label(cell, settings.access) for cell in settings.tracking)),
        ("Allowed data excursion", percent(settings.range_limit)),
        ("Allowed slope excursion", percent(settings.slope_limit)),
        ("Preconditioning", f"{written}, SEQ {size_label(settings.preconditioning_transfer_bytes)} W"),
        ("Preconditioning OIO - TC/QD", demand_label(settings.preconditioning_demand)),
        ("Preconditioning ActiveRange", percent(settings.preconditioning_share)),
        ("Test ActiveRange", amount_label(settings.range_amount_bytes, settings.segment_count)),
        ("ActiveRange segments", str(settings.segment_count or "contiguous")),
        ("Write cache demanded", cache_label(settings.write_cache_required)),
        *((f"{size_label(size)} not run", paragraph(why)) for size, why in sorted(settings.not_applicable.items())),
    )


def _sources(caption: str, profile: Profile, test: str) -> Table:
    data = [*_data(profile), *_data(getattr(profile, test))]
    rows = tuple((name.replace("_", " "), _value(datum.value), datum.source) for name, datum in data)
    return Table(caption=caption, columns=("Parameter", "Value", "Source"), rows=rows, folded=True)


def _data(model: BaseModel) -> Iterable[tuple[str, Datum[Any]]]:
    return ((name, value) for name, value in model if isinstance(value, Datum))


def _value(value: Any) -> str:
    if isinstance(value, BaseModel):
        return ", ".join(f"{key.replace('_', ' ')} {item:g}" for key, item in value if item is not None)
    if isinstance(value, tuple):
        separator = "; " if any(isinstance(item, BaseModel) for item in value) else ", "
        return separator.join(_value(item) for item in value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def _cell_tables(name: str, test: StoredTest) -> tuple[Table, ...]:
    contents: tuple[tuple[str, Callable[[StepRecord], str]], ...] = (
        (
            "effective queue depth (I/Os outstanding on the drive, mean; ! where off by more than 2 %)",
            lambda r: f"{effective_queue_depth(r):.2f}{'' if holds_queue_depth(r, test.settings) else ' !'}",
        ),
        ("average response time (ms)", lambda r: _milliseconds(mean_latency_ns(r))),
        ("maximum response time (ms)", lambda r: _milliseconds(max_latency_ns(r))),
        ("failed and short I/Os", lambda r: str(error_count(r))),
        ("longest time without a submission (ms)", lambda r: _milliseconds(r.submission_gap_ns_max)),
    )
    return tuple(_cell_table(f"{name}: {title}", test, printed) for title, printed in contents)


def _cell_table(caption: str, test: StoredTest, printed: Callable[[StepRecord], str]) -> Table:
    """Print one quantity of every cell in each of the last five rounds, averaging nothing over rounds."""
    rounds = complete_rounds(test)[-WINDOW_ROUNDS:]
    cells = test.settings.cells
    return Table(
        caption=caption,
        columns=("Cell", *(f"Round {round_.index}" for round_ in rounds)),
        rows=tuple(
            (cell_label(cell, test.settings.access), *(printed(round_.cells[place]) for round_ in rounds))
            for place, cell in enumerate(cells)
        ),
        folded=True,
        notes=(f"Started {utc(test.started_wall_ns)}, ended {utc(test.ended_wall_ns)}.",),
    )


def _audit(name: str, test: StoredTest) -> Table:
    """Print what each program issued beside what the drive counted."""
    return Table(
        caption=f"{name}: bytes issued and bytes that the drive's own counters show",
        columns=("Program", "Reads issued", "Reads counted", "Writes issued", "Writes counted", "Gap before (ms)"),
        rows=tuple(
            (audit.name, *map(_count, (*audit.read_bytes, *audit.write_bytes)), _milliseconds(audit.gap_ns))
            for audit in program_audits(test)
        ),
        folded=True,
    )


def _count(count: int | None) -> str:
    return printable(None) if count is None else f"{count:,}"


def _milliseconds(time_ns: float | None) -> str:
    return NOT_AVAILABLE if time_ns is None else f"{milliseconds(time_ns):.3f}"


def _bytes(count: int | None) -> str:
    return printable(None) if count is None else f"{count:,} bytes"
