"""The outside tool fio on a drive that the gate holds."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

from assay.errors import DeviceFailureError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

_PATHS = "/usr/local/bin:/usr/bin:/bin"
_EXTRA_SECONDS = 120


def fio_version() -> str:
    """The version of the installed fio. Raises UsageError where there is none."""
    done = subprocess.run([_fio(), "--version"], capture_output=True, text=True, check=False, timeout=_EXTRA_SECONDS)
    return done.stdout.strip()


def run_fio(arguments: Sequence[str], descriptor: int, seconds: float) -> str:
    """Run fio on the held drive; what it prints.

    descriptor : the gate's; fio opens the same device through it, whatever its name means by now.
    seconds : how long the job should take.
    Raises DeviceFailureError where fio fails or does not come back, UsageError where it is not installed.
    """
    try:
        done = subprocess.run(
            [_fio(), f"--filename=/proc/self/fd/{descriptor}", *arguments],
            capture_output=True,
            text=True,
            check=True,
            pass_fds=(descriptor,),
            timeout=seconds + _EXTRA_SECONDS,
            env={"LC_ALL": "C", "PATH": _PATHS},
        )
    except subprocess.CalledProcessError as error:
        told = (error.stderr or error.stdout).strip().splitlines()
        reason = told[-1] if told else f"ended with exit code {error.returncode}"
        raise DeviceFailureError("fio", reason, "check the drive and the kernel log") from None
    except subprocess.TimeoutExpired:
        raise DeviceFailureError("fio", "did not come back", "check the drive and the kernel log") from None
    return done.stdout


def _fio() -> str:
    path = shutil.which("fio", path=_PATHS)
    if path is None:
        raise UsageError("fio", "is not installed", "install the package fio: it is what the engine is compared with")
    return path
