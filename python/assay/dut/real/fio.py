"""The outside tool fio on a drive that the gate holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.dut.real.command import CommandError, find_tool, run_command
from assay.errors import DeviceFailureError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

_FIO = "fio"
_EXTRA_SECONDS = 120


def fio_version() -> str:
    """The version of the installed fio. Raises UsageError where there is none."""
    if find_tool(_FIO) is None:
        raise UsageError(_FIO, "is not installed", "install the package fio: it is what the engine is compared with")
    return _run(["--version"], (), _EXTRA_SECONDS).strip()


def run_fio(arguments: Sequence[str], descriptor: int, seconds: float) -> str:
    """Run fio on the held drive; what it prints.

    descriptor : the gate's; fio opens the same device through it, whatever its name means by now.
    seconds : how long the job should take.
    Raises DeviceFailureError where fio fails or does not come back.
    """
    return _run([f"--filename=/proc/self/fd/{descriptor}", *arguments], (descriptor,), seconds + _EXTRA_SECONDS)


def _run(arguments: Sequence[str], descriptors: tuple[int, ...], seconds: float) -> str:
    try:
        answer = run_command(_FIO, arguments, seconds=seconds, pass_fds=descriptors)
    except CommandError as error:
        raise DeviceFailureError(_FIO, str(error), "check the drive and the kernel log") from None
    told = (answer.errors or answer.output).decode("utf-8", "replace").strip().splitlines()
    if answer.code:
        reason = told[-1] if told else f"ended with exit code {answer.code}"
        raise DeviceFailureError(_FIO, reason, "check the drive and the kernel log")
    return answer.output.decode("utf-8", "replace")
