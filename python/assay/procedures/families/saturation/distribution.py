"""How the response times of a write saturation are spread: fresh, settled, last, and over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.procedures.families.saturation.result import complete_samples, verdict_sample
from assay.procedures.families.saturation.settings import SaturationSettings
from assay.results import all_step_times, is_void
from assay.summary.pages.distribution import Distribution, part
from assay.summary.pages.heat_figures import time_heat
from assay.words.coded import coded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records import StoredTest
    from assay.procedures.families.saturation.result import SaturationResult

Phase = tuple[str, str, "tuple[int, ...]"]


def saturation_distribution(test: StoredTest, result: SaturationResult, prefix: str) -> Distribution:
    """Response times by phase, histograms of its samples added; no part where the result is withheld."""
    samples = complete_samples(test.steps("sample"))
    times = all_step_times(test.stage("sample"))[: len(samples)]
    # Histograms of a part cannot be told from those of the whole.
    times = times if len(times) == len(samples) else []
    settings = test.settings_as(SaturationSettings)
    void = {index for index, sample in enumerate(samples) if is_void(sample, settings)}
    parts = tuple(
        part((key, places[0] + 1, places[-1] + 1), label, [samples[i] for i in kept], [times[i] for i in kept if times])
        for key, label, places in phases(result, settings)
        if (kept := [place for place in places if place not in void])
    )
    heat = time_heat(f"{prefix}-heat", result.samples.minutes, times) if parts else None
    said = "I/Os by response time over the time of the test; a field without a colour had none."
    return Distribution(
        name=settings.test.replace("-", "_"),
        title=settings.test_label,
        over="samples, first to last",
        prefix=prefix,
        columns=("phase", "sample_first", "sample_last"),
        parts=parts,
        withheld=result.withheld or coded("no-whole-sample"),
        curves=tuple(range(len(parts))),
        maps=((said, heat),) if heat else (),
        printed=heat.name if heat else "",
    )


def phases(result: SaturationResult, settings: SaturationSettings) -> Iterator[Phase]:
    """The phases of a test with their samples from 0; none where the result is withheld.

    The window has the samples that its verdict was taken on, and nothing between them, like the steady-state IOPS.
    Worked: a window of verdict samples 1 to 5 with one sample in 31 -> samples 31, 62, 93, 124 and 155.
    """
    count = len(result.samples.iops)
    if result.withheld or not count:
        return
    yield "first", "First sample", (0,)
    if result.window and result.window.reached:
        window = tuple(verdict_sample(number, settings) - 1 for number in result.window.rounds)
        yield "window", f"Window, samples {', '.join(str(place + 1) for place in window)}", window
    if result.steady:
        yield (
            "steady",
            f"From where the level is reached on, samples {result.steady.sample}-{count}",
            _from(result.steady.sample, count),
        )
    yield "last", f"Last sample, {count}", (count - 1,)


def _from(sample: int, count: int) -> tuple[int, ...]:
    return tuple(range(sample - 1, count))
