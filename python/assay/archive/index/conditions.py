"""What a user filters by as a condition of SQL that both databases know; it chooses what ``Wanted`` chooses.

No text of a user becomes a part of a statement: all stand at question marks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.archive.index.filters import UNREADABLE
from assay.archive.index.folded import storable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from assay.archive.index.filters import Wanted

_INT_MAX, _INT_MIN = (1 << 63) - 1, -(1 << 63)


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition with question marks, and their values."""

    text: str
    values: tuple[object, ...] = ()


NEVER = Condition("1 = 0")


def wanted_conditions(wanted: Wanted, position: str) -> Iterator[Condition]:
    """What must hold of a row ``r`` of ``assay_runs``, one condition after the other.

    position : the database's function that answers where a text has another, ``instr`` or ``strpos``.
    Worked: ``Wanted(names=("Night",))`` -> ``(r.name_folded <> '' AND instr(r.name_folded, ?) > 0)`` of ``night``.
    """
    yield from _of_time(wanted)
    for words, columns in (
        (wanted.drives, ("drive_folded", "drive_id_folded", "drive_serial_folded")),
        (wanted.models, ("drive_model_folded",)),
        (wanted.firmwares, ("drive_firmware_folded",)),
        (wanted.hosts, ("host_folded", "system_folded", "lab_folded")),
        (wanted.names, ("name_folded",)),
    ):
        if words:
            yield any_of(_contains(column, word, position) for word in words for column in columns)
    if wanted.tags:
        tag = _equals(("t.tag_folded",), wanted.tags)
        yield Condition(f"EXISTS (SELECT 1 FROM assay_tags t WHERE t.run_key = r.key AND {tag.text})", tag.values)  # noqa: S608 - marks only
    if wanted.labels:
        yield _equals(("r.label_class",), wanted.labels)
    yield from _of_tests(wanted)


def text_conditions(text: str, position: str) -> Iterator[Condition]:
    """What free text asks for: each of its words is in a text of the run, in any case.

    Worked: ``bay 2`` -> two conditions, of ``bay`` and of ``2``.
    """
    for word in text.split():
        yield _contains("words", word, position)


def any_of(conditions: Iterable[Condition]) -> Condition:
    """A condition that holds where any does; never where there are none."""
    chosen = tuple(conditions)
    return _joined(" OR ", chosen) if chosen else NEVER


def all_of(conditions: Iterable[Condition]) -> Condition:
    """A condition that holds where all do; always where there are none."""
    chosen = tuple(conditions)
    return _joined(" AND ", chosen) if chosen else Condition("1 = 1")


def _joined(between: str, conditions: Sequence[Condition]) -> Condition:
    text = between.join(condition.text for condition in conditions)
    return Condition(f"({text})", tuple(value for condition in conditions for value in condition.values))


def _of_time(wanted: Wanted) -> Iterator[Condition]:
    since, until = wanted.since_ns, wanted.until_ns
    if since is None and until is None:
        return
    yield _at_least(since or 0)
    if until is not None and until <= _INT_MAX:
        yield Condition("r.started_wall_ns < ?", (until,)) if until > _INT_MIN else NEVER


def _at_least(since: int) -> Condition:
    """A column holds no number beyond 64 bits, and no database takes one."""
    return NEVER if since > _INT_MAX else Condition("r.started_wall_ns >= ?", (max(since, _INT_MIN),))


def _of_tests(wanted: Wanted) -> Iterator[Condition]:
    if not (wanted.tests or wanted.editions or wanted.verdicts):
        return
    parts = []
    if wanted.tests:
        parts.append(_equals(("t.test_folded", "t.procedure_folded"), wanted.tests))
    if wanted.editions:
        parts.append(_equals(("t.edition_folded",), wanted.editions))
    if wanted.verdicts:
        parts.append(_equals(("t.verdict",), wanted.all_verdicts))
    test = all_of(parts)
    of_test = Condition(
        f"(r.fault IS NULL AND EXISTS (SELECT 1 FROM assay_tests t WHERE t.run_key = r.key AND {test.text}))",  # noqa: S608 - marks only
        test.values,
    )
    unreadable = UNREADABLE in wanted.verdicts and not wanted.tests and not wanted.editions
    yield any_of([of_test, Condition("r.fault IS NOT NULL")]) if unreadable else of_test


def _contains(column: str, word: str, position: str) -> Condition:
    """That a text is not empty and has a word; one that no column can hold is in none."""
    if not _is_storable(word):
        return NEVER
    return Condition(f"(r.{column} <> '' AND {position}(r.{column}, ?) > 0)", (word.casefold(),))


def _equals(columns: Sequence[str], words: Sequence[str]) -> Condition:
    """That one of the columns, which are folded, is one of the words."""
    folded = tuple(word.casefold() for word in words if _is_storable(word))
    if not folded:
        return NEVER
    marks = ", ".join("?" * len(folded))
    return any_of(Condition(f"{column} IN ({marks})", folded) for column in columns)


def _is_storable(word: str) -> bool:
    return storable(word) == word
