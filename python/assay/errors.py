"""The error tree: every operating error is one class with a stable slug and an exit code.

AssayError
├── SystemRefusedError    1  what the system refuses and no class below foresees
├── UsageError            2  plans, options, targets of the wrong kind
│   ├── PlanError            a plan or edition file, with line and column
│   ├── DriveNotFoundError   nothing there, or an unknown simulated drive
│   ├── NotADriveError       the target is not a block device (or not the kind asked for)
│   ├── UnlikeRunsError      runs made under conditions that differ
│   └── ValueRangeError      a value outside its legal range
├── GateRefusedError      3  the gate keeps its hands off a drive
│   ├── DriveBusyError       mounted, swap, held, or in use by anybody
│   ├── ReadOnlyError        cannot be written
│   ├── PartitionError       a partition instead of the whole disk
│   ├── SignatureError       something is on it and was not acknowledged
│   ├── TooSmallError        the procedure needs more capacity
│   ├── UnsupportedDriveError a kind that cannot be tested: zoned
│   ├── WearError            would be written more often than allowed
│   ├── OverheatedError      as warm as the drive warns of
│   ├── FolderBusyError      another run writes to this run folder
│   ├── HostLimitError       a limit of this host: io_uring, locked memory, open files, threads, memory
│   ├── IdentityError        ambiguous, replaced, or changed identity
│   └── ConfirmationError    confirmation missing or wrong
├── DeviceFailureError    4  I/O errors, hangs, purge failures during a run
│   ├── DriveChangedError    resized, replaced, used by others, or turned to another disk under the test
│   └── WrongDataError       returned other data than were written
├── VerificationError     5  a run folder that was tampered with; results that are withheld exit alike
├── TimekeepingError      5  the host lost track of time while it measured
├── StoreError            6  a run folder that cannot be read or written
├── InternalError        70  a defect of this program
└── InterruptedRunError 130  stopped by the user; what was measured is kept
"""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

E = TypeVar("E", bound="AssayError")

EXIT_OK = 0
EXIT_WITHHELD = 5
EXIT_NOT_STEADY = 7
EXIT_NOT_MET = 8
_LETTERS_MAX = (600, 900, 500)
"""Of thing, reason and remedy in a message."""
FAULTS_MAX, _SHOWN_MAX = 1000, 10
"""Faults of one thing that are looked for, and that are shown."""
EXITS_BY_STRENGTH = (130, 3, 4, 6, EXIT_WITHHELD, EXIT_NOT_STEADY, EXIT_NOT_MET)
"""Where several apply, a command exits with the first of them."""


def strongest_first(codes: Collection[int]) -> tuple[int, ...]:
    """Several codes in the order in which they count. Worked: 8 and 5 -> ``(5, 8)``."""
    return tuple(code for code in EXITS_BY_STRENGTH if code in codes)


def strongest(codes: Collection[int]) -> int:
    """The code that a command with several ends with. Worked: 5 and 6 -> 6; none -> 0."""
    return next((code for code in EXITS_BY_STRENGTH if code in codes), max(codes, default=EXIT_OK))


class AssayError(Exception):
    """An operating error: one line that names the thing, the reason and what to do.

    thing : what the error is about (a path, a key, an option).
    reason : why it cannot be used.
    remedy : what to do next.
    further : other faults that were found with it, each a line of its own behind the first.
    Names and texts of others may be of any length: a line has at most 2,000 letters, of which each part has its own.
    Worked: ``str(AssayError("/dev/x", "does not exist", "run assay drives"))`` is
    ``"/dev/x: does not exist; run assay drives"``.
    """

    slug = "error"
    exit_code = 1

    def __init__(self, thing: str, reason: str, remedy: str, *, further: tuple[AssayError, ...] = ()) -> None:
        super().__init__()
        self.thing, self.reason, self.remedy = map(_clipped, (thing, reason, remedy), _LETTERS_MAX)
        self.further = further

    def __str__(self) -> str:
        """Each fault on a line; a remedy that several of one thing share stands with the last of them."""
        faults = [self, *(inner for fault in self.further for inner in (fault, *fault.further))]
        last = {(fault.thing, fault.remedy): fault for fault in faults}
        lines = (
            f"{fault.thing}: {fault.reason}" + f"; {fault.remedy}" * (last[fault.thing, fault.remedy] is fault)
            for fault in faults
        )
        return "\n".join(_clipped(_one_line(line), sum(_LETTERS_MAX)) for line in lines)


class SystemRefusedError(AssayError):
    """The system refused what no rule foresaw: standard output that is closed or full, memory that is used up."""

    slug = "system"
    exit_code = 1


class UsageError(AssayError):
    """The command or plan cannot be carried out as written."""

    slug = "usage"
    exit_code = 2


class PlanError(UsageError):
    """A plan or edition file is wrong; the thing is ``file:line:column: key``."""

    slug = "plan"


class DriveNotFoundError(UsageError):
    """No drive answers to this name."""

    slug = "drive-not-found"


class NotADriveError(UsageError):
    """The target exists but is not the kind of thing that can be tested."""

    slug = "not-a-drive"


class ValueRangeError(UsageError):
    """A value lies outside its legal range."""

    slug = "value-range"


class UnlikeRunsError(UsageError):
    """Runs were made under conditions that differ, so that their numbers say nothing of the drives."""

    slug = "unlike"


class GateRefusedError(AssayError):
    """The gate refuses to touch the drive."""

    slug = "gate-refused"
    exit_code = 3


class DriveBusyError(GateRefusedError):
    """The drive, or something on it, is in use."""

    slug = "drive-busy"


class ReadOnlyError(GateRefusedError):
    """The drive or file cannot be written."""

    slug = "read-only"


class PartitionError(GateRefusedError):
    """A partition was named; only whole disks are tested."""

    slug = "partition"


class SignatureError(GateRefusedError):
    """The drive carries a file system, partition table or other signature."""

    slug = "signature"


class TooSmallError(GateRefusedError):
    """The drive is too small for the procedure."""

    slug = "too-small"


class UnsupportedDriveError(GateRefusedError):
    """The drive is of a kind that cannot be tested."""

    slug = "unsupported-drive"


class WearError(GateRefusedError):
    """The run would write the drive more often than is allowed."""

    slug = "wear"


class OverheatedError(GateRefusedError):
    """The drive is at or above its warning temperature."""

    slug = "overheated"


class FolderBusyError(GateRefusedError):
    """Another run writes to the run folder."""

    slug = "folder-busy"


class HostLimitError(GateRefusedError):
    """A limit of this host is below what the run takes; the drive has no part in it."""

    slug = "host-limit"


class IdentityError(GateRefusedError):
    """The drive is not, or is no longer, the one that was named."""

    slug = "identity"


class ConfirmationError(GateRefusedError):
    """The destructive act was not confirmed with the drive's identity."""

    slug = "confirmation"


class DeviceFailureError(AssayError):
    """The drive failed I/Os, stopped answering, or could not be purged."""

    slug = "device-failure"
    exit_code = 4


class DriveChangedError(DeviceFailureError):
    """The drive was changed, or somebody began to use it, under the test.

    since_wall_ns : when it was last seen as it was; what ran since then is void. None where that is not known.
    """

    slug = "drive-changed"

    def __init__(
        self,
        thing: str,
        reason: str,
        remedy: str,
        *,
        further: tuple[AssayError, ...] = (),
        since_wall_ns: int | None = None,
    ) -> None:
        super().__init__(thing, reason, remedy, further=further)
        self.since_wall_ns = since_wall_ns


class WrongDataError(DeviceFailureError):
    """The drive returned other data than were written to it."""

    slug = "wrong-data"


class VerificationError(AssayError):
    """What is stored is not what was written: a broken hash chain, a changed table, a verdict that its rounds deny."""

    slug = "verification"
    exit_code = 5


class TimekeepingError(AssayError):
    """The host lost track of time during a measurement: a clock ran back, or a thread was held up at a boundary."""

    slug = "timekeeping"
    exit_code = 5


class StoreError(AssayError):
    """The run folder cannot be written or read: missing, full, not permitted, or of an unknown form."""

    slug = "store"
    exit_code = 6


class InternalError(AssayError):
    """A defect of this program, not of its input."""

    slug = "internal"
    exit_code = 70


class InterruptedRunError(AssayError):
    """The user stopped the run; everything measured so far is in the run folder."""

    slug = "interrupted"
    exit_code = 130


def joined(errors: Sequence[E], of: str = "") -> E:
    """Several faults as one error: the first, and the others further; each is a line of its own.

    of : what has them, which stands in a last line that counts all behind the tenth.
    """
    first, *others = errors[:_SHOWN_MAX]
    if count := len(errors[_SHOWN_MAX:]):
        number = f"at least {count}" if len(errors) >= FAULTS_MAX else f"{count}"
        reason = f"has {number} more fault{'s' * (count > 1)}"
        others.append(type(first)(of or first.thing, reason, "correct these first"))
    return type(first)(first.thing, first.reason, first.remedy, further=tuple(others))


def errno_label(number: int) -> str:
    """An error of the system by its name and in words. Worked: 5 -> ``"EIO, input/output error"``."""
    name = errno.errorcode.get(number)
    words = os.strerror(number)
    return f"{name}, {words[:1].lower()}{words[1:]}" if name else f"error number {number}"


def _clipped(text: str, letters_max: int) -> str:
    return text if len(text) <= letters_max else f"{text[: letters_max - 3]}..."


def _one_line(text: str) -> str:
    """The text on one line; what a terminal could obey is made visible, since names and paths may be anybody's."""
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in " ".join(text.split()))


def error_facts(error: AssayError) -> dict[str, Any]:
    """An error as JSON has it, those that were found with it under ``further``."""
    facts: dict[str, Any] = {
        "error": error.slug,
        "thing": error.thing,
        "reason": error.reason,
        "remedy": error.remedy,
        "exit_code": error.exit_code,
    }
    return facts | ({"further": [error_facts(fault) for fault in error.further]} if error.further else {})


def error_of(facts: dict[str, Any]) -> AssayError:
    """The error that became ``facts``. Worked: ``error_of(error_facts(error))`` says what ``error`` says."""
    kinds = {kind.slug: kind for kind in _kinds(AssayError) if "slug" in vars(kind)}
    return kinds.get(facts["error"], AssayError)(facts["thing"], facts["reason"], facts["remedy"])


def _kinds(base: type[AssayError]) -> list[type[AssayError]]:
    return [base, *(kind for below in base.__subclasses__() for kind in _kinds(below))]
