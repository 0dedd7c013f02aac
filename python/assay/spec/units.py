"""Units and their printing: bytes, rates, times, links; sizes in base 2, rates in base 10."""

from __future__ import annotations

import re
from fractions import Fraction

from assay.errors import ValueRangeError

KIB = 1024
MIB = 1024**2
GIB = 1024**3
MB = 10**6
GB = 10**9
TB = 10**12
TRANSFER_BYTES_MAX = 64 * MIB
"""The largest read or write that is asked for, replayed or kept."""
MILLISECOND_NS = 10**6
MICROSECOND_NS = 1_000
SECOND_NS = 10**9
MINUTE_NS = 60 * SECOND_NS
HOUR_SECONDS = 3600

_UNIT_BYTES = {
    "": 1,
    "B": 1,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
    "KIB": KIB,
    "MIB": MIB,
    "GIB": GIB,
    "TIB": 1024**4,
}
_SIZE_REMEDY = "write for example 32GB or 512MiB"
_SIZE = re.compile(r"(\d{1,18}(?:\.\d{1,9})?)\s*([A-Za-z]*)")


def parse_bytes(text: str, *, name: str = "size") -> int:
    """Read a size with its unit as whole bytes.

    text : a number and a unit: B, kB, MB, GB, TB (base 10) or KiB, MiB, GiB, TiB (base 2).
    name : the thing an error message names.
    Returns bytes, at least 1.
    Raises ValueRangeError for anything else, for zero, and for a fraction of a byte.
    Worked: ``parse_bytes("32GB")`` is 32000000000 and ``parse_bytes("0.5KiB")`` is 512.
    """
    match = _SIZE.fullmatch(text.strip())
    unit = match and _UNIT_BYTES.get(match[2].upper())
    if not match or not unit:
        short = match and f"{match[2]}b".upper() in _UNIT_BYTES
        remedy = f"write {match[1]}{match[2]}B or {match[1]}{match[2]}iB" if match and short else _SIZE_REMEDY
        raise ValueRangeError(f"{name} {text!r}", "is not a size", remedy)
    size = Fraction(match[1]) * unit
    if size < 1 or size.denominator != 1:
        raise ValueRangeError(f"{name} {text!r}", "is not a positive whole number of bytes", "choose a larger size")
    return int(size)


def gigabytes(size_bytes: int) -> float:
    """Bytes as base-10 gigabytes. Worked: ``gigabytes(256_000_000_000)`` is 256.0."""
    return size_bytes / GB


def gigabytes_label(size_bytes: int, decimals: int = 2) -> str:
    """An amount for people, in base 10. Worked: 1_099_511_627_776 -> ``"1,099.51 GB"``."""
    return f"{gigabytes(size_bytes):,.{decimals}f} GB"


def rate_label(bytes_per_s: float) -> str:
    """A rate for people. Worked: 6_600_000_000 bytes in a second -> ``"6,600 MB/s"``."""
    return f"{bytes_per_s / 1e6:,.0f} MB/s"


def kibibytes(size_bytes: int) -> float:
    """Bytes as KiB. Worked: ``kibibytes(512)`` is 0.5."""
    return size_bytes / KIB


def kib_value(size_bytes: int) -> float:
    """A size in KiB, an int where it is whole, so that tables print no decimal point. Worked: 4096 -> 4, 512 -> 0.5."""
    value = kibibytes(size_bytes)
    return int(value) if value.is_integer() else value


def kib_label(size_bytes: int) -> str:
    """A transfer size as the reports print it. Worked: 512 -> ``"0.5"``, 1048576 -> ``"1024"``."""
    return f"{size_bytes / KIB:g}"


def milliseconds(time_ns: float) -> float:
    """Nanoseconds as milliseconds. Worked: ``milliseconds(1_500_000)`` is 1.5."""
    return time_ns / 10**6


def seconds(time_ns: float) -> float:
    """Nanoseconds as seconds. Worked: ``seconds(60_000_000_000)`` is 60.0."""
    return time_ns / SECOND_NS


def count_label(number: int, noun: str) -> str:
    """Print a count with its noun. Worked: 1 round -> ``"1 round"``, 1200 -> ``"1,200 rounds"``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def duration_label(time_ns: int) -> str:
    """A duration for people. Worked: 5_400_000_000_000 -> ``"1 h 30 min"``, 50_000_000 -> ``"0.05 s"``."""
    if time_ns < MINUTE_NS:
        return f"{time_ns / SECOND_NS:g} s"
    minutes, rest = divmod(round(time_ns / SECOND_NS), 60)
    hours, minutes = divmod(minutes, 60)
    parts = [(hours, "h"), (minutes, "min"), (rest if not hours else 0, "s")]
    return " ".join(f"{count} {unit}" for count, unit in parts if count)


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
