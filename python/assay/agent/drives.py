"""The drives of this host, as the agent shows them: looked at while free, and never while a run holds them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from assay.agent.allowed import may_erase
from assay.agent.messages import DriveFacts, DrivesAnswer, Health
from assay.dut.real.condition import read_condition
from assay.dut.real.gate import examined
from assay.dut.real.gate import refusals as in_use
from assay.dut.real.identity import disks
from assay.dut.simulated.shipped import shipped_models
from assay.errors import AssayError

if TYPE_CHECKING:
    from collections.abc import Callable

    from assay.agent.bounded import Bounded
    from assay.agent.config import AgentConfig
    from assay.engine.records import DriveIdentity

_ASK_S = 5.0
"""For a drive's answer, its health log included."""


class Drives:
    """Keeps the last health that each drive told."""

    def __init__(self, config: AgentConfig, bounded: Bounded) -> None:
        self._config, self._bounded = config, bounded
        self._health: dict[str, Health] = {}

    def look(self, holders: Callable[[], dict[str, str]]) -> DrivesAnswer:
        """Every drive. holders : jobs by the path of the drive that each holds; such a drive is asked nothing."""
        listed = self._bounded.ask("/sys", _ASK_S, lambda: tuple(disks()))
        return DrivesAnswer(drives=(*(self._real(disk, holders) for disk in listed), *simulated_drives()))

    def _real(self, disk: DriveIdentity, holders: Callable[[], dict[str, str]]) -> DriveFacts:
        refusals, note = self._look_at(disk, holders)
        allowed, health = may_erase(self._config, disk), self._health.get(disk.id)
        facts = {"may_erase": allowed, "job": holders().get(disk.path), "health": health}
        return real_drive(disk, refusals, note).model_copy(update=facts)

    def _look_at(self, disk: DriveIdentity, holders: Callable[[], dict[str, str]]) -> tuple[tuple[str, ...], str]:
        def free() -> tuple[tuple[str, ...], str]:
            # A run may have begun while others queried it.
            if job := holders().get(disk.path):
                return (f"in use by job {job}",), "held by a run, which is not disturbed"
            return self._examined(disk)

        try:
            return self._bounded.ask(disk.path, _ASK_S, free)
        except AssayError as error:
            return (error.reason,), error.reason
        except OSError as error:
            return (error.strerror or "cannot be queried",), "cannot be queried"

    def _examined(self, disk: DriveIdentity) -> tuple[tuple[str, ...], str]:
        """What stands against a test of a drive, and why its health was not read; that of a free drive is read."""
        if reasons := in_use(disk):
            return reasons, "in use: not queried"
        read = read_condition(disk)
        self._health[disk.id] = Health(
            wall_ns=time.time_ns(),
            temperature_c=read.temperature_c,
            wear_used_pct=read.wear_used_pct,
            counts=read.health,
        )
        return examined(disk).refusals, ""


def real_drive(disk: DriveIdentity, refusals: tuple[str, ...], note: str) -> DriveFacts:
    """A disk that nothing is known of but who it is and what stands against a test; it may not be erased."""
    return DriveFacts(
        path=disk.path,
        id=disk.id,
        kind="block",
        model=disk.model_number,
        serial=disk.serial,
        firmware=disk.firmware,
        capacity_bytes=disk.capacity_bytes,
        refusals=refusals,
        may_erase=False,
        note=note,
    )


def simulated_drives() -> tuple[DriveFacts, ...]:
    """The drive models of this package."""
    return tuple(
        DriveFacts(
            path=model.drive,
            id=model.drive,
            kind="simulated",
            model=model.title,
            serial=model.serial,
            firmware=None,
            capacity_bytes=model.capacity_bytes,
            refusals=(),
            may_erase=True,
        )
        for model in shipped_models()
    )
