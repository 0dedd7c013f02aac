"""Job files of fio: sections and keys with their lines, and values as fio reads them.

Source: fio 3.42 ``parse.c`` and ``options.c``, and what its own runs showed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, TypeVar

from assay.errors import PlanError
from assay.spec.nearest import did_you_mean
from assay.workloads.fio.keys import ALIASES, EXCLUSIVE, IGNORED, READ, REFUSED

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

T = TypeVar("T")

NAME_LENGTH_MAX = 127
"""Letters of the name of a stream; fio itself takes 255."""
BYTES_MAX = (1 << 63) - 1
SIDES = {"read": (0,), "write": (1,), "trim": (2,), "rw": (0, 1)}
"""Which of reads, writes and trims a direction has, by their places in comma lists."""
_HEAD = re.compile(r"\[(.*)\]")
_COMMENT = re.compile(r"[;#]")
_VARIABLE = re.compile(r"\$(\{|pagesize|mb_memory|ncpus)")
_NUMBER = re.compile(r"(0[xX][0-9a-fA-F]{1,16}|\d{1,19})(\s*)([A-Za-z%]*)")
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
_TIME_US = {"d": 86_400_000_000, "h": 3_600_000_000, "m": 60_000_000, "s": 1_000_000, "ms": 1_000, "us": 1}


@dataclass(frozen=True, slots=True)
class Setting:
    """A value as it stands in the file, None for a key alone, and its line, from 1."""

    value: str | None
    line: int


@dataclass(frozen=True, slots=True)
class Job:
    """A section of a file, with the global settings that stand before it, and the means to read its keys."""

    path: Path
    name: str
    line: int
    settings: dict[str, Setting]

    def fault(self, key: str, reason: str, remedy: str, line: int | None = None) -> PlanError:
        """A fault of a key, at its line, or at the section's head where it is missing."""
        setting = self.settings.get(key)
        line = line or (setting.line if setting else self.line)
        return PlanError(f"{self.path}:{line} [{self.name}]{f' {key}' * bool(key)}", reason, remedy)

    def has(self, key: str) -> bool:
        """Whether a key is there."""
        return key in self.settings

    def get(self, key: str, read: Callable[[str], T], otherwise: T) -> T:
        """A key's value as ``read`` makes it of the text. Raises PlanError where it is none."""
        setting = self.settings.get(key)
        if setting is None:
            return otherwise
        if not setting.value:
            raise self.fault(key, "has no value", f"write {key}=VALUE")
        try:
            return read(setting.value)
        except ValueFaultError as error:
            raise self.fault(key, error.reason, error.remedy) from None

    def text(self, key: str, otherwise: str) -> str:
        """A key's text."""
        return self.get(key, str, otherwise)

    def whole(self, key: str, otherwise: int, low: int, high: int) -> int:
        """A key's whole number of a range."""
        return self.get(key, lambda text: whole(text, low, high), otherwise)

    def flag(self, key: str) -> bool:
        """Whether a key is set: alone, or with 1; 0 unsets it."""
        setting = self.settings.get(key)
        if setting is None or setting.value is None:
            return setting is not None
        try:
            return whole(setting.value, 0, 1) == 1
        except ValueFaultError as error:
            raise self.fault(key, error.reason, error.remedy) from None

    @property
    def kb_base(self) -> int:
        """What the units of sizes are powers of."""
        return self.whole("kb_base", 1024, 1000, 1024)


def jobs_of(path: Path, text: str) -> list[Job]:
    """The jobs of a file in order. Raises PlanError with line and section where it is not well formed."""
    shared: dict[str, Setting] = {}
    jobs: list[Job] = []
    current: Job | None = None
    for line, raw in enumerate(text.split("\n"), 1):
        words = _COMMENT.split(raw, maxsplit=1)[0].strip()
        if not words:
            continue
        if words.startswith("["):
            current = _section(path, line, words, shared)
            if current.settings is not shared:
                jobs.append(current)
        else:
            _add_setting(path, line, words, current)
    if not jobs:
        raise PlanError(str(path), "holds no job", "write a section, as [job], with its keys below")
    return jobs


def _section(path: Path, line: int, words: str, shared: dict[str, Setting]) -> Job:
    match = _HEAD.fullmatch(words)
    if match is None or not 1 <= len(match[1]) <= NAME_LENGTH_MAX or not match[1].isprintable():
        raise PlanError(f"{path}:{line}", "is no head of a section", f"write [NAME], 1 to {NAME_LENGTH_MAX} letters")
    # Globals hold for the jobs behind them only.
    is_global = match[1].startswith("global")
    return Job(path, match[1], line, shared if is_global else dict(shared))


def _add_setting(path: Path, line: int, words: str, current: Job | None) -> None:
    key, equals, value = (part.strip() for part in words.partition("="))
    if current is None:
        raise PlanError(
            f"{path}:{line}", f"{key[:80]!r} stands before any section", "write [global] or [NAME] above it"
        )
    name = ALIASES.get(key, key)
    if key.startswith("include ") or name in REFUSED:
        reason, remedy = REFUSED["include" if key.startswith("include ") else name]
        raise current.fault(key[:80], reason, remedy, line)
    if name not in READ and name not in IGNORED:
        remedy = did_you_mean(key, (*READ, *IGNORED, *ALIASES), "remove it: what it changes cannot be repeated here")
        raise current.fault(key[:80], "is no key that Assay reads from job files", remedy, line)
    if _VARIABLE.search(value):
        remedy = "write its value: Assay reads no environment and runs nothing"
        raise current.fault(key, "holds a variable", remedy, line)
    # The last one holds, as with fio; of two names for one value the later takes the place of the other.
    current.settings.pop(EXCLUSIVE.get(name, ""), None)
    current.settings[name] = Setting(value if equals else None, line)


class ValueFaultError(Exception):
    """A value that cannot be read: the reason, and what to write instead."""

    def __init__(self, reason: str, remedy: str) -> None:
        super().__init__(reason)
        self.reason, self.remedy = reason, remedy


@dataclass(frozen=True, slots=True)
class Extent:
    """A size in bytes or in per cent of the drive; exactly one of the two."""

    size_bytes: int | None = None
    percent: int | None = None


def size_bytes(text: str, kb_base: int = 1024) -> int:
    """Bytes of a size. kb_base : 1024, or 1000.

    With 1024, ``k`` and ``kb`` are 1,024 bytes and ``kib`` is 1,000; with 1000 they change places.
    Worked: ``"4k"`` -> 4096, ``"4kib"`` -> 4000, ``"0x1000"`` -> 4096.
    """
    number, unit = _parts(text, "a size, as 4k or 1g")
    unit = unit.lower()
    decimal = unit.endswith("ib") and len(unit) == 3  # noqa: PLR2004 - as in kib
    power = _POWERS.get(unit.removesuffix("ib") if decimal else unit.removesuffix("b"))
    if power is None:
        raise ValueFaultError(f"is {text!r}, which has an unknown unit", "write k, m, g, t or p after the number")
    value = int(number * (1000 if decimal == (kb_base == 1024) else 1024) ** power)  # noqa: PLR2004 - the default
    if value > BYTES_MAX:
        raise ValueFaultError(f"is {text!r}, which is more than a drive can have", "write a smaller size")
    return value


def extent(text: str, kb_base: int = 1024) -> Extent:
    """A size, or a share of the drive. Worked: ``"50%"`` -> 50 per cent, ``"1g"`` -> 1073741824 bytes."""
    if not text.rstrip().endswith("%"):
        return Extent(size_bytes=size_bytes(text, kb_base))
    return Extent(percent=whole(text.rstrip()[:-1], 0, 100))


def time_us(text: str, bare_us: int) -> int:
    """Microseconds of a time. bare_us : what a number without a unit counts in, as fio has it per key.

    Worked: ``time_us("2m", 1_000_000)`` -> 120000000; ``time_us("50", 1)`` -> 50.
    """
    number, unit = _parts(text, "a time, as 30s or 500ms")
    factor = bare_us if not unit else _TIME_US.get(unit)
    if factor is None:
        raise ValueFaultError(f"is {text!r}, which has an unknown unit", "write d, h, m, s, ms or us after the number")
    return number * factor


def whole(text: str, low: int, high: int) -> int:
    """A whole number of a range."""
    if not re.fullmatch(r"\d{1,19}", text.strip()) or not low <= int(text) <= high:
        raise ValueFaultError(f"is {text[:80]!r}", f"write a whole number from {low} to {high}")
    return int(text)


def equal_sides(text: str) -> tuple[str, str, str]:
    """A list for reads, writes and trims; the last one given holds for those behind it, an empty one for none.

    Worked: ``"4k,64k"`` -> ``("4k", "64k", "64k")``.
    """
    parts = [part.strip() for part in text.split(",")]
    if len(parts) > 3:  # noqa: PLR2004 - directions
        raise ValueFaultError("has more than three parts", "write a part each for reads, writes and trims")
    parts += [parts[-1]] * (3 - len(parts))
    return parts[0], parts[1], parts[2]


def split_shares(text: str, kb_base: int = 1024) -> dict[int, Fraction]:
    """Shares of ``bssplit`` for one direction, in per cent by size; sizes without a share get equal parts of the rest.

    Worked: ``"4k/50:64k/"`` -> 4096: 50, 65536: 50.
    """
    items = [item.partition("/") for item in text.split(":")]
    if len(items) > 64:  # noqa: PLR2004 - as fio
        raise ValueFaultError("has more than 64 sizes", "write fewer")
    sizes = [size_bytes(item[0], kb_base) for item in items]
    given = [whole(item[2], 0, 100) if item[2].strip() else 0 for item in items]
    left, open_count = 100 - sum(given), given.count(0)
    if left < 0 or (left > 0 and not open_count):
        raise ValueFaultError(f"has shares that sum to {sum(given)} per cent", "make them sum to 100")
    shares: dict[int, Fraction] = {}
    for size, share in zip(sizes, given, strict=True):
        part = Fraction(share) if share else Fraction(left, open_count)
        if part:
            shares[size] = shares.get(size, Fraction(0)) + part
    return shares


def _parts(text: str, expected: str) -> tuple[int, str]:
    match = _NUMBER.fullmatch(text.strip())
    if match is None:
        raise ValueFaultError(f"is {text[:80]!r}", f"write {expected}")
    if match[2] and match[3]:
        reason = f"is {text[:80]!r}, of which fio takes {match[1]} only: it ignores a unit after a blank"
        raise ValueFaultError(reason, f"write {match[1]}{match[3]}")
    return int(match[1], 16 if match[1][:2] in ("0x", "0X") else 10), match[3]
