"""What insights are about, from how accesses were set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.words.printed import outstanding
from assay.words.subject import Subject

if TYPE_CHECKING:
    from assay.engine.records import AccessPattern, Demand
    from assay.words.subject import Order

_ORDERS: dict[float, Order] = {0.0: "SEQ", 1.0: "RND"}


def pattern_subject(pattern: AccessPattern, demand: Demand | None = None) -> Subject:
    """The accesses of a pattern; a mix of sizes or orders has none. Worked: random writes of 4 KiB, 8 in flight."""
    whole = pattern.operation == "transfer" and not pattern.lines
    return Subject(
        order=_ORDERS.get(pattern.random_share) if whole else None,
        read_pct=round(pattern.read_share * 100) if whole else None,
        size_bytes=pattern.sizes[0][0] if whole and len(pattern.sizes) == 1 else None,
        depth=outstanding(demand) if demand else None,
    )
