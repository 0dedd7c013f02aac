"""How fast data can get to a drive at most."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.dut.real.condition import read_link
from assay.dut.simulated.model import parse_simulated
from assay.spec.units import link_bytes_per_s as bytes_per_s_of_link

if TYPE_CHECKING:
    from assay.engine.records import DriveIdentity

FASTEST_BYTES_PER_S = 15.75e9
"""PCIe 5.0 with four lanes, what a drive's link is at most: 32 GT/s x 4 lanes x 128/130 / 8."""


def link_bytes_per_s(drive: DriveIdentity) -> float:
    """Bytes per second that the link of a drive carries at most; of the fastest there is where it is not told."""
    return link_rate(drive)[0]


def link_rate(drive: DriveIdentity) -> tuple[float, str]:
    """Bytes per second that the link of a drive carries at most, and the link in words."""
    if drive.kind == "simulated":
        return float(parse_simulated(drive.path).drive_model["link_bytes_per_s"]), "the link of its drive model"
    link = read_link(drive) if drive.kind == "block" else None
    if link is None:
        return FASTEST_BYTES_PER_S, "the fastest link available, because the drive reports none"
    return line_rate(link), f"its link, {link}"


def line_rate(link: str) -> float:
    """Bytes per second of a link as ``read_link`` names it.

    Worked: ``SATA 6.0 Gbps`` -> 600e6; ``PCIe 8.0 GT/s x4`` -> 3.94e9; an unknown word -> ``FASTEST_BYTES_PER_S``.
    """
    return bytes_per_s_of_link(link) or FASTEST_BYTES_PER_S
