"""How a test ended, in words for people: files and JSON have the short names, which do not change."""

from __future__ import annotations

_WORDS = {
    None: "unfinished",
    "steady": "steady state",
    "round-limit": "the last allowed round is over, without steady state",
    "time": "its time is over",
    "amount": "its amount is written",
    "no-completions": "no I/O completed, so that nothing can be judged",
    "incomplete": "not all of it was issued",
    "interrupted": "it was interrupted",
    "device-failure": "the drive failed, or stopped answering",
    "drive-changed": "the drive was changed, or used by others, under the test",
    "wrong-data": "the drive returned other data than were written",
    "timekeeping": "the host lost track of time",
    "store": "the run folder could not be written",
    "system": "the system refused what the run needed",
}


RAN_TO_ITS_END = frozenset({"steady", "round-limit", "time", "amount"})
"""Endings by a rule of the test itself."""
INCOMPLETE = "incomplete"
"""How a test ends of which less was issued than it asked for, though no I/O failed and nobody stopped it."""
NO_COMPLETIONS = "no-completions"
"""How a test ends in which a tracking variable would be zero for want of a completion: zeros are no value."""


def is_cut_short(ended: str | None) -> bool:
    """Whether a test ended before a rule of its own ended it, or has no end. Worked: ``interrupted`` -> it was."""
    return ended != NO_COMPLETIONS and ended not in RAN_TO_ITS_END


def ending_label(ended: str | None) -> str:
    """Why a test ended. ended : as stored; None where it has no end.

    Worked: ``"device-failure"`` -> ``"the drive failed, or stopped answering"``; ``"wear"``, of an error that no test
    foresees -> ``"an error ended it: wear"``.
    """
    return _WORDS.get(ended, f"an error ended it: {(ended or '').replace('-', ' ')}")
