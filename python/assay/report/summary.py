"""The summary pages: all tests, each test, and the selected performance of the drive.

Source: summary report of "Understanding SSD Performance Using the SNIA SSS PTS" (2012).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.records import LoopSettings
from assay.report.header import (
    ORGANISATION,
    convergence,
    interface_label,
    nand_label,
    platform_label,
    preconditioned_label,
    preconditioning_label,
    purge_label,
    range_label,
    segments_label,
    window_label,
    workload_dependent,
)
from assay.report.label import headline_window, loop_banner, saturation_banner
from assay.report.loop import LoopSheets
from assay.report.page import Box, Group, Header, Page, Table
from assay.report.printed import (
    NOT_APPLICABLE,
    NOT_AVAILABLE,
    cache_label,
    capacity_label,
    data_label,
    demand_label,
    minutes_label,
    paragraph,
    percent,
    printable,
    utc,
)
from assay.report.select import select_data
from assay.report.wsat import SaturationSheets
from assay.window import cell_label, withheld_reason

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from assay.profile import Profile
    from assay.records import AnySettings, DriveCondition, StoredRun
    from assay.report.page import Entry
    from assay.report.sheets import Sheets

NAMES = {"wsat": "Write Saturation (WSAT)", "iops": "IOPS", "tp": "Throughput (TP)", "lat": "Latency (LAT)"}
_DESCRIPTIONS = {
    "wsat": (
        "How random writes develop from the fresh drive on, over time and data written.",
        "Continuous accesses over the whole drive in one-minute samples, ended by time, amount or five-point rule.",
        "None; the drive is purged and fresh out of the box.",
    ),
    "iops": (
        "Random I/Os per second at steady state, over block sizes and read/write mixes.",
        "Rounds of one-minute cells: read share outside, block size inside, until the tracking variables are steady.",
        "Sequential writes over the drive, then the test loop itself.",
    ),
    "tp": (
        "Throughput of large sequential transfers at steady state.",
        "Rounds of one minute of reads and one of writes; the position runs on; until the writes are steady.",
        "Sequential writes over the drive, then the test loop itself.",
    ),
    "lat": (
        "Response time of a single outstanding random I/O at steady state, average and maximum.",
        "Rounds of one-minute cells at one outstanding I/O: read share outside, block size inside, until steady.",
        "Sequential writes over the drive, then the test loop itself.",
    ),
}
_SET_UP = (
    "Purge", "DP", "QD", "TC", "WIPC", "PC AR", "TEST AR", "WDPC", "AR AMT", "SEGMENTS", "SS WORKLOAD",
    "ROUNDS or TIME/GB", "STEADY",
)  # fmt: skip


def all_tests_page(run: StoredRun, profile: Profile, tests: Sequence[Sheets]) -> Page:
    """Lay out the summary of all tests: drive, platform, software, a row per test, and the sponsor's notes."""
    rows = [
        (_section(profile, sheets.test.settings.test), _name(profile, sheets.test.settings.test), *_set_up(sheets))
        for sheets in tests
    ]
    rows += [_skipped_row(profile, skipped.test, skipped.reason) for skipped in run.skipped]
    table = Table(caption="Tests", columns=("Sec.", "Test", *_SET_UP), rows=tuple(rows))
    return Page(
        title="Summary Report - All Tests",
        subtitle=f"Summary of Tests - {profile.title}",
        header=summary_header(run, profile),
        banner=_joined_banner(tests),
        blocks=(table, _special_notes(run)),
    )


def test_page(sheets: Sheets) -> Page:
    """Lay out the summary of one test: its description, its settings and its selected figures."""
    run, profile, test = sheets.run, sheets.profile, sheets.test
    name = _name(profile, test.settings.test)
    purpose, outline, preconditioning = _DESCRIPTIONS[_family(test.settings.test)]
    description = (("Purpose", purpose), ("Test Outline", outline), ("Preconditioning", preconditioning))
    return Page(
        title=f"Summary Report - {name}",
        subtitle=f"{profile.market} {name}",
        header=summary_header(run, profile),
        banner=_banner(sheets),
        blocks=(
            Table(caption="Test Description", columns=("Test Description", ""), rows=description),
            Table(
                caption="Set-up",
                columns=("Sec.", *_SET_UP),
                rows=((_section(profile, test.settings.test), *_set_up(sheets)),),
            ),
            _select_table((sheets,)),
        ),
    )


def selected_page(run: StoredRun, profile: Profile, tests: Sequence[Sheets]) -> Page:
    """Lay out the drive's selected performance: the settings of each test in a box, then its figures."""
    boxes = tuple(_settings_box(sheets) for sheets in tests)
    return Page(
        title="Summary Performance - Selected",
        subtitle=f"{printable(run.identity.model)} - Summary Performance - Selected",
        header=summary_header(run, profile),
        banner=_joined_banner(tests),
        blocks=(*boxes, _select_table(tests)),
    )


def summary_header(run: StoredRun, profile: Profile) -> Header:
    """Lay out the header of summaries: drive, platform, software, condition."""
    identity, platform, described = run.identity, run.platform, run.description
    memory = None if platform.memory_bytes is None else capacity_label(platform.memory_bytes)
    return Header(
        form="1.0",
        organisation=ORGANISATION,
        revision=profile.title,
        dates=(("Test Run Date", utc(run.started_wall_ns)), ("Report Run Date", utc(run.report_date_ns))),
        parties=(
            ("DUT Vendor", paragraph(described.get("vendor"))),
            ("SSD Model No.", printable(identity.model)),
            ("Test Sponsor", paragraph(described.get("sponsor"))),
            ("Operator", paragraph(described.get("operator"))),
            ("Auditor", paragraph(described.get("auditor"))),
        ),
        groups=(
            _group(
                "Device Information",
                ("Serial No.", printable(identity.serial)),
                ("Firmware Rev", printable(identity.firmware)),
                ("User Capacity", capacity_label(identity.capacity_bytes)),
                ("Interface", interface_label(run)),
                ("NAND Type", nand_label(run)),
                ("Form Factor", paragraph(described.get("form_factor"))),
                ("Features", paragraph(described.get("features"))),
                ("Write Cache", cache_label(identity.write_cache)),
            ),
            _group(
                "Test Hardware Platform",
                ("System", platform_label(run)),
                ("Motherboard", paragraph(platform.motherboard)),
                ("CPU", paragraph(platform.cpu)),
                ("RAM", paragraph(memory)),
                ("HBA", paragraph(described.get("hba"))),
                ("Primary Storage", paragraph(described.get("primary_storage"))),
                ("Peripherals", paragraph(described.get("peripherals"))),
            ),
            _group(
                "Test Software",
                ("OS", paragraph(platform.operating_system)),
                ("Kernel", paragraph(platform.kernel)),
                ("File System", paragraph(described.get("file_system") or "none: the block device is tested")),
                ("Test Software", paragraph(platform.tool)),
                ("Release", paragraph(platform.tool_version)),
            ),
            _group(
                "Condition",
                ("Link", _before_after(run, lambda condition: condition.link)),
                ("Temperature", _before_after(run, lambda condition: _unit(condition.temperature_c, "\u00b0C"))),
                ("Wear Used", _before_after(run, lambda condition: _unit(condition.wear_used_pct, "%"))),
                *_drive_state(run),
            ),
        ),
    )


def _group(title: str, *entries: Entry) -> Group:
    return Group(title=title, entries=entries)


def _drive_state(run: StoredRun) -> tuple[Entry, ...]:
    """The first digits of the state's hash, of a simulated drive that remembers."""
    if not any(condition.state_hash for condition in run.conditions):
        return ()
    return (("Drive State", _before_after(run, lambda condition: (condition.state_hash or "")[:12])),)


def _before_after(run: StoredRun, fact: Callable[[DriveCondition], str | None]) -> str:
    """A fact before the first test and after the last, once where it did not change."""
    found = [printable(fact(condition)) for condition in run.conditions]
    return " / ".join(dict.fromkeys(found)) or printable(None)


def _unit(value: float | None, unit: str) -> str | None:
    return None if value is None else f"{value:g} {unit}"


def _set_up(sheets: Sheets) -> tuple[str, ...]:
    run, test = sheets.run, sheets.test
    settings = test.settings
    return (
        purge_label(test),
        data_label(settings.data),
        str(settings.demand.queue_depth),
        str(settings.demand.thread_count),
        preconditioning_label(run, test),
        preconditioned_label(settings),
        _test_range(run, settings),
        workload_dependent(settings),
        range_label(run, settings),
        segments_label(settings),
        _workload(settings),
        _extent(sheets),
        _steady(sheets),
    )


def _skipped_row(profile: Profile, test: str, reason: str) -> tuple[str, ...]:
    fields = (NOT_APPLICABLE,) * (len(_SET_UP) - 1)
    return (_section(profile, test), _name(profile, test), *fields, f"{NOT_APPLICABLE}: {paragraph(reason)}")


def _select_table(tests: Sequence[Sheets]) -> Table:
    found = [(sheets, figure) for sheets in tests for figure in select_data(sheets)]
    return Table(
        caption="Select Performance Data",
        columns=("Test", "Select Performance Data", "Unit", "Fresh out of box", "Steady state", "Data sheet claims"),
        rows=tuple(
            (sheets.test.settings.test.upper(), figure.item, figure.unit, figure.fresh, figure.steady, figure.claim)
            for sheets, figure in found
        ),
    )


def _settings_box(sheets: Sheets) -> Box:
    test = sheets.test
    entries = (
        ("Test", test.settings.test.upper()),
        ("Test Run Date", utc(test.started_wall_ns)),
        ("WIPC", preconditioning_label(sheets.run, test)),
        ("WDPC", workload_dependent(test.settings)),
        ("AR AMT / Segments", f"{range_label(sheets.run, test.settings)} / {segments_label(test.settings)}"),
        ("OIO - TC/QD", demand_label(test.settings.demand)),
        ("Rounds or Time/GB", _extent(sheets)),
        ("Steady", _steady(sheets)),
    )
    return Box(title=test.settings.test.upper(), entries=entries, wide=True)


def _special_notes(run: StoredRun) -> Table:
    notes: list[dict[str, str]] = list(run.plan.get("special_notes") or [])
    rows = tuple(tuple(paragraph(note.get(key) or "-") for key in ("item", "notation", "comments")) for note in notes)
    return Table(
        caption="Test Sponsor - Special Notes",
        columns=("Test Sponsor - Special Notes: Item", "Notation", "Comments"),
        rows=rows or (("None stated", "-", "-"),),
    )


def _section(profile: Profile, test: str) -> str:
    return str(getattr(profile, _family(test)).section.value)


def _name(profile: Profile, test: str) -> str:
    family, _, variant = test.partition("-")
    status = getattr(profile, family).status.value
    return f"{NAMES[family]}{f' {variant}' if variant else ''} - {status}"


def _family(test: str) -> str:
    return test.partition("-")[0]


def _test_range(run: StoredRun, settings: AnySettings) -> str:
    if settings.segment_count is not None:
        return percent(1.0)
    return f"{settings.range_amount_bytes / run.identity.capacity_bytes * 100:.3g} %"


def _workload(settings: AnySettings) -> str:
    if isinstance(settings, LoopSettings):
        return "; ".join(cell_label(cell, settings.access) for cell in settings.tracking)
    return settings.label


def _extent(sheets: Sheets) -> str:
    """The rounds of the window, or time and gigabytes of a write saturation test."""
    if isinstance(sheets, SaturationSheets):
        result = sheets.result
        return (
            f"{minutes_label(result.minutes[-1])} / {result.written_gb[-1]:,.1f} GB"
            if result.minutes
            else NOT_APPLICABLE
        )
    if isinstance(sheets, LoopSheets):
        return window_label(sheets.settings, headline_window(sheets.result))
    return NOT_APPLICABLE


def _banner(sheets: Sheets) -> str | None:
    if isinstance(sheets, SaturationSheets):
        return saturation_banner(sheets.test, sheets.result)
    return loop_banner(sheets.test, sheets.result) if isinstance(sheets, LoopSheets) else None


def _joined_banner(tests: Sequence[Sheets]) -> str | None:
    """The banners of all tests, each under its test's name."""
    found = ((sheets.test.settings.test.upper(), _banner(sheets)) for sheets in tests)
    return " | ".join(f"{name}: {text}" for name, text in found if text) or None


def _steady(sheets: Sheets) -> str:
    if withheld_reason(sheets.test):
        return NOT_AVAILABLE
    if isinstance(sheets, SaturationSheets):
        return "reached" if sheets.result.steady_iops is not None else "not reached"
    if isinstance(sheets, LoopSheets):
        return convergence(sheets.settings, sheets.result.window)
    return NOT_APPLICABLE
