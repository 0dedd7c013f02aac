"""The keys of a job that say what its I/Os look like, made from the lines of a stream."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import gcd
from typing import TYPE_CHECKING

from assay.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from assay.spec.workload import Line, Stream

_ALL = Fraction(100)
_SHARE_TOLERANCE = Fraction(1, 10**6)

Shares = dict[int, Fraction]


@dataclass(frozen=True, slots=True)
class _Mix:
    """Per cent of reads, and the sizes of reads and writes with their shares."""

    read_percent: int
    reads: Shares
    writes: Shares


def access_keys(stream: Stream, thing: str) -> list[str]:
    """The keys ``rw``, ``bs`` or ``bssplit``, and those of the mix, the grid and the pause.

    thing : what errors name. Raises UsageError for what fio cannot do: shares that are no whole per cent, lines that
    differ in more than size and direction, a place that threads share.
    Worked: one line of 4,096 bytes, all random, 70 % reads -> ``rw=randrw``, ``rwmixread=70``, ``bs=4096``.
    """
    mix = _mix(stream, thing)
    random = _one([line.random_percent for line in stream.lines], "random_percent", thing)
    random_percent = _whole(Fraction(random), f"{thing}: random_percent")
    mixed = stream.operation == "transfer" and 0 < mix.read_percent < _ALL
    _check_places(stream, thing)
    keys = [f"rw={_word(stream, mix, random=random_percent > 0)}"]
    keys += [f"rwmixread={mix.read_percent}"] if mixed else []
    keys += [f"percentage_random={random_percent}"] if 0 < random_percent < _ALL else []
    return [
        *keys,
        *_sizes(mix, mixed=mixed),
        *_zones(stream, thing),
        *_grid(stream, thing, random_percent),
        *_pause(stream, thing),
    ]


def _mix(stream: Stream, thing: str) -> _Mix:
    """Reads and writes of all lines by size."""
    reads: Shares = {}
    writes: Shares = {}
    for line in stream.lines:
        share, read = Fraction(line.percent), Fraction(line.read_percent) / 100
        # A trim says nothing of reading.
        read = Fraction(0) if stream.operation == "trim" else read
        for side, part in ((reads, share * read), (writes, share * (1 - read))):
            if part:
                side[line.size_bytes] = side.get(line.size_bytes, Fraction(0)) + part
    total = sum(reads.values(), Fraction(0))
    return _Mix(_whole(total, f"{thing}: the share of reads"), _shares(reads, thing), _shares(writes, thing))


def _shares(side: Mapping[int, Fraction], thing: str) -> Shares:
    """The sizes of one direction in whole per cent of it."""
    total = sum(side.values(), Fraction(0))
    return {size: Fraction(_whole(part * 100 / total, f"{thing}: a size's share")) for size, part in side.items()}


def _whole(value: Fraction, thing: str) -> int:
    """Per cent as fio takes them, whole; a float's own error is none."""
    if abs(value - round(value)) > _SHARE_TOLERANCE:
        raise UsageError(thing, f"is {float(value):g} per cent", "fio draws by whole per cent; round it")
    return round(value)


def _one(values: Iterable[float], name: str, thing: str) -> float:
    result = set(values)
    if len(result) > 1:
        raise UsageError(thing, f"has lines that differ in {name}", "fio draws sizes only; write streams for the lines")
    return result.pop()


def _check_places(stream: Stream, thing: str) -> None:
    """A job of fio has a place of its own for each direction, and begins at the start of its range."""
    if not stream.goes_on_as("fio"):
        reason = f"has sequential I/Os that go on by the rule {stream.cursor!r}"
        raise UsageError(thing, reason, 'write cursor = "fio", which keeps a position per thread and direction')
    start, grid = stream.start_bytes or 0, stream.grid_bytes
    if stream.grid_from == "drive" and start % grid:
        reason = f"has a grid of {grid} bytes that its start at {start:,} is off"
        raise UsageError(thing, reason, "fio counts it from the start; write a start on the grid")


def _word(stream: Stream, mix: _Mix, *, random: bool) -> str:
    if stream.operation == "trim":
        return "randtrim" if random else "trim"
    if not 0 < mix.read_percent < _ALL:
        return ("rand" if random else "") + ("read" if mix.read_percent else "write")
    return "randrw" if random else "rw"


def _sizes(mix: _Mix, *, mixed: bool) -> list[str]:
    sides = [mix.reads, mix.writes] if mixed and mix.reads != mix.writes else [mix.reads or mix.writes]
    if all(len(side) == 1 for side in sides):
        return ["bs=" + ",".join(str(next(iter(side))) for side in sides)]
    shown = [":".join(f"{size}/{share}" for size, share in side.items()) for side in sides]
    return ["bssplit=" + ",".join(shown)]


def _zones(stream: Stream, thing: str) -> list[str]:
    """Groups of LBAs as zones. Worked: 50 % in the first 5 %, the rest in 95 % -> ``zoned:50/5:50/95``."""
    shares = [
        (
            _whole(Fraction(lba_group.access_percent), f"{thing}: access_percent"),
            _whole(Fraction(lba_group.range_percent), thing),
        )
        for lba_group in stream.lba_groups
    ]
    zones = ":".join(f"{access}/{size}" for access, size in shares)
    return [f"random_distribution=zoned:{zones}"] if zones else []


def _grid(stream: Stream, thing: str, random_percent: int) -> list[str]:
    """The grid of random starts; sequential ones are on every grid that their sizes are."""
    grids = {line.align_bytes or line.size_bytes for line in stream.lines}
    sizes = {line.size_bytes for line in stream.lines}
    grid = (
        _one(grids, "align_bytes", thing) if random_percent or len(grids) == 1 else gcd(*(int(grid) for grid in grids))
    )
    if random_percent < _ALL and (gcd(*sizes) % int(grid) or (not random_percent and len(grids) > 1)):
        reason = f"has sequential I/Os of sizes that leave the grid of {int(grid)} bytes"
        raise UsageError(thing, reason, "fio leaves no holes; write sizes that are multiples of it")
    return [f"blockalign={int(grid)}"] if random_percent and sizes != {grid} else []


def _pause(stream: Stream, thing: str) -> list[str]:
    bursts = [(line.burst_io_count, line.delay_ms) for line in stream.lines]
    if not any(delay for _, delay in bursts):
        return _unpaused(stream.lines, thing)
    if len(set(bursts)) > 1 or (len(bursts) > 1 and bursts[0][0] > 1):
        raise UsageError(thing, "has lines that differ in bursts or pauses", "fio has both per job; write streams")
    if stream.queue_depth > 1:
        reason = "pauses with several I/Os outstanding"
        raise UsageError(thing, reason, "fio waits for all of them first; write queue_depth = 1, or a rate")
    delay = Fraction(str(bursts[0][1])) * 1000
    if delay.denominator != 1:
        raise UsageError(f"{thing}: delay_ms", f"is {bursts[0][1]:g}", "fio counts microseconds; write whole ones")
    return [f"thinktime={delay}", f"thinktime_blocks={bursts[0][0]}"]


def _unpaused(lines: tuple[Line, ...], thing: str) -> list[str]:
    """Bursts without a pause matter only where a line is drawn per burst."""
    if len(lines) > 1 and any(line.burst_io_count > 1 for line in lines):
        raise UsageError(thing, "draws a line once per burst", "fio draws a size per I/O; write burst_io_count = 1")
    return []
