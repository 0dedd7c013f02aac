"""What the list of runs is asked for in an address: the state of its form, and of its columns and pages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args
from urllib.parse import urlencode

from assay.archive.index.filters import UNREADABLE, Wanted, since_ns, until_ns
from assay.archive.index.search import SORTS, KeyColumn, Query
from assay.errors import UsageError
from assay.summary.forms import GROUPS, LabelClass, Verdict
from assay.summary.verdict import STATE_WORDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from starlette.datastructures import QueryParams

WORD_MAX, WORDS_MAX = 200, 20
_PAGE_MAX = 10**9
_VERDICTS: tuple[str, ...] = (*dict.fromkeys((*get_args(Verdict), *GROUPS)), UNREADABLE)
_WORDS: dict[str, str] = {
    **{str(state): word for state, word in STATE_WORDS.items()},
    "measured": "measured (any)",
    "withheld": "withheld (any)",
    "no-rule": "no rule",
}
_LABELS: tuple[str, ...] = tuple(label for label in get_args(LabelClass) if label != "unknown")


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One filter of the form. key : in the address. field : of ``Wanted``. choices : of a list, with their words."""

    key: str
    label: str
    field: str
    hint: str = ""
    choices: tuple[tuple[str, str], ...] = ()


FIELDS = (
    Field(key="drive", label="Drive", field="drives", hint="serial, identity or path"),
    Field(key="model", label="Model", field="models"),
    Field(key="firmware", label="Firmware", field="firmwares"),
    Field(key="host", label="Host", field="hosts", hint="host, system or lab"),
    Field(key="name", label="Name", field="names"),
    Field(key="tag", label="Tag", field="tags", hint="the whole tag"),
    Field(key="test", label="Test", field="tests", hint="such as iops"),
    Field(key="edition", label="Edition", field="editions"),
    Field(
        key="verdict",
        label="Outcome",
        field="verdicts",
        choices=tuple((verdict, _WORDS.get(verdict, verdict)) for verdict in _VERDICTS),
    ),
    Field(key="label", label="Label", field="labels", choices=tuple((one, one.replace("-", " ")) for one in _LABELS)),
)
"""The filters of ``assay runs``; a key that is given more than once asks for any of its values."""
_TIMES: dict[str, Callable[[str], int | None]] = {"since": since_ns, "until": until_ns}
_FLAGS = ("hidden", "missing")
_VIEW = {*_FLAGS, "columns", "sort", "order", "page"}
"""What changes how runs are shown, and leaves none out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What an address asks for. pairs : its keys and values as they are, those that are known.

    is_filtered : whether it leaves out any run that a list without filters has.
    """

    query: Query
    pairs: tuple[tuple[str, str], ...]
    is_filtered: bool

    def values(self, key: str) -> list[str]:
        """The values of a key, in order."""
        return [value for name, value in self.pairs if name == key]

    def address(self, **changes: Sequence[str]) -> str:
        """The address with other values of some keys. Worked: page 2 of ``model=x`` -> ``?model=x&page=2``."""
        kept = [(key, value) for key, value in self.pairs if key not in changes]
        added = [(key, value) for key, values in changes.items() for value in values]
        return "?" + urlencode([*kept, *added])


def view_of(params: QueryParams, parents: tuple[str, ...]) -> View:
    """Read an address. Keys that are not known, and empty values, are left out.

    parents : of ``Query``. Raises UsageError for a value that cannot be.
    """
    keys = {*(field.key for field in FIELDS), *_TIMES, *_VIEW, "q"}
    pairs = tuple((key, value) for key, value in params.multi_items() if key in keys and value)
    for key, value in pairs:
        _check_length(key, value, sum(name == key for name, _ in pairs))
    values = {key: [value for name, value in pairs if name == key] for key in keys}
    query = Query(
        wanted=_wanted(values),
        text=" ".join(values["q"]),
        parents=parents,
        hidden=bool(values["hidden"]),
        missing=bool(values["missing"]),
        sort=_sort(values["sort"]),
        descending=_is_descending(values["order"], values["sort"]),
        page=_page(values["page"]),
    )
    is_filtered = any(values[key] for key in keys - _VIEW)
    return View(query=query, pairs=pairs, is_filtered=is_filtered)


def _wanted(values: dict[str, list[str]]) -> Wanted:
    fields: dict[str, Any] = {field.field: _chosen(field, values[field.key]) for field in FIELDS}
    times: dict[str, Any] = {f"{key}_ns": _time(key, values[key]) for key in _TIMES}
    return Wanted(**fields, **times)


def _chosen(field: Field, words: Iterable[str]) -> tuple[str, ...]:
    words, known = tuple(words), [choice for choice, _ in field.choices]
    for word in words:
        if known and word not in known:
            raise UsageError(field.label, f"is {word!r}", f"choose from {', '.join(known)}")
    return words


def _time(key: str, values: Sequence[str]) -> int | None:
    if len(values) > 1:
        raise UsageError(key.capitalize(), "is given more than once", "give it once")
    try:
        return _TIMES[key](values[0]) if values else None
    except UsageError as error:
        raise UsageError(key.capitalize(), error.reason, error.remedy) from None


def _sort(values: Sequence[str]) -> str | KeyColumn:
    if not values:
        return "started"
    if len(values) == len(KeyColumn._fields):
        return KeyColumn(*values)
    if len(values) > 1 or values[0] not in SORTS:
        raise UsageError("Sort", f"is {values[0]!r}", f"choose from {', '.join(SORTS)}")
    return values[0]


def _is_descending(values: Sequence[str], sort: Sequence[str]) -> bool:
    """Texts begin with the first letter, numbers with the greatest."""
    if values and values[-1] not in {"up", "down"}:
        raise UsageError("Order", f"is {values[-1]!r}", "choose from up, down")
    return values[-1] == "down" if values else not sort or sort[0] not in {"run", "drive", "firmware", "host"}


def _page(values: Sequence[str]) -> int:
    text = values[-1] if values else "1"
    if not (text.isascii() and text.isdigit()) or not 1 <= int(text) <= _PAGE_MAX:
        raise UsageError("Page", f"is {text[:20]!r}", "give a whole number from 1")
    return int(text)


def _check_length(key: str, value: str, count: int) -> None:
    if len(value) > WORD_MAX:
        raise UsageError(key.capitalize(), f"has {len(value):,} characters", f"shorten it to {WORD_MAX}")
    if count > WORDS_MAX:
        raise UsageError(key.capitalize(), f"is given {count} times", f"give at most {WORDS_MAX}")
