"""NVMe Format and Sanitize against a recorded drive; no emulated one sanitizes."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest
from assay.dut.real.purge import purge_time
from assay.dut.real.purge.choose import _automatic
from assay.dut.real.purge.discard import overwrite_offer
from assay.dut.real.purge.nvme import nvme_offers
from assay.dut.real.purge.offer import Offer
from assay.dut.real.transport import NvmeCommand, NvmeReply
from assay.engine.records import DriveIdentity
from assay.errors import DeviceFailureError, DriveBusyError, GateRefusedError
from assay.run.foreseen import _purge_label
from recorded_drive import (
    PATH,
    REFUSED,
    SANITIZE_LOG,
    Recorded,
    Reply,
    Sent,
    Watched,
    controller_data,
    identify,
    namespace_data,
    namespace_list,
    sanitize_status,
)

FORMATS, MANAGES = 1 << 1, 1 << 3
ALL_SANITIZES = 0b111
NEVER = sanitize_status(0)
OK = NvmeReply()


def asked(
    controller: NvmeReply, *, spaces: tuple[int, ...] = (1,), log: NvmeReply = NEVER, attached: int = 1
) -> list[tuple[Sent, Reply]]:
    """What every purge asks first, as far as the controller (bytes 256 and 328) says that it knows the answer.

    Who it is, who else has the namespace, whether a sanitize is under way, and what namespaces there are.
    """
    manages, sanitizes = controller.data[256] & MANAGES, controller.data[328]
    others = NvmeReply(data=attached.to_bytes(2, "little").ljust(4096, b"\0"))
    return [
        (identify(1), controller),
        *([(identify(0x12, 1), others)] if manages else []),
        *([(SANITIZE_LOG, log)] if sanitizes else []),
        *([(identify(0x10), namespace_list(*spaces))] if manages else []),
        (identify(2), namespace_list(1)) if manages else (identify(2), namespace_list(*spaces)),
    ]


def offer(drive: Recorded, method: str, acknowledged: int | None = None) -> Offer:
    return next(offer for offer in nvme_offers(PATH, drive, acknowledged) if offer.method == method)


@pytest.mark.parametrize(
    ("method", "word", "bit"), [("sanitize-block", 2, 2), ("sanitize-crypto", 4, 1), ("sanitize-overwrite", 0x13, 4)]
)
def test_a_sanitize_is_followed_by_its_log_to_the_end(method: str, word: int, bit: int) -> None:
    drive = Recorded(
        *asked(controller_data(sanitizes=bit)),
        (SANITIZE_LOG, NEVER),
        (NvmeCommand(opcode=0x84, words=(word,)), OK),
        (SANITIZE_LOG, sanitize_status(2, 0x4000, word)),
        (SANITIZE_LOG, sanitize_status(2, 0xC000, word)),
        (SANITIZE_LOG, sanitize_status(1, 0xFFFF, word)),
        (SANITIZE_LOG, sanitize_status(1, 0xFFFF, word)),
    )
    found, watched = offer(drive, method), Watched()
    assert found.run(watched.watch()) == "the drive's Sanitize Status log says that it succeeded"
    assert watched.seen == [0.25, 0.75]
    assert (found.rehearsed, found.deviation is None) == (False, method != "sanitize-overwrite")
    drive.assert_played()


@pytest.mark.parametrize(
    ("after", "reason"),
    [
        (sanitize_status(3, word=2), "the sanitize failed"),
        (sanitize_status(0), r"is not in its log \(status 0\)"),
        # It succeeded, but what succeeded was another one, long ago.
        (sanitize_status(1, word=4), r"is not in its log \(status 1\)"),
        (REFUSED, "cannot be read"),
    ],
)
def test_a_sanitize_that_its_log_does_not_confirm_is_a_failure(after: NvmeReply, reason: str) -> None:
    drive = Recorded(
        *asked(controller_data(sanitizes=2)),
        (SANITIZE_LOG, NEVER),
        (NvmeCommand(opcode=0x84, words=(2,)), OK),
        *[(SANITIZE_LOG, after)] * 2,
    )
    with pytest.raises(DeviceFailureError, match=reason):
        offer(drive, "sanitize-block").run(Watched().watch())


def test_a_sanitize_that_never_ends_is_given_up_after_three_times_its_estimate() -> None:
    looks = [(SANITIZE_LOG, sanitize_status(2, 0x8000, 2))] * 8
    command = (NvmeCommand(opcode=0x84, words=(2,)), OK)
    drive = Recorded(*asked(controller_data(sanitizes=2)), (SANITIZE_LOG, NEVER), command, *looks)
    # 3 x 10 s and 600 s of margin: the seventh look, at 600 s, is not too late, the eighth is.
    with pytest.raises(DeviceFailureError, match=r"has not ended after 700 s \(50.0% done\).*vendor's tool"):
        offer(drive, "sanitize-block").run(Watched(pace_s=100).watch())
    drive.assert_played()


def standing(times: int) -> Recorded:
    looks = [(SANITIZE_LOG, sanitize_status(2, 655, 2))] * times
    command = (NvmeCommand(opcode=0x84, words=(2,)), OK)
    return Recorded(*asked(controller_data(sanitizes=2)), (SANITIZE_LOG, NEVER), command, *looks)


def test_a_sanitize_that_stands_is_named_once_after_five_minutes_and_asked_less_and_less() -> None:
    """655 of 65,536 for ever: until the limit of 630 s the drive is asked 68 times, not 1,260 times."""
    drive, watched = standing(68), Watched(pace_s=None)
    with pytest.raises(DeviceFailureError, match=r"not ended after 6\d\d s \(1.0% done\)"):
        offer(drive, "sanitize-block").run(watched.watch())
    drive.assert_played()
    (advice,) = watched.kept
    assert "no progress of the purge for 5 min (1.0% done). Ctrl-C leaves it; if it stands, switch" in advice


def test_ctrl_c_leaves_a_sanitize_at_once_and_says_how_it_stands() -> None:
    def interrupted(_: float) -> None:
        raise KeyboardInterrupt

    drive, watched = standing(1), Watched()
    with pytest.raises(KeyboardInterrupt):
        offer(drive, "sanitize-block").run(replace(watched.watch(), pause=interrupted))
    drive.assert_played()
    assert "(1.0% done), which goes on; if it stands, switch" in watched.kept[0]


def test_a_sanitize_that_stands_is_answered_by_no_discard() -> None:
    found = offer(
        Recorded(*asked(controller_data(commands=FORMATS, sanitizes=2), log=sanitize_status(2, 655))), "format"
    )
    with pytest.raises(DriveBusyError, match="sanitizing itself"):
        _automatic([found], [overwrite_offer(lambda _: 0, chosen=False)])


def test_a_refused_command_is_a_failure() -> None:
    refused = (NvmeCommand(opcode=0x84, words=(2,)), REFUSED)
    drive = Recorded(*asked(controller_data(sanitizes=2)), (SANITIZE_LOG, NEVER), refused)
    with pytest.raises(DeviceFailureError, match=r"refused the sanitize .*0x4002"):
        offer(drive, "sanitize-block").run(Watched().watch())


@pytest.mark.parametrize(("method", "word"), [("format", 1 << 9), ("format-crypto", 2 << 9)])
@pytest.mark.parametrize(
    ("in_use", "protection", "kept"),
    [(0, 0, 0), (3, 0, 3), (0x14, 0, 0x14), (1, 0b1010, 0x141), (0x22, 0, 0x1002)],
)
def test_a_format_keeps_the_format_in_use(method: str, word: int, in_use: int, protection: int, kept: int) -> None:
    layout = namespace_data(in_use=in_use, protection=protection)
    drive = Recorded(
        *asked(controller_data(commands=FORMATS, format_options=4)),
        (identify(0, 1), layout),
        (NvmeCommand(opcode=0x80, namespace=1, words=(word | kept,)), OK),
        (identify(0, 1), layout),
    )
    assert "namespace 1 alone was formatted" in offer(drive, method).run(Watched().watch())
    drive.assert_played()


def test_a_format_that_changes_the_block_size_is_a_failure() -> None:
    drive = Recorded(
        *asked(controller_data(commands=FORMATS)),
        (identify(0, 1), namespace_data(in_use=0)),
        (NvmeCommand(opcode=0x80, namespace=1, words=(1 << 9,)), OK),
        (identify(0, 1), namespace_data(in_use=1)),
    )
    with pytest.raises(DeviceFailureError, match="another LBA format"):
        offer(drive, "format").run(Watched().watch())


@pytest.mark.parametrize(
    ("format_options", "spaces", "acknowledged", "count"),
    [
        (0, (1,), None, None),
        (0, (1,), 1, None),
        (0, (1,), 2, 1),
        (1, (1,), None, 1),
        (2, (1,), None, 1),
        (2, (1,), 1, None),
        (0, (1, 2), None, 2),
        (0, (1, 7, 9), 2, 3),
        (3, (1, 7, 9), 3, None),
    ],
)
def test_what_may_reach_beyond_the_namespace_needs_the_true_count(
    format_options: int, spaces: tuple[int, ...], acknowledged: int | None, count: int | None
) -> None:
    reply = controller_data(commands=FORMATS, format_options=format_options, sanitizes=ALL_SANITIZES)
    obstacles = {
        str(offer.obstacle) for offer in nvme_offers(PATH, Recorded(*asked(reply, spaces=spaces)), acknowledged)
    }
    (obstacle,) = obstacles
    assert (obstacle == "None") == (count is None)
    if count:
        assert f"has {count} namespace" in obstacle
        assert f"--all-namespaces {count}" in obstacle


def test_namespaces_that_are_not_attached_count_too() -> None:
    script = asked(controller_data(commands=FORMATS | MANAGES), spaces=(1, 5))
    assert "has 2 namespaces" in str(offer(Recorded(*script), "format").obstacle)


@pytest.mark.parametrize(
    ("attached", "log", "reason"),
    [
        (2, NEVER, "attached to 2 controllers"),
        (1, sanitize_status(2, 655), r"sanitizing itself \(1.0% done\); wait; if it stands, switch .* vendor's tool"),
        (1, sanitize_status(3), r"its last sanitize failed.* --sanact=1"),
    ],
)
def test_a_drive_in_use_by_others_or_by_itself_is_left_alone(attached: int, log: NvmeReply, reason: str) -> None:
    reply = controller_data(commands=FORMATS | MANAGES, sanitizes=ALL_SANITIZES)
    drive = Recorded(*asked(reply, log=log, attached=attached))
    obstacle = offer(drive, "format", acknowledged=1).obstacle
    with pytest.raises(GateRefusedError, match=reason):
        raise obstacle or AssertionError


def test_what_a_controller_does_not_name_is_not_offered() -> None:
    assert nvme_offers(PATH, Recorded(*asked(controller_data())), None) == []
    assert nvme_offers(PATH, Recorded((identify(1), REFUSED)), None) == []
    drive = Recorded(*asked(controller_data(commands=FORMATS, format_options=4, sanitizes=ALL_SANITIZES)))
    assert [offer.method for offer in nvme_offers(PATH, drive, None)] == [
        "format",
        "format-crypto",
        "sanitize-block",
        "sanitize-crypto",
        "sanitize-overwrite",
    ]


def test_the_time_of_a_sanitize_is_that_of_its_log_and_a_format_states_none() -> None:
    identity = DriveIdentity(id="X", path=PATH, kind="block", capacity_bytes=4096, logical_block_bytes=512)
    drive = Recorded(*asked(controller_data(sanitizes=2)), (SANITIZE_LOG, NEVER))
    found = purge_time(identity, "sanitize-block", transport=drive, commands="nvme")
    assert (found.method, found.stated_s, found.limit_s) == ("sanitize-block", 10, 630)
    formats = Recorded(*asked(controller_data(commands=2)))
    found = purge_time(identity, "auto", transport=formats, commands="nvme")
    assert (found.method, found.stated_s, found.limit_s) == ("format", None, 4 * 3600)
    expected = SimpleNamespace(bytes_per_s=1e9)
    said = _purge_label(identity, cast("Any", expected), found)
    assert said == "by format: not bounded: the drive states no time; given up after 4 h"
