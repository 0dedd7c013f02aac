"""The standard page header in its two forms. What is not known is printed as unknown, never guessed.

Source: page headers of "Understanding SSD Performance Using the SNIA SSS PTS" (2012) for form 1.0;
column titles and rows of PTS 2.0 reports for form 2.0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.spec.units import duration_label
from assay.summary.pages.label import host_label
from assay.summary.pages.model import Group, Header
from assay.words.printed import (
    NOT_APPLICABLE,
    cache_label,
    capacity_label,
    data_label,
    demand_label,
    paragraph,
    printable,
    utc,
)

if TYPE_CHECKING:
    from assay.engine.records import StoredRun, StoredTest, TestSettings
    from assay.spec.edition import Edition
    from assay.summary.pages.facts import TestFacts
    from assay.summary.pages.model import Entry

ORGANISATION = "SNIA SSS TWG: Solid State Storage Performance Test Specification (PTS)"

TARGETS = {"loop": "a loop device on a file", "file": "a file"}
"""What stands in the place of a drive, in a sentence."""


def header(run: StoredRun, test: StoredTest, edition: Edition, facts: TestFacts) -> Header:
    """Lay out the header that every page of one test carries.

    facts : the test in the words of its kind.
    Worked: a window of rounds 1 to 5 in which steady state held prints Convergence YES, Rounds 1-5.
    """
    if edition.header == "2.0":
        return _form_2_0(run, test, edition, facts)
    return _form_1_0(run, test, edition, facts)


def _form_1_0(run: StoredRun, test: StoredTest, edition: Edition, facts: TestFacts) -> Header:
    return Header(
        form="1.0",
        organisation=ORGANISATION,
        revision=edition.title,
        dates=(("Test Run Date", utc(test.started_wall_ns)), ("Report Run Date", utc(run.report_date_ns))),
        parties=(
            ("DUT Vendor", paragraph(run.description.get("vendor"))),
            ("SSD Model No.", model_label(run)),
            ("Test Sponsor", paragraph(run.description.get("sponsor"))),
        ),
        groups=(
            Group(title="Device Under Test", entries=_device_1_0(run)),
            Group(title="DUT Preparation", entries=_preparation_1_0(run, test, facts)),
            Group(title="Test Loop Parameters", entries=_loop_1_0(test.settings, facts)),
            Group(title="Steady State", entries=_steady_1_0(test, facts)),
        ),
    )


def _device_1_0(run: StoredRun) -> tuple[Entry, ...]:
    identity = run.identity
    return (
        ("Serial No.", serial_label(run)),
        ("Firmware Rev", printable(identity.firmware)),
        ("Capacity", capacity_label(identity.capacity_bytes)),
        ("NAND Type", nand_label(run)),
        ("Device I/F", interface_label(run)),
        ("Test Platform", platform_label(run)),
    )


def _preparation_1_0(run: StoredRun, test: StoredTest, facts: TestFacts) -> tuple[Entry, ...]:
    return (
        ("Purge", purge_label(test)),
        ("Pre-Conditioning: Workload Independent", facts.independent),
        ("Pre-Conditioning: Workload Dependent", facts.dependent),
        ("Write Cache", cache_label(run.identity.write_cache)),
    )


def _loop_1_0(settings: TestSettings, facts: TestFacts) -> tuple[Entry, ...]:
    chosen: tuple[Entry, ...] = (
        ("Tester's Choice: OIO/Thread (QD)", str(settings.demand.queue_depth)),
        ("Tester's Choice: Thread Count (TC)", str(settings.demand.thread_count)),
    )
    demands = (("TOIO - TC/QD", facts.demands[0]),) if facts.demands else chosen
    return ("REQUIRED: Data Pattern", data_label(settings.data)), *demands, ("Test Step", facts.step)


def _steady_1_0(test: StoredTest, facts: TestFacts) -> tuple[Entry, ...]:
    return (
        ("Convergence", facts.convergence),
        ("Window", facts.time) if facts.time else ("Rounds", facts.rounds),
        ("PC AR", facts.preconditioned_label),
        ("AR AMOUNT", facts.test_range),
        ("AR Segments", segments_label(test.settings)),
        *_host(test),
    )


def _host(test: StoredTest) -> tuple[Entry, ...]:
    """How much of what was measured the test system disturbed, where somebody watched it."""
    disturbed = host_label(test)
    return () if disturbed is None else (("Disturbed by Host", disturbed),)


def _form_2_0(run: StoredRun, test: StoredTest, edition: Edition, facts: TestFacts) -> Header:
    return Header(
        form="2.0",
        organisation=ORGANISATION,
        revision=edition.title,
        dates=(
            ("Test Run Date: Start", utc(test.started_wall_ns)),
            ("Test Run Date: Finish", utc(test.ended_wall_ns)),
            ("Report Run Date", utc(run.report_date_ns)),
        ),
        parties=(
            ("Vendor", paragraph(run.description.get("vendor"))),
            ("SSD Model", model_label(run)),
            ("Tested By", paragraph(run.description.get("operator") or run.description.get("sponsor"))),
        ),
        groups=(
            Group(title="Test Platform", entries=_platform_2_0(run)),
            Group(title="Device Under Test", entries=_device_2_0(run, test)),
            Group(title="Set Up Parameters", entries=_set_up_2_0(run, test.settings, facts)),
            Group(title="Test Parameters", entries=(*_test_2_0(test, facts), *_host(test))),
        ),
    )


def _platform_2_0(run: StoredRun) -> tuple[Entry, ...]:
    platform = run.platform
    memory = capacity_label(platform.memory_bytes) if platform.memory_bytes else None
    facts = (
        ("Ref Test Platform", system_label(run)),
        ("Motherboard", platform.motherboard),
        ("CPU", platform.cpu),
        ("Memory", memory),
        ("OS", platform.operating_system),
        ("Test SW", platform.tool),
        ("Test SW ver", platform.tool_version),
        ("Test SN", run.description.get("platform_serial")),
        ("HBA", run.description.get("hba")),
        ("PCIe", run.description.get("pcie")),
    )
    return tuple((name, paragraph(value)) for name, value in facts)


def _device_2_0(run: StoredRun, test: StoredTest) -> tuple[Entry, ...]:
    identity = run.identity
    return (
        ("Mfgr", paragraph(run.description.get("vendor"))),
        ("Model No.", model_label(run)),
        ("S/N", serial_label(run)),
        ("Firmware ver", printable(identity.firmware)),
        ("Capacity", capacity_label(identity.capacity_bytes)),
        ("Interface", interface_label(run)),
        ("NAND Type", nand_label(run)),
        ("PCIe NVM", paragraph(run.conditions[0].link if run.conditions else None)),
        ("Purge Method", purge_label(test)),
        ("Write Cache", cache_label(identity.write_cache)),
    )


def _set_up_2_0(run: StoredRun, settings: TestSettings, facts: TestFacts) -> tuple[Entry, ...]:
    return (
        ("Data Pattern", data_label(settings.data)),
        ("AR", facts.preconditioned_label),
        ("AR Segments", segments_label(settings)),
        ("Pre Condition 1", facts.independent),
        ("TOIO - TC/QD", facts.independent_demand),
        ("Duration", facts.independent_amount),
        ("Pre Condition 2", facts.dependent),
        ("TOIO - TC/QD", demand_label(settings.demand)),
        ("SS Rounds", facts.rounds),
        ("Notes", paragraph(run.description.get("notes") or "none")),
    )


def _test_2_0(test: StoredTest, facts: TestFacts) -> tuple[Entry, ...]:
    settings = test.settings
    histogram = f"Histogram, {duration_label(settings.histogram_ns)}" if settings.histogram_ns else NOT_APPLICABLE
    demand = demand_label(settings.demand)
    first, second = facts.demands or (demand, demand if settings.histogram_ns else NOT_APPLICABLE)
    return (
        ("Data Pattern", data_label(settings.data)),
        ("AR & Amount", facts.test_range),
        *facts.stimulus,
        ("TOIO - TC/QD", first),
        ("Steady State", facts.convergence),
        ("Test Stimulus 2", facts.second_stimulus or histogram),
        ("TOIO - TC/QD", second),
        ("Steady State", NOT_APPLICABLE),
    )


def purge_label(test: StoredTest) -> str:
    """Name the purge method as printed; ``unknown`` where the run folder holds no purge that there should be."""
    if test.purge is None and not test.settings.purges:
        return "none"
    return paragraph(test.purge.method if test.purge else None)


def segments_label(settings: TestSettings) -> str:
    """Print the number of ActiveRange segments, N/A where the range is contiguous."""
    return NOT_APPLICABLE if settings.segment_count is None else f"{settings.segment_count:,}"


def nand_label(run: StoredRun) -> str:
    """The NAND type that the plan states, else the medium that the drive tells."""
    return paragraph(run.description.get("nand_type") or run.identity.media)


def interface_label(run: StoredRun) -> str:
    """The interface that the plan states, else what the system shows of it."""
    return paragraph(run.description.get("interface") or run.identity.interface)


def platform_label(run: StoredRun) -> str:
    """The test platform and its software. Worked: a system that is not known -> ``"CPU Intel Xeon; Assay 0.1.0"``."""
    platform, system = run.platform, run.description.get("system") or run.platform.system
    known = system or (f"CPU {platform.cpu}" if platform.cpu else None)
    return f"{paragraph(known)}; {paragraph(platform.tool)} {paragraph(platform.tool_version)}"


def system_label(run: StoredRun) -> str:
    """The system that the plan states, else what it says of itself; its CPU is no name of it."""
    return paragraph(run.description.get("system") or run.platform.system)


def model_label(run: StoredRun) -> str:
    """The drive's model; what a loop device or a file is, which have none.

    A simulated drive whose model names the capacity of the real one says with which it was made.
    Worked: ``loop:10011431:3898`` -> ``"loop device on a file"``; MLC-A made with 4 GB ->
    ``"Simulated MLC-A, 256 GB; made with 4.00 GB"``.
    """
    identity = run.identity
    if identity.model_number and "?capacity=" in identity.id:
        made = f"; made with {capacity_label(identity.capacity_bytes)}" if " GB" in identity.model_number else ""
        return printable(identity.model_number + made)
    others = {"loop": "loop device on a file", "file": identity.file_label}
    return printable(identity.model_number or others.get(target_kind(run)))


def serial_label(run: StoredRun) -> str:
    """The drive's serial number; the identity of a loop device or a file."""
    identity = run.identity
    return printable(identity.serial or (identity.id if target_kind(run) in TARGETS else None))


def target_kind(run: StoredRun) -> str:
    """``loop`` for a loop device on a file, else the kind of the drive."""
    return "loop" if run.identity.id.startswith("loop:") else run.identity.kind
