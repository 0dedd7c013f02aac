"""Rules of the report: its numbers are those that a new rendering gives."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from assay.archive.kept import REPORT_FOLDER
from assay.archive.verify.evidence import Broken
from assay.errors import StoreError
from assay.report.formats.data import SCHEMA
from assay.spec.files import exists_inside, read_inside

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.archive.verify.evidence import Evidence

_BYTES_MAX = 256 << 20
_FORM = re.compile(rb'\{\s*"schema"\s*:\s*(\d{1,9})\b')
"""The first key of results in every form."""
_RESULTS = "results.json"
_LARGER_MAX = 8
_NOW = "as it is rendered now"
_ABSENT = "nothing"


def is_older(evidence: Evidence) -> bool:
    """Whether the stored report is of an older form than this version renders, and says nothing of the run."""
    try:
        schema = _FORM.match(_stored(evidence, _RESULTS) or b"")
    except StoreError:
        # A rule says so.
        return False
    return schema is not None and 0 < int(schema[1]) < SCHEMA


def results(evidence: Evidence) -> Iterator[Broken]:
    """Every value that no other rule compares, and the bytes of the file, are those of a new rendering."""
    faults = list(results_faults(None, evidence))
    yield from faults
    stored = _stored(evidence, _RESULTS)
    if faults or stored is None:
        return
    expected = evidence.rendered[_RESULTS]
    if stored != expected and _object(evidence, stored) == json.loads(expected):
        yield Broken(place=f"{REPORT_FOLDER}/{_RESULTS}", found="other bytes for the same values", expected=_NOW)


def tables(evidence: Evidence) -> Iterator[Broken]:
    """The CSV files equal those of a new rendering byte for byte, and there are no others."""
    names = {path.name for path in (evidence.folder / REPORT_FOLDER).glob("*.csv")}
    if not names:
        return
    for name in sorted(names):
        place, expected = f"{REPORT_FOLDER}/{name}", evidence.rendered.get(name)
        if expected is None:
            yield Broken(place=place, found="a table", expected="none of this name")
        elif (stored := _stored(evidence, name)) != expected:
            yield Broken(
                place=place,
                found=_differing_line(stored or b"", expected),
                expected=_differing_line(expected, stored or b""),
            )
    for name in sorted(name for name in evidence.rendered if name.endswith(".csv") and name not in names):
        yield Broken(place=f"{REPORT_FOLDER}/{name}", found="is missing", expected="with the other tables")


def _differing_line(content: bytes, other: bytes) -> str:
    """The first line of a file that differs from the line of this number in another."""
    lines, others = content.split(b"\n"), other.split(b"\n")
    for index, line in enumerate(lines):
        if index >= len(others) or line != others[index]:
            return f"line {index + 1}: {line.decode('utf-8', 'backslashreplace'):.120}"
    return f"{len(lines)} lines"


def _stored(evidence: Evidence, name: str) -> bytes | None:
    """A file of the report as it is stored; None without one. Raises StoreError if it cannot be read."""
    path = f"{REPORT_FOLDER}/{name}"
    try:
        if not exists_inside(evidence.folder, path):
            return None
        return read_inside(evidence.folder, path, bytes_max=_BYTES_MAX)
    except OSError as error:
        raise StoreError(str(evidence.folder / path), error.strerror or "cannot be read", "render it anew") from None


def _object(evidence: Evidence, stored: bytes) -> Any:
    """The values of a stored file; None if it is no JSON, or too large to be this report."""
    if len(stored) > _LARGER_MAX * len(evidence.rendered[_RESULTS]):
        return None
    try:
        return json.loads(stored)
    except (ValueError, RecursionError):
        return None


def results_faults(keys: set[str] | None, evidence: Evidence) -> Iterator[Broken]:
    """Where values of ``results.json`` differ from new ones. keys : of the file; None means those of no other rule."""
    stored = _stored(evidence, _RESULTS)
    if stored is None:
        return
    expected = json.loads(evidence.rendered[_RESULTS])
    values = _object(evidence, stored)
    if not isinstance(values, dict):
        if keys is None:
            yield Broken(place=f"{REPORT_FOLDER}/{_RESULTS}", found="is no JSON object of a report", expected=_NOW)
        return
    # The origin of a run, and who vouches for it, differ between readers of the same run.
    others = {"label", "deviations", "findings", "origin"}
    for key in dict.fromkeys([*expected, *values]):
        if (key in keys) if keys is not None else (key not in others):
            pair = values.get(key, _ABSENT), expected.get(key, _ABSENT)
            for place, *differing in _differences(*pair, key):
                stored_text, new_text = (json.dumps(value)[:200] for value in differing)
                yield Broken(place=f"{REPORT_FOLDER}/{_RESULTS}: {place}", found=stored_text, expected=new_text)


def _differences(found: Any, expected: Any, place: str) -> Iterator[tuple[str, Any, Any]]:
    """The places at which two JSON values differ, with the values there."""
    if isinstance(found, dict) and isinstance(expected, dict):
        for key in dict.fromkeys([*expected, *found]):
            yield from _differences(found.get(key, _ABSENT), expected.get(key, _ABSENT), f"{place}.{key}")
    elif isinstance(found, list) and isinstance(expected, list) and len(found) == len(expected):
        for index, pair in enumerate(zip(found, expected, strict=True)):
            yield from _differences(*pair, f"{place}.{index}")
    elif type(found) is not type(expected) or found != expected:
        yield place, found, expected
