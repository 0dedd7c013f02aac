"""The pages under ``docs/procedures``: each begins as the registry has it, what follows is written by hand."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.procedures.editions import edition_names, load_edition
from assay.procedures.registry import procedures
from assay.procedures.studies.plan import header_fields
from assay.run.plan_file import Plan
from made_files import write_or_check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.plan.procedure import Procedure

PAGES = Path(__file__).parents[1] / "docs/procedures"
END = "<!-- The lines above are made by tools/procedure-pages. -->"


def editions_of(one: Procedure[Any, Any]) -> str:
    """The shipped editions that have a test, by name."""
    return ", ".join(f"`{name}`" for name in edition_names() if load_edition(name).table(one.name) is not None)


def edition_option(one: Procedure[Any, Any]) -> str:
    """The option that names the newest edition with a test, where the one of a client drive has it not."""
    names = [name for name in edition_names() if load_edition(name).table(one.name) is not None]
    default = Plan(drive="sim:ideal").resolved().edition_name
    return "" if one.table is None or default in names else f" --edition {names[-1]}"


def head(one: Procedure[Any, Any]) -> Iterator[str]:
    """The first lines of a page: title, question, how to run it, and its header as a table."""
    option = "--study" if one.kind == "study" else "--test"
    yield f"# {one.title}"
    yield ""
    yield f"{one.question} {one.outline}"
    yield ""
    yield "| | |"
    yield "|---|---|"
    yield f"| Run it | `assay run DRIVE {option} {one.name}{edition_option(one)}` |"
    if one.table is not None:
        yield f"| Editions | {editions_of(one)} |"
    fields = header_fields(one.header)
    # The question, and the loop of a study, are the first sentences already.
    yield from (f"| {name} | {text} |" for name, text in fields.items() if name != "Question" and text != one.outline)
    yield ""


def page(one: Procedure[Any, Any]) -> str:
    """A page with its head made anew; what stands behind it is kept."""
    path = PAGES / f"{one.label}.md"
    kept = path.read_text("utf-8").partition(END)[2] if path.exists() else "\n"
    return "\n".join([*head(one), END]) + kept


def index() -> str:
    """The list of all tests and studies."""
    lines = ["# Tests and studies", "", "| name | | what it asks |", "|---|---|---|"]
    lines += [f"| [`{one.name}`]({one.label}.md) | {one.title} | {one.question} |" for one in procedures()]
    lines += ["", "Made by `tools/procedure-pages`. Custom tests: [own-tests.md](../guide/own-tests.md).", ""]
    return "\n".join(lines)


def main() -> int:
    """Write the pages; with ``--check``, say which differ."""
    made = {PAGES / f"{one.label}.md": page(one) for one in procedures()} | {PAGES / "README.md": index()}
    return write_or_check(made, "tools/procedure-pages")


if __name__ == "__main__":
    sys.exit(main())
