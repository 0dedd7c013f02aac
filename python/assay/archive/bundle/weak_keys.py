"""Ed25519 public keys that no honest user has: for these, anybody can make signatures that verify.

Source: RFC 8032, section 5.1.3 (encoding of points); Cremers and Jackson, "Prime, Order Please!" (2019), table of the
points whose order divides 8.
"""

from __future__ import annotations

_PRIME = 2**255 - 19
_ORDER_8 = int.from_bytes(bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"), "little")
_SMALL_ORDER = frozenset({0, 1, _PRIME - 1, _ORDER_8, _PRIME - _ORDER_8})
"""y of the eight points of small order: of order 4, 1, 2, and twice two of order 8, which differ in the sign of x."""


def is_weak(key: bytes) -> bool:
    """Whether a public key is a point of small order, or is written in another way than the one that is allowed.

    key : 32 bytes: y in little endian, and the sign of x in the highest bit.
    Worked: the point of order 1, a 1 and 31 zeros -> weak; 2**255 - 19, which is 0 written otherwise -> weak.
    """
    y = int.from_bytes(key, "little") & (2**255 - 1)
    return y >= _PRIME or y in _SMALL_ORDER
