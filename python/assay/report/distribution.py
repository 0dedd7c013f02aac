"""The printed pages of response times, behind the disclosure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.pages.distribution import printed_pages
from assay.pages.model import Page
from assay.report.summary import summary_header

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.engine.records import StoredRun
    from assay.pages.distribution import Distribution
    from assay.pages.test_report import TestReport
    from assay.spec.edition import Edition


def pages(
    run: StoredRun, edition: Edition, tests: Sequence[TestReport], spread: Sequence[Distribution | None]
) -> Iterator[Page]:
    """The pages of each test that has histograms and prints results: one, and one for its printed map."""
    head = summary_header(run, edition)
    for one, found in zip(tests, spread, strict=True):
        if found:
            for place, blocks in enumerate(printed_pages(found)):
                which = found.printed_title if place else f"over {found.over}"
                subtitle = f"{found.title} - Response Times (ms) {which}"
                yield Page(title="Response Times", subtitle=subtitle, header=head, banner=one.banner, blocks=blocks)
