"""What the study of data integrity does: each pass is written, then read back whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.engine.records import CheckData, Ending, StepSequence
from assay.procedures.integrity.settings import written_parts
from assay.procedures.studies.run import step_spec

if TYPE_CHECKING:
    from assay.plan.procedure import Context, Course
    from assay.procedures.integrity.settings import IntegritySettings


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
