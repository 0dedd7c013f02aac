"""Which programs of a test its results come from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.records import DemandSettings, IdleRecoverySettings, LoopSettings, SaturationSettings
from assay.window.stall import kept_histograms

if TYPE_CHECKING:
    from assay.records import Phase, StoredProgram, StoredTest

_MADE_READY: set[Phase] = {"precondition", "pre-write"}


def measured_programs(test: StoredTest) -> list[StoredProgram]:
    """The programs that the printed results come from, in the order they ran.

    Preconditioning and pre-writes are none. Of rounds, and of samples until steady, those of the measurement window
    count, or all before there is one; of histograms the one that is printed; everything else counts whole: wait
    states with their bursts, access groups, variants of studies, operating points.
    Worked: a demand intensity whose window is rounds 1 to 5 -> these rounds and the operating points; its samples 1
    to 5, which only prepare the drive, are none.
    """
    kept = [*_of_rounds(test), *_of_samples(test), *kept_histograms(test)]
    within = {id(program) for program in kept}
    judged: set[Phase] = {"round", "sample", "histogram"}
    return [
        program
        for program in test.programs
        if id(program) in within or (program.phase not in judged and program.phase not in _MADE_READY)
    ]


def _of_rounds(test: StoredTest) -> tuple[StoredProgram, ...]:
    """The rounds of the window; until then, and where the verdict is one of the preconditioning, all of them."""
    rounds, settings, verdict = test.phase("round"), test.settings, test.verdict
    if verdict is None or not isinstance(settings, LoopSettings | DemandSettings):
        return rounds
    if isinstance(settings, DemandSettings) and settings.preconditioning.label in verdict.verdicts:
        return rounds
    return tuple(program for program in rounds if verdict.rounds[0] <= program.index <= verdict.rounds[-1])


def _of_samples(test: StoredTest) -> list[StoredProgram]:
    """The samples from the first to the last verdict sample of the window; those of idle recovery make its baseline."""
    settings, samples = test.settings, test.phase("sample")
    if isinstance(settings, IdleRecoverySettings):
        settings = settings.preconditioning
    if not isinstance(settings, SaturationSettings):
        return []
    if test.verdict is None:
        return list(samples)
    every = settings.samples_per_verdict
    first, last = (
        (settings.first_verdict_sample or every) + (number - 1) * every
        for number in (test.verdict.rounds[0], test.verdict.rounds[-1])
    )
    reached, found = 0, []
    for program in samples:
        begin, reached = reached + 1, reached + len(program.steps)
        if reached >= first and begin <= last:
            found.append(program)
    return found
