"""Numbers of a device of known answer times on a disturbed host, held against those of the same host when it was quiet.

As a script: ``python tests/device/host_trial.py [disturbances] [quiet sequences] [seed]`` prints a line for each.
"""

from __future__ import annotations

import json
import random
import statistics
import subprocess
import sys
import threading
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from disturbances import KINDS, disturbed, may_set_quota
from null_dut import Number, Wish
from outside_view import other_share, sight, was_quiet

if TYPE_CHECKING:
    from collections.abc import Iterator

ANSWERS_NS = (100_000, 1_000_000, 5_000_000)
QUIET_COUNT = 5
ATTEMPTS_MAX = 40
TAIL_SHARE = 0.1
"""An unmarked tail may be off by the lateness that does not count, a tenth of it."""


@dataclass
class Measurer:
    """A process that measures, and what is seen of the host from outside meanwhile."""

    process: subprocess.Popen[str]
    repeated: int = 0
    begun: threading.Event = field(default_factory=threading.Event)

    def measured(self, wish: Wish) -> tuple[dict[str, Number], bool, float]:
        """The numbers by key, empty where they are withheld; whether the host was quiet; what others used of it."""
        assert self.process.stdin
        assert self.process.stdout
        self.begun.clear()
        self.process.stdin.write(json.dumps(asdict(wish)) + "\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "begun\n"
        self.begun.set()
        left_out = {self.process.pid}
        before = sight(left_out)
        line = self.process.stdout.readline()
        after = sight(left_out)
        numbers = [Number(**one) for one in json.loads(line)]
        return {one.key: one for one in numbers}, was_quiet(before, after), other_share(before, after)

    def quiet(self, wish: Wish) -> dict[str, Number] | None:
        """The same on a quiet host, however often that takes; None where it never was."""
        for _ in range(ATTEMPTS_MAX):
            numbers, quiet, _ = self.measured(wish)
            if quiet:
                return numbers
            self.repeated += 1
        return None


@contextmanager
def measurer() -> Iterator[Measurer]:
    """A process that measures as long as the block runs."""
    script = str(Path(__file__).with_name("null_dut.py"))
    with subprocess.Popen(
        [sys.executable, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield Measurer(process)
        finally:
            process.kill()


@dataclass(frozen=True, kw_only=True)
class Tried:
    """A disturbed sequence. errors : of each number, relative. beyond : unmarked and off by too much."""

    what: str
    wish: Wish
    numbers: dict[str, Number]
    errors: dict[str, float]
    beyond: tuple[str, ...]
    other: float


def settings(draws: random.Random) -> Wish:
    """A wish by chance."""
    return Wish(
        answer_ns=draws.choice(ANSWERS_NS),
        thread_count=draws.choice((1, 2)),
        queue_depth=draws.choice((1, 8, 32)),
        calibrates=draws.random() < 0.25,
    )


def trial(tool: Measurer, wish: Wish, kinds: list[tuple[str, int]]) -> Iterator[Tried]:
    """Disturbed sequences of one setting, alternating with quiet ones; nothing where the host is never quiet."""
    calm = replace(wish, calibrates=False)
    truth: list[dict[str, Number]] = []
    results = []
    for turn in range(max(QUIET_COUNT, len(kinds))):
        if turn < QUIET_COUNT:
            numbers = tool.quiet(calm)
            if numbers is None:
                return
            truth.append(numbers)
        if turn < len(kinds):
            kind, seed = kinds[turn]
            tool.begun.clear()
            with disturbed(kind, seed, tool.process.pid, tool.begun) as what:
                found, _, other = tool.measured(wish)
            results.append((what, found, other))
    for what, found, other in results:
        yield _held(what, wish, found, truth, other)


def _held(what: str, wish: Wish, found: dict[str, Number], truth: list[dict[str, Number]], other: float) -> Tried:
    errors, beyond = {}, []
    for key, number in found.items():
        known = [one[key].value for one in truth if key in one and one[key].value]
        if number.value is None or len(known) < QUIET_COUNT:
            continue
        values = [value for value in known if value is not None]
        middle, spread = statistics.median(values), (max(values) - min(values)) / statistics.median(values)
        errors[key] = abs(number.value - middle) / middle
        if number.mark is None and errors[key] > allowed(number) + spread:
            beyond.append(key)
    return Tried(what=what, wish=wish, numbers=found, errors=errors, beyond=tuple(beyond), other=other)


def allowed(number: Number) -> float:
    """How far an unmarked number may be off, relative, without the spread of the undisturbed."""
    bound, value = number.bound or 0.0, number.value or 1.0
    if number.stat == "maximum":
        return bound / value
    if number.key.startswith("latency_ms_p99.9"):
        return TAIL_SHARE
    return bound / (1 - min(bound, 0.5))


def disturbances(count: int, seed: int) -> Iterator[tuple[Wish, list[tuple[str, int]]]]:
    """Settings by chance, each with five disturbances by chance."""
    draws = random.Random(seed)  # noqa: S311 - a trial is repeated by its seed
    kinds = [kind for kind in KINDS if kind != "quota" or may_set_quota()]
    for _ in range(0, count, QUIET_COUNT):
        yield settings(draws), [(draws.choice(kinds), draws.randrange(1 << 30)) for _ in range(QUIET_COUNT)]


def line_of(tried: Tried) -> str:
    """A line of the table."""
    shown = {"iops": "rate", "latency_ms_mean_of_ios": "mean", "latency_ms_p99.9": "p99.9", "latency_ms_max": "max"}
    numbers = "  ".join(
        f"{name} {tried.errors[key]:7.1%} {_bound(tried.numbers[key])} {tried.numbers[key].mark or '-':12}"
        for key, name in shown.items()
        if key in tried.errors
    )
    wish = tried.wish
    setting = f"{wish.answer_ns / 1e6:g} ms {wish.thread_count}x{wish.queue_depth}{' fresh' if wish.calibrates else ''}"
    return f"{tried.what:36} {setting:16} other {tried.other:5.1%}  {numbers or 'withheld'}  {' '.join(tried.beyond)}"


def _bound(number: Number) -> str:
    return "      -" if number.bound is None else f"{number.bound:7.4f}"


def quiet_trial(tool: Measurer, count: int, seed: int) -> Iterator[tuple[Wish, dict[str, Number] | None]]:
    """Sequences on the quiet host, of settings by chance; None where it never was quiet, which ends them."""
    draws = random.Random(seed)  # noqa: S311 - a trial is repeated by its seed
    for _ in range(count):
        wish = replace(settings(draws), calibrates=False)
        numbers = tool.quiet(wish)
        yield wish, numbers
        if numbers is None:
            return


def marks_of(numbers: dict[str, Number]) -> dict[str, str]:
    """What is marked of a sequence; all of it where it is withheld."""
    if not numbers:
        return {"all": "withheld"}
    return {key: f"{one.mark} {one.bound:.3g} of {one.value:.3g}" for key, one in numbers.items() if one.mark}


def main() -> None:
    """Print the table."""
    count, quiet_count, seed = (int(word) for word in (*sys.argv[1:], "20", "20", "1")[:3])
    with measurer() as tool:
        tried = []
        for wish, kinds in disturbances(count, seed):
            for sequence in trial(tool, wish, kinds):
                tried.append(sequence)
                _say(line_of(sequence))
        marks = []
        for wish, numbers in quiet_trial(tool, quiet_count, seed):
            marks.append(numbers is None or marks_of(numbers))
            _say(f"quiet {wish.answer_ns / 1e6:g} ms {wish.thread_count}x{wish.queue_depth}: {marks[-1]}")
        beyond = sum(bool(one.beyond) for one in tried)
        _say(f"{beyond} of {len(tried)} disturbed sequences with an unmarked number that is off by more than its bound")
        _say(f"{sum(map(bool, marks))} of {len(marks)} quiet sequences marked; {tool.repeated} repeated, not quiet")


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
