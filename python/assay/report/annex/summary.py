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
from assay.results.outcome import withheld_reason
from assay.results.stall import void_places
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
from assay.summary.pages.model import Box, Group, Header, Page, Table, column_levels, with_values
from assay.summary.verdict import annex_caveats, host_words, level_of
from assay.words.printed import (
    NOT_APPLICABLE,
    NOT_STATED,
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

    from assay.engine.records import DriveCondition, SkippedTest, StoredRun, TestSettings
    from assay.results.finding import Checked
    from assay.spec.edition import Edition
    from assay.summary.pages.model import Entry
    from assay.summary.pages.test_record import TestRecord
    from assay.summary.record import Measure


_NAMED = 3
_FOUND = "What was found"


def annex_verdict(test: TestRecord) -> str:
    """How a test came out. Worked: ``"steady state: YES, rounds 1-5"``; ``"WITHHELD: 1 I/O error in the test"``.

    With caveats: ``"steady state: YES, rounds 1-5; 5 other cells moved; host disturbed 2 of 5"``.
    """
    if withheld := withheld_reason(test.test):
        return f"WITHHELD: {text(withheld)}"
    outcome = ", ".join(filter(None, (f"steady state: {test.facts.steady}", test.facts.window)))
    return "; ".join((outcome, *annex_caveats(test.verdict)))


def _unusual(test: TestRecord) -> Iterator[str]:
    """What was unusual in a test: withheld results, findings, void parts, moved cells, checks, the host."""
    if withheld := withheld_reason(test.test):
        yield f"results withheld, {text(withheld)}"
    voids = void_places(test.test)
    yield from (finding.words for finding in test.findings)
    yield from (f"{place} void, {text(reason)}" for place, reason in voids[:_NAMED])
    if voids[_NAMED:]:
        yield f"{len(voids) - _NAMED} more void"
    yield from map(text, test.remarks)
    if moved := len(test.moved):
        cells = "1 cell that is not tracked" if moved == 1 else f"{moved} cells that are not tracked"
        where = f"; {test.moved_where}" if test.moved_where else ""
        yield f"{cells} moved by more than 20 % of the average in the window{where}; see {SEE_FINDINGS}"
    yield from short_window_text(test.test)
    if beyond := checks_beyond(test):
        named = ", ".join(map(_check_text, beyond[:_NAMED])) + (", and others" if beyond[_NAMED:] else "")
        yield f"{count_label(len(beyond), 'check')} beyond the limit: {named}; see {SEE_FINDINGS}"
    if words := host_words(test.verdict):
        yield f"the {words} measured parts; see {SEE_FINDINGS}"


def _check_text(check: Checked) -> str:
    """A check by its title, in how many places, and how far.

    Worked: ``"Gaps between sequences (5 of 17, worst 34.000 ms, limit 10.000 ms)"``.
    """
    worst, limit = (figure_text(value, check.check.unit) for value in (check.finding.measured, check.finding.limit))
    places = f"{check.marked:,} of {check.judged:,}" if check.judged > 1 else ""
    parts = ", ".join(filter(None, (places, worst and f"worst {worst}", limit and f"limit {limit}")))
    return f"{check.check.title} ({parts})" if parts else check.check.title


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
_VARIED = "varied"


def all_tests_page(run: StoredRun, edition: Edition, tests: Sequence[TestRecord]) -> Page:
    """Lay out the summary of all tests: drive, platform, software, a row per test, and the sponsor's notes."""
    rows = [(_section(test.table), _name(test.test.settings, test.table), *_set_up(test)) for test in tests]
    for skipped in run.skipped:
        table, empty = edition.table(skipped.procedure), (NOT_APPLICABLE,) * (len(_SET_UP) - 1)
        rows.append((_section(table), _name(skipped, table), *empty, f"{NOT_APPLICABLE}: {paragraph(skipped.reason)}"))
    levels = column_levels(len(_SET_UP) + 1, (level_of(test.verdict) for test in tests))
    listed = Table(caption="Tests", columns=("Sec.", "Test", *_SET_UP), rows=tuple(rows), levels=levels)
    return Page(
        title="Summary Report - All Tests",
        chapter="Summary Report - All Tests",
        subtitle=f"Summary of Tests - {edition.title}",
        header=summary_header(run, edition),
        banner=joined_banner(tests),
        blocks=(listed, *filter(None, (condition_table(run),)), _special_notes(run)),
    )


def test_page(test: TestRecord) -> Page:
    """Lay out the summary of one test: its description, settings, selected figures and what was found."""
    procedure, name = find_procedure(test.test.settings.procedure), _name(test.test.settings, test.table)
    description = (
        ("Purpose", procedure.question),
        ("Test Outline", paragraph(test.outline)),
        ("Preconditioning", test.preparation or procedure.preconditioning),
    )
    found = [("Key findings", line) for line in sentences(insights_of_test(test))]
    found += [("Unusual", line) for line in _unusual(test)]
    set_up = Table(
        caption="Set-up",
        columns=("Sec.", *_SET_UP),
        rows=((_section(test.table), *_set_up(test)),),
        levels=column_levels(len(_SET_UP), [level_of(test.verdict)]),
    )
    return Page(
        title=f"Summary Report - {name}",
        subtitle=f"{test.edition.market} {name}",
        header=summary_header(test.run, test.edition),
        banner=test.banner,
        chapter=name,
        blocks=(
            Table(caption="Test Description", columns=("Test Description", ""), rows=description),
            set_up,
            _select_table((test,)),
            *([Table(caption=_FOUND, columns=(_FOUND, ""), rows=tuple(found), merged=(_FOUND,))] if found else ()),
        ),
    )


def selected_page(run: StoredRun, edition: Edition, tests: Sequence[TestRecord]) -> Page:
    """Lay out the drive's selected performance: the settings of each test in a box, then its figures."""
    held = (*claims_table(run, tests), *baseline_table(run, tests))
    return Page(
        title="Summary Performance - Selected",
        chapter="Summary Performance - Selected",
        subtitle=f"{model_label(run)} - Summary Performance - Selected",
        header=summary_header(run, edition),
        banner=joined_banner(tests),
        blocks=tuple(map(_settings_box, tests)),
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
            Group(
                title="Device Information",
                entries=(
                    ("Serial No.", serial_label(run)),
                    ("Firmware Rev", printable(identity.firmware)),
                    ("User Capacity", capacity_label(identity.capacity_bytes)),
                    ("Interface", interface_label(run)),
                    ("NAND Type", nand_label(run)),
                    ("Form Factor", paragraph(described.get("form_factor"))),
                    ("Features", paragraph(described.get("features"))),
                    ("Write Cache", cache_label(identity.write_cache)),
                ),
            ),
            Group(
                title="Test Hardware Platform",
                entries=(
                    ("System", system_label(run)),
                    ("Motherboard", paragraph(platform.motherboard)),
                    ("CPU", paragraph(platform.cpu)),
                    ("RAM", paragraph(memory)),
                    ("HBA", paragraph(described.get("hba"))),
                    ("Primary Storage", paragraph(described.get("primary_storage"))),
                    ("Peripherals", paragraph(described.get("peripherals"))),
                ),
            ),
            Group(
                title="Test Software",
                entries=(
                    ("OS", paragraph(platform.operating_system)),
                    ("Kernel", paragraph(platform.kernel)),
                    ("File System", paragraph(described.get("file_system") or _FILE_SYSTEM[target_kind(run)])),
                    ("Test Software", paragraph(platform.tool)),
                    ("Release", paragraph(platform.tool_version)),
                ),
            ),
            Group(title="Condition", entries=tuple(_condition(run))),
        ),
    )


def _condition(run: StoredRun) -> Iterator[Entry]:
    """Link, temperature and wear; of a simulated drive the first digits of the hashes of its state and its faults."""
    yield "Link", _before_after(run, lambda condition: condition.link)
    yield "Temperature", _before_after(run, lambda condition: _unit(condition.temperature_c, "\u00b0C"))
    yield "Wear Used", _before_after(run, lambda condition: _unit(condition.wear_used_pct, "%"))
    if any(condition.state_hash for condition in run.conditions):
        yield "Drive State", _before_after(run, lambda condition: (condition.state_hash or "")[:12])
    if run.identity.faults:
        hashes = ", ".join(digest[:12] for digest in run.identity.faults_sha256)
        yield "Injected Faults", paragraph(f"{run.identity.faults_label} (SHA-256 {hashes})")


def _before_after(run: StoredRun, fact: Callable[[DriveCondition], str | None]) -> str:
    """A fact before the first test and after the last, once where it did not change."""
    result = [printable(fact(condition)) for condition in run.conditions]
    return " / ".join(dict.fromkeys(result)) or printable(None)


def _unit(value: float | None, unit: str) -> str | None:
    return None if value is None else f"{value:g} {unit}"


def _set_up(test: TestRecord) -> tuple[str, ...]:
    settings, facts = test.test.settings, test.facts
    chosen = str(settings.demand.queue_depth), str(settings.demand.thread_count)
    return (
        purge_label(test.test),
        data_label(settings.data),
        *((_VARIED, _VARIED) if facts.demands else chosen),
        facts.independent_label,
        facts.preconditioned_label,
        facts.test_area,
        facts.dependent,
        facts.test_range,
        segments_label(settings),
        facts.workload,
        facts.extent,
        test.steady,
    )


def _select_table(tests: Sequence[TestRecord]) -> Table:
    """The key results of tests, and the numbers that the paper form has beside them."""
    rows: list[tuple[str, ...]] = []
    doubtful: list[int] = []
    for test in tests:
        claims = test.run.plan.get("claims") or {}
        for measure in (*test.key_results, *(one for one in test.measures if one.identity in test.also_selected)):
            claim = claims.get(measure.claim)
            claimed = NOT_STATED if claim is None else claim_text(claim, measure.unit)
            number = (measure.printed, measure.unit, measure_text(measure))
            tracked = "steady state" if measure.tracked else ""
            doubts = tuple(_doubts(test, measure))
            if doubts:
                doubtful.append(len(rows))
            basis = "; ".join(filter(None, (basis_text(measure), tracked, *doubts)))
            rows.append((test.label, *number, basis, claimed))
    table = Table(
        caption="Select Performance Data",
        columns=_SELECT,
        rows=tuple(rows),
        merged=("Test",),
        levels=tuple((line, _SELECT.index("Basis"), "warn") for line in doubtful),
    )
    return with_values(table, kept=_SELECT[:-1])


def _doubts(test: TestRecord, measure: Measure) -> Iterator[str]:
    """What a reader must know of a number. Worked: the host disturbed 2 of 5 rounds -> ``"host disturbed 2 of 5"``."""
    for cell in test.moved:
        if cell.label == measure.label and measure.stat == "mean":
            yield f"not tracked, varied by {share_text(cell.apart)}"
    if measure.value is not None and (words := host_words(test.verdict)):
        yield words


def _settings_box(test: TestRecord) -> Box:
    facts = test.facts
    entries = (
        ("Test", test.label),
        ("Test Run Date", utc(test.test.started_wall_ns)),
        ("WIPC", facts.independent_label),
        # Its first part, so that the boxes of many tests leave the table its place; pages of the test have all of it.
        ("WDPC", facts.dependent.partition(";")[0]),
        ("AR AMT / Segments", f"{facts.test_range} / {segments_label(test.test.settings)}"),
        ("OIO - TC/QD", demand_label(test.test.settings.demand)),
        ("Rounds or Time/GB", facts.extent),
        ("Steady", test.steady),
    )
    return Box(title=test.label, entries=entries, wide=True, levels=(("Steady", level_of(test.verdict)),))


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


def _name(ran: TestSettings | SkippedTest, table: Any) -> str:
    """Title of a test, which run of it, and whether the edition requires it. table : its own in the edition."""
    procedure = find_procedure(ran.procedure)
    if procedure.kind in {"study", "custom"}:
        title = f"Study {procedure.name}" if procedure.kind == "study" else procedure.title
        return f"{title} - no test of the specification"
    variant = ran.test.partition("-")[2]
    status = "no test of this edition" if table is None else table.status.value
    return f"{procedure.title}{f' {variant}' if variant else ''} - {status}"


def joined_banner(tests: Sequence[TestRecord]) -> str | None:
    """The banners of all tests, each under its test's name."""
    if not any(test.banner for test in tests):
        return None
    # Beside tests that the host disturbed as a whole, one that it disturbed in part is not to look as if it had not.
    result = ((test.label, test.banner or host_words(test.verdict)) for test in tests)
    return " | ".join(f"{name}: {text}" for name, text in result if text)
