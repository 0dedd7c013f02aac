"""Where a run was taken up again: which tests count, and what was cut short."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.engine.codec import decode
from assay.engine.records import RunBreak
from assay.run.store.forms import Resumed
from assay.words.endings import is_cut_short

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.run.store.journal import Entry

RESUMED = "resumed"


def superseded(lines: Sequence[Entry]) -> frozenset[int]:
    """The ``seq`` of each line that begins a test which a break cut short and which is in no result."""
    result: set[int] = set()
    start: int | None = None
    ended: str | None = None
    for entry in lines:
        if entry.kind == "test_started":
            start, ended = entry.seq, None
        elif entry.kind == "test_ended" and ended is None:
            ended = str(entry.data.get("reason"))
        elif entry.kind == RESUMED and start is not None and is_cut_short(ended):
            result.add(start)
    return frozenset(result)


def run_breaks(lines: Sequence[Entry]) -> tuple[RunBreak, ...]:
    """Every place where a run was taken up again. Raises StoreError where a line is none of a run's."""
    breaks: list[RunBreak] = []
    test, ended, count = None, None, 0
    for index, entry in enumerate(lines):
        if entry.kind == "test_started":
            settings = entry.data.get("settings")
            test, ended, count = str(settings.get("test")) if isinstance(settings, dict) else "unknown", None, 0
        elif entry.kind == "steps":
            count += 1
        elif entry.kind == "test_ended" and ended is None:
            ended = str(entry.data.get("reason"))
        elif entry.kind == RESUMED:
            data = decode(Resumed, entry.data, name=entry.place)
            cut = test is not None and is_cut_short(ended)
            breaks.append(
                RunBreak(
                    wall_ns=entry.wall_ns,
                    last_wall_ns=lines[index - 1].wall_ns if index else entry.wall_ns,
                    test=test if cut else None,
                    ended=ended if cut else None,
                    sequence_count=count if cut else 0,
                    torn_bytes=data.torn_bytes,
                    changed=data.changed,
                )
            )
            test = None
    return tuple(breaks)
