"""The gate as a figure, and for the machines that build firmware: JUnit XML, Markdown, and annotations for GitHub."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from assay.compare.gate import gated_cells, gated_label, share
from assay.report.comparison.tables import VERDICT_LEVELS
from assay.summary.pages.model import Change, Figure, Series
from assay.words.printed import NOT_AVAILABLE, number_text, paragraph

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.compare.gate import Gated, GateResult, Verdict
    from assay.compare.sides import Side

_SUITE, _NO_TIME = "assay compare", "0"
VERDICT_WORDS: dict[Verdict, str] = {"pass": "passed", "fail": "FAILED", "undecided": "CANNOT DECIDE"}
_MARKUP = frozenset("\\`*_{}[]<>#|~!")
_ESCAPED = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_ESCAPED_TITLE = {**_ESCAPED, ":": "%3A", ",": "%2C"}
BARS_MAX = 16
"""Bars of one figure; more follow in another."""
_BAR_WORDS: dict[Verdict, str] = {**VERDICT_WORDS, "undecided": "cannot decide"}
_READING = (
    "Left of 0 is worse than the baseline. Dashed: the limit. Whiskers: the uncertainty. A number fails where its bar "
    "is longer than its limit and its whiskers do not reach 0."
)


def gate_figures(gate_result: GateResult) -> Iterator[Figure]:
    """All gated numbers in their order; none where nothing is gated."""
    several = len(gate_result.subjects) > 1
    for begin in range(0, len(gate_result.gated), BARS_MAX):
        part = gate_result.gated[begin : begin + BARS_MAX]
        yield Figure(
            name=f"gate-changes-{begin + 1}",
            kind="changes",
            alt=f"Change of {len(part)} numbers against the baseline, with limits and uncertainties",
            x_title="Change",
            y_title="",
            series=(Series.through(_points(part), "Change", 0, "markers"),),
            changes=tuple(_change(gated, several=several) for gated in part),
            reading=_READING,
        )


def _points(part: Sequence[Gated]) -> list[tuple[float, float]]:
    """The changes, up the rows from the last one."""
    return [(-gated.worse, float(len(part) - index)) for index, gated in enumerate(part) if gated.worse is not None]


def _change(gated: Gated, *, several: bool) -> Change:
    letter = f"{gated.side.subject.letter}: " if several else ""
    return Change(
        label=f"{letter}{gated_label(gated)}",
        by=None if gated.worse is None else -gated.worse,
        reach=gated.reach,
        limit=gated.limit,
        level=VERDICT_LEVELS[gated.verdict],
        words=_BAR_WORDS[gated.verdict],
    )


def junit_xml(gate_result: GateResult, *, undecided_fails: bool) -> bytes:
    """The gate as a suite of JUnit: a case per number; undecided ones fail or are skipped, as the exit code does.

    Drives and firmware are properties. No date, and no time taken, so that the same runs give the same bytes.
    """
    failing = gate_result.count("fail") + (gate_result.count("undecided") if undecided_fails else 0)
    skipped = 0 if undecided_fails else gate_result.count("undecided")
    counts = {"tests": str(len(gate_result.gated)), "failures": str(failing), "errors": "0", "time": _NO_TIME}
    # The schema of xUnit has skipped ones in a suite and not in all suites.
    root = ET.Element("testsuites", {"name": _SUITE, **counts})
    suite = ET.SubElement(root, "testsuite", {"name": _SUITE, **counts, "skipped": str(skipped)})
    properties = ET.SubElement(suite, "properties")
    for name, value in _properties(gate_result):
        ET.SubElement(properties, "property", {"name": name, "value": paragraph(value)})
    for gated in gate_result.gated:
        _case(suite, gated, undecided_fails=undecided_fails)
    ET.SubElement(suite, "system-out").text = "\n".join(gate_result.explained)
    ET.indent(root)
    text = ET.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'.encode()


def _properties(gate_result: GateResult) -> Iterator[tuple[str, str]]:
    """What the numbers are of. Worked: ``("drive.B", "B MLC-A 256 GB")``, ``("firmware.B", "1.02")``."""
    yield "verdict", gate_result.verdict
    yield "baseline", gate_result.baseline.letter
    for subject in (gate_result.baseline, *gate_result.subjects):
        yield f"drive.{subject.letter}", subject.title
        yield f"firmware.{subject.letter}", subject.firmware


def _case(suite: ET.Element, gated: Gated, *, undecided_fails: bool) -> None:
    subject = gated.side.subject
    attributes = {
        "classname": paragraph(f"{subject.title}.{gated.name.shown}"),
        "name": paragraph(gated_label(gated)),
        "time": _NO_TIME,
    }
    case = ET.SubElement(suite, "testcase", attributes)
    text = f"baseline {_value(gated, gated.baseline)}, now {_value(gated, gated.side)}; from {gated.basis}"
    if gated.verdict == "fail" or (gated.verdict == "undecided" and undecided_fails):
        ET.SubElement(case, "failure", {"type": gated.verdict, "message": gated.reason}).text = text
    elif gated.verdict == "undecided":
        ET.SubElement(case, "skipped", {"message": gated.reason})


def annotation_lines(gate_result: GateResult, *, undecided_fails: bool) -> Iterator[str]:
    """A line per number that fails or cannot be decided, and one for the whole. Worked: ``::error title=...::...``.

    What makes the exit code 8 is an error, so that a build that fails shows one.
    """
    levels = {"pass": "notice", "fail": "error", "undecided": "error" if undecided_fails else "warning"}
    for gated in gate_result.gated:
        if gated.verdict != "pass":
            title = _escaped(f"assay: {gated_label(gated)} of {gated.side.subject.title}", _ESCAPED_TITLE)
            values = (
                f"baseline {_value(gated, gated.baseline)}, now {_value(gated, gated.side)}, limit {share(gated.limit)}"
            )
            yield f"::{levels[gated.verdict]} title={title}::{_escaped(f'{gated.reason}; {values}', _ESCAPED)}"
    yield f"::{levels[gate_result.verdict]} title=assay::{_escaped(' '.join(gate_result.explained[:1]), _ESCAPED)}"


def _value(gated: Gated, side: Side) -> str:
    shown = NOT_AVAILABLE if side.value is None else number_text(side.value, gated.name.unit)
    return f"{shown} {gated.name.unit}"


def _escaped(text: str, table: dict[str, str]) -> str:
    return "".join(table.get(letter, letter) for letter in paragraph(text))


def summary_md(gate_result: GateResult) -> str:
    """The gate as Markdown for a pull request: the verdict, what did not pass with its reason, and how many did.

    Worked: nothing but what passed -> a heading and a sentence.
    """
    drives = ", ".join(f"{subject.title} (firmware {subject.firmware})" for subject in gate_result.subjects)
    baseline = f"{gate_result.baseline.title} (firmware {gate_result.baseline.firmware})"
    lines = [
        f"## Gate: {VERDICT_WORDS[gate_result.verdict]}",
        "",
        _cell(f"{drives} against {baseline}. {gate_result.explained[0]}"),
    ]
    shown = [gated for gated in gate_result.gated if gated.verdict != "pass"]
    if shown:
        lines += [
            "",
            "| Verdict | Drive | Number | Change | Limit | Uncertainty | Why |",
            "|---|---|---|---|---|---|---|",
        ]
    lines += [f"| {' | '.join(map(_cell, _row(gated)))} |" for gated in shown]
    return "\n".join((*lines, ""))


def _row(gated: Gated) -> tuple[str, ...]:
    return (VERDICT_WORDS[gated.verdict], gated.side.subject.letter, gated_label(gated), *gated_cells(gated))


def _cell(text: str) -> str:
    """A text that no reader of Markdown takes for markup: each character that could be has a backslash before it."""
    return "".join(f"\\{letter}" if letter in _MARKUP else letter for letter in paragraph(text))
