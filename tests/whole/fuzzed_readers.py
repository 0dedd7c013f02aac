"""Files of others with seeded mistakes: what a reader may answer, and how much of it they reach."""

from __future__ import annotations

import os
import random
import sys
import time
from dataclasses import dataclass
from functools import partial
from inspect import CO_OPTIMIZED
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mistaken_files import CPU_SECONDS_MAX, RAW, check_answer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import CodeType, FrameType

SOAK_SECONDS = float(os.environ.get("ASSAY_FUZZ_SECONDS", "3600"))
"""CPU time of each reader in ``make soak``."""
SOAK_TIMEOUT = int(SOAK_SECONDS * 8) + 600
REACHED_MIN = 0.9


class Outcome:
    """How far a reader came with a file before it refused it, if it did."""

    def __init__(self) -> None:
        self.stage = "refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """A reader that is given a file with mistakes for each seed.

    exits : codes of its refusals. raw : words that none of them may hold. cpu_s_max : processor time of an answer.
    """

    kind: str
    tried: Callable[[random.Random, Outcome], None]
    exits: tuple[int, ...] = (2,)
    raw: tuple[str, ...] = RAW
    cpu_s_max: float = CPU_SECONDS_MAX

    def answered(self, seed: int) -> str:
        """How far the file of a seed came: ``refused``, or what ``tried`` says. Fails where the answer is not ours."""
        outcome = Outcome()
        act = partial(self.tried, self.drawn(seed), outcome)
        check_answer(act, f"{self.kind} {seed}", exits=(0, *self.exits), raw=self.raw, cpu_s_max=self.cpu_s_max)
        return outcome.stage

    def drawn(self, seed: int) -> random.Random:
        """Draws that are the same every time."""
        return random.Random(f"{self.kind} {seed}")  # noqa: S311 - no secret

    def answers_for_an_hour(self, first: int) -> int:
        """Seeds from the first on until the time is used; how many there were. Says so, for ``pytest -rP``."""
        begun, seed = time.process_time(), first
        while time.process_time() - begun < SOAK_SECONDS:
            self.answered(seed)
            seed += 1
        print(f"{self.kind}: {seed - first} files in {SOAK_SECONDS:g} s of CPU time")  # noqa: T201 - for pytest -rP
        return seed - first


def check_reached(folder: Path, names: Sequence[str], act: Callable[[], None]) -> None:
    """At least 90 % of the lines of the functions of these modules run while ``act`` runs."""
    reached: set[tuple[str, int]] = set()
    endings = tuple(f"/{folder.name}/{name}" for name in names)

    def line(frame: FrameType, event: str, _: Any) -> Any:
        if event == "line":
            reached.add((frame.f_code.co_filename.rpartition("/")[2], frame.f_lineno))
        return line

    def call(frame: FrameType, _event: str, _: Any) -> Any:
        return line if frame.f_code.co_filename.endswith(endings) else None

    before = sys.gettrace()
    sys.settrace(call)
    try:
        act()
    finally:
        sys.settrace(before)
    known = {(name, number) for name in names for number in lines_of_functions(folder / name)}
    share = len(known & reached) / len(known)
    print(f"{len(known & reached)} of {len(known)} lines reached")  # noqa: T201 - for pytest -rP
    assert share >= REACHED_MIN, sorted(known - reached)


def lines_of_functions(path: Path) -> Iterator[int]:
    """The lines of all functions of a module that can be run."""
    codes: list[CodeType] = [compile(path.read_text("utf-8"), str(path), "exec")]
    while codes:
        code = codes.pop()
        codes += [one for one in code.co_consts if hasattr(one, "co_lines")]
        if code.co_flags & CO_OPTIMIZED:
            yield from (number for _, _, number in code.co_lines() if number and number > code.co_firstlineno)


def package_folder(name: str) -> Path:
    """Where the modules of a package that is loaded lie."""
    return Path(sys.modules[name].__file__ or "").parent
