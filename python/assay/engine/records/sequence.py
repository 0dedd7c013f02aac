"""Steps that run without a gap, as a test asks for them, and what else a test asks of a run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from assay.engine.records.drive import CacheState
    from assay.engine.records.stimulus import StepSpec

Stage = str
"""What part of its test a sequence is, in lower-case letters and hyphens: ``precondition``, ``round``, ``point``."""

Role = Literal["prepare", "measure"]
"""``prepare``: makes the drive ready, and no result comes from it. ``measure``: results come from it."""

OnVoid = Literal["accept", "repeat", "leave-out", "stop"]
"""What is done behind a stall or a reset of the drive: ``accept`` goes on as if there was none; ``repeat`` runs the
sequence again; ``leave-out`` tells the test, whose verdict begins anew; ``stop`` ends the test, since what follows
cannot be told from what went before. The last three give up where the test's limit of void sequences is passed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepSequence:
    """Steps that run without a gap, in one native call.

    name : as it is printed everywhere, such as ``"round 3"``. stage : as above. index : among those of its stage that
    belong together, such as the rounds or the parts of one wait state, from 1; 0 where there is one of them only.
    steps : at least one. keeps_ios : every completion is kept, whatever the plan says of captures.
    ramp_up_steps : so many of the first steps only lead up to the others, and no result is of them.
    replay : writes the file of the I/Os that its step of the operation ``replay`` issues; None where it has none.
    """

    name: str
    stage: Stage
    index: int
    steps: tuple[StepSpec, ...]
    role: Role
    on_void: OnVoid
    keeps_ios: bool = False
    ramp_up_steps: int = 0
    replay: Callable[[Path], None] | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Purge:
    """The drive is purged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trim:
    """What lies between two bytes of the drive is given back to it."""

    from_bytes: int
    to_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckData:
    """Addressed data that were written since the last purge or check are read back whole and compared.

    after : name of the sequence before. parts : (first byte, length) of what was written, in rising order and apart.
    flush : the drive is told to make its cache durable first.
    """

    after: str
    parts: tuple[tuple[int, int], ...]
    flush: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SetCache:
    """The drive's write cache is switched; behind the test it is put back as it was."""

    state: CacheState


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a test ended. reason : ``steady``, ``round-limit``, ``time``, ``amount`` or ``no-completions``.

    reached : the steady state that the test requires was reached, or it requires none. detail : more of the reason, in
    words; empty where there is none.
    """

    reason: str
    reached: bool
    detail: str = ""
