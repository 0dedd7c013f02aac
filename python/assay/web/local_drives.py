"""The drives of this host as any user can read them, for pages without an agent."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from assay.agent.drives import Bounded, real_drive, simulated_drives
from assay.dut.real.gate import examined
from assay.dut.real.identity import disks
from assay.errors import AssayError
from assay.web.host_agent import Shared, on_thread

if TYPE_CHECKING:
    from assay.agent.messages import DriveFacts
    from assay.engine.records import DriveIdentity

LOOK_S = 3.0
"""For a drive's answer."""
AGE_S = 15.0
"""How old a look is at most that is shown to another watcher."""
_THREADS = 8


class LocalDrives:
    """Looks at the drives for all who watch, on a thread."""

    def __init__(self) -> None:
        bounded = Bounded()
        self._drives = Shared(lambda: on_thread(lambda: local_drives(bounded)), AGE_S)

    async def get(self) -> tuple[DriveFacts, ...]:
        """The drives, at most 15 s old. Raises DeviceFailureError where the list itself hangs."""
        return await self._drives.get()


def local_drives(bounded: Bounded) -> tuple[DriveFacts, ...]:
    """Every whole disk, then the simulated drives; a drive that hangs has a note that says so.

    Returns within a few seconds, whatever a drive does. Worked: ``sim:client-2011`` is among them.
    """
    found = bounded.ask("drives", LOOK_S, lambda: list(disks()))
    with ThreadPoolExecutor(_THREADS) as pool:
        real = list(pool.map(lambda disk: real_drive(disk, *_examined(bounded, disk)), found))
    return (*real, *simulated_drives())


def _examined(bounded: Bounded, disk: DriveIdentity) -> tuple[tuple[str, ...], str]:
    """What stands against a test of a drive, and why that is not known."""
    try:
        return bounded.ask(disk.path, LOOK_S, lambda: examined(disk).refusals), ""
    except AssayError as error:
        return (error.reason,), error.reason
    except OSError as error:
        reason = error.strerror or "cannot be queried"
        return (reason,), reason
