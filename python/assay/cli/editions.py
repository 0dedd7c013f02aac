"""``assay editions``: the editions of the specification, and which tests each has."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import click

from assay.cli.commands import HelpedCommand
from assay.cli.completion import edition_candidates

if TYPE_CHECKING:
    from collections.abc import Iterator

_SOURCES_SHOWN = 3
_WHOLE = re.compile(r"\.0\b")


@click.command(cls=HelpedCommand, examples=("editions", "editions pts-e-2.0"))
@click.argument("edition", required=False, shell_complete=edition_candidates)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with the value and source of every parameter.")
def editions(edition: str | None, as_json: bool) -> None:
    """List the editions of the specification: their tests, suites that imply them, and sources of their values.

    With the name of an EDITION, or a .toml file, list every value of it with its source.
    """
    from assay.procedures.editions import edition_names  # noqa: PLC0415

    result = [_facts(name) for name in ([edition] if edition else edition_names())]
    if as_json:
        click.echo(json.dumps(result, indent=2))
    elif edition:
        _print_values(result[0])
    else:
        _print(result)


def _facts(name: str) -> dict[str, Any]:
    from assay.procedures.editions import load_edition  # noqa: PLC0415
    from assay.procedures.registry import SUITES, tests  # noqa: PLC0415

    edition = load_edition(name)
    content = edition.model_dump(mode="json", by_alias=True, exclude_none=True)
    return {
        "name": name,
        "title": edition.title,
        "tests": [test.name for test in tests() if edition.table(test.name) is not None],
        "suites": [suite for suite, (implied, *_) in SUITES.items() if implied == name],
        "values": [{"key": key, **datum} for key, datum in _values(content)],
    }


def _print(editions: list[dict[str, Any]]) -> None:
    from assay.cli.table import print_table  # noqa: PLC0415

    headers = ("edition", "title", "tests", "implied by suite", "values", "most of them from")
    rows = [
        (
            facts["name"],
            facts["title"],
            ", ".join(facts["tests"]),
            ", ".join(facts["suites"]) or "none",
            str(len(facts["values"])),
            _main_sources(facts["values"]),
        )
        for facts in editions
    ]
    print_table(headers, rows, right={"values"}, prose=True)
    click.echo("Every value with its source: assay editions EDITION. Custom edition: --edition FILE.toml.")


def _main_sources(values: list[dict[str, Any]]) -> str:
    """The sources that most values rest on. Worked: ``31 deck A; 8 deck B; 2 survey; 17 others``."""
    counts = Counter(value["source"] for value in values)
    most = counts.most_common(_SOURCES_SHOWN)
    rest = counts.total() - sum(count for _, count in most)
    return "; ".join([*(f"{count} {source}" for source, count in most), *([f"{rest} others"] if rest else [])])


def _print_values(edition: dict[str, Any]) -> None:
    from assay.cli.table import print_table  # noqa: PLC0415

    click.echo(f"{edition['name']}: {edition['title']}")
    rows = [(value["key"], _shown(value["value"]), value["source"]) for value in edition["values"]]
    print_table(("parameter", "value", "source"), rows)


def _values(content: dict[str, Any], before: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every value of an edition under its dotted key, in the order of the edition."""
    for key, value in content.items():
        if isinstance(value, dict) and value.keys() >= {"value", "source"}:
            yield before + key, value
        elif isinstance(value, dict):
            yield from _values(value, f"{before}{key}.")


def _shown(value: Any) -> str:
    """A value as an edition's file has it. Worked: 60.0 -> ``60``, [4.0, 0.5] -> ``[4, 0.5]``."""
    return _WHOLE.sub("", json.dumps(value))
