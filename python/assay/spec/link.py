"""What a link carries, from how it is named."""

from __future__ import annotations

import re

_WIRE_BITS_8B10B = 10
_WIRE_BITS_128B130B = 8 * 130 / 128
_PCIE_SLOW_GT_S = 5.0
_GT_S = {1: 2.5, 2: 5.0, 3: 8.0, 4: 16.0, 5: 32.0, 6: 64.0}
"""Giga transfers per second and lane by generation of PCIe."""


def link_bytes_per_s(link: str) -> float | None:
    """Bytes per second of a link by its name, as sysfs or a drive's interface gives it; None of an unknown one.

    Worked: ``SATA 6.0 Gbps`` -> 600e6; ``PCIe 8.0 GT/s x4`` and ``PCIe 3.0 x4`` -> 3.94e9.
    Source: the line rates and codes of SATA 3, SAS and PCIe 1 to 6.
    """
    if result := re.match(r"PCIe ([\d.]+) (GT/s )?x(\d+)", link):
        speed = float(result[1]) if result[2] else _GT_S.get(int(float(result[1])), 0.0)
        bits = _WIRE_BITS_8B10B if speed <= _PCIE_SLOW_GT_S else _WIRE_BITS_128B130B
        return speed * 1e9 * int(result[3]) / bits or None
    result = re.match(r"(?:SATA|SAS) ([\d.]+) ?Gb\S*(?: x(\d+))?", link) or re.match(
        r"([\d.]+) Gb/s S(?:ATA|AS)()", link
    )
    return float(result[1]) * 1e9 * int(result[2] or 1) / _WIRE_BITS_8B10B if result else None
