"""``assay tests``: the tests and studies, what each asks, and the editions that have it."""

from __future__ import annotations

import json
from typing import Any

import click

from assay.cli.commands import HelpedCommand


@click.command(cls=HelpedCommand, examples=("tests", "tests --json"))
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with the outline and the preparation of each.")
def tests(as_json: bool) -> None:
    """List the tests and studies: name, title, question, and the editions that define it.

    Tests come from the specification, or from another package (custom). Studies are further questions, outside the
    specification.
    """
    facts = _facts()
    if as_json:
        click.echo(json.dumps(facts, indent=2))
        return
    from assay.cli.table import print_table  # noqa: PLC0415

    headers = ("name", "title", "kind", "what it asks", "editions that have it")
    rows = [
        (fact["name"], fact["title"], fact["kind"], fact["question"], ", ".join(fact["editions"]) or "any")
        for fact in facts
    ]
    print_table(headers, rows, prose=True)
    click.echo("Run a test: assay run DRIVE --test NAME; a study: --study NAME; a suite: --suite NAME.")


def _facts() -> list[dict[str, Any]]:
    from assay.procedures.editions import edition_names, load_edition  # noqa: PLC0415
    from assay.procedures.registry import SUITES, procedures  # noqa: PLC0415

    editions = {name: load_edition(name) for name in edition_names()}
    return [
        {
            "name": procedure.name,
            "title": procedure.title,
            "kind": procedure.kind,
            "question": procedure.question,
            "outline": procedure.outline,
            "preconditioning": procedure.preconditioning,
            "editions": [
                name for name, edition in editions.items() if procedure.table and edition.table(procedure.name)
            ],
            "suites": [
                suite for suite, (_, *chosen) in SUITES.items() if any(procedure.name in names for names in chosen)
            ],
        }
        for procedure in procedures()
    ]
