"""How often trials of the gate had each kind of user at each moment, how they ended, and what was wrong."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gate_topologies import CHANGES, LATE_CHANGES, NOBODY
from gate_topology_users import KINDS, MOMENTS

if TYPE_CHECKING:
    from gate_topologies import Outcome

FAULTS_MAX = 10
"""After so many the rest says nothing new."""
TOO_LATE = "came too late"
"""End of a trial whose user came when the run was over: it shows nothing."""
_EVERY_KIND = (NOBODY, *KINDS, *dict.fromkeys((*CHANGES, *LATE_CHANGES)))


@dataclass(slots=True)
class Counts:
    """The bookkeeping of many trials. faults : one line each, with what repeats it.

    refused_first : the same of free drives that were refused once only.
    """

    ends: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    refused_first: list[str] = field(default_factory=list)

    def add(self, seed: int, outcome: Outcome) -> None:
        """Count a trial."""
        self.ends[(*outcome.dealt, outcome.end)] += 1
        again = f"ASSAY_GATE_SEED={seed} ASSAY_GATE_TRIALS=1"
        if outcome.refused_first:
            self.refused_first.append(f"{again}, once only: {outcome.refused_first} ({outcome.story})")
        if outcome.wrong:
            self.faults.append(f"{again}: {outcome.wrong} ({outcome.story})")

    def of(self, kind: str) -> int:
        """How many trials of a kind showed something."""
        return sum(count for (name, _, end), count in self.ends.items() if name == kind and end != TOO_LATE)

    def share_opened(self) -> float:
        """Of all trials, those in which the drive was opened."""
        closed = sum(count for (_, _, end), count in self.ends.items() if end in ("refused", "exit 3"))
        return 1 - closed / max(1, self.ends.total())

    def text(self) -> str:
        """All counts, a line each kind."""
        lines = [line for kind in _EVERY_KIND if (line := self._of_kind(kind))]
        words = {"wrong opens": "OPENED", "arrivals missed": "MISSED", "free drives refused": "FREE DRIVE"}
        wrong = [f"{name} {sum(word in fault for fault in self.faults)}" for name, word in words.items()]
        once = f"free drives refused once, then opened {len(self.refused_first)}"
        title = f"{self.ends.total()} trials: {', '.join(wrong)}, {once}, all that was wrong {len(self.faults)}"
        return "\n".join([title, *lines, *self.refused_first, *self.faults])

    def _of_kind(self, kind: str) -> str:
        told = []
        for moment in MOMENTS:
            ends = {
                end: count for (name, when, end), count in sorted(self.ends.items()) if (name, when) == (kind, moment)
            }
            if ends:
                told.append(f"{moment}: {', '.join(f'{end} {count}' for end, count in ends.items())}")
        return f"{kind:30} {self.of(kind):5}  {'; '.join(told)}" if told else ""
