"""What a good analyst would say of a run, as records: a kind, its values, and the accesses that it is about."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from assay.words.subject import ALL_IOS, Subject

if TYPE_CHECKING:
    from collections.abc import Mapping

KindName = Literal[
    "withheld", "unwritten-reads", "host-interference", "held-against-missed", "stalls", "not-steady",
    "still-falling", "settled-fall", "tail", "mixed-penalty", "transfer-penalty", "slow-recovery", "uneven-seconds",
    "rate-missed", "setting-effect", "tests-disagree", "unstable-cells", "baseline-change", "limit", "far-below",
    "saturates", "no-gain-by-depth", "sequential-gain", "indistinct", "idle-gain", "idle-no-gain", "rate-kept",
]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Insight:
    """One thing worth knowing. tests : labels of those that it comes from. values : unrounded; None where missing.

    also : further ones of the same kind that are less grave.
    """

    kind: KindName
    values: Mapping[str, Any] = field(default_factory=dict)
    subject: Subject = ALL_IOS
    tests: tuple[str, ...] = ()
    also: tuple[Insight, ...] = ()


def insight(kind: KindName, subject: Subject = ALL_IOS, **values: Any) -> Insight:
    """An insight of one test, which adds its label. Worked: ``insight("unwritten-reads", share=0.4)``."""
    return Insight(kind=kind, subject=subject, values=values)
