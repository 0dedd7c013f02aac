"""Numbers of a device of known answer times on a disturbed host, held against those of the same host when it was quiet.

``tools/host-trial`` prints a line for each disturbance.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from assay.spec.units import SECOND_NS
from disturbances import Target, disturbed, possible_kinds
from null_dut import Number, Wish
from outside_view import other_share, sight, was_quiet
from stepped_clock import clock_environment, may_step

if TYPE_CHECKING:
    from collections.abc import Iterator

ANSWERS_NS = (100_000, 1_000_000, 5_000_000)
QUIET_COUNT = 10
SURE = 6.59
"""Student's t of nine degrees of freedom for one quiet sequence in 10,000 outside, on both sides."""
ATTEMPTS_MAX = 40
RATE = "stage-1 iops"
TAIL_SHARE = 0.1
"""An unmarked percentile may be off by the lateness that does not count, a tenth of it."""


@dataclass
class Measurer:
    """A process that measures, and what is seen of the host from outside meanwhile.

    until_s : on the monotonic clock; from then on it waits no longer for the host to be quiet.
    others : what others used of the host in sequences that are repeated, since it was not quiet.
    """

    process: subprocess.Popen[str]
    target: Target
    until_s: float
    others: list[float] = field(default_factory=list)

    def measured(self, wish: Wish) -> tuple[dict[str, Number], bool, float]:
        """The numbers by key, empty where they are withheld; whether the host was quiet; what others used of it."""
        assert self.process.stdin
        assert self.process.stdout
        # A look costs some milliseconds of a processor: none while the sequence runs.
        left_out = {self.process.pid}
        before = sight(left_out)
        self.process.stdin.write(json.dumps(asdict(wish)) + "\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "begun\n", "the process that measures has ended"
        self.target.begun.set()
        line = self.process.stdout.readline()
        after = sight(left_out)
        numbers = [Number(**number) for number in json.loads(line)]
        return {number.key: number for number in numbers}, was_quiet(before, after), other_share(before, after)

    def disturbed(self, wish: Wish, kind: str, seed: int) -> tuple[str, dict[str, Number], float]:
        """Which disturbance of a kind it was, the numbers beside it, and what others used of the host."""
        self.target.begun.clear()
        with disturbed(kind, seed, self.target) as what:
            numbers, _, other = self.measured(wish)
        return what, numbers, other

    def quiet(self, wish: Wish) -> dict[str, Number] | None:
        """The same on a quiet host, however often that takes; None where it never was in the time there is."""
        for _ in range(ATTEMPTS_MAX):
            if time.monotonic() > self.until_s:
                return None
            numbers, quiet, other = self.measured(wish)
            if quiet:
                return numbers
            self.others.append(other)
        return None

    @property
    def never_quiet(self) -> str:
        """Why there is no truth."""
        least = f", {min(self.others):.1%} or more" if self.others else ""
        return (
            f"SKIPPED: other programs used this host in {len(self.others)} sequences{least}: not quiet for long enough"
        )


@contextmanager
def measurer(seconds: float = math.inf) -> Iterator[Measurer]:
    """A process that measures as long as the block runs. seconds : for which it waits for a quiet host."""
    command = [sys.executable, str(Path(__file__).with_name("null_dut.py"))]
    until_s = time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as folder:
        variables, clock = clock_environment(Path(folder)) if may_step() else ({}, None)
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ | variables
        ) as process:
            try:
                yield Measurer(process, Target(process=process.pid, clock=clock), until_s)
            finally:
                process.kill()


@dataclass(frozen=True, kw_only=True)
class Tried:
    """A disturbed sequence. errors : of each number, relative. beyond : unmarked and off by too much.

    repeated : sequences of this setting that were not quiet, beside those that are the truth.
    has_truth : each of those had a rate.
    """

    what: str
    wish: Wish
    numbers: dict[str, Number]
    errors: dict[str, float]
    beyond: tuple[str, ...]
    other: float
    repeated: int
    has_truth: bool


_CARRIED = {(100_000, 1): (1, 8), (100_000, 2): (1,)}


def settings(draws: random.Random) -> Wish:
    """A wish by chance that two processors can carry; of slow answers twice as long, or too few come for a p99.9."""
    answer_ns = draws.choice(ANSWERS_NS)
    thread_count = draws.choice((1, 2))
    return Wish(
        answer_ns=answer_ns,
        seconds=2 if answer_ns == max(ANSWERS_NS) else 1,
        thread_count=thread_count,
        queue_depth=draws.choice(_CARRIED.get((answer_ns, thread_count), (1, 8, 32))),
        stage_count=draws.choice((1, 1, 3)),
        calibrates=draws.random() < 0.25,
    )


def trial(tool: Measurer, wish: Wish, kinds: list[tuple[str, int]]) -> Iterator[Tried]:
    """Disturbed sequences of one setting, alternating with quiet ones; nothing where the host is never quiet."""
    calm, repeated = replace(wish, calibrates=False), len(tool.others)
    truth: list[dict[str, Number]] = []
    results = []
    for turn in range(max(QUIET_COUNT, len(kinds))):
        if turn < QUIET_COUNT:
            numbers = tool.quiet(calm)
            if numbers is None:
                return
            truth.append(numbers)
        if turn < len(kinds):
            results.append(tool.disturbed(wish, *kinds[turn]))
    repeated = len(tool.others) - repeated
    has_truth = all(RATE in quiet and quiet[RATE].value for quiet in truth)
    for what, numbers, other in results:
        errors, beyond = held(numbers, truth, wish.answer_ns / SECOND_NS / wish.seconds)
        yield Tried(
            what=what,
            wish=wish,
            numbers=numbers,
            errors=errors,
            beyond=beyond,
            other=other,
            repeated=repeated,
            has_truth=has_truth,
        )


def held(
    numbers: dict[str, Number], truth: list[dict[str, Number]], edge: float = 0.0
) -> tuple[dict[str, float], tuple[str, ...]]:
    """The relative error of each number, and those that are not marked and off by more than bound and spread.

    The truth of a number is the median of the quiet sequences; without a value in each there is none. The spread is
    that in which one more quiet sequence would lie. edge : of a rate, since I/Os of one answer time end together, and
    the last of them within the sequence or behind it.
    Worked: a rate of 900 with bound 0.02 and no mark, of 990 to 1,010 when it was quiet -> 0.1, beyond.
    """
    errors, beyond = {}, []
    for key, number in numbers.items():
        values = [quiet[key].value for quiet in truth if key in quiet]
        known = [value for value in values if value]
        if number.value is None or len(known) < QUIET_COUNT:
            continue
        middle = statistics.median(known)
        errors[key] = abs(number.value - middle) / middle
        spread = SURE * statistics.stdev(known) * math.sqrt(1 + 1 / len(known)) / middle
        at_edge = edge if key.endswith((" iops", " mb_per_s")) else 0.0
        if number.mark is None and errors[key] > allowed(number) + spread + at_edge:
            beyond.append(key)
    return errors, tuple(beyond)


def allowed(number: Number) -> float:
    """How far an unmarked number may be off, relative, without the spread of the undisturbed."""
    bound, value = number.bound or 0.0, number.value or 1.0
    if number.stat == "maximum":
        return bound / value
    if number.stat == "percentile":
        return TAIL_SHARE
    return bound / (1 - min(bound, 0.5))


def disturbances(count: int, seed: int) -> Iterator[tuple[Wish, list[tuple[str, int]]]]:
    """Settings by chance, each with as many disturbances by chance as there are quiet sequences."""
    draws = random.Random(seed)  # noqa: S311 - a trial is repeated by its seed
    kinds = possible_kinds()
    for _ in range(0, count, QUIET_COUNT):
        yield settings(draws), [(draws.choice(kinds), draws.randrange(1 << 30)) for _ in range(QUIET_COUNT)]


_SHOWN = {"iops": "rate", "latency_ms_mean_of_ios": "mean", "latency_ms_p99.9": "p99.9", "latency_ms_max": "max"}


def line_of(tried: Tried) -> str:
    """A line of the table, with error, bound and mark of the first stage."""
    shown = {f"stage-1 {key}": name for key, name in _SHOWN.items()}
    numbers = "  ".join(
        f"{name} {tried.errors[key]:7.1%} {_bound(tried.numbers[key])} {tried.numbers[key].mark or '-':12}"
        for key, name in shown.items()
        if key in tried.errors
    )
    wish = tried.wish
    setting = f"{wish.answer_ns / 1e6:g} ms {wish.thread_count}x{wish.queue_depth} x{wish.stage_count}"
    setting += " fresh" if wish.calibrates else ""
    rest = (numbers or "withheld") if tried.has_truth else "no truth: withheld on the quiet host"
    beyond = "".join(f" BEYOND {key} {tried.errors[key]:.2%}" for key in tried.beyond)
    quiet = f"quiet {QUIET_COUNT}/{QUIET_COUNT + tried.repeated}"
    return f"{tried.what:36} {setting:20} other {tried.other:5.1%} {quiet:10}  {rest}  {beyond}".rstrip()


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
    """What is marked of a sequence but its maxima, which no calibration can foresee; all of it where it is withheld."""
    if not numbers:
        return {"all": "withheld"}
    return {
        key: f"{one.mark} {one.bound:.3g} of {one.value:.3g}"
        for key, one in numbers.items()
        if one.mark and one.stat != "maximum"
    }


def main() -> int:
    """Print the table; 1 where a number is off and unmarked."""
    asked = _asked()
    with measurer(asked.seconds) as tool:
        tried = []
        for wish, kinds in disturbances(asked.disturbances, asked.seed):
            for sequence in trial(tool, wish, kinds):
                tried.append(sequence)
                _say(line_of(sequence))
        marks, maxima = [], 0
        for wish, numbers in quiet_trial(tool, asked.quiet, asked.seed):
            if numbers is None:
                _say(tool.never_quiet)
                break
            marks.append(marks_of(numbers))
            maxima += any(number.stat == "maximum" and number.mark for number in numbers.values())
            _say(f"quiet {wish.answer_ns / 1e6:g} ms {wish.thread_count}x{wish.queue_depth}: {marks[-1] or 'no mark'}")
    beyond = sum(bool(sequence.beyond) for sequence in tried)
    count = sum(sequence.has_truth for sequence in tried)
    _say(f"{count} of {asked.disturbances} disturbed sequences held against a quiet host")
    _say(f"{beyond} with an unmarked number beyond its bound and the spread")
    _say(f"{sum(map(bool, marks))} of {len(marks)} quiet sequences marked but for maxima; {len(tool.others)} repeated")
    _say(f"{maxima} of their maxima marked")
    return bool(beyond)


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tools/host-trial", description=__doc__.split("\n", 1)[0])
    parser.add_argument("--disturbances", type=int, default=20, help="disturbed sequences; default: %(default)s")
    parser.add_argument("--quiet", type=int, default=20, help="quiet sequences behind them; default: %(default)s")
    parser.add_argument("--seed", type=int, default=1, help="of settings and disturbances; default: %(default)s")
    parser.add_argument("--seconds", type=float, default=math.inf, help="to wait for a quiet host; default: no limit")
    return parser.parse_args()


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
