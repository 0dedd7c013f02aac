"""Bars of changes as data: how much better or worse each number of a gate is, with its limit and uncertainty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.summary.record import Level


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One number. by : the share by which it is better, negative where it is worse; None without a ratio.

    reach : the share by which that may be off; None where it is not known. limit : the share from which it fails.
    level : of its verdict, which its colour follows. words : the verdict, behind the bar.
    """

    label: str
    by: float | None
    reach: float | None
    limit: float
    level: Level
    words: str
