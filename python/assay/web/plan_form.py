"""The form of a plan: its fields from the registry of tests, and the values that a user types."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import tomli_w

from assay.agent.messages import CheckRequest, Consents
from assay.errors import AssayError, PlanError, UsageError
from assay.procedures.editions import edition_names
from assay.procedures.registry import find_procedure, option_tables, procedures
from assay.run.plan_file import Plan, plan_of
from assay.spec.datum import FILE_MARK, OF_FILES
from assay.spec.model_keys import Form, about
from assay.spec.toml_file import toml_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from pydantic import BaseModel


Kind = Literal["text", "lines", "integer", "number", "mixed", "flag", "choice", "choices", "numbers", "toml"]
"""How a value is typed. ``lines`` : a text per line. ``mixed`` : a number or a word. ``numbers`` : with commas.

``toml`` : as the key stands in a plan file, for what has tables in it.
"""
CONSENTS = "consents"
FIRST = ("suite", "edition", "tests", "studies")
"""Keys that choose the tests."""
_NEVER = {"schema", "drive", "file_target", *FIRST}
_LONG_TEXT = 200
_CHOICES_MAX = 40
_TERMS = {"io": "I/O", "iops": "IOPS", "art": "ART", "hba": "HBA", "pcie": "PCIe", "nand": "NAND", "4k": "4 KiB"}
_UNITS = {"mb_per_s": "MB/s", "seconds": "s", "minutes": "min", "hours": "h", "ms": "ms", "kib": "KiB"}
_HOW_TYPED: dict[Kind, str] = {
    "lines": "; a line each",
    "numbers": "; several with commas",
}
_LISTS: dict[str, Kind] = {"string": "lines", "integer": "numbers", "number": "numbers"}
_SCALARS: dict[str, Kind] = {"string": "text", "integer": "integer", "number": "number", "boolean": "flag"}
Typed = str | bool | list[str]
"""A value as a browser sends it."""
_WHOLE = re.compile(r"[+-]?\d{1,30}", re.ASCII)
_NOT_OF_PLANS = (CONSENTS, "on_end")
_NO_DRIVE = "sim:ideal"
"""A drive for checks until one is chosen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FormField:
    """One key. key : dotted. legal : legal values. default : as in a plan file. help : of its model."""

    key: str
    label: str
    kind: Kind
    choices: tuple[str, ...] = ()
    legal: str = ""
    default: Any = None
    help: str = ""
    long: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FormSection:
    """Keys that are shown together. table : of options, shown with its tests alone; empty of others."""

    key: str
    title: str
    fields: tuple[FormField, ...]
    help: str = ""
    table: str = ""


@cache
def choosing_fields() -> tuple[FormField, ...]:
    """The keys that choose the tests, in order: suite, edition, tests, studies."""
    fields = {field.key: field for field in _fields(Plan, Form(Plan).properties, "", keep=FIRST)}
    fields["edition"] = replace(fields["edition"], kind="choice", choices=tuple(edition_names()), legal="")
    of_files = {procedure.name for procedure in procedures() if procedure.options.needs_file}
    named = tuple(name for name in fields["studies"].choices if name not in of_files)
    fields["studies"] = replace(fields["studies"], choices=named)
    return tuple(fields[key] for key in FIRST)


@cache
def sections() -> tuple[FormSection, ...]:
    """The form but for the drive and the choice of tests: options of tests, of the run, then texts and consents."""
    form = Form(Plan)
    tables = {key: table for key in form.properties if (table := form.table(key)) is not None}
    scalars = {key: schema for key, schema in form.properties.items() if key not in tables and key not in _NEVER}
    options = option_tables()
    run = FormSection(key="run", title="Run", fields=tuple(_fields(Plan, scalars, "")))
    made = {key: _section(Plan.model_fields[key].annotation, key, table) for key, table in tables.items()}
    last = _section(Consents, CONSENTS, Form(Consents).properties)
    last = replace(last, title="Consents", fields=(*last.fields, _on_end()))
    ours = [replace(made[key], title=_table_title(key), table=key, help="") for key in made if key in options]
    others = [section for key, section in made.items() if key not in options]
    return tuple(section for section in (*ours, run, *others, last) if section.fields)


def all_fields() -> Iterator[FormField]:
    """Every key of the form."""
    yield from choosing_fields()
    for section in sections():
        yield from section.fields


def procedure_titles() -> dict[str, str]:
    """Tests and studies by name, as pages print them. Worked: ``iops`` -> ``IOPS``."""
    return {procedure.name: procedure.title for procedure in procedures()}


def _table_title(key: str) -> str:
    """The tests of a table. Worked: the table that studies share -> ``Studies``, one of a single test its title."""
    titles = [procedure.title for procedure in procedures() if procedure.key == key]
    return titles[0] if len(titles) == 1 else "Studies"


def _section(model: Any, key: str, table: Mapping[str, Any]) -> FormSection:
    help_text = (model.__doc__ or "").partition("\n")[0].partition(". ")[0].rstrip(".").replace("``", "")
    return FormSection(key=key, title=_label(key), fields=tuple(_fields(model, table, f"{key}.")), help=help_text)


def _on_end() -> FormField:
    schema = Form(CheckRequest).properties["on_end"]
    help_text = "command or address after the end, as agent.toml allows"
    return _field(schema, Form(CheckRequest), "on_end", help_text)


def _fields(
    model: type[BaseModel], table: Mapping[str, Any], above: str, keep: tuple[str, ...] = ()
) -> Iterator[FormField]:
    form, words = Form(model), about(model)
    for name, schema in table.items():
        names_file = schema.get("format") == FILE_MARK["format"]
        if not names_file and not schema.get("readOnly") and (not keep or name in keep):
            yield _field(schema, form, above + name, words.get(name, ""))


def _field(schema: Mapping[str, Any], form: Form, key: str, words: str) -> FormField:
    kind, choices = _kind(schema)
    choices = tuple(choice for choice in choices if choice not in schema.get(OF_FILES, ()))
    legal = "" if kind in {"choice", "choices", "flag", "text"} else form.legal(_numbers_of(schema))
    return FormField(
        key=key,
        label=_label(key.rpartition(".")[2]),
        kind=kind,
        choices=choices,
        legal="TOML as in a plan file" if kind == "toml" else _sentence(legal) + _HOW_TYPED.get(kind, ""),
        default=schema.get("default"),
        help=_sentence(words),
        long=kind == "text" and schema.get("maxLength", 0) > _LONG_TEXT,
    )


def _kind(schema: Mapping[str, Any]) -> tuple[Kind, tuple[str, ...]]:
    """How a value of a schema is typed, and the words that it may be."""
    forms = [form for form in schema.get("anyOf", [schema]) if form.get("type") != "null"]
    words = tuple(
        word for form in forms for word in (*form.get("enum", ()), *([form["const"]] if "const" in form else []))
    )
    kinds = [form.get("type") for form in forms]
    if words and len(forms) == sum("enum" in form or "const" in form for form in forms):
        return "choice", tuple(map(str, words))
    if len(forms) > 1:
        simple = set(kinds) <= {"string", "number", "integer"}
        return ("mixed" if simple else "toml"), ()
    return _kind_of(forms[0])


def _kind_of(schema: Mapping[str, Any]) -> tuple[Kind, tuple[str, ...]]:
    if schema.get("type") == "array":
        items = schema.get("items", {})
        if "enum" in items and len(items["enum"]) <= _CHOICES_MAX:
            return "choices", tuple(items["enum"])
        return _LISTS.get(items.get("type", ""), "toml"), ()
    return _SCALARS.get(schema.get("type", ""), "toml"), ()


def _numbers_of(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The legal values of a number in a list, else the schema."""
    forms = [form for form in schema.get("anyOf", [schema]) if form.get("type") == "array"]
    items = forms[0].get("items", {}) if forms else {}
    return items if items.get("type") in {"integer", "number"} else dict(schema)


def _sentence(words: str) -> str:
    """A text with a capital, unless its first word is to be typed. Worked: ``fixed:RATE makes it`` stays."""
    return words[:1].upper() + words[1:] if words.partition(" ")[0].isalpha() else words


def _label(key: str) -> str:
    """Worked: ``queue_depth`` -> ``Queue depth``, ``io_time_limit_seconds`` -> ``I/O time limit (s)``."""
    unit = next((unit for unit in _UNITS if key.endswith(f"_{unit}")), "")
    words = key.removesuffix(f"_{unit}").split("_") if unit else key.split("_")
    first, *others = (_TERMS.get(word, word) for word in words)
    return " ".join([first[:1].upper() + first[1:], *others]) + (f" ({_UNITS[unit]})" if unit else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class TypedPlan:
    """Typed values. table : the plan as a file has it, without its drive. faults : text by key of the form.

    general : faults of no key. tests : that it would run. tables : of options that apply.
    """

    table: dict[str, Any]
    consents: dict[str, Any] = field(default_factory=dict)
    on_end: str = ""
    faults: dict[str, str] = field(default_factory=dict)
    general: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()

    @property
    def has_faults(self) -> bool:
        """Whether anything is to be corrected first."""
        return bool(self.faults or self.general)


def read_typed(values: Mapping[str, Typed], drive: str) -> TypedPlan:
    """A plan from typed values; empty ones are left to their defaults, options of other tests are left out.

    drive : may be empty. Worked: ``{"suite": "quick", "iops.queue_depth": "x"}`` -> a fault of ``iops.queue_depth``.
    """
    faults: dict[str, str] = {}
    flat = dict(_read(choosing_fields(), values, faults))
    tests = _chosen_tests(flat)
    tables = tuple(dict.fromkeys(find_procedure(name).key for name in tests))
    for section in sections():
        if not section.table or section.table in tables:
            flat |= dict(_read(section.fields, values, faults))
    on_end = str(flat.pop("on_end", ""))
    table = _nested(flat)
    consents = table.pop(CONSENTS, {})
    general: tuple[str, ...] = ()
    if not faults:
        faults, general = plan_faults({**table, "drive": drive or _NO_DRIVE})
    return TypedPlan(
        table=table, consents=consents, on_end=on_end, faults=faults, general=general, tests=tests, tables=tables
    )


def plan_faults(table: dict[str, Any]) -> tuple[dict[str, str], tuple[str, ...]]:
    """The faults of a plan: by key of the form, and of no key."""
    try:
        plan_of(table)
    except UsageError as error:
        keys = {form_field.key for form_field in all_fields()}
        by_key: dict[str, str] = {}
        general = []
        for fault in (error, *error.further):
            key = _form_key(fault.thing, keys)
            if key:
                by_key.setdefault(key, f"{fault.reason}; {fault.remedy}")
            else:
                general.append(str(fault))
        return by_key, tuple(general)
    return {}, ()


def values_of(table: Mapping[str, Any]) -> dict[str, Typed]:
    """The values of the form from a plan file; a missing key has its default.

    Consents are nothing that a plan could bring along. Raises TypeError, ValueError, AttributeError if a value is of
    another form than the key's.
    Worked: ``{"iops": {"queue_depth": 16}}`` -> ``iops.queue_depth`` of ``"16"``.
    """
    ours = {key: value for key, value in table.items() if key not in _NOT_OF_PLANS}
    return {
        form_field.key: _typed(form_field, _at(ours, form_field.key, form_field.default)) for form_field in all_fields()
    }


def left_out(table: Mapping[str, Any]) -> tuple[str, ...]:
    """Keys of a plan that the form has not and that say something, such as the name of a file.

    Worked: a plan of a data file -> ``("data.path",)``. ``drive`` and ``schema`` are not named.
    """
    known = {
        form_field.key
        for form_field in _plan_fields()
        if form_field.kind not in {"choice", "choices"} or _is_chosen(_at(table, form_field.key, None), form_field)
    }
    plain = plan_of({"drive": _NO_DRIVE}).model_dump(mode="json", by_alias=True)
    return tuple(_unknown(table, known, {**plain, "drive": table.get("drive"), "schema": 1}, ""))


def _is_chosen(value: Any, form_field: FormField) -> bool:
    """Whether the form has a value of a key of choices; None is its default."""
    values = value if isinstance(value, list | tuple) else [value]
    return all(chosen in (None, *form_field.choices) for chosen in values)


def plan_toml(table: Mapping[str, Any], drive: str) -> str:
    """The text of a plan file that ``load_plan`` reads as this plan."""
    return tomli_w.dumps({"schema": 1, "drive": drive, **table})


def _plan_fields() -> list[FormField]:
    """The keys of the form that a plan has."""
    return [form_field for form_field in all_fields() if form_field.key.partition(".")[0] not in _NOT_OF_PLANS]


def _chosen_tests(flat: Mapping[str, Any]) -> tuple[str, ...]:
    """The tests and studies of a choice; none if it has faults."""
    chosen = {key: flat[key] for key in FIRST if key in flat}
    with suppress(AssayError):
        plan = plan_of({**chosen, "drive": _NO_DRIVE}).resolved()
        return (*plan.tests, *plan.studies)
    return ()


def _read(
    fields: Iterable[FormField], values: Mapping[str, Typed], faults: dict[str, str]
) -> Iterator[tuple[str, Any]]:
    for form_field in fields:
        value = values.get(form_field.key, "")
        try:
            result = _value(form_field, value)
        except ValueError as error:
            faults[form_field.key] = str(error)
            continue
        if result is not None and (result != form_field.default or form_field.key == "suite"):
            yield form_field.key, result


def _value(form_field: FormField, value: Typed) -> Any:
    """The value of a key; None of nothing typed. Raises ValueError with the fault."""
    if form_field.kind == "flag" and isinstance(value, bool):
        return value
    if form_field.kind == "choices" and isinstance(value, list):
        return value or None
    if not isinstance(value, str) or (value and form_field.kind in {"flag", "choices"}):
        # Whatever no page sends.
        raise ValueError("has another form; load the page again")
    if not value.strip():
        return None
    return _toml(form_field.key, value) if form_field.kind == "toml" else _text(form_field, value)


def _text(form_field: FormField, value: str) -> Any:
    if form_field.kind == "choice" and value not in form_field.choices:
        raise ValueError("is not listed; choose a listed value")
    return _SIMPLE.get(form_field.kind, str)(value)


def _number(text: str) -> float | int | str:
    """A number; other text stays, for the model to refuse. Worked: ``"16"`` -> 16, ``"0.5"`` -> 0.5."""
    text = text.strip()
    if _WHOLE.fullmatch(text):
        return int(text)
    with suppress(ValueError):
        return float(text)
    return text


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _numbers(text: str) -> list[float | int | str]:
    return [_number(part) for part in text.split(",")]


def _toml(key: str, text: str) -> Any:
    try:
        table: Any = toml_table(text, Path(key))[0]
    except PlanError as error:
        raise ValueError(f"is no TOML: {error.reason}") from None
    for part in key.split("."):
        if not isinstance(table, dict) or list(table) != [part]:
            raise ValueError(f"holds other keys than {key}; write it as in a plan file")
        table = table[part]
    return table


_SIMPLE: dict[str, Any] = {
    "integer": _number,
    "number": _number,
    "mixed": _number,
    "lines": _lines,
    "numbers": _numbers,
}


def _typed(form_field: FormField, value: Any) -> Typed:
    """A value as a user types it."""
    if form_field.kind == "flag":
        return bool(value)
    if form_field.kind == "choices":
        return [str(word) for word in value or ()]
    if value is None or value in ([], {}, ()):
        return ""
    if form_field.kind == "toml":
        return tomli_w.dumps(_nested({form_field.key: _without_none(value)}))
    if form_field.kind in {"lines", "numbers"}:
        return ("\n" if form_field.kind == "lines" else ", ").join(map(str, value))
    return str(value)


def _nested(flat: Mapping[str, Any]) -> dict[str, Any]:
    """Dotted keys as tables. Worked: ``{"iops.queue_depth": 16}`` -> ``{"iops": {"queue_depth": 16}}``."""
    result: dict[str, Any] = {}
    for key, value in flat.items():
        *above, last = key.split(".")
        table = result
        for part in above:
            table = table.setdefault(part, {})
        table[last] = value
    return result


def _at(table: Mapping[str, Any], key: str, default: Any) -> Any:
    value: Any = table
    for part in key.split("."):
        if not isinstance(value, dict) or part not in value:
            return default
        value = value[part]
    return value


def _without_none(value: Any) -> Any:
    """TOML has no null: a key without a value is left out."""
    if isinstance(value, dict):
        return {key: _without_none(inner) for key, inner in value.items() if inner is not None}
    return [_without_none(inner) for inner in value] if isinstance(value, list | tuple) else value


def _unknown(table: Mapping[str, Any], known: set[str], plain: Mapping[str, Any], above: str) -> Iterator[str]:
    for name, value in table.items():
        key, default = above + name, plain.get(name)
        if key in known or value == default or value is None:
            continue
        if isinstance(value, dict) and isinstance(default, dict):
            yield from _unknown(value, known, default, f"{key}.")
        else:
            yield key


def _form_key(key: str, keys: set[str]) -> str:
    """The key of the form that a key of a plan is typed in. Worked: ``limits.0.test`` -> ``limits``; none: empty."""
    while key and key not in keys:
        key = key.rpartition(".")[0]
    return key
