"""The gate for the machines that build firmware: JUnit XML, and annotation lines as GitHub reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from assay.compare.gate import explained, gated_cells, gated_label, share
from assay.summary.pages.headline import number_text
from assay.words.printed import NOT_AVAILABLE, paragraph

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.compare.gate import Gated, GateResult, Verdict
    from assay.compare.side import Side

_SUITE, _NO_TIME = "assay compare", "0"
VERDICT_WORDS: dict[Verdict, str] = {"pass": "passed", "fail": "FAILED", "undecided": "CANNOT DECIDE"}
_MARKUP = frozenset("\\`*_{}[]<>#|~!")
_ESCAPED = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_ESCAPED_TITLE = {**_ESCAPED, ":": "%3A", ",": "%2C"}


def junit_xml(found: GateResult, *, undecided_fails: bool) -> bytes:
    """The gate as a suite of JUnit: a case per number; undecided ones fail or are skipped, as the exit code does.

    Drives and firmware are properties. No date, and no time taken, so that the same runs give the same bytes.
    """
    failing = found.count("fail") + (found.count("undecided") if undecided_fails else 0)
    skipped = 0 if undecided_fails else found.count("undecided")
    counts = {"tests": str(len(found.gated)), "failures": str(failing), "errors": "0", "time": _NO_TIME}
    # The schema of xUnit has skipped ones in a suite and not in all suites.
    root = ET.Element("testsuites", {"name": _SUITE, **counts})
    suite = ET.SubElement(root, "testsuite", {"name": _SUITE, **counts, "skipped": str(skipped)})
    properties = ET.SubElement(suite, "properties")
    for name, value in _properties(found):
        ET.SubElement(properties, "property", {"name": name, "value": paragraph(value)})
    for one in found.gated:
        _case(suite, one, undecided_fails=undecided_fails)
    ET.SubElement(suite, "system-out").text = "\n".join(explained(found))
    ET.indent(root)
    text = ET.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'.encode()


def _properties(found: GateResult) -> Iterator[tuple[str, str]]:
    """What the numbers are of. Worked: ``("drive.B", "B MLC-A 256 GB")``, ``("firmware.B", "1.02")``."""
    yield "verdict", found.verdict
    yield "baseline", found.baseline.letter
    for one in (found.baseline, *found.subjects):
        yield f"drive.{one.letter}", one.title
        yield f"firmware.{one.letter}", one.firmware


def _case(suite: ET.Element, one: Gated, *, undecided_fails: bool) -> None:
    subject = one.side.subject
    attributes = {
        "classname": paragraph(f"{subject.title}.{one.name.shown}"),
        "name": paragraph(gated_label(one)),
        "time": _NO_TIME,
    }
    case = ET.SubElement(suite, "testcase", attributes)
    text = f"baseline {_value(one, one.baseline)}, now {_value(one, one.side)}; from {one.basis}"
    if one.verdict == "fail" or (one.verdict == "undecided" and undecided_fails):
        ET.SubElement(case, "failure", {"type": one.verdict, "message": one.reason}).text = text
    elif one.verdict == "undecided":
        ET.SubElement(case, "skipped", {"message": one.reason})


def annotation_lines(found: GateResult, *, undecided_fails: bool) -> Iterator[str]:
    """A line per number that fails or cannot be decided, and one for the whole. Worked: ``::error title=...::...``.

    What makes the exit code 8 is an error, so that a build that fails shows one.
    """
    levels = {"pass": "notice", "fail": "error", "undecided": "error" if undecided_fails else "warning"}
    for one in found.gated:
        if one.verdict != "pass":
            title = _escaped(f"assay: {gated_label(one)} of {one.side.subject.title}", _ESCAPED_TITLE)
            values = f"baseline {_value(one, one.baseline)}, now {_value(one, one.side)}, limit {share(one.limit)}"
            yield f"::{levels[one.verdict]} title={title}::{_escaped(f'{one.reason}; {values}', _ESCAPED)}"
    yield f"::{levels[found.verdict]} title=assay::{_escaped(' '.join(explained(found)[:1]), _ESCAPED)}"


def _value(one: Gated, side: Side) -> str:
    shown = NOT_AVAILABLE if side.value is None else number_text(side.value, one.name.unit)
    return f"{shown} {one.name.unit}"


def _escaped(text: str, table: dict[str, str]) -> str:
    return "".join(table.get(letter, letter) for letter in paragraph(text))


def summary_md(found: GateResult) -> str:
    """The gate as Markdown for a pull request: the verdict, what did not pass with its reason, and how many did.

    Worked: nothing but what passed -> a heading and a sentence.
    """
    drives = ", ".join(f"{one.title} (firmware {one.firmware})" for one in found.subjects)
    baseline = f"{found.baseline.title} (firmware {found.baseline.firmware})"
    lines = [
        f"## Gate: {VERDICT_WORDS[found.verdict]}",
        "",
        _cell(f"{drives} against {baseline}. {explained(found)[0]}"),
    ]
    shown = [one for one in found.gated if one.verdict != "pass"]
    if shown:
        lines += [
            "",
            "| Verdict | Drive | Number | Change | Limit | Uncertainty | Why |",
            "|---|---|---|---|---|---|---|",
        ]
    lines += [f"| {' | '.join(map(_cell, _row(one)))} |" for one in shown]
    return "\n".join((*lines, ""))


def _row(one: Gated) -> tuple[str, ...]:
    return (VERDICT_WORDS[one.verdict], one.side.subject.letter, gated_label(one), *gated_cells(one))


def _cell(text: str) -> str:
    """A text that no reader of Markdown takes for markup: each character that could be has a backslash before it."""
    return "".join(f"\\{letter}" if letter in _MARKUP else letter for letter in paragraph(text))
