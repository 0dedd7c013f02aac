"""Who uses a drive, or anything that it stands on: every rule, in one table per kind of thing that it is asked of.

Each rule stands under the name that its test knows it by. Rules of disks and files are asked of every level; those of
processes of all levels together, and last, since a look at all processes takes its time.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from assay.dut.real.gate import claim, doubts, exports, files, holders, lease, processes, system
from assay.dut.real.gate.levels import DiskLevel, FileLevel, levels, opened_targets
from assay.dut.real.gate.processes import Look
from assay.dut.real.sysfs import readable

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from pathlib import Path

    from assay.dut.real.gate.doubts import Doubt
    from assay.dut.real.gate.levels import Level
    from assay.engine.records import DriveIdentity

USERS: dict[str, Callable[[DiskLevel], list[str]]] = {
    "system": system.running_system,
    "mounts": holders.mounted,
    "swap": holders.swapped,
    "btrfs": holders.btrfs_members,
    "md": holders.md_arrays,
    "holders": holders.held,
    "loops": holders.stacked_loops,
    "exports": exports.exported,
    "run-folder": system.run_folder,
}
FILE_USERS: dict[str, Callable[[FileLevel], list[str]]] = {
    "file-system": files.of_system,
    "file-places": files.of_places,
    "file-mounts": files.mounted,
    "file-swap": files.swapped,
    "file-loops": files.backing,
    "file-exports": exports.exported,
    "file-kept": files.kept,
}


def _writers(_: Sequence[Level], seen: Look) -> list[tuple[Level, str]]:
    return seen.writers()


def _hidden_writers(found: Sequence[Level], seen: Look) -> list[tuple[Level, str]]:
    """A target file that somebody writes though no process is seen that does; one that is held is written by us."""
    visible = {level.name for level, _ in seen.writers()}
    opened = [opened_target for opened_target in opened_targets(found) if opened_target.view.held is None]
    reason = "open for writing by somebody who cannot be seen"
    return [(one, reason) for one in opened if one.name not in visible and lease.unwritten(one.file) is False]


def _maps(found: Sequence[Level], _: Look) -> list[tuple[Level, str]]:
    return processes.mapped(found)


PROCESSES: dict[str, Callable[[Sequence[Level], Look], list[tuple[Level, str]]]] = {
    "writers": _writers,
    "hidden-writers": _hidden_writers,
    "maps": _maps,
}
_AGAIN_S = 0.1
_OF_SETTING_UP = {"system", "run-folder", "file-system", "file-places", "file-kept"}
"""Rules of what cannot come about without another: they are not asked again while a drive is held."""


@dataclass(frozen=True, kw_only=True)
class Asking:
    """One asking of the rules: of which drive, and what does not count. Levels and processes are looked at once.

    kept : paths that must survive. held : our own descriptor of the drive, where there is one; own : all of ours, as
    (process, descriptor).
    """

    identity: DriveIdentity
    kept: tuple[Path, ...] = ()
    held: int | None = None
    own: frozenset[tuple[int, int]] = field(default_factory=frozenset)

    @cached_property
    def levels(self) -> list[DiskLevel | FileLevel]:
        """What the drive stands on, itself first. Raises OSError where it cannot be reached."""
        return levels(self.identity, self.kept, self.held)

    @cached_property
    def seen(self) -> Look:
        """What a look at all processes gives."""
        return processes.look(self.levels, self.own)

    def anew(self) -> Asking:
        """A query that looks at the host again."""
        return replace(self)


def users(asking: Asking) -> tuple[str, ...]:
    """Every user of a drive, as a reason each; empty where there is none. A claim is tried where none is held."""
    try:
        result = asking.levels
    except OSError as error:
        return (f"its node cannot be reached: {claim.cause(error)}",)
    if not result:
        return ("the kernel does not know this device",)
    if by_rule := _told(result, _level_users):
        return by_rule
    return (_told(result, _level_claims) if asking.held is None else ()) or _used(asking)


def arrived(asking: Asking) -> tuple[str, ...]:
    """Users that came about while a drive is held: all that is found without a look at processes."""
    return _told(asking.levels, _level_arrivals)


def doubtful(asking: Asking, said: Collection[str], pause: Callable[[], None] | None) -> list[Doubt]:
    """What of a drive without users must be acknowledged and is not. said : words that are.

    pause : waits before processes that only read are looked for again; None leaves them out.
    """

    def again() -> Look:
        if pause is None:
            return Look()
        pause()
        return asking.anew().seen

    return doubts.unacknowledged(asking.levels, asking.seen, again, said)


def _used(asking: Asking) -> tuple[str, ...]:
    """Users among processes that are still there a moment later: listing and setting up drives opens others, too."""
    result = _uses(asking)
    if not result:
        return ()
    time.sleep(_AGAIN_S)
    still = _uses(asking.anew())
    return tuple(reason for reason in result if reason in still)


def _uses(asking: Asking) -> tuple[str, ...]:
    reasons = [pair for rule in list(PROCESSES.values()) for pair in rule(asking.levels, asking.seen)]
    return tuple(dict.fromkeys(readable(level.told(reason)) for level, reason in reasons))


def _told(found: list[DiskLevel | FileLevel], ask: Callable[[DiskLevel | FileLevel], list[str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(readable(level.told(reason)) for level in found for reason in ask(level)))


def _level_users(level: DiskLevel | FileLevel, without: Collection[str] = ()) -> list[str]:
    if isinstance(level, DiskLevel):
        return [reason for name, rule in list(USERS.items()) if name not in without for reason in rule(level)]
    return [reason for name, rule in list(FILE_USERS.items()) if name not in without for reason in rule(level)]


_level_arrivals = partial(_level_users, without=_OF_SETTING_UP)


def _level_claims(level: DiskLevel | FileLevel) -> list[str]:
    return list(claim.claimed(level.disk.node)) if isinstance(level, DiskLevel) and level.is_free else []
