"""Files of others with seeded mistakes: what a reader may answer, and how much of it they reach."""

from __future__ import annotations

import os
import random
import sys
import time
from inspect import CO_OPTIMIZED
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.errors import AssayError
from mistaken_files import CPU_SECONDS_MAX, RAW

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import CodeType, FrameType

SOAK_SECONDS = float(os.environ.get("ASSAY_FUZZ_SECONDS", "3600"))
"""CPU time of each reader in ``make soak``."""
SOAK_TIMEOUT = int(SOAK_SECONDS * 8) + 600
EXITS = (2, 6)
"""A file that is refused, and one that cannot be read to its end."""
REACHED_MIN = 0.9


class Outcome:
    """How far a reader came with a file before it refused it, if it did."""

    def __init__(self) -> None:
        self.stage = "refused"


def answered(kind: str, seed: int, tried: Callable[[random.Random, Outcome], None]) -> str:
    """How far the file of a seed came: ``refused``, or what ``tried`` says. Fails where the answer is none of ours."""
    draw = random.Random(f"{kind} {seed}")  # noqa: S311 - the same every time
    outcome = Outcome()
    begun = time.process_time()
    try:
        tried(draw, outcome)
    except AssayError as error:
        # Not kept in a name of this function: such rings with a model's error in them are never given back.
        check_words(error, f"{kind} {seed}")
    except BaseException as error:
        raise AssertionError(f"{kind} {seed}") from error
    assert time.process_time() - begun < CPU_SECONDS_MAX, f"{kind} {seed}"
    return outcome.stage


def check_words(error: AssayError, place: str) -> None:
    """Whether a fault is of the file, and in words of ours."""
    assert error.exit_code in EXITS, place
    assert not any(word in str(error) for word in RAW), f"{place}: {error}"


def for_an_hour(kind: str, first: int, tried: Callable[[random.Random, Outcome], None]) -> int:
    """Seeds from the first on until the time is used; how many there were. Says so, for ``pytest -rP``."""
    begun, seed = time.process_time(), first
    while time.process_time() - begun < SOAK_SECONDS:
        answered(kind, seed, tried)
        seed += 1
    print(f"{kind}: {seed - first} files in {SOAK_SECONDS:g} s of CPU time")  # noqa: T201 - for pytest -rP
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
