"""Where more I/Os in flight bring no more IOPS, as insights."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assay.summary.insights import KINDS, insight

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.summary.insights import Insight
    from assay.words.subject import Subject

Depth = tuple[int, float, float | None]
"""I/Os in flight, IOPS, and mean response time in ms, None where that is not known."""

ENOUGH_SHARE = 0.95
"""A depth that gives so much of the most IOPS is enough."""


def depth_insights(about: Subject, depths: Sequence[Depth]) -> Iterator[Insight]:
    """From which depth on deeper queues only wait, or that no depth brings more than the first.

    depths : ascending. Nothing where the deepest is the first that is enough, as the drive may take more.
    Worked: 8,333 IOPS at QD 1, 33,332 at QD 8, 33,330 at QD 256 -> saturates at QD 8, 4 times QD 1.
    """
    known = [depth for depth in depths if depth[1]]
    if len(known) < 2:  # noqa: PLR2004 - two to compare
        return
    (first, least, _), (deepest, _, wait) = known[0], known[-1]
    most = max(rate for _, rate, _ in known)
    enough, rate, _ = next(one for one in known if one[1] >= ENOUGH_SHARE * most)
    gain = rate / least
    about = replace(about, depth=None)
    if most / least < KINDS["saturates"].least["gain"]:
        yield insight("no-gain-by-depth", about, depth=deepest, shallow=first)
    elif enough < deepest:
        yield insight(
            "saturates", about, depth=enough, rate=rate, gain=gain, shallow=first, deepest=deepest, wait_ms=wait
        )
