"""Users and the stack below a drive, watched while it is held."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from threading import Thread
from typing import TYPE_CHECKING

from assay.dut.real.gate import arrived
from assay.dut.real.gate.doubts import UNSEEN
from assay.dut.real.gate.levels import opened_targets
from assay.dut.real.sysfs import disk_at, readable
from assay.engine.records import Arrival, LooksRecord
from assay.errors import AssayError, DriveChangedError, DriveNotFoundError
from assay.spec.units import MILLISECOND_NS, SECOND_NS

if TYPE_CHECKING:
    from collections.abc import Callable

    from assay.dut.real.gate import Asking, OpenDrive
    from assay.dut.real.gate.processes import Look, Opener, Process
    from assay.engine.records import DriveIdentity


_SECTOR_BYTES = 512
_REMEDY_UNCHANGED = "find out who changed it; what was measured before is kept"


def check_unchanged(held: OpenDrive) -> None:
    """Look at the held drive: a few reads of sysfs and of its descriptor, no word to its flash.

    Raises DriveChangedError where it was resized, with both sizes, replaced, or changed otherwise.
    Worked: a loop device that grew -> ``"its size changed from 268,435,456 to 536,870,912 bytes"``.
    """
    try:
        held.verify()
    except AssayError as change:
        before, after = held.identity.capacity_bytes, _size_bytes(held.identity, held.fd)
        resized = after is not None and after != before
        reason = f"its size changed from {before:,} to {after:,} bytes" if resized else change.reason
        raise DriveChangedError(held.identity.path, f"{reason} while it was tested", _REMEDY_UNCHANGED) from change


def check_present(identity: DriveIdentity, present_bytes: int | None) -> None:
    """Look at a simulated drive with faults in the same way.

    present_bytes : what is left of it, None where it is gone.
    Raises DriveChangedError where that is not all of it.
    Worked: half of 32 GB is left -> ``"its size changed from 32,000,000,000 to 16,000,000,000 bytes while it was
    tested"``.
    """
    before = identity.capacity_bytes
    if present_bytes == before:
        return
    reason = "it is gone" if present_bytes is None else f"its size changed from {before:,} to {present_bytes:,} bytes"
    change = DriveNotFoundError(identity.path, f"{reason} while it was tested", _REMEDY_UNCHANGED)
    raise DriveChangedError(identity.path, change.reason, _REMEDY_UNCHANGED) from change


def _size_bytes(identity: DriveIdentity, descriptor: int) -> int | None:
    if identity.kind == "file":
        return os.fstat(descriptor).st_size // identity.logical_block_bytes * identity.logical_block_bytes
    disk = disk_at(identity.path)
    sectors = disk.number("size") if disk else None
    return None if sectors is None else sectors * _SECTOR_BYTES


LOOK_EVERY_NS = 10 * SECOND_NS
PROCESSES_EVERY_NS = 60 * SECOND_NS
QUICK_NS = 50 * MILLISECOND_NS
_AGAIN_S = 0.2
"""A writer counts if it is still there after this time: probes of a moment stop no run of a day."""
_REMEDY = "find out who it is; what was measured before is kept"


@dataclass(frozen=True, slots=True)
class _Seen:
    """A look at all processes. wall_ns : when it began. span_ns : how long it took."""

    look: Look
    wall_ns: int
    span_ns: int


class UserWatch:
    """Watches for users of a held drive until it is closed.

    asking : of whom, with what does not count. said : words that were acknowledged. clock : in ns.
    """

    def __init__(
        self, held: OpenDrive, asking: Asking, said: frozenset[str], clock: Callable[[], int] = time.monotonic_ns
    ) -> None:
        self._held, self._asking, self._said, self._clock = held, asking, said, clock
        self._good_ns = self._good_processes_ns = time.time_ns()
        self._looked_ns = self._processes_ns = clock()
        self._suspects: dict[Process, int] = {}
        self._arrivals: list[Arrival] = []
        self._thread: Thread | None = None
        self._answer: _Seen | None = None
        self._looks, self._process_looks, self._span_max_ns, self._processes_span_max_ns = 0, 0, 0, 0
        first = self._look_at_processes()
        self._known: set[Process] = {reader.process for reader in first.look.readers()}
        self._last_span_ns = first.span_ns

    def boundary(self) -> None:
        """Look between two sequences; once where two looks would follow each other. Raises DriveChangedError."""
        if self._clock() - self._looked_ns < SECOND_NS and self._looks:
            check_unchanged(self._held)
            return
        self.look()
        if self._last_span_ns <= QUICK_NS:
            self.look_at_processes()
        self._take()

    def during(self) -> None:
        """Look within a sequence, where it is time to. Raises DriveChangedError."""
        now = self._clock()
        if now - self._looked_ns >= LOOK_EVERY_NS:
            self.look()
        self._take()
        if now - self._processes_ns >= PROCESSES_EVERY_NS and self._thread is None:
            self._processes_ns = now
            self._thread = Thread(target=self._idly, daemon=True, name="user-watch")
            self._thread.start()

    def look(self) -> None:
        """Look at the stack, and at all users that show without a look at processes. Raises DriveChangedError."""
        begun_ns, begun = time.time_ns(), self._clock()
        try:
            check_unchanged(self._held)
            asking = self._asking.anew()
            result = arrived(asking)
        except DriveChangedError as change:
            raise self._changed(change.reason, self._good_ns) from change.__cause__
        except OSError as error:
            raise self._changed(f"it is gone ({error.strerror})", self._good_ns) from error
        if result:
            raise self._changed("; ".join(result), self._good_ns)
        if self._opened_unseen(asking):
            raise self._changed("it was opened by somebody who cannot be seen", self._good_ns)
        self._good_ns, self._looked_ns = begun_ns, self._clock()
        self._looks += 1
        self._span_max_ns = max(self._span_max_ns, self._looked_ns - begun)

    def look_at_processes(self) -> None:
        """Look at the descriptors of all processes now. Raises DriveChangedError."""
        self._judge(self._look_at_processes())
        self._processes_ns = self._clock()

    def end(self) -> None:
        """Look at the end of a test, at processes however long that takes. Raises DriveChangedError."""
        self.look()
        self.look_at_processes()

    def record(self) -> LooksRecord:
        """What was looked at since this was last asked, and who came to read."""
        made = LooksRecord(
            look_count=self._looks,
            process_look_count=self._process_looks,
            span_ns_max=self._span_max_ns,
            process_span_ns_max=self._processes_span_max_ns,
            arrivals=tuple(self._arrivals),
        )
        self._looks = self._process_looks = self._span_max_ns = self._processes_span_max_ns = 0
        self._arrivals = []
        return made

    def close(self) -> None:
        """Wait for a look that goes on."""
        if self._thread is not None:
            self._thread.join()

    def _look_at_processes(self) -> _Seen:
        wall_ns, begun = time.time_ns(), self._clock()
        processes, own = self._asking.anew().seen, os.getpid()
        openers = tuple(opener for opener in processes.openers if opener.process.number != own)
        return _Seen(replace(processes, openers=openers), wall_ns, self._clock() - begun)

    def _opened_unseen(self, asking: Asking) -> bool:
        """Whether a target file is open, and still is behind a look at processes that shows nobody who has it."""
        if UNSEEN in self._said or not opened_targets(asking.levels):
            return False
        return not self._look_at_processes().look.openers and bool(opened_targets(asking.anew().levels))

    def _idly(self) -> None:
        """One look by a thread that runs where nothing else would; its CPU time counts as ours."""
        with suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
        with suppress(OSError):
            seen = self._look_at_processes()
            # What we started ourselves for a moment, such as smartctl, is no user.
            others = tuple(opener for opener in seen.look.openers if opener.process.parent != os.getpid())
            self._answer = replace(seen, look=replace(seen.look, openers=others))

    def _take(self) -> None:
        """Take what the thread has seen, if it is done."""
        if self._thread is None or self._thread.is_alive():
            return
        self._thread, answer, self._answer = None, self._answer, None
        if answer:
            self._judge(answer)

    def _judge(self, seen: _Seen) -> None:
        writers = [opener for opener in seen.look.openers if opener.writes]
        if writers:
            time.sleep(_AGAIN_S)
            still = {opener.process for opener in self._look_at_processes().look.openers if opener.writes}
            for writer in writers:
                if writer.process in still:
                    reason = writer.level.told(f"open for writing by {writer.process.label}")
                    raise self._changed(reason, self._good_processes_ns)
        self._note_readers(seen)
        self._good_processes_ns, self._last_span_ns = seen.wall_ns, seen.span_ns
        self._process_looks += 1
        self._processes_span_max_ns = max(self._processes_span_max_ns, seen.span_ns)

    def _note_readers(self, seen: _Seen) -> None:
        """Note who reads in two looks, a second apart at least."""
        readers = {reader.process: reader for reader in seen.look.readers()}
        for process, one in readers.items():
            if process in self._known or f"reader:{process.name}" in self._said:
                continue
            first_ns = self._suspects.setdefault(process, seen.wall_ns)
            if seen.wall_ns - first_ns >= SECOND_NS:
                self._known.add(process)
                self._arrivals.append(_arrival(one, first_ns))
        self._suspects = {process: at_ns for process, at_ns in self._suspects.items() if process in readers}

    def _changed(self, reason: str, since_ns: int) -> DriveChangedError:
        stamp = time.strftime("%H:%M:%S", time.gmtime(since_ns / SECOND_NS))
        reason = readable(f"{reason}; what ran since {stamp} UTC, when it was last seen free, is void")
        return DriveChangedError(self._held.identity.path, reason, _REMEDY, since_wall_ns=since_ns)


def _arrival(opener: Opener, wall_ns: int) -> Arrival:
    return Arrival(wall_ns=wall_ns, process=opener.process.number, name=opener.process.name)
