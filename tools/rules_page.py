"""``docs/rules.md``: every rule that ``assay verify`` checks, made from the table that binds each to its check."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from assay.archive.verify import RULES
from assay.archive.verify.evidence import PARTS
from made_files import write_or_check

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = Path(__file__).parents[1] / "docs/rules.md"
_ABOUT = {
    "folder": ("The folder", "Document and journal are what was written, in the documented form."),
    "tables": ("Tables", "Tables and captures are what was written, and belong to the sequences that name them."),
    "steps": ("Steps", "What was counted and timed in a step agrees with itself, with its neighbours and its tables."),
    "drive": (
        "The drive",
        "A run of a real drive stores what no simulated drive has. What a version did not store is not checked.",
    ),
    "verdicts": ("Verdicts", "What the run concluded is what follows from its plan and from what was measured."),
    "report": ("The report", "Where results.json or CSV files are there, they are what is worked out now."),
}


def page() -> str:
    """The whole page. Worked: it has the line ``## Tables``."""
    return "\n".join([*head(), *(line for part in PARTS for line in rules(part)), ""])


def head() -> Iterator[str]:
    """The title, and what a rule is."""
    yield from ("# Rules of a run folder", "")
    yield from (
        "Made from `python/assay/archive/verify/rules.py` by `tools/rules-page`.",
        "`assay verify RUN` checks each rule and",
        "names the ID of each broken rule; [guide/verify.md](guide/verify.md) says how to read its answer. An ID",
        "keeps its meaning: a rule that goes leaves its number unused. A test breaks each rule in a good run and",
        "sees the report of it.",
        "",
        "Rules of steps, verdicts and report rest on those of folder and tables, and are checked where these hold.",
    )


def rules(part: str) -> Iterator[str]:
    """The rules of one part as a table."""
    title, about = _ABOUT[part]
    yield from ("", f"## {title}", "", about, "", "| rule | what holds | source |", "|---|---|---|")
    yield from (f"| {one.id} | {one.sentence} | {one.source} |" for one in RULES if one.part == part)


def main() -> int:
    """Write the page; with ``--check``, say whether it differs."""
    return write_or_check({PAGE: page()}, "tools/rules-page")


if __name__ == "__main__":
    sys.exit(main())
