"""What stands behind the numbers: on paper a page per subject, on screen an appendix with every step."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from assay.procedures.checks import CHECK_LEVELS, checks_by_test, event_tables, level_text, printed_checks, test_tables
from assay.report.annex.trust import certificate_entries, origin_entries
from assay.results.audit import sequence_audits
from assay.results.stall import stalls
from assay.results.step import error_count, holds_queue_depth
from assay.results.stimulus_steps import asked_steps
from assay.spec.datum import Datum
from assay.spec.units import SECOND_NS, duration_label
from assay.summary.findings import break_texts
from assay.summary.pages.header import model_label, serial_label, system_label
from assay.summary.pages.model import Page, Table, column_levels
from assay.words.printed import (
    UNKNOWN,
    amount_label,
    cache_label,
    capacity_label,
    data_label,
    milliseconds_label,
    paragraph,
    percent,
    printable,
    words,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from assay.engine.records import StoredRun, StoredTest, TestSettings
    from assay.results.audit import SequenceAudit
    from assay.spec.edition import Edition
    from assay.summary.pages.model import Block, Entry
    from assay.summary.pages.test_record import TestRecord

# Sequences of each test that are named on the page; the appendix on screen has them all.
_HOST_NOTES = 4
# So few findings leave a page its place for the integrity checks.
_FINDINGS_SHORT = 16

OPEN_LOOP = "n/a: open loop"
_NOT_MEASURED = (
    ("Write amplification", "host bytes are counted; standard health logs have no count of writes to the flash"),
    ("Power", "no meter is read"),
)


def run_blocks(run: StoredRun) -> tuple[Block, ...]:
    """Lay out what all tests of a run share and the method does not show."""
    tables = (
        _facts("Origin", origin_entries(run)),
        _facts("Host certificate", certificate_entries(run)),
        _facts("Not measured", _NOT_MEASURED),
        _facts("Engine and block layer", ((words(key), paragraph(text)) for key, text in sorted(run.engine.items()))),
        _health(run),
        _facts(
            "Description", ((key.replace("_", " "), paragraph(text)) for key, text in sorted(run.description.items()))
        ),
    )
    return (
        _facts("Plan", (("Seed", printable(run.plan.get("seed"))), ("Scale", printable(run.plan.get("scale"))))),
        _facts("Run folder", _journal(run)),
        *(table for table in tables if table.rows),
    )


def _journal(run: StoredRun) -> tuple[Entry, ...]:
    """What holds the run folder: a later change of any line of its journal changes this hash."""
    if run.journal is None:
        return (("Journal", UNKNOWN),)
    state = "complete" if run.journal.complete else "UNFINISHED OR CUT"
    lines = f"{state}, {run.journal.line_count:,} lines"
    breaks = tuple(("Resumed", text) for text in break_texts(run))
    return (("Journal", lines), ("SHA-256 of its last line", run.journal.hash), *breaks)


def test_blocks(test: TestRecord) -> tuple[Block, ...]:
    """Lay out what one test used that the method does not show: purge, edition data with sources, its steps."""
    audits = (*test_tables(test), _audit(test.label, test.test), *_stalls(test.label, test.test))
    return (*_test_facts(test), *audits, *event_tables(test.label, test.test), *test.details)


def pages(run: StoredRun, tests: Sequence[TestRecord], tables: Sequence[Table]) -> Iterator[Page]:
    """Lay out the disclosure as printed pages: what the run shares, integrity checks, per test its facts and audit.

    tables : the list of findings, a table a page; on the page of the integrity checks where they are few.
    """
    first = _page("Run", _columns(run_blocks(run), 2))
    yield replace(first, chapter=first.title)
    if sum(len(table.rows) for table in tables) <= _FINDINGS_SHORT:
        yield _page("Findings and Integrity Checks", ((*tables, integrity(tests)),))
    else:
        yield from (_page(table.caption, ((table,),)) for table in (*tables, integrity(tests)))
    yield from (_page(test.label, _columns(_test_facts(test), 2)) for test in tests)
    checks, every = printed_checks(tests), checks_by_test(tests)
    yield _page("Checks", ((checks,),))
    # Every check by test alone where none is open.
    if checks.columns != every.columns:
        yield _page("Checks, Each by Test", ((every,),))


def _page(subject: str, columns: tuple[tuple[Block, ...], ...]) -> Page:
    subtitle = f"Disclosure - {subject}"
    return Page(title="Disclosure", subtitle=subtitle, header=None, banner=None, blocks=(), columns=columns)


def _columns(blocks: Sequence[Block], count: int) -> tuple[tuple[Block, ...], ...]:
    """Spread blocks over columns in order, each column about as long as the others."""
    lengths = [len(block.rows) + 3 if isinstance(block, Table) else 3 for block in blocks]
    reached, columns = 0, [[] for _ in range(count)]  # type: tuple[int, list[list[Block]]]
    for block, length in zip(blocks, lengths, strict=True):
        columns[min(reached * count // sum(lengths), count - 1)].append(block)
        reached += length
    return tuple(tuple(column) for column in columns if column)


def integrity(tests: Sequence[TestRecord]) -> Table:
    """One row per test: what was issued, what the drive's own counters say, and what was lost."""
    rows, hosts = [], []
    for test in tests:
        audits = sequence_audits(test.test)
        reads, writes = (_totals(audit.read_bytes for audit in audits), _totals(audit.write_bytes for audit in audits))
        steps = [step for sequence in test.test.sequences for step in sequence.steps]
        held = [holds_queue_depth(step.record, step.demand) for step in asked_steps(test.test)]
        gaps = [audit.gap_ns for audit in audits if audit.gap_ns is not None]
        beyond = [audit.beyond_ns for audit in audits if audit.beyond_ns is not None]
        disturbed = [audit for audit in audits if audit.host[0].marked]
        watched = any(audit.host[0].level != "unknown" for audit in audits)
        rows.append(
            (
                test.label,
                f"{len(steps):,}",
                f"{sum(error_count(step) for step in steps):,}",
                *reads,
                *writes,
                f"{sum(held):,} of {len(held):,}" if test.test.settings.demand.arrivals_per_s is None else OPEN_LOOP,
                milliseconds_label(max(gaps, default=None)),
                milliseconds_label(max(beyond, default=None)),
                f"{len(disturbed)} of {len(audits)} sequences" if watched else "not watched",
            )
        )
        worst = sorted(disturbed, key=lambda audit: audit.host[0].level != "invalid")[:_HOST_NOTES]
        hosts += [f"{test.label}, {audit.name}: {_host(audit)} (test system)." for audit in worst]
    columns = (
        "Test", "Steps", "Failed I/Os", "Bytes read", "counted by the drive", "Bytes written", "counted by the drive",
        "Steps that held TC x QD within 0.5 %", "Longest gap between sequences (ms)",
        "Longest beyond the drive's part (ms)", "Disturbed by the host",
    )  # fmt: skip
    counters = "Counters are those of the drive's block device; unknown where it has none or does not see the I/Os."
    gap = (
        "A gap is from the last submission of a sequence to the first of the next; the drive's part of it is the time "
        "in which the I/Os of the former come in. The check of gaps between sequences judges what is beyond it."
    )
    notes = (counters, gap, *hosts)
    return Table(caption="Integrity Checks", columns=columns, rows=tuple(rows), notes=notes)


def _host(audit: SequenceAudit) -> str:
    """What the host did during a sequence, the gravest first."""
    return "; ".join(one.words for one in audit.host)


def _totals(pairs: Iterable[tuple[int, int | None]]) -> tuple[str, str]:
    """What was issued, and what the drive counted. Worked: 4,096 bytes on both sides -> ``("4,096", "equal")``."""
    totals = list(pairs)
    known = [count for _, count in totals if count is not None]
    issued, counted = sum(one for one, _ in totals), sum(known)
    if not totals or len(known) < len(totals):
        return f"{issued:,}", UNKNOWN
    # Two long numbers that are the same would leave the other columns too narrow.
    return f"{issued:,}", "equal" if counted == issued else f"{counted:,}"


def _test_facts(test: TestRecord) -> tuple[Table, ...]:
    sources = f"{test.label}: {test.edition.title} edition data and their sources"
    return _facts(f"{test.label}: purge", _purge(test.test)), _sources(sources, test.edition, test.table)


def _facts(caption: str, entries: Iterable[Entry]) -> Table:
    return Table(caption=caption, columns=("Item", "Value"), rows=tuple(entries))


def drive_entries(run: StoredRun) -> tuple[Entry, ...]:
    """What is known of the drive."""
    identity = run.identity
    return (
        ("Kind", identity.kind),
        ("Identity", printable(identity.id)),
        ("Path", printable(identity.path)),
        ("Model", model_label(run)),
        ("Serial", serial_label(run)),
        ("Firmware", printable(identity.firmware)),
        ("WWN", printable(identity.wwn)),
        *_namespace(run),
        ("Interface", printable(identity.interface)),
        ("Media", printable(identity.media)),
        ("Capacity", f"{capacity_label(identity.capacity_bytes)} ({identity.capacity_bytes:,} bytes)"),
        ("Logical block", f"{identity.logical_block_bytes:,} bytes"),
        ("Physical block", _bytes(identity.physical_block_bytes)),
        ("Write cache", cache_label(identity.write_cache)),
        *((("NUMA node", str(identity.numa_node)),) if identity.numa_node is not None else ()),
    )


def _namespace(run: StoredRun) -> tuple[Entry, ...]:
    """Which namespace of which controller it is; nothing for other drives."""
    identity = run.identity
    if identity.controller is None:
        return ()
    place = f"{printable(identity.namespace_id)} of {identity.namespace_count} on {printable(identity.controller)}"
    return (("Namespace", place), ("EUI-64", printable(identity.eui)), ("NGUID", printable(identity.nguid)))


def _health(run: StoredRun) -> Table:
    """The drive's own health log before the first test and after the last."""
    logs = [condition.health for condition in run.conditions]
    first, last = logs[0] if logs else {}, logs[-1] if logs[1:] else {}
    rows = tuple(
        (name.replace("_", " "), _count(first.get(name)), _count(last.get(name)))
        for name in dict.fromkeys(name for log in logs for name in log)
    )
    return Table(caption="Health log of the drive", columns=("Count", "Before", "After"), rows=rows)


def platform_entries(run: StoredRun) -> tuple[Entry, ...]:
    """What is known of the test system."""
    platform = run.platform
    build = f", build {platform.build}" if platform.build else ""
    return (
        ("System", system_label(run)),
        ("Motherboard", paragraph(platform.motherboard)),
        ("CPU", paragraph(platform.cpu)),
        ("Memory", _bytes(platform.memory_bytes)),
        ("Operating system", paragraph(platform.operating_system)),
        ("Kernel", paragraph(platform.kernel)),
        ("Clock source", paragraph(platform.clock_source)),
        ("Test software", paragraph(f"{platform.tool} {platform.tool_version}{build}")),
        *((words(key), paragraph(value)) for key, value in sorted(platform.extra.items())),
    )


def _purge(test: StoredTest) -> tuple[Entry, ...]:
    purge = test.purge
    if purge is None:
        return (("Purge", "none recorded" if test.settings.purges else "none"),)
    return (
        ("Method", paragraph(purge.method)),
        ("Proof", paragraph(purge.proof)),
        ("Deviation", paragraph(purge.deviation or "none")),
        ("Duration", duration_label(purge.span_ns)),
    )


def settings_entries(test: TestRecord) -> tuple[Entry, ...]:
    """Everything that a test was set to do."""
    settings = test.test.settings
    cache = "switched by the test" if settings.switches_write_cache else cache_label(test.run.identity.write_cache)
    return (
        ("Edition", printable(settings.edition)),
        *test.demand,
        ("Data pattern", data_label(settings.data)),
        *test.settings,
        *_limits(settings),
        ("Test ActiveRange", amount_label(settings.range_amount_bytes, settings.segment_count)),
        ("ActiveRange segments", f"{settings.segment_count:,}" if settings.segment_count else "contiguous"),
        ("Stalls of a real or faulty drive", _stall_policy(settings)),
        ("Response-time histogram", duration_label(settings.histogram_ns) if settings.histogram_ns else "none"),
        ("Write cache demanded", cache_label(settings.write_cache_required)),
        ("Write cache of the drive", cache),
    )


def _limits(settings: TestSettings) -> tuple[Entry, ...]:
    """The limits of the five-point rule; a test that allows everything has none."""
    if settings.range_limit >= 1 and settings.slope_limit >= 1:
        return (("Steady-state rule", "none"),)
    return (
        ("Allowed data excursion", percent(settings.range_limit)),
        ("Allowed slope excursion", percent(settings.slope_limit)),
    )


def _sources(caption: str, edition: Edition, own: BaseModel | None) -> Table:
    nested = [
        (f"{name} {key}", datum)
        for name, part in own or ()
        if isinstance(part, BaseModel)
        for key, datum in _data(part)
    ]
    data = [*_data(edition), *_data(own), *nested]
    rows = tuple((words(name), _named_value(name, datum.value), datum.source) for name, datum in data)
    return Table(caption=caption, columns=("Parameter", "Value", "Source"), rows=rows, merged=("Source",), folded=True)


def _data(model: BaseModel | None) -> Iterable[tuple[str, Datum[Any]]]:
    # A study has no table in the edition.
    return () if model is None else ((name, value) for name, value in model if isinstance(value, Datum))


def _named_value(name: str, value: Any) -> str:
    """A value under its name: a share as percent. Worked: ``test_range_share`` of 1 -> ``"100 %"``."""
    shared = name.endswith("share") and isinstance(value, int | float) and not isinstance(value, bool)
    return percent(value) if shared else _value(value)


def _value(value: Any) -> str:
    if isinstance(value, BaseModel):
        return ", ".join(f"{words(key)} {_named_value(key, item)}" for key, item in value if item is not None)
    if isinstance(value, tuple):
        separator = "; " if any(isinstance(item, BaseModel) for item in value) else ", "
        return separator.join(_value(item) for item in value)
    return f"{value:,.12g}" if isinstance(value, int | float) and not isinstance(value, bool) else str(value)


def _audit(name: str, test: StoredTest) -> Table:
    """Print what each sequence issued beside what the drive counted."""
    audits = sequence_audits(test)
    return Table(
        caption=f"{name}: bytes issued and bytes counted by the drive",
        columns=(
            "Sequence",
            "Reads issued",
            "Reads counted",
            "Writes issued",
            "Writes counted",
            "Gap before (ms)",
            "Beyond the drive's part (ms)",
            "Host",
        ),
        rows=tuple(
            (
                audit.name,
                *map(_count, (*audit.read_bytes, *audit.write_bytes)),
                milliseconds_label(audit.gap_ns),
                milliseconds_label(audit.beyond_ns),
                f"{level_text(audit.host[0].level)}; {_host(audit)}".removesuffix("; "),
            )
            for audit in audits
        ),
        folded=True,
        levels=column_levels(7, (CHECK_LEVELS[audit.host[0].level] for audit in audits)),
    )


def _stalls(name: str, test: StoredTest) -> tuple[Table, ...]:
    """Print when the drive was silent, where it was."""
    rows = tuple(
        (
            stall.name,
            paragraph(stall.label),
            f"{stall.span_ns / SECOND_NS:,.2f}",
            "void: enters no verdict and no result" if stall.void else "marked",
        )
        for stall in stalls(test)
    )
    caption = f"{name}: stalls, a second or more in which nothing outstanding completed"
    columns = ("Sequence", "Step", "Silent for (s)", "Outcome")
    return (Table(caption=caption, columns=columns, rows=rows),) if rows else ()


def _stall_policy(settings: TestSettings) -> str:
    """Worked: 2 s and none allowed -> ``"void after 2 s without any completion; given up at the first void one"``."""
    if not settings.stall_limit_ns:
        return "none"
    ends = f"after {settings.void_limit} void parts" if settings.void_limit else "at the first void part"
    return f"void after {duration_label(settings.stall_limit_ns)} without any completion; given up {ends}"


def _count(count: int | None) -> str:
    return printable(None) if count is None else f"{count:,}"


def _bytes(count: int | None) -> str:
    return printable(None) if count is None else f"{count:,} bytes"
