"""What a run says, in words."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from assay.archive.rendering import run_summary
from assay.summary.insights import in_words

if TYPE_CHECKING:
    from assay.engine.records import StoredRun


def run_sentences(run: StoredRun) -> list[tuple[str, str]]:
    """The key findings of a run, gravest first, each with the labels of its tests; ``all`` where it is of no test."""
    return [(", ".join(labels) or "all", in_words(said)) for labels, said in run_summary(run, Path("RUN")).said]
