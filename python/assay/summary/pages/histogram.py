"""The response-time histogram behind a test: its two pages and its table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.results import (
    all_step_times,
    kept_histograms,
    max_latency_ns,
    merged,
    percentiles,
    response_time,
    withheld_reason,
)
from assay.spec.units import MILLISECOND_NS, duration_label
from assay.summary.pages.histogram_figures import MARKED_SHARES, confidence_figure, histogram_figure
from assay.summary.pages.model import Text
from assay.words.printed import milliseconds_text
from assay.words.text import text_or_none

if TYPE_CHECKING:
    from assay.engine.records import StoredTest
    from assay.results import ResponseTimes
    from assay.summary.pages.model import Block, Figure
    from assay.summary.pages.test_record import PagePart, Source


def histogram_parts(source: Source) -> tuple[PagePart, ...]:
    """The response-time histogram and the Confidence Level Plot behind a test; none where it had none."""
    steps, times = (
        [step for kept_histogram in kept_histograms(source.test) for step in kept_histogram.steps],
        histogram_times(source.test),
    )
    if not steps:
        return ()
    step = steps[0]
    if (withheld := withheld_reason(source.test)) or not times.io_count:
        reason = f"n/a: {text_or_none(withheld) or 'no I/O completed'}"
        return (("Response Time Histogram", (Text(paragraphs=(reason,)),)),)
    latency_ms_max = (max_latency_ns(step) or 0) / MILLISECOND_NS
    what = f"{step.label.removeprefix('histogram ')}, {duration_label(step.span_ns)}"
    mean_ms, found = float(response_time(step)), percentiles(times, MARKED_SHARES)
    plot = confidence_figure(f"{source.prefix}-confidence", times, mean_ms)
    return (
        (
            f"Response Time Histogram - {what}, MRT = {milliseconds_text(latency_ms_max)} ms",
            (_or_nothing(histogram_figure(f"{source.prefix}-histogram", times, mean_ms, found)),),
        ),
        (f"Response Time Histogram - Confidence Level Plot - {what}", (_or_nothing(plot),)),
    )


def histogram_times(test: StoredTest) -> ResponseTimes:
    """All response times of the histogram step behind a test; empty where it had none, or none that is not void."""
    return merged(all_step_times(kept_histograms(test)))


def _or_nothing(figure: Figure | None) -> Block:
    return figure or Text(paragraphs=("n/a: no I/O completed",))
