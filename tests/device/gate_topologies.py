"""Random topologies of loop devices against the gate, and bookkeeping of its own that says what is right.

A trial attaches three images to loop devices, chooses a drive (a loop device, the top of a stack of them, or an image),
and lets one user come to what it stands on: before the gate is asked, right after its claim, or while the drive is
held. Or it changes the drive itself. Kinds and moments are dealt out in turn, all else is drawn. What the gate opened
is told by the inode of the image at the bottom of what it holds; what it should have done follows from what the trial
itself set up, not from the system.
"""

from __future__ import annotations

import errno
import os
import random
import time
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import pytest
from assay.dut.real.gate import Asking, claim, open_drive
from assay.dut.real.identity import identify
from assay.dut.real.user_watch import UserWatch
from assay.errors import AssayError, DriveChangedError
from assay.spec.units import SECOND_NS
from conftest import command
from gate_topology_images import CONTENTS, DISKS, IMAGE_BYTES, LATE_SPARE, SPARE, STOREYS, image_beneath
from gate_topology_users import AFTER, AT, BEFORE, DISK, FILE, KINDS, OVERLAID, STACK, Scene, overlay

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from assay.dut.real.gate import OpenDrive
    from assay.engine.records import DriveIdentity
    from gate_topology_images import Dut, Image
    from gate_topology_users import Kind

NOBODY = "nobody"
_REFUSED_FREE = "REFUSED A FREE DRIVE"
CHANGES = ("swap names", "attach again", "another in its place", "gone", "resized")
LATE_CHANGES = ("resized", "turned")
RUN_BYTES = 4 * IMAGE_BYTES
"""Size of the image of a whole run."""
_CONTENTS = tuple(content for content in CONTENTS if content != "erofs")
_CONTENTS_BESIDE = ("blank", "ext4", "table+ext4", "table+swap")
_FREE_EVERY = 6
"""Of so many trials one has neither user nor change: it shows that a free drive is opened."""


class Dealt(NamedTuple):
    """What a trial is about: a user of a kind, or a change, and when."""

    kind: str
    moment: str


def _deal() -> list[Dealt]:
    # A kind that has one moment only comes twice, so that each comes often enough.
    moments = {name: kind.moments * (2 if len(kind.moments) == 1 else 1) for name, kind in KINDS.items()}
    pairs = [Dealt(name, moment) for name in KINDS for moment in moments[name]]
    pairs += [Dealt(change, BEFORE) for change in CHANGES] + [Dealt(change, AFTER) for change in LATE_CHANGES]
    for index in range(0, len(pairs) * _FREE_EVERY // (_FREE_EVERY - 1), _FREE_EVERY):
        pairs.insert(index, Dealt(NOBODY, BEFORE))
    return pairs


DEAL = _deal()


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a trial went. end : in a word. wrong : what the gate did wrong, empty where nothing.

    refused_first : why a free drive was refused once, and opened when it was asked for again.
    """

    dealt: Dealt
    end: str
    wrong: str = ""
    story: str = ""
    refused_first: str = ""


@dataclass(slots=True, kw_only=True)
class Trial:
    """One trial as it is set up. came : the user did, or was kept out; None before that."""

    dut: Dut
    dice: random.Random
    dealt: Dealt
    chosen: Image
    target: str
    nodes: tuple[str, ...] = ()
    path: str = ""
    words: frozenset[str] = frozenset()
    signatures: frozenset[str] = frozenset()
    confirmation: str = ""
    came: bool | None = None
    is_right: bool = True
    identity: DriveIdentity | None = None
    is_run: bool = False
    facts: list[str] = field(default_factory=list)

    @property
    def kind(self) -> Kind | None:
        """The kind of user, where it is about one."""
        return KINDS.get(self.dealt.kind)

    @property
    def counts(self) -> bool:
        """Whether a user is there that must be found."""
        is_acknowledged = bool(self.kind and self.kind.is_read and self.words)
        return self.came is True and not is_acknowledged

    @property
    def story(self) -> str:
        """What was set up, for who repeats it."""
        facts = [self.dealt.kind, self.dealt.moment, self.chosen.content, self.target, *self.facts]
        return f"{', '.join(facts)}, came {self.came}, words {sorted(self.words)}, right {self.is_right}"

    @property
    def scene(self) -> Scene:
        """What the user comes to."""
        return Scene(self.dut, self.chosen, self.nodes, self.dut.processes[0], SPARE, self.dice, self.is_run)

    def let_come(self) -> None:
        """Let the user come, if the claim lets it."""
        assert self.kind
        self.came = came(self.kind, self.scene, self.dealt.moment)

    def outcome(self, end: str, wrong: str = "") -> Outcome:
        """The trial as it ended."""
        return Outcome(dealt=self.dealt, end=end, wrong=wrong, story=self.story)


def came(kind: Kind, scene: Scene, moment: str) -> bool:
    """Let a user come; False where the claim kept it out."""
    try:
        kind.come(scene)
    except OSError as error:
        if moment != BEFORE and kind.is_kept_out and error.errno in (errno.EBUSY, errno.EAGAIN):
            return False
        raise
    return True


def trial(dut: Dut, seed: int, dealt: Dealt | None = None, target: str | None = None) -> Outcome:
    """One trial; everything is undone at its end. dealt, target : what it is about; None leaves that to the seed."""
    dice = random.Random(seed)  # noqa: S311 - a trial is to be repeatable
    try:
        one = arranged(dut, dice, dealt or DEAL[seed % len(DEAL)], target)
        return _tried(one)
    finally:
        dut.reset()


def arranged(dut: Dut, dice: random.Random, dealt: Dealt, target: str | None = None, *, is_run: bool = False) -> Trial:
    """The images with what is on them and upon them; no user of the chosen one yet. is_run : of a whole run."""
    kind, chosen = KINDS.get(dealt.kind), dice.choice(dut.images)
    if target is None:
        target = dice.choice(kind.targets if kind else (DISK, STACK, FILE) if dealt.kind == NOBODY else (DISK,))
    one = Trial(dut=dut, dice=dice, dealt=dealt, chosen=chosen, target=target, is_run=is_run)
    for image, slot in zip(dut.images, dice.sample(range(DISKS), DISKS), strict=True):
        _prepare(one, image)
        if image is not chosen or target != FILE:
            dut.place(image, slot)
    if target != FILE:
        one.nodes = dut.build(chosen, dice.randint(1, STOREYS) if target == STACK else 0)
    one.path = one.nodes[-1] if one.nodes else str(overlay(dut, chosen) if dealt.kind == OVERLAID else chosen.path)
    _consent(one)
    return one


def _prepare(one: Trial, image: Image) -> None:
    kind, is_chosen = one.kind, image is one.chosen
    contents = (kind.contents if kind else _CONTENTS) if is_chosen else _CONTENTS_BESIDE
    size_bytes = RUN_BYTES if one.is_run and is_chosen else IMAGE_BYTES
    is_on_disk = bool(is_chosen and kind and kind.is_on_disk)
    one.dut.prepare(image, one.dice.choice(contents), is_on_disk=is_on_disk, size_bytes=size_bytes)
    image.read_only = is_chosen and one.dealt.kind == NOBODY and one.target == DISK and one.dice.random() < 0.1


def _consent(one: Trial) -> None:
    """What is acknowledged: all of it, but for some trials without users, and readers by chance."""
    kind, dice, reader = one.kind, one.dice, frozenset({f"reader:{one.dut.processes[0].name}"})
    one.signatures = CONTENTS[one.chosen.content]
    if kind and (kind.is_reader or (kind.is_read and dice.random() < 0.25)):
        one.words = reader
    if one.dealt.kind == NOBODY:
        if dice.random() < 0.2:
            one.signatures = frozenset()
        one.is_right = not one.chosen.read_only and one.signatures >= CONTENTS[one.chosen.content]


def _tried(one: Trial) -> Outcome:
    is_early = one.dealt.moment == BEFORE and one.kind is not None
    comes_first = is_early and one.dice.random() < 0.5
    if one.dealt.kind not in CHANGES:
        use_another(one)
    if comes_first:
        one.let_come()
    one.identity = identify(one.path, file_target=one.target == FILE)
    one.confirmation = one.identity.id
    if one.dealt.kind == NOBODY and one.dice.random() < 0.1:
        one.confirmation, one.is_right = one.dice.choice(["y", "YES", "", one.identity.id[:-1]]), False
    if is_early and not comes_first:
        one.let_come()
    if one.dealt.moment == BEFORE and one.dealt.kind in CHANGES:
        _change(one)
        one.is_right = False
    return _asked(one)


def use_another(one: Trial) -> None:
    """Somebody uses another image, which is no reason to refuse the chosen one."""
    other = one.dice.choice([image for image in one.dut.images if image is not one.chosen])
    fitting = [
        name
        for name, kind in KINDS.items()
        if DISK in kind.targets and not kind.is_on_disk and other.content in kind.contents
    ]
    name = one.dice.choice([NOBODY, *fitting])
    if name != NOBODY:
        nodes = one.dut.build(other, 0)
        scene = Scene(one.dut, other, nodes, one.dut.processes[1], LATE_SPARE, one.dice)
        KINDS[name].come(scene)
    one.facts.append(f"beside it {name}")


def _change(one: Trial) -> None:
    """Change the chosen drive between choice and start, or while it is held."""
    dut, image = one.dut, one.chosen
    slot, kind = image.slot, one.dealt.kind
    partner = one.dice.choice([other for other in dut.images if other is not image])
    assert slot is not None
    assert partner.slot is not None
    if kind == "resized":
        image.size_bytes = one.dice.choice([IMAGE_BYTES // 2, IMAGE_BYTES * 2])
        os.truncate(image.path, image.size_bytes)
        command("losetup", "--set-capacity", dut.loops.node(slot))
        return
    if kind == "turned":
        dut.loops.turn(slot)
        return
    places = {"swap names": {slot: partner, partner.slot: image}, "attach again": {slot: image}}
    places["another in its place"] = {slot: partner}
    dut.take_away(image)
    if kind in ("swap names", "another in its place"):
        dut.take_away(partner)
    for place, other in places.get(kind, {}).items():
        dut.place(other, place)


@contextmanager
def _right_after_the_claim(act: Callable[[], None]) -> Iterator[None]:
    """Act between the gate's claim and its second look."""
    real = claim.claim_drive

    def claim_and_act(identity: DriveIdentity, pin: int | None = None) -> int:
        descriptor = real(identity, pin)
        try:
            act()
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(claim, "claim_drive", claim_and_act)
        yield


def _asked(one: Trial) -> Outcome:
    """Ask the gate, and judge what it does.

    What other processes of this host do can make one look uncertain, so that a free drive is refused. It is asked for
    again then: a second refusal is wrong, the first is counted.
    """
    first = _asked_once(one)
    if not first.wrong.startswith(_REFUSED_FREE):
        return first
    return replace(_asked_once(one), refused_first=first.wrong)


def _asked_once(one: Trial) -> Outcome:
    is_to_come = one.dealt.moment == AT and one.came is None
    act = one.let_come if is_to_come else lambda: None
    assert one.identity
    try:
        with _right_after_the_claim(act):
            held = open_drive(
                one.identity,
                confirmation=one.confirmation,
                acknowledged_signatures=one.signatures,
                acknowledged=one.words,
                needed_bytes=0,
            )
    except AssayError as error:
        return _refused(one, error)
    with held:
        return _held(one, held)


def _refused(one: Trial, error: AssayError) -> Outcome:
    if one.is_right and not one.counts:
        return one.outcome("refused", f"{_REFUSED_FREE}: {error}")
    if error.exit_code != 3 or (one.is_right and error.slug != "drive-busy"):
        return one.outcome("refused", f"REFUSED FOR ANOTHER REASON: {error.slug}, {error}")
    return one.outcome("refused")


def _held(one: Trial, held: OpenDrive) -> Outcome:
    inode = os.fstat(held.fd).st_ino if one.target == FILE else image_beneath(held.fd)
    wanted = os.stat(one.path) if one.target == FILE else one.chosen.path.stat()  # noqa: PTH116 - text
    if inode != wanted.st_ino:
        return one.outcome("opened", "OPENED ANOTHER DRIVE")
    if one.counts or not one.is_right:
        return one.outcome("opened", "OPENED A DRIVE THAT WAS TO BE REFUSED")
    if one.dealt.moment == AFTER:
        return _looked(one, held)
    return one.outcome("kept out" if one.came is False else "opened")


def _looked(one: Trial, held: OpenDrive) -> Outcome:
    """Let the user come to a held drive, or change that, and look once."""
    assert one.identity
    watch = UserWatch(held, Asking(identity=one.identity, held=held.fd), one.words)
    try:
        if one.kind:
            one.let_come()
        else:
            _change(one)
        watch.look()
        watch.look_at_processes()
        if one.kind and one.kind.is_read:
            return _noted(one, watch)
    except DriveChangedError as error:
        is_wrong = one.kind is not None and (not one.counts or one.kind.is_read)
        return one.outcome("stopped", f"STOPPED WITHOUT REASON: {error}" if is_wrong else "")
    finally:
        watch.close()
    is_missed = one.counts or one.kind is None
    return one.outcome("kept out" if one.came is False else "not seen", "MISSED AN ARRIVAL" if is_missed else "")


def _noted(one: Trial, watch: UserWatch) -> Outcome:
    """A reader stops nothing; it is noted where two looks, a second apart, see it."""
    until_ns = time.time_ns() + SECOND_NS
    while (left_ns := until_ns - time.time_ns()) > 0:
        time.sleep(left_ns / SECOND_NS)
    watch.look_at_processes()
    names = [arrival.name for arrival in watch.record().arrivals]
    wanted = [one.dut.processes[0].name] if one.counts else []
    wrong = "" if names == wanted else f"NOTED {names}, NOT {wanted}"
    return one.outcome("noted" if names else "not seen", wrong)
