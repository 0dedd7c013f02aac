"""What the kernel said of a drive while a step ran, and whether the step's figures can still be the drive's own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.engine.records import DriveEvent, StepRecord

_WARNING_LEVEL = 4
_TOLD_MAX = 80
# Below a warning the kernel tells of a reset only by what it finds afterwards: queues made anew, a link that came up.
_TELLING = re.compile(
    r"reset|abort|time(d )?.?out|error|fail|exception|offline|frozen|retry|retries|recover|link (is )?(up|down)|"
    r"\d+/\d+/\d+ default/read/poll queues|detected capacity change|hotplug|card not present|remov|detach",
    re.IGNORECASE,
)
# Of any level: said of drives in good order, and by the way of what the host or a user asks.
_HARMLESS = re.compile(
    r"missing or invalid SUBNQN|shutdown timeout set to|allocated \d+ MiB host memory buffer|"
    r"does not support DPO or FUA|write cache: |preferred minimum I/O size|optimal transfer size|"
    r"logical blocks: |write protect is off|mode sense: |"
    r"(un)?mounted filesystem",
    re.IGNORECASE,
)


def disturbs(event: DriveEvent) -> bool:
    """Whether a line of the kernel's log tells of a reset, a timeout, an abort, a link that came anew or an error.

    Errors and warnings do unless they are known to be harmless; notices and below do where their words say so.
    Worked: ``nvme nvme0: I/O 3 QID 1 timeout, aborting`` (level 4) does; ``nvme nvme0: 2/0/0 default/read/poll queues``
    (level 6), all that is heard of a reset that somebody asked for, does; ``[sda] Write cache: enabled`` does not.
    """
    if _HARMLESS.search(event.text) and event.level >= _WARNING_LEVEL:
        return False
    return event.level <= _WARNING_LEVEL or _TELLING.search(event.text) is not None


def told(event: DriveEvent) -> str:
    """A line of the kernel's log for a sentence: its first 80 characters."""
    return event.text if len(event.text) <= _TOLD_MAX else f"{event.text[: _TOLD_MAX - 3]}..."


def disturbing(step: StepRecord) -> list[DriveEvent]:
    """The events of a step that make it void, in the order they came."""
    return [event for event in step.drive_events if disturbs(event)]
