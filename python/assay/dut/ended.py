"""How a sequence of steps ended, and the error where that is not as it was asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.dut.simulated.model import is_simulated
from assay.errors import DeviceFailureError, TimekeepingError, errno_label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.engine.records import StepRecord

_LOST_TIME = {
    "late-boundary": "a thread was held up by the host while a window was opened or closed",
    "clock": "an I/O was complete before it was submitted, by the host's clock",
}


def check_sequence(records: Sequence[StepRecord], path: str) -> None:
    """Raise where a sequence did not run to its end.

    Raises KeyboardInterrupt, TimekeepingError, or DeviceFailureError with the error counts.
    """
    last, errors = records[-1], _errors(records)
    if last.ended == "interrupted":
        raise KeyboardInterrupt
    if last.ended in _LOST_TIME:
        reason = f"{_LOST_TIME[last.ended]} in {last.label}"
        raise TimekeepingError(path, reason, "see assay check for what disturbs the host")
    if errors or last.ended != "stop-rule":
        counts = ", ".join(f"{count} x {errno_label(errno)}" for errno, count in sorted(errors.items()))
        reason = "the drive stopped answering" if last.ended == "hung" else "I/Os failed"
        reason = f"{reason} in {last.label}" + (f" ({counts})" if counts else "")
        raise DeviceFailureError(path, reason, _remedy(path, hung=last.ended == "hung"))


def what_to_check(path: str) -> str:
    """What to look at where a drive fails. Worked: a simulated drive has faults, and no kernel that logs them."""
    return "check the faults of the simulated drive" if is_simulated(path) else "check the drive and the kernel log"


def _remedy(path: str, *, hung: bool) -> str:
    if hung and is_simulated(path):
        return "raise --io-time-limit, lower TC x QD, or check the faults of the simulated drive"
    return what_to_check(path)


def _errors(records: Sequence[StepRecord]) -> dict[int, int]:
    total: dict[int, int] = {}
    for record in records:
        for direction in record.sides:
            for errno, count in direction.errors.items():
                total[errno] = total.get(errno, 0) + count
    return total
