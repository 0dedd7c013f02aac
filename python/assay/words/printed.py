"""How facts become printed text: dates, sizes, verdict numbers, and names that came from a drive."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from assay.spec.units import GIB, gigabytes_label, kib_label, milliseconds
from assay.words.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from assay.engine.records import CacheState, DataPattern, Demand, SteadyVerdict

UNKNOWN = "unknown"
NOT_AVAILABLE = "n/a"
NOT_APPLICABLE = "N/A"
NOT_STATED = "not stated"

_SHORT_MS = 0.1
_SHORT_DIGITS = 3
_ONE_DECIMAL_FROM = 10
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def printable(text: Any) -> str:
    r"""Make text that is safe to print, whatever a drive or a plan put into it.

    text : anything; None and blanks become ``unknown``.
    Control, direction and undecodable characters become visible escapes.
    Worked: ``printable("A\x00B")`` is ``"A\\x00B"``.
    """
    shown = visible(str("" if text is None else text)).strip()
    return shown or UNKNOWN


def paragraph(text: Any) -> str:
    """Put prose on one line, safe to print. Worked: ``paragraph(" two  words")`` is ``"two words"``."""
    return printable(" ".join(str("" if text is None else text).split()))


def utc(wall_ns: int | None) -> str:
    """Print a wall clock time in UTC, said as such. Worked: 0 -> ``"1970-01-01 00:00 UTC"``."""
    return UNKNOWN if wall_ns is None else f"{utc_datetime(wall_ns):%Y-%m-%d %H:%M} UTC"


def utc_datetime(wall_ns: int) -> datetime:
    """Turn nanoseconds since the Unix epoch into a UTC date, whole seconds."""
    return _EPOCH + timedelta(seconds=wall_ns // 10**9)


def rate_or_na(value: float | None) -> str:
    """Print a rate as the tables print it, n/a for None."""
    return NOT_AVAILABLE if value is None else one_decimal(value)


def one_decimal(value: float) -> str:
    """Print a rate as the tables print it. Worked: 3147.046 -> ``"3,147.0"``."""
    return f"{value:z,.1f}"


def bar_text(value: float) -> str:
    """What stands at a bar: a decimal from ten on, three below. Worked: 274.99 -> ``"275.0"``, 0.307 -> ``"0.307"``."""
    return one_decimal(value) if value >= _ONE_DECIMAL_FROM else f"{value:.3f}"


def significant(value: float, digits: int = 4, decimals: int = 3) -> str:
    """Print a value with at least so many digits from its first that is not zero, and at least so many decimals.

    Worked: 0.00210487 -> ``"0.002105"``, 0.35 -> ``"0.3500"``, 41.0 -> ``"41.000"``, 1234.5 -> ``"1,234.500"``,
    0 -> ``"0.000"``.
    """
    first = math.floor(math.log10(abs(value))) if value else 0
    return f"{value:z,.{max(decimals, digits - 1 - first)}f}"


def milliseconds_text(value_ms: float) -> str:
    """Print a time in ms: three decimals, and below 0.1 ms three digits from the first that is not zero.

    More would be finer than the buckets of a histogram (0.1 %).
    Worked: 0.35 -> ``"0.350"``, 0.00210487 -> ``"0.00210"``, 1234.5 -> ``"1,234.500"``.
    """
    return significant(value_ms, _SHORT_DIGITS) if abs(value_ms) < _SHORT_MS else f"{value_ms:z,.3f}"


def fit_formula(verdict: SteadyVerdict, text: Callable[[float], str] = "{:z,.3f}".format) -> str:
    """Print the least squares line in real round numbers. Worked: ``"-54.407 * R + 3310.267"``."""
    sign = "-" if verdict.intercept < 0 else "+"
    return f"{text(verdict.slope)} * R {sign} {text(abs(verdict.intercept))}"


def rounds_label(rounds: Sequence[int]) -> str:
    """Print a span of round numbers. Worked: (1, 2, 3, 4, 5) -> ``"1-5"``; () -> ``"n/a"``."""
    return f"{rounds[0]}-{rounds[-1]}" if rounds else NOT_AVAILABLE


def mix_label(read_pct: int) -> str:
    """Print a read/write mix as the specification writes it. Worked: 65 -> ``"65/35"``."""
    return f"{read_pct}/{100 - read_pct}"


def size_label(transfer_bytes: int) -> str:
    """Print a transfer size with its unit. Worked: 512 -> ``"0.5KiB"``."""
    return f"{kib_label(transfer_bytes)}KiB"


def capacity_label(size_bytes: int) -> str:
    """Print a capacity in base 10. Worked: 256_060_514_304 -> ``"256.06 GB"``."""
    return gigabytes_label(size_bytes)


def amount_label(size_bytes: int, segment_count: int | None) -> str:
    """Print an ActiveRange amount: base 2 where it is made of segments, else a capacity.

    Worked: 17_179_869_184 in 2,048 segments -> ``"16 GiB"``.
    """
    return f"{size_bytes / GIB:g} GiB" if segment_count else capacity_label(size_bytes)


def percent(share: float) -> str:
    """Print a fraction as percent. Worked: 0.75 -> ``"75 %"``."""
    return f"{share * 100:g} %"


def minutes_label(minutes: float) -> str:
    """Print a time of a test. Worked: 1440.0 -> ``"1,440 min"``, 1.94 -> ``"1.94 min"``, 0.5 -> ``"30 s"``."""
    return " ".join(minutes_parts(minutes))


def minutes_parts(minutes: float) -> tuple[str, str]:
    """Print a time of a test as its number and its unit. Worked: 1440.0 -> ``("1,440", "min")``."""
    if minutes < 1:
        return f"{minutes * 60:.3g}", "s"
    return f"{minutes:,.0f}" if minutes >= 100 else f"{minutes:.3g}", "min"  # noqa: PLR2004 - three digits


_UNIT_WORDS = {
    "kib": "KiB", "gib": "GiB", "ms": "ms", "seconds": "s", "minutes": "min", "hours": "h", "pct": "%",
}  # fmt: skip

_CAPITALS = {name: name.upper() for name in ("cpu", "art", "iops", "oio", "lba")} | {"ids": "IDs"}


def words(name: str) -> str:
    """Print the name of a fact in words, its unit behind it in brackets.

    Worked: ``preconditioning_block_kib`` -> ``"preconditioning block (KiB)"``; ``logical_cpu_count`` -> ``"logical CPU
    count"``; ``art_limit_ms`` -> ``"ART limit (ms)"``.
    """
    *parts, last = (_CAPITALS.get(part, part) for part in paragraph(name).replace("_", " ").split(" "))
    return " ".join([*parts, f"({_UNIT_WORDS[last]})" if parts and last in _UNIT_WORDS else last])


def ordinal(number: int) -> str:
    """Print a number as one of a sequence. Worked: 31 -> ``"31st"``, 12 -> ``"12th"``."""
    ending = "th" if number % 100 in {11, 12, 13} else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number:,}{ending}"


def demand_label(demand: Demand) -> str:
    """Print total OIO, TC and QD. Worked: TC 1, QD 8 -> ``"8 - TC 1/QD 8"``."""
    return f"{outstanding(demand)} - TC {demand.thread_count}/QD {demand.queue_depth}"


def outstanding(demand: Demand) -> int:
    """How many I/Os are outstanding in all. Worked: TC 32, QD 32 -> 1,024."""
    return demand.thread_count * demand.queue_depth


def outstanding_label(demand: Demand) -> str:
    """Print how many I/Os are outstanding. Worked: TC 32, QD 32 -> ``"1,024 outstanding"``."""
    return f"{outstanding(demand):,} outstanding"


def depth_label(demand: Demand) -> str:
    """A demand as its queue depth. Worked: TC 32, QD 32 -> ``"QD 1,024"``."""
    return f"QD {outstanding(demand):,}"


def data_label(data: DataPattern) -> str:
    """Print the data pattern as headers print it. Worked: kind ``random`` -> ``"RND"``."""
    return {
        "random": "RND",
        "compressible": f"compressible to {percent(data.stored_share)}",
        "stamped": "stamped, 16 of every 512 bytes fresh",
        "repeating": f"repeating pool of {data.pool_bytes:,} bytes",
        "addressed": "addressed, does not compress",
        "file": f"file {printable(data.path)}",
    }[data.kind]


def cache_label(state: CacheState) -> str:
    """Print the write cache state. Worked: ``enabled`` -> ``"WCE (enabled)"``."""
    return {"enabled": "WCE (enabled)", "disabled": "WCD (disabled)"}.get(state, UNKNOWN)


def milliseconds_or_na(value_ms: float | None) -> str:
    """Print a time in ms as ``milliseconds_text``, n/a for None."""
    return NOT_AVAILABLE if value_ms is None else milliseconds_text(value_ms)


def milliseconds_label(time_ns: float | None) -> str:
    """Print a time in ms; n/a for None. Worked: 1500000 ns -> ``"1.500"``, 2104 ns -> ``"0.00210"``."""
    return milliseconds_or_na(None if time_ns is None else milliseconds(time_ns))


def number_text(value: float, unit: str) -> str:
    """Print a value of a unit.

    Worked: 24632.04 IOPS -> ``"24,632.0"``, 0.35 ms -> ``"0.350"``, a ratio (x) of 0.1234 -> ``"0.123"``, one of 19.504
    -> ``"19.5"``, 3 min -> ``"3"``.
    """
    if unit == "ms":
        return milliseconds_text(value)
    if unit == "min":
        return minutes_parts(value)[0] if value >= 1 else f"{value:.3g}"
    return f"{value:z.3f}" if unit == "x" and abs(value) < _ONE_DECIMAL_FROM else f"{value:z,.1f}"


def share_text(share: float) -> str:
    """A share in per cent; where that would round to the whole, with two digits that say on which side of it.

    Worked: 0.9 -> ``"90 %"``, 0.9998 -> ``"99.98 %"``.
    """
    if share == 1 or f"{share:.0%}" != "100%":
        return f"{share:.0%}".replace("%", " %")
    ten_thousandths = math.floor(share * 10_000) if share < 1 else math.ceil(share * 10_000)
    return f"{ten_thousandths / 100:.2f} %"


def claim_text(claim: float, unit: str) -> str:
    """Print a claim as the plan states it. Worked: 40,000 IOPS -> ``at least 40,000``, 0.3 ms -> ``at most 0.3``."""
    return f"{'at most' if unit == 'ms' else 'at least'} {claim:,.12g}"
