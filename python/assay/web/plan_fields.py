"""The form of a plan, made from the models of plan files and from the registry: no test is named here."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from assay.agent.messages import CheckRequest, Consents
from assay.procedures.editions import edition_names
from assay.procedures.registry import option_tables, procedures
from assay.run.plan_file import Plan
from assay.spec.datum import FILE_MARK, OF_FILES
from assay.spec.model_keys import Form, about

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

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


@dataclass(frozen=True, slots=True, kw_only=True)
class FormField:
    """One key. key : dotted. legal : what a value may be. default : as a plan file has it. help : of its model."""

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
    words = tuple(word for form in forms for word in (*form.get("enum", ()), *_constant(form)))
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
    """What a number of a list may be, else the schema."""
    forms = [form for form in schema.get("anyOf", [schema]) if form.get("type") == "array"]
    items = forms[0].get("items", {}) if forms else {}
    return items if items.get("type") in {"integer", "number"} else dict(schema)


def _constant(schema: Mapping[str, Any]) -> tuple[Any, ...]:
    return (schema["const"],) if "const" in schema else ()


def _sentence(words: str) -> str:
    """With a capital, unless it begins with something to type. Worked: ``fixed:RATE makes it`` stays."""
    return words[:1].upper() + words[1:] if words.partition(" ")[0].isalpha() else words


def _label(key: str) -> str:
    """Worked: ``queue_depth`` -> ``Queue depth``, ``io_time_limit_seconds`` -> ``I/O time limit (s)``."""
    unit = next((unit for unit in _UNITS if key.endswith(f"_{unit}")), "")
    words = key.removesuffix(f"_{unit}").split("_") if unit else key.split("_")
    first, *others = (_TERMS.get(word, word) for word in words)
    return " ".join([first[:1].upper() + first[1:], *others]) + (f" ({_UNITS[unit]})" if unit else "")


_TERMS = {"io": "I/O", "iops": "IOPS", "art": "ART", "hba": "HBA", "pcie": "PCIe", "nand": "NAND", "4k": "4 KiB"}
_UNITS = {"mb_per_s": "MB/s", "seconds": "s", "minutes": "min", "hours": "h", "ms": "ms", "kib": "KiB"}
_HOW_TYPED: dict[Kind, str] = {
    "lines": "; a line each",
    "numbers": "; several with commas",
}
_LISTS: dict[str, Kind] = {"string": "lines", "integer": "numbers", "number": "numbers"}
_SCALARS: dict[str, Kind] = {"string": "text", "integer": "integer", "number": "number", "boolean": "flag"}
