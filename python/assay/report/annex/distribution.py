"""The printed pages of response times, behind the disclosure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.summary.pages.histograms import printed_pages
from assay.summary.pages.model import Page

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.summary.pages.test_record import TestRecord


def pages(tests: Sequence[TestRecord]) -> Iterator[Page]:
    """The pages of each test that has histograms and prints results: one, and one for its printed map."""
    for one in tests:
        if result := one.distribution:
            for index, blocks in enumerate(printed_pages(result)):
                which = result.printed_title if index else f"over {result.over}"
                subtitle = f"{result.title} - Response Times (ms) {which}"
                yield Page(title="Response Times", subtitle=subtitle, header=None, banner=one.banner, blocks=blocks)
