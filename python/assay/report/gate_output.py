"""The gate for the machines that build firmware: JUnit XML, and annotation lines as GitHub reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from assay.compare.gate import explained, gated_label, share
from assay.pages.headline import number_text
from assay.words.printed import NOT_AVAILABLE, paragraph

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.compare.gate import Gated, GateResult
    from assay.compare.side import Side

_LEVELS = {"fail": "error", "undecided": "warning"}
_ESCAPED = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_ESCAPED_TITLE = {**_ESCAPED, ":": "%3A", ",": "%2C"}


def junit_xml(found: GateResult, *, undecided_fails: bool) -> bytes:
    """The gate as a suite of JUnit: a case per number; undecided ones fail or are skipped, as the exit code does.

    No time and no date, so that the same runs give the same bytes.
    """
    failing = found.count("fail") + (found.count("undecided") if undecided_fails else 0)
    skipped = 0 if undecided_fails else found.count("undecided")
    counts = {"tests": str(len(found.gated)), "failures": str(failing), "errors": "0", "skipped": str(skipped)}
    root = ET.Element("testsuites", counts)
    suite = ET.SubElement(root, "testsuite", {"name": "assay compare", **counts})
    for one in found.gated:
        _case(suite, one, undecided_fails=undecided_fails)
    ET.SubElement(suite, "system-out").text = "\n".join(explained(found))
    ET.indent(root)
    text = ET.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'.encode()


def _case(suite: ET.Element, one: Gated, *, undecided_fails: bool) -> None:
    subject = one.side.subject
    attributes = {"classname": paragraph(f"{subject.title}.{one.name.shown}"), "name": paragraph(gated_label(one))}
    case = ET.SubElement(suite, "testcase", attributes)
    text = f"baseline {_value(one, one.baseline)}, now {_value(one, one.side)}; from {one.basis}"
    if one.verdict == "fail" or (one.verdict == "undecided" and undecided_fails):
        ET.SubElement(case, "failure", {"type": one.verdict, "message": one.reason}).text = text
    elif one.verdict == "undecided":
        ET.SubElement(case, "skipped", {"message": one.reason})


def annotation_lines(found: GateResult) -> Iterator[str]:
    """A line per number that fails or cannot be decided, and one for the whole. Worked: ``::error title=...::...``."""
    for one in found.gated:
        if one.verdict in _LEVELS:
            title = _escaped(f"assay: {gated_label(one)} of {one.side.subject.title}", _ESCAPED_TITLE)
            values = f"baseline {_value(one, one.baseline)}, now {_value(one, one.side)}, limit {share(one.limit)}"
            yield f"::{_LEVELS[one.verdict]} title={title}::{_escaped(f'{one.reason}; {values}', _ESCAPED)}"
    yield f"::notice title=assay::{_escaped(' '.join(explained(found)[:1]), _ESCAPED)}"


def _value(one: Gated, side: Side) -> str:
    shown = NOT_AVAILABLE if side.value is None else number_text(side.value, one.name.unit)
    return f"{shown} {one.name.unit}"


def _escaped(text: str, table: dict[str, str]) -> str:
    return "".join(table.get(letter, letter) for letter in paragraph(text))
