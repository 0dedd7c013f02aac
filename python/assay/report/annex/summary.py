"""The summary pages of annex A: all tests, each test with what was unusual in it, and the selected performance.

Source: summary report of "Understanding SSD Performance Using the SNIA SSS PTS" (2012).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.procedures.checks import condition_table, figure_text
from assay.procedures.conformity import short_window_text
from assay.procedures.registry import find_procedure
from assay.procedures.run_findings import SEE_FINDINGS, checks_beyond
from assay.report.first_page.claims import baseline_table, claims_table
from assay.report.first_page.insights import insights_of_test, sentences
from assay.results import void_places, withheld_reason
from assay.spec.units import count_label
from assay.summary.measures import basis_text, measure_text
from assay.summary.pages.header import (
    ORGANISATION,
    TARGETS,
    interface_label,
    model_label,
    nand_label,
    purge_label,
    segments_label,
    serial_label,
    system_label,
    target_kind,
)
from assay.summary.pages.model import Box, Group, Header, Page, Table, with_values
from assay.summary.verdict import annex_caveats, host_words
from assay.words.printed import (
    NOT_APPLICABLE,
    cache_label,
    capacity_label,
    claim_text,
    data_label,
    demand_label,
    paragraph,
    printable,
    share_text,
    utc,
)
from assay.words.text import text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from assay.engine.records import DriveCondition, SkippedTest, StoredRun
    from assay.results.finding import Checked
    from assay.spec.edition import Edition
    from assay.summary.pages.model import Entry
    from assay.summary.pages.test_record import TestRecord
    from assay.summary.record import Measure


_NAMED = 3
_FOUND = "What was found"


def found_table(test_record: TestRecord) -> tuple[Table, ...]:
    """Both of one test, for its summary."""
    rows = [("Key findings", line) for line in sentences(insights_of_test(test_record))]
    rows += [("Unusual", line) for line in of_test(test_record)]
    return (Table(caption=_FOUND, columns=(_FOUND, ""), rows=tuple(rows), merged=(_FOUND,)),) if rows else ()


def of_test(test_record: TestRecord) -> Iterator[str]:
    """What was unusual in one test: that its results are withheld, then all else."""
    withheld = withheld_reason(test_record.test)
    if withheld:
        yield f"results withheld, {text(withheld)}"
    yield from unusual(test_record)


def unusual(test_record: TestRecord) -> Iterator[str]:
    """What a reader must know of a test beside whether its results are withheld: findings, void parts, the host."""
    yield from beside_verdict(test_record)
    if words := host_words(test_record.verdict):
        yield f"the {words} measured parts; see {SEE_FINDINGS}"


def beside_verdict(test_record: TestRecord) -> Iterator[str]:
    """The same where the verdict is read with it, which says whether results are withheld and what the host did."""
    test = test_record.test
    voids = void_places(test)
    yield from (finding.words for finding in test_record.findings)
    yield from (f"{place} void, {text(reason)}" for place, reason in voids[:_NAMED])
    if voids[_NAMED:]:
        yield f"{len(voids) - _NAMED} more void"
    yield from map(text, test_record.remarks)
    moved = len(test_record.moved)
    if moved:
        cells = "1 cell that is not tracked" if moved == 1 else f"{moved} cells that are not tracked"
        where = f"; {test_record.moved_where}" if test_record.moved_where else ""
        yield f"{cells} moved by more than 20 % of the average in the window{where}; see {SEE_FINDINGS}"
    yield from short_window_text(test)
    beyond = checks_beyond(test_record)
    if beyond:
        named = ", ".join(map(_check_text, beyond[:_NAMED])) + (", and others" if beyond[_NAMED:] else "")
        yield f"{count_label(len(beyond), 'check')} beyond the limit: {named}; see {SEE_FINDINGS}"


def _check_text(check: Checked) -> str:
    """A check by its title, in how many places, and how far.

    Worked: ``"Gaps between sequences (5 of 17, worst 34.000 ms, limit 10.000 ms)"``.
    """
    worst, limit = (figure_text(value, check.check.unit) for value in (check.finding.measured, check.finding.limit))
    places = f"{check.marked:,} of {check.judged:,}" if check.judged > 1 else ""
    told = ", ".join(filter(None, (places, worst and f"worst {worst}", limit and f"limit {limit}")))
    return f"{check.check.title} ({told})" if told else check.check.title


def verdict(test_record: TestRecord) -> str:
    """How a test came out. Worked: ``"steady state: YES, rounds 1-5"``; ``"WITHHELD: 1 I/O error in the test"``.

    Of a test whose other cells moved: ``"steady state: YES, rounds 1-5; 5 other cells moved"``; of one that the test
    system disturbed: ``"steady state: YES, rounds 1-5; host disturbed 2 of 5"``.
    """
    withheld = withheld_reason(test_record.test)
    if withheld:
        return f"WITHHELD: {text(withheld)}"
    told = ", ".join(filter(None, (f"steady state: {test_record.facts.steady}", test_record.facts.window)))
    return "; ".join((told, *annex_caveats(test_record.verdict)))


_SET_UP = (
    "Purge", "DP", "QD", "TC", "WIPC", "PC AR", "TEST AR", "WDPC", "AR AMT", "SEGMENTS", "SS WORKLOAD",
    "ROUNDS or TIME/GB", "STEADY",
)  # fmt: skip
_FILE_SYSTEM = {
    "block": "none: the block device is tested",
    "simulated": "none: the drive is simulated",
    **{kind: f"unknown: the target is {target}" for kind, target in TARGETS.items()},
}
_SELECT = ("Test", "Select Performance Data", "Unit", "Measured", "Basis", "Data sheet claims")
_NOT_STATED = "not stated"
_VARIED = "varied"


def all_tests_page(run: StoredRun, edition: Edition, tests: Sequence[TestRecord]) -> Page:
    """Lay out the summary of all tests: drive, platform, software, a row per test, and the sponsor's notes."""
    rows = [
        (
            _section(test_record.table),
            _name(test_record.test.settings.procedure, test_record.test.settings.test, test_record.table),
            *_set_up(test_record),
        )
        for test_record in tests
    ]
    rows += [_skipped_row(edition, skipped) for skipped in run.skipped]
    table = Table(caption="Tests", columns=("Sec.", "Test", *_SET_UP), rows=tuple(rows))
    return Page(
        title="Summary Report - All Tests",
        chapter="Summary Report - All Tests",
        subtitle=f"Summary of Tests - {edition.title}",
        header=summary_header(run, edition),
        banner=joined_banner(tests),
        blocks=(table, *filter(None, (condition_table(run),)), _special_notes(run)),
    )


def test_page(test_record: TestRecord) -> Page:
    """Lay out the summary of one test: its description, settings, selected figures and what was found."""
    run, edition, test = test_record.run, test_record.edition, test_record.test
    name = _name(test.settings.procedure, test.settings.test, test_record.table)
    procedure = find_procedure(test.settings.procedure)
    description = (
        ("Purpose", procedure.question),
        ("Test Outline", paragraph(test_record.outline)),
        ("Preconditioning", test_record.preparation or procedure.preconditioning),
    )
    return Page(
        title=f"Summary Report - {name}",
        subtitle=f"{edition.market} {name}",
        header=summary_header(run, edition),
        banner=test_record.banner,
        chapter=name,
        blocks=(
            Table(caption="Test Description", columns=("Test Description", ""), rows=description),
            Table(
                caption="Set-up",
                columns=("Sec.", *_SET_UP),
                rows=((_section(test_record.table), *_set_up(test_record)),),
            ),
            _select_table((test_record,)),
            *found_table(test_record),
        ),
    )


def selected_page(run: StoredRun, edition: Edition, tests: Sequence[TestRecord]) -> Page:
    """Lay out the drive's selected performance: the settings of each test in a box, then its figures."""
    boxes = tuple(_settings_box(test_record) for test_record in tests)
    held = (*claims_table(run, tests), *baseline_table(run, tests))
    return Page(
        title="Summary Performance - Selected",
        chapter="Summary Performance - Selected",
        subtitle=f"{model_label(run)} - Summary Performance - Selected",
        header=summary_header(run, edition),
        banner=joined_banner(tests),
        blocks=boxes,
        columns=tuple(filter(None, ((_select_table(tests),), held))),
    )


def summary_header(run: StoredRun, edition: Edition) -> Header:
    """Lay out the header of summaries: drive, platform, software, condition."""
    identity, platform, described = run.identity, run.platform, run.description
    memory = None if platform.memory_bytes is None else capacity_label(platform.memory_bytes)
    return Header(
        form="1.0",
        organisation=ORGANISATION,
        revision=edition.title,
        dates=(("Test Run Date", utc(run.started_wall_ns)), ("Report Run Date", utc(run.report_date_ns))),
        parties=(
            ("DUT Vendor", paragraph(described.get("vendor"))),
            ("SSD Model No.", model_label(run)),
            ("Test Sponsor", paragraph(described.get("sponsor"))),
            ("Operator", paragraph(described.get("operator"))),
            *((("Lab", paragraph(described["lab"])),) if described.get("lab") else ()),
            ("Auditor", paragraph(described.get("auditor"))),
        ),
        groups=(
            _group(
                "Device Information",
                ("Serial No.", serial_label(run)),
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
                ("System", system_label(run)),
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
                ("File System", paragraph(described.get("file_system") or _FILE_SYSTEM[target_kind(run)])),
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
    result = [printable(fact(condition)) for condition in run.conditions]
    return " / ".join(dict.fromkeys(result)) or printable(None)


def _unit(value: float | None, unit: str) -> str | None:
    return None if value is None else f"{value:g} {unit}"


def _set_up(test_record: TestRecord) -> tuple[str, ...]:
    test = test_record.test
    settings, facts = test.settings, test_record.facts
    return (
        purge_label(test),
        data_label(settings.data),
        *(
            (_VARIED, _VARIED)
            if facts.demands
            else map(str, (settings.demand.queue_depth, settings.demand.thread_count))
        ),
        facts.independent,
        facts.preconditioned_label,
        facts.test_area,
        facts.dependent,
        facts.test_range,
        segments_label(settings),
        facts.workload,
        facts.extent,
        test_record.steady,
    )


def _skipped_row(edition: Edition, skipped: SkippedTest) -> tuple[str, ...]:
    fields, table = (NOT_APPLICABLE,) * (len(_SET_UP) - 1), edition.table(skipped.procedure)
    name = _name(skipped.procedure, skipped.test, table)
    return (_section(table), name, *fields, f"{NOT_APPLICABLE}: {paragraph(skipped.reason)}")


def _select_table(tests: Sequence[TestRecord]) -> Table:
    rows = tuple(
        (
            test_record.label,
            measure.printed,
            measure.unit,
            measure_text(measure),
            _basis(test_record, measure),
            claim_text(claim, measure.unit) if claim is not None else _NOT_STATED,
        )
        for test_record in tests
        for claims in [test_record.run.plan.get("claims") or {}]
        for measure in _selected(test_record)
        for claim in [claims.get(measure.claim)]
    )
    table = Table(caption="Select Performance Data", columns=_SELECT, rows=rows, merged=("Test",))
    return with_values(table, kept=_SELECT[:-1])


def _selected(test: TestRecord) -> tuple[Measure, ...]:
    """The key results, and the numbers that the paper form has beside them."""
    return (*test.key_results, *(measure for measure in test.measures if measure.identity in test.also_selected))


def _basis(test_record: TestRecord, measure: Measure) -> str:
    """What a number comes from, whether steady state is about it, and what a reader must know of it.

    Worked: the host disturbed 2 of 5 rounds -> ``"average of rounds 1-5; steady state; host disturbed 2 of 5"``.
    """
    moved = [cell.apart for cell in test_record.moved if cell.label == measure.label and measure.stat == "mean"]
    return "; ".join(
        filter(
            None,
            (
                basis_text(measure),
                "steady state" if measure.tracked else "",
                *(f"not tracked, varied by {share_text(apart)}" for apart in moved),
                "" if measure.value is None else host_words(test_record.verdict),
            ),
        )
    )


def _settings_box(test_record: TestRecord) -> Box:
    test, facts = test_record.test, test_record.facts
    entries = (
        ("Test", test.settings.test_label),
        ("Test Run Date", utc(test.started_wall_ns)),
        ("WIPC", facts.independent),
        # Its first part, so that the boxes of many tests leave the table its place; pages of the test have all of it.
        ("WDPC", facts.dependent.partition(";")[0]),
        ("AR AMT / Segments", f"{facts.test_range} / {segments_label(test.settings)}"),
        ("OIO - TC/QD", demand_label(test.settings.demand)),
        ("Rounds or Time/GB", facts.extent),
        ("Steady", test_record.steady),
    )
    return Box(title=test.settings.test_label, entries=entries, wide=True)


def _special_notes(run: StoredRun) -> Table:
    notes: list[dict[str, str]] = list(run.plan.get("special_notes") or [])
    rows = tuple(tuple(paragraph(note.get(key) or "-") for key in ("item", "notation", "comments")) for note in notes)
    return Table(
        caption="Test Sponsor - Special Notes",
        columns=("Test Sponsor - Special Notes: Item", "Notation", "Comments"),
        rows=rows or (("None stated", "-", "-"),),
    )


def _section(table: Any) -> str:
    """The section of a test, by its table in the edition; N/A where it has none."""
    return NOT_APPLICABLE if table is None else str(table.section.value or NOT_APPLICABLE)


def _name(procedure: str, test: str, table: Any) -> str:
    """Title of a test, which run of it, and whether the edition requires it. table : its own in the edition."""
    result = find_procedure(procedure)
    if result.kind == "study":
        return f"Study {result.name} - no test of the specification"
    if result.kind == "custom":
        return f"{result.title} - no test of the specification"
    variant = test.partition("-")[2]
    status = "no test of this edition" if table is None else table.status.value
    return f"{result.title}{f' {variant}' if variant else ''} - {status}"


def joined_banner(tests: Sequence[TestRecord]) -> str | None:
    """The banners of all tests, each under its test's name."""
    if not any(test.banner for test in tests):
        return None
    # Beside tests that the host disturbed as a whole, one that it disturbed in part is not to look as if it had not.
    result = ((test.label, test.banner or host_words(test.verdict)) for test in tests)
    return " | ".join(f"{name}: {text}" for name, text in result if text)
