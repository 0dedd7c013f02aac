"""Public keys of small order and of another encoding are refused; worked out here by the arithmetic of the curve."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import pytest
from assay.archive.bundle import make_key, read_public_key, trusted_keys
from assay.archive.bundle.keys import is_signed_by, is_weak
from assay.errors import StoreError

if TYPE_CHECKING:
    from pathlib import Path

P = 2**255 - 19
D = -121665 * pow(121666, -1, P) % P
Point = tuple[int, int]
NEUTRAL: Point = (0, 1)


def added(one: Point, other: Point) -> Point:
    """The sum of two points of -x^2 + y^2 = 1 + d x^2 y^2."""
    (x, y), (u, v) = one, other
    cross = D * x * y * u * v % P
    return (x * v + u * y) * pow(1 + cross, -1, P) % P, (y * v + x * u) * pow(1 - cross, -1, P) % P


def times(count: int, point: Point) -> Point:
    total = NEUTRAL
    for _ in range(count):
        total = added(total, point)
    return total


def x_of(y: int) -> int | None:
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    root = pow(square, (P + 3) // 8, P)
    for x in (root, root * pow(2, (P - 1) // 4, P) % P):
        if x * x % P == square:
            return x
    return None


def encoded(point: Point) -> bytes:
    return (point[1] | (point[0] & 1) << 255).to_bytes(32, "little")


def small_order() -> set[Point]:
    """Every point whose order divides 8: those that are left of any point times the large prime."""
    prime = 2**252 + 27742317777372353535851937790883648493
    found: set[Point] = set()
    for y in range(2, 40):
        if (x := x_of(y)) is not None:
            point, rest, factor = NEUTRAL, prime, (x, y)
            while rest:
                point = added(point, factor) if rest & 1 else point
                factor, rest = added(factor, factor), rest >> 1
            found |= {times(count, point) for count in range(8)}
    return found


def test_all_eight_points_of_small_order_are_weak() -> None:
    points = small_order()
    assert len(points) == 8
    assert all(times(8, point) == NEUTRAL for point in points)
    assert all(is_weak(encoded(point)) for point in points)


def test_every_other_way_to_write_a_point_is_weak_too() -> None:
    for y in range(19):
        for sign in (0, 1 << 255):
            assert is_weak((P + y | sign).to_bytes(32, "little"))
    # A point without x has no sign.
    assert is_weak((1 | 1 << 255).to_bytes(32, "little"))
    assert is_weak((P - 1 | 1 << 255).to_bytes(32, "little"))


def test_a_key_that_was_made_is_not_weak(tmp_path: Path) -> None:
    assert not is_weak(make_key(tmp_path / "assay", "Lab 2").raw)


@pytest.mark.parametrize("point", sorted(small_order()))
def test_a_weak_key_is_neither_read_nor_trusted_and_signs_nothing(point: Point, tmp_path: Path) -> None:
    raw = encoded(point)
    (tmp_path / "assay").mkdir()
    for name in ("x.pub", "assay/trusted_keys"):
        (tmp_path / name).write_text(f"assay-ed25519 {base64.b64encode(raw).decode()} Lab 2\n", "ascii")
    with pytest.raises(StoreError, match="anybody can make"):
        read_public_key(tmp_path / "x.pub")
    with pytest.raises(StoreError, match="anybody can make"):
        trusted_keys(tmp_path / "assay")
    # With the neutral point as R and 0 as S, the equation holds for such a key and one message in eight.
    forged = encoded(NEUTRAL) + bytes(32)
    assert not any(is_signed_by(raw, forged, b"%d" % number) for number in range(64))
