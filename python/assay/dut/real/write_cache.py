"""The drive's volatile write cache: as the kernel and the drive each see it, set for a run and put back after it.

Kernel and drive can disagree: an NVMe feature does not move sysfs, and sysfs does not move the drive. So both are set,
both are read, and both are reported. What was set lasts until the drive loses power; until it has been put back there
is a note of the former state, which the next run finds after a crash.
"""

from __future__ import annotations

import hashlib
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from assay.dut.real import ata, nvme, scsi
from assay.dut.real.cache import read_write_cache
from assay.dut.real.identity import sysfs_directory
from assay.dut.real.notes import NOTES, Note
from assay.dut.real.sysfs import SYSFS
from assay.errors import DeviceFailureError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from assay.dut.real.transport import CommandSet, Transport
    from assay.engine.records import CacheState, DriveIdentity

_STATES = ("enabled", "disabled", "unknown")
_TEXTS: dict[CacheState, str] = {"enabled": "write back", "disabled": "write through"}
_FOLLOW_SECONDS = 5.0
_PAUSE_S = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheView:
    """The write cache as the kernel sees it and as the drive says; ``drive`` is unknown where it was not asked."""

    kernel: CacheState
    drive: CacheState

    @property
    def state(self) -> CacheState:
        """The state that both agree on. Worked: kernel enabled, drive disabled -> unknown."""
        if self.drive == "unknown":
            return self.kernel
        return self.kernel if self.kernel == self.drive else "unknown"


class WriteCache:
    """The write cache of one held drive."""

    def __init__(
        self, identity: DriveIdentity, transport: Transport, commands: CommandSet | None, *, sysfs: Path = SYSFS
    ) -> None:
        self._identity, self._transport, self._commands = identity, transport, commands
        self._sysfs = sysfs
        self._disk = sysfs_directory(identity, sysfs=sysfs)

    @property
    def settable(self) -> bool:
        """Whether there is a command for it at all; a file, a loop device or a simulated drive has none."""
        return self._commands is not None

    def look(self) -> CacheView:
        """Ask the kernel and the drive."""
        kernel = read_write_cache(self._disk.name, sysfs=self._sysfs)
        try:
            enabled = self._asked()
        except OSError:
            enabled = None
        drive: CacheState = "unknown" if enabled is None else "enabled" if enabled else "disabled"
        return CacheView(kernel=kernel, drive=drive)

    def set(self, wanted: Literal["enabled", "disabled"]) -> CacheView:
        """Set drive and kernel and read both back; the view says whether it took.

        Source: NVMe feature 06h; ATA SET FEATURES 02h and 82h; Linux ``scsi_disk/*/cache_type`` and
        ``queue/write_cache``.
        """
        with suppress(OSError):
            self._order(enabled=wanted == "enabled")
        deadline = time.monotonic() + _FOLLOW_SECONDS
        # The kernel looks at a SATA drive again by itself, but in its own time.
        while (view := self.look()).kernel != wanted and self._commands == "ata" and time.monotonic() < deadline:
            time.sleep(_PAUSE_S)
        if view.drive == wanted != view.kernel:
            self._tell_kernel(wanted)
        return self.look()

    def restore(self, former: CacheView) -> bool:
        """Put back what was; whether it took."""
        drive = former.kernel if former.drive == "unknown" else former.drive
        view = self.look()
        if view.drive == "unknown" != former.drive:
            # It does not answer any more; each further command could wait for its whole time limit.
            return False
        view = view if drive == "unknown" else self.set(drive)
        if view.kernel != former.kernel != "unknown":
            self._tell_kernel(former.kernel)
            view = self.look()
        return view == former

    def _tell_kernel(self, state: CacheState) -> None:
        with suppress(OSError):
            (self._disk / "queue/write_cache").write_text(_TEXTS[state], encoding="ascii")

    def _asked(self) -> bool | None:
        match self._commands:
            case "nvme":
                return self._asked_nvme()
            case "ata":
                device = ata.device(self._transport)
                return device.write_cache_on if device else None
            case "scsi":
                return scsi.write_cache(self._transport)
        return None

    def _asked_nvme(self) -> bool | None:
        result = nvme.controller(self._transport)
        if result is None:
            return None
        # Without a volatile cache the feature does not exist, and writes are safe as they are.
        return nvme.write_cache(self._transport) if result.has_write_cache else False

    def _order(self, *, enabled: bool) -> None:
        match self._commands:
            case "nvme":
                nvme.set_write_cache(self._transport, enabled=enabled)
            case "ata":
                ata.set_write_cache(self._transport, enabled=enabled)
            case "scsi":
                for attribute in (self._disk / "device/scsi_disk").glob("*/cache_type"):
                    attribute.write_text(_TEXTS["enabled" if enabled else "disabled"], encoding="ascii")


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldCache:
    """The write cache while it is held for a run.

    path : of the drive. state : that kernel and drive agree on. facts : what the report prints, by name.
    switch : sets it between sequences, to be put back at the end; raises DeviceFailureError where it does not take.
    """

    path: str
    cache: WriteCache
    state: CacheState
    facts: dict[str, str]
    switch: Callable[[CacheState], None]

    def check(self) -> None:
        """Set it once more where a purge has changed it. Raises DeviceFailureError where it does not take."""
        if self.cache.look().state == self.state or self.state == "unknown":
            return
        if self.cache.set(self.state).state != self.state:
            reason = f"its write cache was {self.state} and cannot be made so again"
            raise DeviceFailureError(self.path, reason, "check the drive")


@contextmanager
def write_cache_held(
    identity: DriveIdentity, cache: WriteCache, wanted: CacheState | None, *, notes: Path = NOTES
) -> Iterator[HeldCache]:
    """Hold the write cache in a state while the block runs; the former one comes back on every way out.

    wanted : the state, or None to leave it as it is. notes : folder of the notes that outlive a crash.
    Yields the state in force, which is not the wanted one where the drive does not take it.
    Worked: on -> wanted ``disabled`` -> off inside the block -> on after it.
    """
    note = _CacheNote(notes, identity)
    before = cache.look()
    former = note.former() or before
    facts: dict[str, str] = {}

    def switch(state: CacheState) -> None:
        if not note.exists():
            note.write(former, state)
        if state == "unknown" or cache.set(state).state != state:
            raise DeviceFailureError(identity.path, f"its write cache cannot be {state}", "leave out its study")

    try:
        if cache.settable and wanted in ("enabled", "disabled") and before.state != wanted:
            note.write(former, wanted)
            facts["write_cache_note"] = _switched(cache, former, wanted)
        now = cache.look()
        facts |= {"write_cache": _TEXTS.get(now.kernel, "unknown"), "write_cache_drive": now.drive}
        yield HeldCache(path=identity.path, cache=cache, state=now.state, facts=facts, switch=switch)
    finally:
        # A drive that died in the run has no cache any more; then the note stays.
        if note.exists() and cache.restore(former):
            note.remove()


def is_cache_noted(identity: DriveIdentity, *, notes: Path = NOTES) -> bool:
    """Whether a run that was killed has left the write cache switched."""
    return _CacheNote(notes, identity).former() is not None


def put_cache_back(identity: DriveIdentity, cache: WriteCache, *, notes: Path = NOTES) -> list[str]:
    """Put back the write cache of a held drive as such a run found it, and forget its note; a line of what was done.

    Raises DeviceFailureError where the drive does not take it.
    """
    note = _CacheNote(notes, identity)
    former = note.former()
    if former is None:
        return []
    if not cache.restore(former):
        reason = f"its write cache was {former.state} and cannot be made so again"
        raise DeviceFailureError(identity.path, reason, "check the drive, or take its power away and bring it back")
    note.remove()
    return [f"the write cache of {identity.path} is {former.state} again"]


def _switched(cache: WriteCache, former: CacheView, wanted: Literal["enabled", "disabled"]) -> str:
    """Switch the cache, or put it back where it does not take; what a report says of it."""
    if cache.set(wanted).state == wanted:
        return f"{wanted} for the run, {former.state} before it"
    cache.restore(former)
    return f"the drive did not take {wanted}"


class _CacheNote:
    """What a drive's write cache was before a run changed it, kept until it has been put back."""

    def __init__(self, folder: Path, identity: DriveIdentity) -> None:
        digest = hashlib.sha256(identity.id.encode()).hexdigest()[:16]
        self._note = Note(folder / f"write-cache-{digest}.json")
        self._identity = identity
        self.exists, self.remove = self._note.exists, self._note.remove

    def former(self) -> CacheView | None:
        kept = self._note.read()
        if kept.get("kernel") not in _STATES or kept.get("drive") not in _STATES:
            return None
        return CacheView(kernel=kept["kernel"], drive=kept["drive"])

    def write(self, former: CacheView, wanted: CacheState) -> None:
        """Raises DeviceFailureError where it cannot be kept: nothing is changed that could not be put back."""
        facts = {"id": self._identity.id, "path": self._identity.path, "set": wanted}
        try:
            self._note.write(facts | {"kernel": former.kernel, "drive": former.drive})
        except OSError as error:
            reason = f"cannot be written ({error.strerror})"
            raise DeviceFailureError(str(self._note.path), reason, "run as root, or use --write-cache as-is") from None
