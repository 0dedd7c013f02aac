"""Sends the alerts of a run that ended, in turn, and says which were not delivered."""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from assay.dut.real.command import CommandError, run_command
from assay.errors import PlanError
from assay.run.ending.alerts_file import read_secret
from assay.run.ending.webhook import UndeliveredError, post
from assay.spec.units import SECOND_NS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.run.ending.alerts_file import Alert
    from assay.run.ending.record import RunEnd

COMMAND_SECONDS = 60.0
"""After which a command is killed with its process group."""
_OUTPUT_BYTES_MAX = 1 << 20


@dataclass(frozen=True, slots=True)
class Delivery:
    """An alert that was sent. label : as of ``Alert.label``. response : status or exit code; else why there is none."""

    label: str
    delivered: bool
    response: str

    def __str__(self) -> str:
        """Worked: ``alert 1 (command): not delivered: exit code 9``."""
        return f"{self.label}: {'delivered' if self.delivered else 'not delivered'}: {self.response}"


def deliveries(alerts: Sequence[Alert], end: RunEnd) -> Iterator[Delivery]:
    """Send each alert that the end of a run calls for; of a trial all of them.

    Yields each as it is sent. Raises nothing that an alert is the cause of.
    """
    for number, alert in enumerate(alerts, 1):
        if end.trial or set(alert.on) & set(end.events):
            yield _delivery(alert, alert.label(number), end)


def _delivery(alert: Alert, label: str, end: RunEnd) -> Delivery:
    try:
        return Delivery(label, delivered=True, response=_sent(alert, end))
    except (UndeliveredError, CommandError, PlanError) as error:
        return Delivery(label, delivered=False, response=str(error))
    except OSError as error:
        return Delivery(label, delivered=False, response=f"cannot be sent ({error.strerror or type(error).__name__})")


def _sent(alert: Alert, end: RunEnd) -> str:
    if alert.command:
        return _run(alert.command, end.document)
    secret = read_secret(Path(alert.secret_file or ""))
    return post(alert.url or "", end.document, secret, time_s=time.time_ns() // SECOND_NS)


def _run(command: Sequence[str], document: bytes) -> str:
    """Run a command in ``/`` with an environment without the user's variables. Its output is not kept."""
    with _readable(document) as stdin:
        code = run_command(
            command[0],
            command[1:],
            seconds=COMMAND_SECONDS,
            output_bytes_max=_OUTPUT_BYTES_MAX,
            stdin=stdin,
            folder="/",
        ).code
    if code:
        raise UndeliveredError(f"exit code {code}" if code > 0 else f"ended by signal {-code}")
    return "exit code 0"


@contextmanager
def _readable(content: bytes) -> Iterator[int]:
    """A descriptor that gives the content. A pipe would block where the command reads nothing of a long document."""
    descriptor = os.memfd_create("assay-run-end")
    try:
        with open(descriptor, "wb", closefd=False) as file:
            file.write(content)
        os.lseek(descriptor, 0, os.SEEK_SET)
        yield descriptor
    finally:
        os.close(descriptor)
