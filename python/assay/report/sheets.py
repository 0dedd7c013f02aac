"""One test on its way to pages: sheets of blocks become pages under the test's header."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from assay.report.header import header
from assay.report.page import Box, Figure, Page
from assay.report.printed import paragraph

if TYPE_CHECKING:
    from assay.profile import Profile
    from assay.records import MeasurementWindow, StoredRun, StoredTest
    from assay.report.page import Block

# The taller header of form 2.0 leaves flatter room for figures.
FLATTER = {"1.0": 1.0, "2.0": 1.2}
STRIP = ("objective", "baseline", "samples", "notes")
Sheet = tuple[str, tuple["Block", ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheets:
    """One test on its way to pages. prefix : begins the names of its figures."""

    run: StoredRun
    test: StoredTest
    profile: Profile
    prefix: str

    def pages(
        self, title: str, sheets: tuple[Sheet, ...], *, window: MeasurementWindow | None, banner: str | None
    ) -> tuple[Page, ...]:
        """Give each sheet the test's title, header and banner."""
        head = header(self.run, self.test, self.profile, window)
        return tuple(
            Page(
                title=title,
                subtitle=subtitle,
                header=head,
                banner=banner,
                blocks=tuple(_shaped(block, self.profile) for block in blocks),
            )
            for subtitle, blocks in sheets
        )

    def strip(self) -> Box:
        """Objective, baseline, samples and notes of the plan."""
        stated = {key: self.run.description.get(key, "").strip() for key in STRIP}
        return Box(
            title="Report",
            entries=tuple((key.capitalize(), paragraph(text or "not stated")) for key, text in stated.items()),
            wide=True,
        )


def _shaped(block: Block, profile: Profile) -> Block:
    return replace(block, aspect=block.aspect * FLATTER[profile.header]) if isinstance(block, Figure) else block
