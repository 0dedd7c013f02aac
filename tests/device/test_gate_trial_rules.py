"""Each rule taken away fails the sample of random topologies: trials of the kinds that it alone sees then go wrong.

Where several rules see the same kind they are taken away together; the pair is named.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from assay.dut.real.gate import doubts, entry, users
from assay.dut.real.user_watch import UserWatch
from gate_topologies import Dealt, trial
from gate_topology_images import trial_dut
from gate_topology_users import AFTER, AT, BEFORE, DISK, FILE, OVERLAID, missing
from test_gate_rules import take_away

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from gate_topology_images import Dut

pytestmark = pytest.mark.long

TABLES: tuple[dict[str, Any], ...] = (users.USERS, users.FILE_USERS, users.PROCESSES, doubts.DOUBTS)
SEEDS = range(1, 9)
"""A trial that acknowledges its reader shows nothing of a rule: one of these does not."""
SECOND_USED, SECOND_DOUBTFUL = "second look at users", "second look at doubts"
LOOK, LOOK_AT_PROCESSES = "look", "look_at_processes"


class Shown(NamedTuple):
    """Rules that are taken away together, and a kind that only they see."""

    rules: tuple[str, ...]
    kind: str
    moment: str = BEFORE
    target: str = DISK


_HIDDEN = ("hidden-writers", "opened-unseen")
SHOWN = [
    Shown(("mounts", "exclusive"), "mounted"),
    Shown(("mounts", "exclusive"), "mounted elsewhere"),
    Shown(("swap", "system", "exclusive"), "swapped to"),
    Shown(("exclusive",), "claimed"),
    Shown(("lock",), "locked"),
    Shown(("lock",), "image locked"),
    Shown(("range-lock",), "range locked"),
    Shown(("range-lock",), "range locked", target=FILE),
    Shown(("loops",), "loop upon it"),
    Shown(("loops",), "loop on its partition"),
    Shown(("exports",), "exported"),
    Shown(("file-exports",), "image exported"),
    Shown(("file-loops",), "loop on its image"),
    Shown(("file-loops",), "loop on a deleted name"),
    Shown(("file-loops", *_HIDDEN), "loop on its image", target=FILE),
    Shown(("file-mounts",), "image mounted"),
    Shown(("file-mounts", "opened-unseen"), "image mounted", target=FILE),
    Shown(("file-swap",), "image swapped to"),
    Shown(("file-swap", *_HIDDEN), "image swapped to", target=FILE),
    Shown(("writers",), "node of another name written"),
    Shown(("writers",), "partition written"),
    Shown(("writers",), "hard link written", target=FILE),
    Shown(("writers",), "written by a thread"),
    Shown(("maps",), "node mapped"),
    Shown(("maps",), "image mapped"),
    Shown(("maps", *_HIDDEN), "image mapped", target=FILE),
    Shown(("readers",), "node read"),
    Shown(("readers",), "image read", target=FILE),
    Shown(("alike",), OVERLAID, target=FILE),
    Shown((SECOND_USED,), "node written", AT),
    Shown((SECOND_USED,), "node mapped", AT),
    Shown((SECOND_USED,), "loop upon it", AT),
    Shown((SECOND_DOUBTFUL,), "node read", AT),
    Shown((LOOK,), "loop upon it", AFTER),
    Shown((LOOK,), "image exported", AFTER),
    Shown((LOOK,), "turned", AFTER),
    Shown((LOOK_AT_PROCESSES,), "node written", AFTER),
    Shown((LOOK_AT_PROCESSES,), "hard link read", AFTER),
]
_SET_UP = "says where a drive lies, not who uses it: every trial lies where it may"
_NO_SUCH = "needs a device that no loop device is"
NOT_SHOWN = {
    "btrfs": "a btrfs needs a larger image; its first member is seen by mounts",
    "md": _NO_SUCH,
    "holders": _NO_SUCH,
    "untold": _NO_SUCH,
    "run-folder": _SET_UP,
    "file-system": _SET_UP,
    "file-places": _SET_UP,
    "file-kept": _SET_UP,
    "unseen": "needs a namespace of processes, in which no trial runs",
    "unasked-loops": "needs a loop device that root may not ask",
}
"""Rules that no trial can show, with the reason; ``test_gate_rules`` has their cases."""


@pytest.fixture
def gate_dut(needs_root: None, tmp_path: Path) -> Iterator[Dut]:  # noqa: ARG001
    with trial_dut(tmp_path) as dut:
        yield dut


def remove(patch: pytest.MonkeyPatch, rule: str) -> None:
    """Take a rule, or a look, away."""
    if rule in (LOOK, LOOK_AT_PROCESSES):
        patch.setattr(UserWatch, rule, lambda _: None)
    elif rule in (SECOND_USED, SECOND_DOUBTFUL):
        name = "_refuse_used" if rule == SECOND_USED else "_refuse_doubtful"
        real = getattr(entry, name)
        patch.setattr(entry, name, lambda request, asking: None if asking.held else real(request, asking))
    else:
        take_away(patch, rule)


@pytest.mark.parametrize("shown", SHOWN, ids=lambda one: f"{'+'.join(one.rules)}: {one.kind} {one.moment} {one.target}")
def test_without_a_rule_its_trials_go_wrong(gate_dut: Dut, shown: Shown) -> None:
    if reason := missing(gate_dut).get(shown.kind):
        pytest.skip(f"SKIPPED: no trial of {shown.kind}: {reason}")
    dealt = Dealt(shown.kind, shown.moment)
    assert trial(gate_dut, SEEDS[0], dealt, shown.target).wrong == ""
    with pytest.MonkeyPatch.context() as patch:
        for rule in shown.rules:
            remove(patch, rule)
        wrong = next((one.wrong for seed in SEEDS if (one := trial(gate_dut, seed, dealt, shown.target)).wrong), "")
    assert wrong.startswith(("OPENED A DRIVE THAT WAS TO BE REFUSED", "MISSED", "NOTED []"))


def test_every_rule_of_users_is_shown_or_says_why_not() -> None:
    shown = {rule for one in SHOWN for rule in one.rules}
    named = {rule for table in TABLES for rule in table}
    assert named - shown == NOT_SHOWN.keys()
    assert shown - named == {"exclusive", "lock", "range-lock", SECOND_USED, SECOND_DOUBTFUL, LOOK, LOOK_AT_PROCESSES}
