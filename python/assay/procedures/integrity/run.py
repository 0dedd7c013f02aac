"""What the study of data integrity is set to do, and its passes: each is written, then read back whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.engine.records import CheckData, Ending, StepSequence
from assay.procedures.studies.run import StudySettings, step_spec

if TYPE_CHECKING:
    from assay.plan.procedure import Context, Course
    from assay.procedures.studies.run import StudyVariant


@dataclass(frozen=True, slots=True, kw_only=True)
class IntegritySettings(StudySettings):
    """A study whose variants are passes: each writes addressed data, which are read back whole afterwards.

    flushed : of each pass, whether the drive makes its cache durable before it is read. share : of the drive that each
    pass writes, in (0, 1].
    """

    flushed: tuple[bool, ...]
    share: float

    def fault(self) -> str | None:
        """Passes without a read-back, or data without addresses."""
        kinds = {step.pattern.data.kind for variant in self.variants for step in variant.steps}
        return None if len(self.flushed) == len(self.variants) and kinds == {"addressed"} else "has other passes"


def written_parts(variant: StudyVariant) -> tuple[tuple[int, int], ...]:
    """(First byte, length) of everything that a pass writes, in rising order.

    Worked: 64 MiB from 0 on, and two pieces of 256 KiB -> three parts.
    """
    parts = []
    for step in variant.steps:
        starts = step.segment_starts or (step.from_bytes,)
        parts += [(start, step.length_bytes // len(starts)) for start in starts]
    return tuple(parts)


def run_integrity(settings: IntegritySettings, context: Context) -> Course:
    """Write and read back every pass; the second shows what the drive kept of the first."""
    passes = zip(settings.variants, settings.flushed, strict=True)
    for index, (variant, flush) in enumerate(passes, 1):
        steps = tuple(step_spec(step, context) for step in variant.steps)
        yield StepSequence(
            name=variant.label, stage="variant", index=index, steps=steps, role="measure", on_void="accept"
        )
        yield CheckData(after=variant.label, parts=written_parts(variant), flush=flush)
    return Ending(reason="amount", reached=True)
