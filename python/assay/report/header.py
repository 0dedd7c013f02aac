"""The standard page header in its two forms. What is not known is printed as unknown, never guessed.

Source: page headers of "Understanding SSD Performance Using the SNIA SSS PTS" (2012) for form 1.0;
column titles and rows of PTS 2.0 reports for form 2.0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.report.label import is_reached
from assay.report.page import Group, Header
from assay.report.printed import (
    NOT_APPLICABLE,
    amount_label,
    cache_label,
    capacity_label,
    data_label,
    demand_label,
    mix_label,
    paragraph,
    percent,
    printable,
    rounds_label,
    size_label,
    utc,
)
from assay.units import duration_label, kib_label

if TYPE_CHECKING:
    from assay.profile import Profile
    from assay.records import LoopSettings, MeasurementWindow, StoredRun, StoredTest
    from assay.report.page import Entry

ORGANISATION = "SNIA SSS TWG: Solid State Storage Performance Test Specification (PTS)"
WORKLOAD_DEPENDENT = {
    "iops": "Full IOPS Loop",
    "tp-128": "SEQ 128KiB",
    "tp-1024": "SEQ 1024KiB",
    "lat": "Full Latency Loop",
}


def header(run: StoredRun, test: StoredTest, profile: Profile, window: MeasurementWindow | None) -> Header:
    """Lay out the header that every page of one test carries.

    window : the measurement window the header's Steady State column speaks of, None where there is none.
    Worked: a window of rounds 1 to 5 in which steady state held prints Convergence YES, Rounds 1-5.
    """
    if profile.header == "2.0":
        return _form_2_0(run, test, profile, window)
    return _form_1_0(run, test, profile, window)


def _form_1_0(run: StoredRun, test: StoredTest, profile: Profile, window: MeasurementWindow | None) -> Header:
    return Header(
        form="1.0",
        organisation=ORGANISATION,
        revision=profile.title,
        dates=(("Test Run Date", utc(test.started_wall_ns)), ("Report Run Date", utc(run.report_date_ns))),
        parties=(
            ("DUT Vendor", paragraph(run.description.get("vendor"))),
            ("SSD Model No.", printable(run.identity.model)),
            ("Test Sponsor", paragraph(run.description.get("sponsor"))),
        ),
        groups=(
            Group(title="Device Under Test", entries=_device_1_0(run)),
            Group(title="DUT Preparation", entries=_preparation_1_0(run, test)),
            Group(title="Test Loop Parameters", entries=_loop_1_0(test.settings)),
            Group(title="Steady State", entries=_steady_1_0(test.settings, window)),
        ),
    )


def _device_1_0(run: StoredRun) -> tuple[Entry, ...]:
    identity = run.identity
    return (
        ("Serial No.", printable(identity.serial)),
        ("Firmware Rev", printable(identity.firmware)),
        ("Capacity", capacity_label(identity.capacity_bytes)),
        ("NAND Type", printable(identity.media)),
        ("Device I/F", printable(identity.interface)),
        ("Test Platform", printable(run.platform.system or run.platform.cpu)),
    )


def _preparation_1_0(run: StoredRun, test: StoredTest) -> tuple[Entry, ...]:
    return (
        ("Purge", purge_label(test)),
        ("Pre-Conditioning: Workload Independent", _preconditioning(run, test)),
        ("Pre-Conditioning: Workload Dependent", WORKLOAD_DEPENDENT.get(test.settings.test, "test loop")),
        ("Write Cache", cache_label(run.identity.write_cache)),
    )


def _loop_1_0(settings: LoopSettings) -> tuple[Entry, ...]:
    return (
        ("REQUIRED: Data Pattern", data_label(settings.data)),
        ("Tester's Choice: OIO/Thread (QD)", str(settings.demand.queue_depth)),
        ("Tester's Choice: Thread Count (TC)", str(settings.demand.thread_count)),
        ("Test Step", duration_label(settings.step_ns)),
    )


def _steady_1_0(settings: LoopSettings, window: MeasurementWindow | None) -> tuple[Entry, ...]:
    return (
        ("Convergence", convergence(window)),
        ("Rounds", rounds_label(window.rounds if window else ())),
        ("PC AR", percent(settings.preconditioning_share)),
        ("AR AMOUNT", amount_label(settings.range_amount_bytes, settings.segment_count)),
        ("AR Segments", _segments(settings)),
    )


def _form_2_0(run: StoredRun, test: StoredTest, profile: Profile, window: MeasurementWindow | None) -> Header:
    return Header(
        form="2.0",
        organisation=ORGANISATION,
        revision=profile.title,
        dates=(
            ("Test Run Date: Start", utc(test.started_wall_ns)),
            ("Test Run Date: Finish", utc(test.ended_wall_ns)),
            ("Report Run Date", utc(run.report_date_ns)),
        ),
        parties=(
            ("Vendor", paragraph(run.description.get("vendor"))),
            ("SSD Model", printable(run.identity.model)),
            ("Tested By", paragraph(run.description.get("sponsor"))),
        ),
        groups=(
            Group(title="Test Platform", entries=_platform_2_0(run)),
            Group(title="Device Under Test", entries=_device_2_0(run, test)),
            Group(title="Set Up Parameters", entries=_set_up_2_0(run, test, window)),
            Group(title="Test Parameters", entries=_test_2_0(test.settings, window)),
        ),
    )


def _platform_2_0(run: StoredRun) -> tuple[Entry, ...]:
    platform = run.platform
    memory = capacity_label(platform.memory_bytes) if platform.memory_bytes else None
    facts = (
        ("Ref Test Platform", platform.system),
        ("Motherboard", platform.motherboard),
        ("CPU", platform.cpu),
        ("Memory", memory),
        ("OS", platform.operating_system),
        ("Test SW", platform.tool),
        ("Test SW ver", platform.tool_version),
        ("Test SN", platform.extra.get("serial")),
        ("HBA", platform.extra.get("hba")),
        ("PCIe", platform.extra.get("pcie")),
    )
    return tuple((name, paragraph(value)) for name, value in facts)


def _device_2_0(run: StoredRun, test: StoredTest) -> tuple[Entry, ...]:
    identity = run.identity
    return (
        ("Mfgr", paragraph(run.description.get("vendor"))),
        ("Model No.", printable(identity.model)),
        ("S/N", printable(identity.serial)),
        ("Firmware ver", printable(identity.firmware)),
        ("Capacity", capacity_label(identity.capacity_bytes)),
        ("Interface", printable(identity.interface)),
        ("NAND Type", printable(identity.media)),
        ("PCIe NVM", paragraph(run.platform.extra.get("pcie_nvm"))),
        ("Purge Method", purge_label(test)),
        ("Write Cache", cache_label(identity.write_cache)),
    )


def _set_up_2_0(run: StoredRun, test: StoredTest, window: MeasurementWindow | None) -> tuple[Entry, ...]:
    settings = test.settings
    return (
        ("Data Pattern", data_label(settings.data)),
        ("AR", percent(settings.preconditioning_share)),
        ("AR Segments", _segments(settings)),
        ("Pre Condition 1", _preconditioning(run, test)),
        ("TOIO - TC/QD", demand_label(settings.preconditioning_demand)),
        ("Duration", capacity_label(settings.preconditioning_bytes)),
        ("Pre Condition 2", WORKLOAD_DEPENDENT.get(settings.test, "test loop")),
        ("TOIO - TC/QD", demand_label(settings.demand)),
        ("SS Rounds", rounds_label(window.rounds if window else ())),
        ("Notes", "see page 1"),
    )


def _test_2_0(settings: LoopSettings, window: MeasurementWindow | None) -> tuple[Entry, ...]:
    mixes = f"Outer Loop, {mix_label(settings.read_pcts[0])} to {mix_label(settings.read_pcts[-1])}"
    sizes = f"Inner Loop, {kib_label(settings.sizes_bytes[0])} to {size_label(settings.sizes_bytes[-1])}"
    return (
        ("Data Pattern", data_label(settings.data)),
        ("AR & Amount", amount_label(settings.range_amount_bytes, settings.segment_count)),
        ("Test Stimulus 1", f"{settings.test.upper()} Loop, {duration_label(settings.step_ns)} per cell"),
        ("RW Mix", mixes),
        ("Block Sizes", sizes),
        ("TOIO - TC/QD", demand_label(settings.demand)),
        ("Steady State", convergence(window)),
        ("Test Stimulus 2", NOT_APPLICABLE),
        ("TOIO - TC/QD", NOT_APPLICABLE),
        ("Steady State", NOT_APPLICABLE),
    )


def convergence(window: MeasurementWindow | None) -> str:
    """Print YES where steady state held in the window, else NO. Worked: no window -> ``"NO"``."""
    return "YES" if is_reached(window) else "NO"


def purge_label(test: StoredTest) -> str:
    """Name the purge method as printed; ``unknown`` where the run folder holds no purge."""
    return paragraph(test.purge.method if test.purge else None)


def _preconditioning(run: StoredRun, test: StoredTest) -> str:
    if not test.preconditioning:
        return "none recorded"
    # The specification prints the amount in units of the user capacity.
    multiple = test.settings.preconditioning_bytes / run.identity.capacity_bytes
    return f"{multiple:.3g}X SEQ/{size_label(test.settings.preconditioning_transfer_bytes)}"


def _segments(settings: LoopSettings) -> str:
    return NOT_APPLICABLE if settings.segment_count is None else str(settings.segment_count)
