"""Watches a real drive while a sequence runs: what the kernel says of it, what has changed, what its neighbours did."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Self

from assay.dut.real.cache import read_write_cache
from assay.dut.real.condition import read_link, sensor_c
from assay.dut.real.identity import sysfs_directory
from assay.dut.real.kernel_log import KMSG, KernelLog, drive_places, log_names
from assay.dut.real.neighbours import NeighbourWatch
from assay.dut.real.queue import queue_settings
from assay.dut.real.surroundings import swap_in_pages
from assay.dut.real.sysfs import SYSFS, read_text
from assay.engine.records import DriveEvent, DriveRecord, DriveState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from assay.engine.records import CacheState, DriveIdentity, StepRecord

EVENTS_MAX = 16
"""That are kept of one step: the gravest, in the order they came."""
_ERRORS = ("correctable", "nonfatal", "fatal")


@dataclass
class DriveWatch:
    """Watches a block drive as long as the block runs, sequence by sequence. Use it as a context manager.

    asked : the write cache as the drive itself says, by a command; None asks nothing but the kernel.
    record : of the last sequence that ``finished``.
    """

    identity: DriveIdentity
    asked: Callable[[], CacheState] | None = None
    sysfs: Path = SYSFS
    kmsg: Path = KMSG
    record: DriveRecord | None = None
    _log: KernelLog | None = field(default=None, repr=False)
    _near: NeighbourWatch | None = field(default=None, repr=False)
    _before: DriveState | None = field(default=None, repr=False)
    _step: int = 0
    _lost_told: int = 0
    _heard: list[tuple[int, int, DriveEvent]] = field(default_factory=list, repr=False)

    def __enter__(self) -> Self:
        self._log = KernelLog(log_names(self.identity, sysfs=self.sysfs), path=self.kmsg).__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        if self._log:
            self._log.__exit__()

    def forget(self) -> None:
        """Leave aside what the log has said until now, as after a purge: what our own commands cause is no event."""
        if self._log:
            self._log.news()

    def begin(self) -> None:
        """A sequence begins; what was said since the last one ended befell the drive before its first step."""
        self._before = read_state(self.identity, self.asked, sysfs=self.sysfs)
        self._step, self._heard = 0, []
        self._near = NeighbourWatch(self.identity, self.sysfs)
        self.look(0)
        self._near.begin()

    def look(self, step_index: int) -> None:
        """Take what the log says now; it belongs to the step that runs, or to one that ran since the last look."""
        first, self._step = self._step, step_index
        self._heard += [(first, step_index, event) for event in (self._log.news() if self._log else ())]

    def finished(self, records: Sequence[StepRecord]) -> list[StepRecord]:
        """The steps that ran, with what was said of the drive in each; ``record`` is there afterwards.

        A drive that failed is not asked for anything more: each command could wait for its whole time limit.
        """
        assert self._log is not None, "the block has begun"  # noqa: S101 - an invariant of DriveWatch
        assert self._before is not None, "the sequence has begun"  # noqa: S101 - an invariant of DriveWatch
        assert self._near is not None, "the sequence has begun"  # noqa: S101 - an invariant of DriveWatch
        near = self._near.finished()
        self.look(max(len(records) - 1, 0))
        well = all(record.ended == "stop-rule" for record in records)
        lost_count, self._lost_told = self._log.lost_count - self._lost_told, self._log.lost_count
        self.record = DriveRecord(
            before=self._before,
            after=read_state(self.identity, self.asked if well else None, sysfs=self.sysfs),
            log="read" if self._log.readable else "unknown",
            lost_count=lost_count,
            neighbours=near,
        )
        return [replace(record, drive_events=self._events(index)) for index, record in enumerate(records)]

    def _events(self, index: int) -> tuple[DriveEvent, ...]:
        return gravest(event for first, last, event in self._heard if first <= index <= last)


def gravest(events: Iterable[DriveEvent], limit: int = EVENTS_MAX) -> tuple[DriveEvent, ...]:
    """The gravest events in the order they came; one that was said again at once is counted.

    Worked: the same timeout three times -> one event with ``count`` 3.
    """
    merged: list[DriveEvent] = []
    for event in events:
        if merged and replace(merged[-1], count=1) == event:
            merged[-1] = replace(event, count=merged[-1].count + 1)
        else:
            merged.append(event)
    kept = sorted(sorted(range(len(merged)), key=lambda place: merged[place].level)[:limit])
    return tuple(merged[place] for place in kept)


def read_state(
    identity: DriveIdentity, asked: Callable[[], CacheState] | None = None, *, sysfs: Path = SYSFS
) -> DriveState:
    """What can be told of a block drive without a word to its flash; a few reads of sysfs.

    Source: Linux ``Documentation/ABI`` (sysfs-block, sysfs-nvme, sysfs-bus-pci-devices-aer_stats).
    Worked: ``nvme0/state`` of ``live`` is ``controller`` live; ``TOTAL_ERR_COR 3`` in ``aer_dev_correctable`` of the
    drive and 1 in that of its port are 4 correctable errors.
    """
    folder = sysfs_directory(identity, sysfs=sysfs).resolve()
    return DriveState(
        write_cache=read_write_cache(folder.name, sysfs=sysfs),
        write_cache_drive=asked() if asked else "unknown",
        queue={name: text for name, text in queue_settings(identity, sysfs=sysfs).items() if name != "write_cache"},
        link=read_link(identity, sysfs=sysfs),
        controller=_controller_state(identity, folder, sysfs),
        temperature_c=sensor_c(folder, "input"),
        bus_errors=_bus_errors(drive_places(identity, sysfs=sysfs)),
        swap_in_pages=swap_in_pages(),
    )


def _controller_state(identity: DriveIdentity, folder: Path, sysfs: Path) -> str | None:
    named = read_text(sysfs / "class/nvme" / identity.controller / "state") if identity.controller else None
    return named or read_text(folder / "device/state")


def _bus_errors(places: Sequence[Path]) -> dict[str, int]:
    """Errors of every kind over the PCIe functions of a drive that count them."""
    errors: dict[str, int] = {}
    for place in places:
        for kind in _ERRORS:
            total = (read_text(place / f"aer_dev_{kind}") or "").rpartition("TOTAL_ERR_")[2].split()
            if total[1:] and total[1].isdecimal():
                errors[kind] = errors.get(kind, 0) + int(total[1])
    return errors
