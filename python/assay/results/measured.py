"""Which programs of a test its results come from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.results.stall import void_reason

if TYPE_CHECKING:
    from assay.engine.records import StoredProgram, StoredTest


def counted_programs(test: StoredTest) -> tuple[StoredProgram, ...]:
    """The programs that the printed results come from, in the order they ran.

    They are those whose role is to measure. Of the stage that the verdict is of, those of its window count; of all
    others, and before there is a verdict, those that are not void.
    Worked: a demand intensity whose window is rounds 1 to 5 -> these rounds and the operating points; its samples,
    which only prepare the drive, are none.
    """
    return tuple(program for program in test.programs if program.role == "measure" and _counts(program, test))


def kept_histograms(test: StoredTest) -> tuple[StoredProgram, ...]:
    """The histogram programs that count: one at the most, since it is run again only until it is not void."""
    return tuple(program for program in counted_programs(test) if program.stage == "histogram")


def _counts(program: StoredProgram, test: StoredTest) -> bool:
    if program.stage == test.window_stage:
        return program.index in test.window_indexes
    return void_reason(program.steps, test.settings) is None
