"""Silence of the drive: stalls, cells without a completion, and what they make void."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from assay.engine.records import BY_GATE
from assay.results.events import disturbing, told
from assay.results.sequence_names import sequence_place
from assay.results.step import latency_count, ran_whole, rate_count
from assay.spec.units import SECOND_NS, duration_label
from assay.words.coded import coded

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from assay.engine.records import StepRecord, StoredTest, TestSettings
    from assay.words.coded import Coded, Place


STALL_NS = SECOND_NS
"""A silence of this length is marked as a stall; from the test's stall limit on it makes a measurement void."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stall:
    """One step in which the drive was silent. name : of its sequence. void : that enters no verdict and no result."""

    name: str
    label: str
    span_ns: int
    void: bool


def stalled_steps(steps: Sequence[StepRecord]) -> list[StepRecord]:
    """The steps with a silence of a second or more. Worked: silences of 0.9 and 1.1 s -> the second step."""
    return [step for step in steps if (step.stall_ns_max or 0) >= STALL_NS]


def is_void(step: StepRecord, settings: TestSettings) -> bool:
    """Whether the drive was silent in a step for longer than the test allows, or the kernel told of a reset or error.

    Worked: 5.0 s of silence at a limit of 2 s -> void; at a limit of 0, which means that nobody judges, not.
    """
    return _is_stalled(step, settings) or bool(disturbing(step))


def _is_stalled(step: StepRecord, settings: TestSettings) -> bool:
    return 0 < settings.stall_limit_ns < (step.stall_ns_max or 0)


def void_reason(steps: Sequence[StepRecord], settings: TestSettings) -> Coded | None:
    """Why what these steps measured is void, None where it is not.

    Worked: a round whose third cell had 5.04 s of silence -> ``"no I/O completed for 5.0 s in RND 4KiB 0/100"``.
    """
    result = [step for step in steps if is_void(step, settings)]
    if not result:
        return None
    worst = max(result, key=lambda step: step.stall_ns_max or 0)
    if _is_stalled(worst, settings):
        return coded("silent", span_ns=worst.stall_ns_max, where=worst.label)
    return coded("found-in", what=_happened(result, settings), where=result[0].label)


def void_places(test: StoredTest) -> list[tuple[Place, Coded]]:
    """The places of everything that is void, with what happened to the drive, in the order they ran.

    Worked: a stall in round 3 -> ``[("round 3", "the drive stalled for 5.0 s")]``; in one of samples 32 to 62, which
    are judged each for itself -> ``"a step of samples 32 to 62"``.
    """
    places = []
    for sequence in test.sequences:
        void = [step for step in sequence.steps if sequence.on_void != "accept" and is_void(step, test.settings)]
        if void:
            alike = len(sequence.asked) > 1 and len(set(sequence.asked)) == 1
            place = sequence_place(sequence)
            place = replace(place, stem=f"a step of {place.stem}") if alike else place
            places.append((place, _happened(void, test.settings)))
    return places


def _happened(void: Sequence[StepRecord], settings: TestSettings) -> Coded:
    worst = max(void, key=lambda step: step.stall_ns_max or 0)
    if _is_stalled(worst, settings):
        return coded("drive-stalled", span_ns=worst.stall_ns_max)
    gravest = min((event for step in void for event in disturbing(step)), key=lambda event: event.level)
    return coded("gate-says" if gravest.device == BY_GATE else "kernel-says", event=told(gravest))


def stalls(test: StoredTest) -> tuple[Stall, ...]:
    """Every step of a stored test in which the drive was silent, in the order they ran."""
    return tuple(
        Stall(
            name=sequence.name,
            label=step.label,
            span_ns=step.stall_ns_max or 0,
            void=sequence.on_void != "accept" and _is_stalled(step, test.settings),
        )
        for sequence in test.sequences
        for step in stalled_steps(sequence.steps)
    )


class Tracked(NamedTuple):
    """A step of a tracking variable. late : I/Os that complete behind its window count, as they do for latency."""

    label: str
    step: StepRecord
    late: bool = False


def silent_cell(tracked: Iterable[Tracked]) -> Tracked | None:
    """The first tracked step in which no I/O completed, None where each has a value.

    Worked: a cell of 50 ms on a drive that completes an I/O per second -> that cell.
    """
    return next((one for one in tracked if not (latency_count if one.late else rate_count)(one.step)), None)


def is_whole_round(
    steps: Sequence[StepRecord], settings: TestSettings, *, count: int, tracked: Iterable[Tracked]
) -> bool:
    """Whether a round may enter a verdict. count : steps of a round. tracked : those that steady state is decided by.

    Every step ran to its end, no I/O failed, nothing is void, and each tracked step has a completion.
    """
    whole = len(steps) == count and all(map(ran_whole, steps))
    return whole and void_reason(steps, settings) is None and silent_cell(tracked) is None


def no_completions_reason(silent: Tracked) -> str:
    """Why a test ended for want of a completion.

    Worked: ``"no I/O of RND 4KiB 0/100 completed within a step of 0.05 s, which is too short for this drive and
    demand"``.
    """
    span = duration_label(silent.step.span_ns)
    return f"no I/O of {silent.label} completed within a step of {span}, which is too short for this drive and demand"
