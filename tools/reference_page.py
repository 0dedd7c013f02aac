"""``docs/reference.md``: every command with its options, exit codes, and the keys of files, made from the code."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from assay.cli import assay
from assay.cli.commands import all_commands, exit_codes
from assay.cli.config import KEYS, variable
from assay.cli.init import ABOUT, toml_value
from assay.dut.simulated.model import known_parameters
from assay.host.limits import Limits
from assay.run.plan_file import Plan
from assay.spec.model_keys import Form, about
from made_files import write_or_check

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Literal

    from assay.cli.commands import CommandFacts

KINDS: tuple[Literal["flash"], Literal["disk"]] = ("flash", "disk")
PAGE = Path(__file__).parents[1] / "docs/reference.md"


def page() -> str:
    """The whole page. Worked: it has the line ``| 7 | a required steady state was not reached | |``."""
    return "\n".join([*head(), *commands(), *exits(), *limits(), *plan(), *configuration(), *drive_models()])


def head() -> Iterator[str]:
    """The title, and what the page is made of."""
    yield from ("# Reference", "")
    yield from (
        "Made from the code by `tools/reference-page`. The same stands in `assay COMMAND --help` and in the manual",
    )
    yield from (
        "pages that `assay man DIR` writes. How things go together: [guide/command-line.md](guide/command-line.md).",
        "",
    )


def commands() -> Iterator[str]:
    """A list of all commands, then a part for each."""
    found = all_commands(assay)
    yield from ("## Commands", "", "| command | |", "|---|---|")
    yield from (f"| [`assay {one.name}`](#assay-{one.name}) | {cell(one.summary)} |" for one in found)
    for one in found:
        yield from command(one)


def command(one: CommandFacts) -> Iterator[str]:
    """One command: how it is called, what it does, its options."""
    yield from ("", f"### assay {one.name}", "", f"`assay {one.name} {one.usage}`", "")
    for text in one.paragraphs:
        yield from (text, "")
    yield from ("| option | |", "|---|---|")
    yield from (f"| `{cell(option.names)}` | {cell(option.help)} |" for option in one.options)
    yield from ("", *(f"    {example}" for example in one.examples))


def exits() -> Iterator[str]:
    """Every exit code, with the errors that end so."""
    yield from ("", "## Exit codes", "")
    yield from ("Where several apply, a command exits with the first of 130, 3, 4, 6, 5, 7.", "")
    yield from ("| code | meaning | `error` with `--json` |", "|---|---|---|")
    for code, text, slugs in exit_codes():
        yield f"| {code} | {text} | {', '.join(f'`{slug}`' for slug in slugs)} |"


def limits() -> Iterator[str]:
    """The limits of ``assay check``."""
    form = Form(Limits)
    yield from ("", "## Limits of `assay check --limits FILE`", "", "A file of limits must give its `reason`.", "")
    yield from ("| key | what it may be | default |", "|---|---|---|")
    for key, schema in form.properties.items():
        default = "required in a file" if key == "reason" else f"{schema['default']:g}"
        yield f"| `{key}` | {cell(form.legal(schema))} | {default} |"


def plan() -> Iterator[str]:
    """The keys of a plan file, table by table."""
    form = Form(Plan)
    yield from ("", "## Keys of a plan file", "", "`assay init` writes a file with all of them.", "")
    yield from ("| key | what it is | what it may be | default |", "|---|---|---|---|")
    words = about(Plan)
    for key, schema in form.properties.items():
        table = form.table(key)
        if table is None:
            yield row(form, key, key, schema, words)
    for key in form.properties:
        model = Plan.model_fields[key].annotation if key in Plan.model_fields else None
        inner = about(model) if isinstance(model, type) else {}
        for name, schema in (form.table(key) or {}).items():
            yield row(form, f"{key}.{name}", name, schema, inner)


def row(form: Form, shown: str, key: str, schema: dict[str, object], words: dict[str, str]) -> str:
    """One key of a plan file."""
    default = schema.get("default")
    text = ABOUT.get(key) or words.get(key, "")
    printed = "" if default is None or default in ("", []) else f"`{toml_value(default)}`"
    return f"| `{shown}` | {cell(text)} | {cell(form.legal(schema))} | {cell(printed)} |"


def configuration() -> Iterator[str]:
    """The keys of the user's own file, and their variables."""
    yield from ("", "## Keys of the user's configuration", "", "`assay config` shows them.", "")
    yield from ("| key | environment variable |", "|---|---|")
    yield from (f"| `{key}` | `{variable(key)}` |" for key in KEYS)
    yield ""


def drive_models() -> Iterator[str]:
    """The parameters of both kinds of drive models, those that a file must state first."""
    yield from ("## Parameters of drive models", "")
    yield from ("`sim:FILE.toml` reads them; see [guide/simulated-drives.md](guide/simulated-drives.md).", "")
    for kind in KINDS:
        yield from (
            f'Of `kind = "{kind}"`:',
            "",
            "| parameter | what it is, with its range | default |",
            "|---|---|---|",
        )
        for one in sorted(known_parameters(kind), key=lambda one: one.default is not None):
            default = "**required**" if one.default is None else f"`{toml_value(one.default)}`"
            yield f"| `{one.name}` | {cell(one.about)} | {default} |"
        yield ""


def cell(text: str) -> str:
    """A text inside a table: a bar would end its cell."""
    return text.replace("|", "\\|").replace("\n", " ")


def main() -> int:
    """Write the page; with ``--check``, say whether it differs."""
    return write_or_check({PAGE: page()}, "tools/reference-page")


if __name__ == "__main__":
    sys.exit(main())
