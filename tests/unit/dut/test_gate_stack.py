"""What a drive is made of, compared, and the answer of device mapper read."""

from __future__ import annotations

import struct

import pytest
from assay.dut.real.gate import stack
from assay.dut.real.gate.stack import Stack
from assay.engine.records import DriveIdentity
from assay.errors import IdentityError

DRIVE = DriveIdentity(id="x", path="/dev/loop0", kind="block", capacity_bytes=512, logical_block_bytes=512)


def target(sector: int, length: int, kind: bytes, parameters: bytes, following: int) -> bytes:
    """One ``struct dm_target_spec`` with its parameters; ``following`` counts from the first of them."""
    text = parameters + b"\0"
    return (struct.pack("QQiI16s", sector, length, 0, following, kind) + text).ljust(64, b"\0")


def test_a_table_has_its_targets_in_order_and_no_key_of_an_encrypted_one() -> None:
    key = b"aes-xts-plain64 0011223344556677 0 8:16 0"
    targets = target(0, 2048, b"linear", b"8:0 4096", 64) + target(2048, 64, b"crypt", key, 160)
    answer = struct.pack("3I2I2i3I", 4, 0, 0, 1 << 16, 312, 2, 0, 0, 0, 0).ljust(312, b"\0") + targets + bytes(64)
    first, second = stack._targets(answer).split("; ")
    assert first == "0 2048 linear 8:0 4096"
    assert second.startswith("2048 64 crypt ")
    assert "0011223344556677" not in second


def test_numbers_are_in_the_form_of_the_kernel() -> None:
    assert stack._huge(253, 0) == 253 << 8
    assert stack._huge(8, 0x12345) == 0x45 | 8 << 8 | 0x12300 << 12


@pytest.mark.parametrize(
    ("now", "told"),
    [
        ((("loop0", {"offset": 4096}),), "loop0 changed: offset from 0 to 4096"),
        ((("loop0", {"offset": 0}), ("sda", {})), "it stands on sda now, no longer on nothing else"),
    ],
)
def test_another_stack_is_refused_with_what_changed(
    monkeypatch: pytest.MonkeyPatch, now: tuple[tuple[str, dict[str, object]], ...], told: str
) -> None:
    before = Stack((("loop0", {"offset": 0}),))
    monkeypatch.setattr(Stack, "of", classmethod(lambda *_: Stack(now)))
    with pytest.raises(IdentityError, match=told):
        before.check(DRIVE, 0)


def test_the_same_stack_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    same = Stack((("loop0", {"offset": 0}),))
    monkeypatch.setattr(Stack, "of", classmethod(lambda *_: Stack((("loop0", {"offset": 0}),))))
    same.check(DRIVE, 0)
