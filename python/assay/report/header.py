"""The standard page header in its two forms. What is not known is printed as unknown, never guessed.

Source: page headers of "Understanding SSD Performance Using the SNIA SSS PTS" (2012) for form 1.0;
column titles and rows of PTS 2.0 reports for form 2.0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.records import LoopSettings, SaturationSettings
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
    from assay.records import AnySettings, MeasurementWindow, StoredRun, StoredTest
    from assay.report.page import Entry

ORGANISATION = "SNIA SSS TWG: Solid State Storage Performance Test Specification (PTS)"
_WORKLOAD_DEPENDENT = {
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
            Group(title="Steady State", entries=_steady_1_0(run, test.settings, window)),
        ),
    )


def _device_1_0(run: StoredRun) -> tuple[Entry, ...]:
    identity = run.identity
    return (
        ("Serial No.", printable(identity.serial)),
        ("Firmware Rev", printable(identity.firmware)),
        ("Capacity", capacity_label(identity.capacity_bytes)),
        ("NAND Type", nand_label(run)),
        ("Device I/F", interface_label(run)),
        ("Test Platform", platform_label(run)),
    )


def _preparation_1_0(run: StoredRun, test: StoredTest) -> tuple[Entry, ...]:
    return (
        ("Purge", purge_label(test)),
        ("Pre-Conditioning: Workload Independent", preconditioning_label(run, test)),
        ("Pre-Conditioning: Workload Dependent", workload_dependent(test.settings)),
        ("Write Cache", cache_label(run.identity.write_cache)),
    )


def _loop_1_0(settings: AnySettings) -> tuple[Entry, ...]:
    step_ns = settings.step_ns if isinstance(settings, LoopSettings) else settings.sample_ns
    return (
        ("REQUIRED: Data Pattern", data_label(settings.data)),
        ("Tester's Choice: OIO/Thread (QD)", str(settings.demand.queue_depth)),
        ("Tester's Choice: Thread Count (TC)", str(settings.demand.thread_count)),
        ("Test Step", duration_label(step_ns)),
    )


def _steady_1_0(run: StoredRun, settings: AnySettings, window: MeasurementWindow | None) -> tuple[Entry, ...]:
    return (
        ("Convergence", convergence(settings, window)),
        ("Rounds", window_label(settings, window)),
        ("PC AR", preconditioned_label(settings)),
        ("AR AMOUNT", range_label(run, settings)),
        ("AR Segments", segments_label(settings)),
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
            ("Tested By", paragraph(run.description.get("operator") or run.description.get("sponsor"))),
        ),
        groups=(
            Group(title="Test Platform", entries=_platform_2_0(run)),
            Group(title="Device Under Test", entries=_device_2_0(run, test)),
            Group(title="Set Up Parameters", entries=_set_up_2_0(run, test, window)),
            Group(title="Test Parameters", entries=_test_2_0(run, test.settings, window)),
        ),
    )


def _platform_2_0(run: StoredRun) -> tuple[Entry, ...]:
    platform = run.platform
    memory = capacity_label(platform.memory_bytes) if platform.memory_bytes else None
    facts = (
        ("Ref Test Platform", run.description.get("system") or platform.system),
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
        ("Model No.", printable(identity.model)),
        ("S/N", printable(identity.serial)),
        ("Firmware ver", printable(identity.firmware)),
        ("Capacity", capacity_label(identity.capacity_bytes)),
        ("Interface", interface_label(run)),
        ("NAND Type", nand_label(run)),
        ("PCIe NVM", paragraph(run.conditions[0].link if run.conditions else None)),
        ("Purge Method", purge_label(test)),
        ("Write Cache", cache_label(identity.write_cache)),
    )


def _set_up_2_0(run: StoredRun, test: StoredTest, window: MeasurementWindow | None) -> tuple[Entry, ...]:
    settings = test.settings
    loop = settings if isinstance(settings, LoopSettings) else None
    return (
        ("Data Pattern", data_label(settings.data)),
        ("AR", preconditioned_label(settings)),
        ("AR Segments", segments_label(settings)),
        ("Pre Condition 1", preconditioning_label(run, test)),
        ("TOIO - TC/QD", demand_label(loop.preconditioning_demand) if loop else NOT_APPLICABLE),
        ("Duration", capacity_label(loop.preconditioning_bytes) if loop else NOT_APPLICABLE),
        ("Pre Condition 2", workload_dependent(settings)),
        ("TOIO - TC/QD", demand_label(settings.demand)),
        ("SS Rounds", window_label(settings, window)),
        ("Notes", paragraph(run.description.get("notes") or "none")),
    )


def _test_2_0(run: StoredRun, settings: AnySettings, window: MeasurementWindow | None) -> tuple[Entry, ...]:
    first = _loop_2_0(settings) if isinstance(settings, LoopSettings) else _saturation_2_0(settings)
    histogram = f"Histogram, {duration_label(settings.histogram_ns)}" if settings.histogram_ns else NOT_APPLICABLE
    return (
        ("Data Pattern", data_label(settings.data)),
        ("AR & Amount", range_label(run, settings)),
        *first,
        ("TOIO - TC/QD", demand_label(settings.demand)),
        ("Steady State", convergence(settings, window)),
        ("Test Stimulus 2", histogram),
        ("TOIO - TC/QD", demand_label(settings.demand) if settings.histogram_ns else NOT_APPLICABLE),
        ("Steady State", NOT_APPLICABLE),
    )


def _loop_2_0(settings: LoopSettings) -> tuple[Entry, ...]:
    mixes = f"Outer Loop, {mix_label(settings.read_pcts[0])} to {mix_label(settings.read_pcts[-1])}"
    sizes = f"Inner Loop, {kib_label(settings.sizes_bytes[0])} to {size_label(settings.sizes_bytes[-1])}"
    return (
        ("Test Stimulus 1", f"{settings.test.upper()} Loop, {duration_label(settings.step_ns)} per cell"),
        ("RW Mix", mixes),
        ("Block Sizes", sizes),
    )


def _saturation_2_0(settings: SaturationSettings) -> tuple[Entry, ...]:
    sizes = sorted(size for size, _ in settings.pattern.sizes)
    span = size_label(sizes[0]) if len(sizes) == 1 else f"{kib_label(sizes[0])} to {size_label(sizes[-1])}"
    return (
        ("Test Stimulus 1", f"{settings.label}, {duration_label(settings.sample_ns)} per sample"),
        ("RW Mix", mix_label(round(settings.pattern.read_share * 100))),
        ("Block Sizes", span),
    )


def convergence(settings: AnySettings, window: MeasurementWindow | None) -> str:
    """Print YES where steady state held in the window, else NO; N/A for write saturation, which requires none."""
    if not isinstance(settings, LoopSettings):
        return NOT_APPLICABLE
    return "YES" if is_reached(window) else "NO"


def window_label(settings: AnySettings, window: MeasurementWindow | None) -> str:
    """Print the rounds of the window; N/A for write saturation. Worked: rounds 1 to 5 -> ``"1-5"``."""
    if not isinstance(settings, LoopSettings):
        return NOT_APPLICABLE
    return rounds_label(window.rounds if window else ())


def purge_label(test: StoredTest) -> str:
    """Name the purge method as printed; ``unknown`` where the run folder holds no purge."""
    return paragraph(test.purge.method if test.purge else None)


def preconditioning_label(run: StoredRun, test: StoredTest) -> str:
    """Print the workload-independent preconditioning in units of the user capacity, as the specification does."""
    settings = test.settings
    if not isinstance(settings, LoopSettings):
        return "None"
    if not test.preconditioning:
        return "none recorded"
    multiple = settings.preconditioning_bytes / run.identity.capacity_bytes
    return f"{multiple:.3g}X SEQ/{size_label(settings.preconditioning_transfer_bytes)}"


def workload_dependent(settings: AnySettings) -> str:
    """Name the workload-dependent preconditioning: the test's own loop."""
    own = settings.label if isinstance(settings, SaturationSettings) else "test loop"
    return _WORKLOAD_DEPENDENT.get(settings.test, own)


def preconditioned_label(settings: AnySettings) -> str:
    """Print the preconditioned share of the drive, N/A for a write saturation test."""
    return percent(settings.preconditioning_share) if isinstance(settings, LoopSettings) else NOT_APPLICABLE


def range_label(run: StoredRun, settings: AnySettings) -> str:
    """Print the test ActiveRange: an amount, or the share of the drive of a write saturation test."""
    if isinstance(settings, SaturationSettings):
        return f"{settings.range_amount_bytes / run.identity.capacity_bytes * 100:.4g} %"
    return amount_label(settings.range_amount_bytes, settings.segment_count)


def segments_label(settings: AnySettings) -> str:
    """Print the number of ActiveRange segments, N/A where the range is contiguous."""
    return NOT_APPLICABLE if settings.segment_count is None else str(settings.segment_count)


def nand_label(run: StoredRun) -> str:
    """The NAND type that the plan states, else the medium that the drive tells."""
    return paragraph(run.description.get("nand_type") or run.identity.media)


def interface_label(run: StoredRun) -> str:
    """The interface that the plan states, else what the system shows of it."""
    return paragraph(run.description.get("interface") or run.identity.interface)


def platform_label(run: StoredRun) -> str:
    """The test platform that the plan states, else what the system says of itself."""
    return paragraph(run.description.get("system") or run.platform.system or run.platform.cpu)
