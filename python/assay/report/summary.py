"""The summary pages: all tests, each test, and the selected performance of the drive.

Source: summary report of "Understanding SSD Performance Using the SNIA SSS PTS" (2012).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.pages.header import ORGANISATION, interface_label, nand_label, platform_label, purge_label, segments_label
from assay.pages.model import Box, Group, Header, Page, Table
from assay.pages.printed import (
    NOT_APPLICABLE,
    cache_label,
    capacity_label,
    data_label,
    demand_label,
    paragraph,
    printable,
    utc,
)
from assay.records import StudySettings
from assay.report.checks import condition_table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from assay.pages.model import Entry
    from assay.pages.sheets import Sheets
    from assay.profile import Profile
    from assay.records import AnySettings, DriveCondition, StoredRun

NAMES = {
    "wsat": "Write Saturation (WSAT)",
    "iops": "IOPS",
    "tp": "Throughput (TP)",
    "lat": "Latency (LAT)",
    "hir": "Host Idle Recovery (HIR)",
    "xsr": "Cross Stimulus Recovery (XSR)",
    "ecw": "Composite Workload (ECW)",
    "cbw": "Composite Workload (CBW)",
    "dirth": "Demand Intensity (DIRTH)",
}
_GRID_OUTLINE = (
    "Rounds of pre-writes and one-minute cells over threads and queue depths, high to low total OIO, until steady; "
    "then Max, Mid and Min IOPS points: pre-writes and ten minutes with every completion kept."
)
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
    "hir": (
        "What idle periods of the host do for small random writes of a saturated drive.",
        "Five wait states: bursts of 5 s with 5 to 50 s of idle behind each, then half an hour of bursts without.",
        "Random writes in one-minute samples until steady.",
    ),
    "xsr": (
        "How a drive takes the change between large sequential and small random writes, and when it recovers.",
        "Sequential, random and again sequential writes for hours each, in one-minute samples without a gap.",
        "None; the drive is purged and fresh out of the box.",
    ),
    "ecw": (
        "IOPS and response times of mixed block sizes with hot and cold places, over demand and at operating points.",
        _GRID_OUTLINE,
        "The composite accesses as writes in one-minute samples until steady.",
    ),
    "dirth": (
        "IOPS and response times of a named workload over demand, and how response times spread at operating points.",
        _GRID_OUTLINE,
        "The accesses of the workload as writes in one-minute samples until steady.",
    ),
}
STUDY = "study"
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
        blocks=(table, *filter(None, (condition_table(run),)), _special_notes(run)),
    )


def test_page(sheets: Sheets) -> Page:
    """Lay out the summary of one test: its description, its settings and its selected figures."""
    run, profile, test = sheets.run, sheets.profile, sheets.test
    name = _name(profile, test.settings.test)
    purpose, outline, preconditioning = _description(test.settings)
    description = (("Purpose", purpose), ("Test Outline", outline), ("Preconditioning", preconditioning))
    return Page(
        title=f"Summary Report - {name}",
        subtitle=f"{profile.market} {name}",
        header=summary_header(run, profile),
        banner=sheets.banner,
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


def _description(settings: AnySettings) -> tuple[str, str, str]:
    """A study says itself what it asks."""
    if isinstance(settings, StudySettings):
        return settings.question, settings.outline, settings.preparation
    return _DESCRIPTIONS[profile_table(settings.test)]


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
                *_faults(run),
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


def _faults(run: StoredRun) -> tuple[Entry, ...]:
    """What goes wrong with a simulated drive on purpose, and the first digits of the hashes of the files."""
    if not run.identity.faults:
        return ()
    hashes = ", ".join(digest[:12] for digest in run.identity.faults_sha256)
    return (("Injected Faults", paragraph(f"{run.identity.faults_label} (SHA-256 {hashes})")),)


def _before_after(run: StoredRun, fact: Callable[[DriveCondition], str | None]) -> str:
    """A fact before the first test and after the last, once where it did not change."""
    found = [printable(fact(condition)) for condition in run.conditions]
    return " / ".join(dict.fromkeys(found)) or printable(None)


def _unit(value: float | None, unit: str) -> str | None:
    return None if value is None else f"{value:g} {unit}"


def _set_up(sheets: Sheets) -> tuple[str, ...]:
    test = sheets.test
    settings, facts = test.settings, sheets.facts
    return (
        purge_label(test),
        data_label(settings.data),
        str(settings.demand.queue_depth),
        str(settings.demand.thread_count),
        facts.independent,
        facts.preconditioned,
        facts.test_area,
        facts.dependent,
        facts.summary_range or facts.test_range,
        segments_label(settings),
        facts.workload,
        facts.extent,
        facts.steady,
    )


def _skipped_row(profile: Profile, test: str, reason: str) -> tuple[str, ...]:
    fields = (NOT_APPLICABLE,) * (len(_SET_UP) - 1)
    return (_section(profile, test), _name(profile, test), *fields, f"{NOT_APPLICABLE}: {paragraph(reason)}")


def _select_table(tests: Sequence[Sheets]) -> Table:
    found = [(sheets, figure) for sheets in tests for figure in sheets.selected()]
    return Table(
        caption="Select Performance Data",
        columns=("Test", "Select Performance Data", "Unit", "Fresh out of box", "Steady state", "Data sheet claims"),
        rows=tuple(
            (sheets.test.settings.test.upper(), figure.item, figure.unit, figure.fresh, figure.steady, figure.claim)
            for sheets, figure in found
        ),
    )


def _settings_box(sheets: Sheets) -> Box:
    test, facts = sheets.test, sheets.facts
    entries = (
        ("Test", test.settings.test.upper()),
        ("Test Run Date", utc(test.started_wall_ns)),
        ("WIPC", facts.independent),
        ("WDPC", facts.dependent),
        ("AR AMT / Segments", f"{facts.summary_range or facts.test_range} / {segments_label(test.settings)}"),
        ("OIO - TC/QD", demand_label(test.settings.demand)),
        ("Rounds or Time/GB", facts.extent),
        ("Steady", facts.steady),
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
    edition = getattr(profile, profile_table(test), None)
    return NOT_APPLICABLE if edition is None else str(edition.section.value)


def _name(profile: Profile, test: str) -> str:
    family, _, variant = test.partition("-")
    if family == STUDY:
        return f"Study {variant} - no test of the specification"
    edition = getattr(profile, profile_table(test))
    status = "no test of this edition" if edition is None else edition.status.value
    return f"{NAMES[family]}{f' {variant}' if variant else ''} - {status}"


def profile_table(test: str) -> str:
    """Name of a test's table in the profile. Worked: ``tp-128`` -> ``"tp"``; ``cbw`` -> ``"ecw"``."""
    family = test.partition("-")[0]
    return "ecw" if family == "cbw" else family


def _joined_banner(tests: Sequence[Sheets]) -> str | None:
    """The banners of all tests, each under its test's name."""
    found = ((sheets.test.settings.test.upper(), sheets.banner) for sheets in tests)
    return " | ".join(f"{name}: {text}" for name, text in found if text) or None
