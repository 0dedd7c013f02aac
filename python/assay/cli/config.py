"""``assay config``: what a user sets once: a file, environment variables, and what they give."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.commands import HelpedCommand, json_option
from assay.errors import UsageError
from assay.spec.files import config_folder
from assay.spec.nearest import did_you_mean

if TYPE_CHECKING:
    from assay.run.plan_file import Plan

TEXTS = ("operator", "sponsor", "lab")
"""Keys that go into the table ``report`` of a plan; as ``ANSWERABLE`` there, which takes long to load."""
OUTPUT = "output"
INDEX = "index"
KEYS = (*TEXTS, OUTPUT, INDEX)
FILE_VARIABLE = "ASSAY_CONFIG"
_RUNS = Path("runs")
"""As in ``assay.run.store.write``, which takes long to load."""
_ABOUT = {
    "operator": "who runs the tests",
    "sponsor": "on whose behalf",
    "lab": "where",
    OUTPUT: "folder that new runs go into, where --out names none",
    INDEX: "file or URL of the index of runs, where --index names none",
}


@dataclass(frozen=True, slots=True)
class Setting:
    """One value that a user set. source : the file or variable that it comes from. kind : the same for reports."""

    value: str
    source: str
    kind: str


def settings() -> dict[str, Setting]:
    """What the user set, by key: variables win over the file. Empty texts count as not set.

    Raises PlanError for a file with faults, UsageError where ``ASSAY_CONFIG`` names no file.
    """
    result = {}
    for key in KEYS:
        if text := os.environ.get(variable(key), "").strip():
            named = f"environment variable {variable(key)}"
            result[key] = Setting(text, named, named)
    path = config_path()
    # Who may not read the file of this home is not the one who wrote it.
    if os.access(path, os.R_OK):
        result = {
            key: Setting(text, str(path), "settings file") for key, text in _file(path).items() if text.strip()
        } | result
    elif FILE_VARIABLE in os.environ:
        raise UsageError(f"{FILE_VARIABLE}={path}", "is no file to be read", "name a file, or unset the variable")
    return result


def variable(key: str) -> str:
    """The environment variable of a key. Worked: ``operator`` -> ``ASSAY_OPERATOR``."""
    return f"ASSAY_{key.upper()}"


def config_path() -> Path:
    """The file: the one that ``ASSAY_CONFIG`` names, else ``assay/config.toml`` in the user's folder of such files."""
    if named := os.environ.get(FILE_VARIABLE):
        return Path(named)
    return config_folder() / "config.toml"


def output_folder() -> Path:
    """The folder that new runs go into where no option names one."""
    result = settings().get(OUTPUT)
    return Path(result.value).expanduser() if result else _RUNS


def with_settings(plan: Plan) -> Plan:
    """A plan with what the user set, where the plan says nothing itself."""
    missing = {key: one for key, one in settings().items() if key in TEXTS and not getattr(plan.report, key)}
    if not missing:
        return plan
    texts, sources = ({key: getattr(one, name) for key, one in missing.items()} for name in ("value", "kind"))
    return plan.model_copy(update={"report": plan.report.filled(texts, sources)})


def _file(path: Path) -> dict[str, str]:
    from assay.spec.toml_file import place_error, read_toml  # noqa: PLC0415

    table, positions = read_toml(path)
    for key, value in table.items():
        if key not in KEYS:
            hint = did_you_mean(key, KEYS, f"known are {', '.join(KEYS)}")
            raise place_error(path, positions, key, f"is not known: {hint}")
        if not isinstance(value, str) or len(value) > _LETTERS_MAX:
            raise place_error(path, positions, key, f"must be a text of at most {_LETTERS_MAX} letters")
    return table


_LETTERS_MAX = 2000
"""As of the texts of a plan."""


@click.command(cls=HelpedCommand, examples=("config", "config --json"))
@json_option
def config(as_json: bool) -> None:
    """Show what is set for this user, and where each value comes from.

    Keys of the file, each a text: operator, sponsor, lab, output, index. Each has an environment variable,
    ASSAY_OPERATOR and so on, which wins over the file. A plan file and the options of a command win over both.
    """
    result = settings()
    rows = [_row(key, result.get(key)) for key in KEYS]
    if as_json:
        click.echo(json.dumps({"file": str(config_path()), "settings": rows}, indent=2))
        return
    from assay.cli.table import print_table  # noqa: PLC0415

    state = "" if config_path().is_file() else " (not there; write it to set something)"
    click.echo(f"File: {config_path()}{state}")
    headers = ("key", "value", "from", "variable", "what it is")
    print_table(
        headers, [tuple(row[name] or "" for name in ("key", "value", "source", "variable", "about")) for row in rows]
    )


def _row(key: str, setting: Setting | None) -> dict[str, Any]:
    default = _default(key)
    return {
        "key": key,
        "value": _shown(key, setting.value) if setting else default,
        "source": setting.source if setting else "default" if default else "not set",
        "variable": variable(key),
        "about": _ABOUT[key],
    }


def _default(key: str) -> str | None:
    from assay.archive.index.location import default_place  # noqa: PLC0415

    return {OUTPUT: str(output_folder()), INDEX: default_place().shown}.get(key)


def _shown(key: str, value: str) -> str:
    """A value as it is shown: the URL of a database without its password."""
    from assay.archive.index.location import masked  # noqa: PLC0415

    return masked(value) if key == INDEX else value
