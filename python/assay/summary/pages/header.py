"""The head of each page of a test: the standard header in its two forms, and the banner. Nothing is guessed.

Source: page headers of "Understanding SSD Performance Using the SNIA SSS PTS" (2012) for form 1.0;
column titles and rows of PTS 2.0 reports for form 2.0.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from assay.results.host import disturbed_count, window_disturbed
from assay.results.outcome import withholding
from assay.results.run_checks import ENDED
from assay.results.stall import void_places
from assay.results.stimulus_steps import asked_steps
from assay.results.stimulus_time import short_windows
from assay.spec.units import duration_label, kib_label
from assay.summary.pages.model import Group, Header
from assay.summary.verdict import short_words
from assay.words.printed import (
    NOT_APPLICABLE,
    NOT_AVAILABLE,
    cache_label,
    capacity_label,
    data_label,
    demand_label,
    mix_label,
    paragraph,
    printable,
    size_label,
    utc,
)
from assay.words.text import text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from assay.engine.records import AccessPattern, MeasurementWindow, StoredRun, StoredTest, TestSettings
    from assay.results.finding import Finding
    from assay.spec.edition import Edition
    from assay.summary.pages.model import Entry
    from assay.summary.record import Level
    from assay.words.coded import Coded


@dataclass(frozen=True, slots=True, kw_only=True)
class TestFacts:
    """One test in the words of headers and summaries.

    independent, independent_demand, independent_amount : workload-independent preconditioning; None without any.
    preconditioned : share of the drive that it covers, None without. dependent : workload-dependent preconditioning.
    test_area, test_range : share of the drive that is tested, and the test ActiveRange. step : length of a test step.
    stimulus : the three entries of form 2.0: test stimulus, mix, block sizes.
    demands : where a test has several, of the first stimulus and of the second; second_stimulus : behind the first.
    workload : what is tracked. convergence, rounds : of the measurement window, None without rounds;
    time : when, where it counts samples.
    extent : rounds, or time and gigabytes. steady : whether steady state was reached.
    """

    independent: str | None = None
    independent_demand: str = NOT_APPLICABLE
    independent_amount: str = NOT_APPLICABLE
    preconditioned: str | None = None
    dependent: str
    test_area: str
    test_range: str
    step: str
    stimulus: tuple[Entry, Entry, Entry]
    demands: tuple[str, str] | None = None
    second_stimulus: str = ""
    workload: str
    convergence: str = NOT_APPLICABLE
    rounds: str | None = None
    time: str = ""
    extent: str
    steady: str

    @property
    def preconditioned_label(self) -> str:
        """The range that was preconditioned; by what, where it was by the workload alone. Worked: ``100 % (WDPC)``."""
        by_workload = self.preconditioned and self.independent is None
        return f"{self.preconditioned} (WDPC)" if by_workload else self.preconditioned or NOT_APPLICABLE

    @property
    def independent_label(self) -> str:
        """Workload-independent preconditioning as printed."""
        return self.independent or "None"

    @property
    def window(self) -> str:
        """Where the measurement window lies. Worked: ``"rounds 1-5"``; of samples over time ``"30 min to 150 min"``."""
        return self.time or (f"rounds {self.rounds}" if self.rounds else "")


def steady_word(window: MeasurementWindow | None, withheld: Coded | None) -> str:
    """Whether steady state was reached, and that it was not judged where there is no window of five values."""
    if withheld:
        return NOT_AVAILABLE
    return ("YES" if window.reached else "NO") if window else "not judged: the rule needs five values"


def share_label(run: StoredRun, amount_bytes: int) -> str:
    """A contiguous test range as a share of the drive. Worked: 64 GB of 256 GB -> ``"25 %"``."""
    return f"{amount_bytes / run.identity.capacity_bytes * 100:.4g} %"


def pattern_stimulus(what: str, pattern: AccessPattern) -> tuple[Entry, Entry, Entry]:
    """The stimulus of form 2.0 for a test of a single access pattern."""
    sizes = sorted(size for size, _ in pattern.sizes)
    span = size_label(sizes[0]) if len(sizes) == 1 else f"{kib_label(sizes[0])} to {size_label(sizes[-1])}"
    return (("Test Stimulus 1", what), ("RW Mix", mix_label(round(pattern.read_share * 100))), ("Block Sizes", span))


ORGANISATION = "SNIA SSS TWG: Solid State Storage Performance Test Specification (PTS)"

TARGETS = {"loop": "a loop device on a file", "file": "a file"}
"""What stands in the place of a drive, in a sentence."""


def header(run: StoredRun, test: StoredTest, edition: Edition, facts: TestFacts, level: Level) -> Header:
    """Lay out the header that every page of one test carries.

    facts : the test in the words of its kind. level : of its verdict, which colours the convergence.
    Worked: a window of rounds 1 to 5 in which steady state held prints Convergence YES, Rounds 1-5.
    """
    if edition.header == "2.0":
        return _form_2_0(run, test, edition, facts, level)
    return _form_1_0(run, test, edition, facts, level)


def _form_1_0(run: StoredRun, test: StoredTest, edition: Edition, facts: TestFacts, level: Level) -> Header:
    settings, identity = test.settings, run.identity
    demands: tuple[Entry, ...] = (
        ("Tester's Choice: OIO/Thread (QD)", str(settings.demand.queue_depth)),
        ("Tester's Choice: Thread Count (TC)", str(settings.demand.thread_count)),
    )
    if facts.demands:
        demands = (("TOIO - TC/QD", facts.demands[0]),)
    device = (
        ("Serial No.", serial_label(run)),
        ("Firmware Rev", printable(identity.firmware)),
        ("Capacity", capacity_label(identity.capacity_bytes)),
        ("NAND Type", nand_label(run)),
        ("Device I/F", interface_label(run)),
        ("Test Platform", platform_label(run)),
    )
    preparation = (
        ("Purge", purge_label(test)),
        ("Pre-Conditioning: Workload Independent", facts.independent_label),
        ("Pre-Conditioning: Workload Dependent", facts.dependent),
        ("Write Cache", cache_label(identity.write_cache)),
    )
    loop = (("REQUIRED: Data Pattern", data_label(settings.data)), *demands, ("Test Step", facts.step))
    steady = (
        ("Convergence", facts.convergence),
        ("Window", facts.time) if facts.time else ("Rounds", facts.rounds or NOT_APPLICABLE),
        ("PC AR", facts.preconditioned_label),
        ("AR AMOUNT", facts.test_range),
        ("AR Segments", segments_label(settings)),
        *_host(test),
    )
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
            Group(title="Device Under Test", entries=device),
            Group(title="DUT Preparation", entries=preparation),
            Group(title="Test Loop Parameters", entries=loop),
            Group(title="Steady State", entries=steady, levels=(("Convergence", level),)),
        ),
    )


def _host(test: StoredTest) -> tuple[Entry, ...]:
    """How many measured parts the test system disturbed; nothing if it was not monitored."""
    disturbed = disturbed_count(test)
    return (("Disturbed by Host", f"{disturbed[0]} of {disturbed[1]}"),) if disturbed else ()


def _form_2_0(run: StoredRun, test: StoredTest, edition: Edition, facts: TestFacts, level: Level) -> Header:
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
            Group(
                title="Test Parameters",
                entries=(*_test_2_0(test, facts), *_host(test)),
                levels=(("Steady State", level),),
            ),
        ),
    )


def _platform_2_0(run: StoredRun) -> tuple[Entry, ...]:
    platform, described = run.platform, run.description
    return (
        ("Ref Test Platform", system_label(run)),
        ("Motherboard", paragraph(platform.motherboard)),
        ("CPU", paragraph(platform.cpu)),
        ("Memory", paragraph(capacity_label(platform.memory_bytes) if platform.memory_bytes else None)),
        ("OS", paragraph(platform.operating_system)),
        ("Test SW", paragraph(platform.tool)),
        ("Test SW ver", paragraph(platform.tool_version)),
        ("Test SN", paragraph(described.get("platform_serial"))),
        ("HBA", paragraph(described.get("hba"))),
        ("PCIe", paragraph(described.get("pcie"))),
    )


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
        ("Pre Condition 1", facts.independent_label),
        ("TOIO - TC/QD", facts.independent_demand),
        ("Duration", facts.independent_amount),
        ("Pre Condition 2", facts.dependent),
        ("TOIO - TC/QD", demand_label(settings.demand)),
        ("SS Rounds", facts.rounds or NOT_APPLICABLE),
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


def colophon(run: StoredRun) -> str:
    """Tool and run, as every sheet bears them. Worked: ``"Assay 0.1.0 - run 1f0c"``."""
    return f"{printable(run.platform.tool)} {printable(run.platform.tool_version)} - run {printable(run.run_id)}"


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


ENDINGS = {
    None: "UNFINISHED",
    "interrupted": "INTERRUPTED",
    "device-failure": "DEVICE FAILURE",
    "drive-changed": "DRIVE CHANGED",
    "wrong-data": "WRONG DATA",
}
"""How a test ended early, as printed."""


def banner(test: StoredTest, findings: Iterable[Finding]) -> str | None:
    """Word the warning over every page of a test, of whatever kind; None where nothing is to be said.

    findings : what a reader must know of its result, which each kind of result has.
    How the test ended early, these, what is void, whether the host disturbed every round of the window, windows that
    are shorter than the queue, and the first check that withholds its results.
    Worked: 25 rounds without steady state -> ``"STEADY STATE NOT REACHED in 25 rounds"``; a stall of the host in wait
    state 2 -> ``"NO HEADLINE: the host stalled for 5,000 ms in wait state 2; the test system disturbed this, not the
    drive"``.
    """
    said = [ENDINGS[test.ended]] if test.ended in ENDINGS else []
    said += [finding.words for finding in findings]
    said += [f"{str(place).upper()} VOID: {text(reason)}" for place, reason in void_places(test)]
    said += [f"HOST DISTURBED {text(told)}" for told in [window_disturbed(test)] if told]
    said += [words for words in [short_words(len(short_windows([*asked_steps(test)])))] if words]
    # How a test ended early is said already.
    reasons = (one.alone for one in withholding(test) if one.name != ENDED or test.ended not in ENDINGS)
    said += [f"NO HEADLINE: {text(reason)}" for reason in islice(reasons, 1) if reason]
    return " - ".join(said) or None
