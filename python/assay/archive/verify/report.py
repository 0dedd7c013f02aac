"""Rules of the report: what stands in its tables of numbers is what is worked out now."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from assay.archive.kept import REPORT_FOLDER
from assay.archive.verify.rule import Broken
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


def label(evidence: Evidence) -> Iterator[Broken]:
    """The label and the deviations."""
    yield from _results(evidence, {"label", "deviations"})


def findings(evidence: Evidence) -> Iterator[Broken]:
    """The list of findings."""
    yield from _results(evidence, {"findings"})


def results(evidence: Evidence) -> Iterator[Broken]:
    """Every other value, and the bytes of the file."""
    found = list(_results(evidence, None))
    yield from found
    stored = _stored(evidence, _RESULTS)
    if found or stored is None:
        return
    expected = evidence.rendered[_RESULTS]
    if stored != expected and _object(evidence, stored) == json.loads(expected):
        yield Broken(place=f"{REPORT_FOLDER}/{_RESULTS}", found="other bytes for the same values", expected=_NOW)


def tables(evidence: Evidence) -> Iterator[Broken]:
    """The CSV files, byte for byte, and no others."""
    names = {path.name for path in (evidence.folder / REPORT_FOLDER).glob("*.csv")}
    if not names:
        return
    for name in sorted(names):
        place, expected = f"{REPORT_FOLDER}/{name}", evidence.rendered.get(name)
        if expected is None:
            yield Broken(place=place, found="a table", expected="none of this name")
        elif (stored := _stored(evidence, name)) != expected:
            yield Broken(place=place, found=_line(stored or b"", expected), expected=_line(expected, stored or b""))
    for name in sorted(one for one in evidence.rendered if one.endswith(".csv") and one not in names):
        yield Broken(place=f"{REPORT_FOLDER}/{name}", found="is missing", expected="with the other tables")


def _line(one: bytes, other: bytes) -> str:
    """The first line of one that is not in the other at its place."""
    pair = one.split(b"\n"), other.split(b"\n")
    for number, line in enumerate(pair[0]):
        if number >= len(pair[1]) or line != pair[1][number]:
            return f"line {number + 1}: {line.decode('utf-8', 'backslashreplace'):.120}"
    return f"{len(pair[0])} lines"


def _stored(evidence: Evidence, name: str) -> bytes | None:
    """A file of the report as it is stored; None where there is none. Raises StoreError where it cannot be read."""
    path = f"{REPORT_FOLDER}/{name}"
    try:
        if not exists_inside(evidence.folder, path):
            return None
        return read_inside(evidence.folder, path, bytes_max=_BYTES_MAX)
    except OSError as error:
        raise StoreError(str(evidence.folder / path), error.strerror or "cannot be read", "render it anew") from None


def _object(evidence: Evidence, stored: bytes) -> Any:
    """The values of a stored file; None of one that is no JSON, or so large that it cannot be this report."""
    if len(stored) > _LARGER_MAX * len(evidence.rendered[_RESULTS]):
        return None
    try:
        return json.loads(stored)
    except (ValueError, RecursionError):
        return None


def _results(evidence: Evidence, keys: set[str] | None) -> Iterator[Broken]:
    """Where values of ``results.json`` differ. keys : those asked for; None means all that no other rule has."""
    stored = _stored(evidence, _RESULTS)
    if stored is None:
        return
    expected = json.loads(evidence.rendered[_RESULTS])
    found = _object(evidence, stored)
    if not isinstance(found, dict):
        if keys is None:
            yield Broken(place=f"{REPORT_FOLDER}/{_RESULTS}", found="is no JSON object of a report", expected=_NOW)
        return
    # Whence a run comes, and who vouches for it, is the reader's: it differs between readers of the same run.
    others = {"label", "deviations", "findings", "origin"}
    for key in dict.fromkeys([*expected, *found]):
        if (key in keys) if keys is not None else (key not in others):
            pair = found.get(key, _ABSENT), expected.get(key, _ABSENT)
            for place, *values in _differences(*pair, key):
                one, other = (json.dumps(value)[:200] for value in values)
                yield Broken(place=f"{REPORT_FOLDER}/{_RESULTS}: {place}", found=one, expected=other)


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
