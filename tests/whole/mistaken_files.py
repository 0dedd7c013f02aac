"""Files with seeded mistakes, and what an answer to them may be: a result, or faults in our own words, soon."""

from __future__ import annotations

import random
import re
import time
from functools import partial
from typing import TYPE_CHECKING

from assay.errors import EXITS_BY_STRENGTH, AssayError, SystemRefusedError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from pathlib import Path

EXITS = {0, 2, SystemRefusedError.exit_code, *EXITS_BY_STRENGTH}
"""What a command may exit with; 70, a defect of the program, is not among them."""

RAW = (
    "Traceback",
    "Input should",
    "Value error,",
    "Extra inputs",
    "Field required",
    "constrained-str",
    "[Errno",
    "pydantic",
)
"""Words of the libraries, which no user should read."""

CPU_SECONDS_MAX = 5.0

VALUES = (
    "0", "-1", "1", "512", "4095", "65536", "4294967296", "9223372036854775807", "9223372036854775808",
    "4611686018427387904", "1e308", "inf", "nan", "-0.0", "0.5", "true", '""', '"x"', '"choices"', "[]", "{}",
    "1979-05-27", '"\\u0000"', '"\\u001b[2J"', '{ value = 1, source = "x" }',
)  # fmt: skip
LETTERS = ("\0", "\ufeff", "é", "東", "\\", '"', "{", "}", "[", "]", "=", ".", "\n", "#", "\u2028")
CELLS = ("", "nan", "-1", "0", "1e999", '"', '"a\nb"', "x", "東", "9" * 5000, "4,4", "\0", "0x10", "١٢")


def mistaken(text: str, draw: random.Random) -> bytes:
    """The text with a value changed, a line lost, doubled or moved, or a letter too many; now and then a stray byte."""
    lines = text.split("\n")
    for _ in range(draw.choice([1, 1, 2, 4])):
        place, act = draw.randrange(len(lines)), draw.random()
        line = lines[place]
        found = list(re.finditer(r"= *(\[[^\]]*\]|\"[^\"]*\"|[^\s,}]+)", line))
        if act < 0.6 and found:
            match = draw.choice(found)
            lines[place] = line[: match.start(1)] + draw.choice(VALUES) + line[match.end(1) :]
        elif act < 0.6 and "," in line:
            cells = line.split(",")
            cells[draw.randrange(len(cells))] = draw.choice(CELLS)
            lines[place] = ",".join(cells)
        elif act < 0.7:
            lines[place] = ""
        elif act < 0.8:
            lines.insert(place, draw.choice(lines))
        else:
            at = draw.randrange(len(line) + 1)
            lines[place] = line[:at] + draw.choice(LETTERS) + line[at:]
    content = "\n".join(lines).encode()
    cut = draw.randrange(len(content))
    return content[:cut] + bytes([draw.randrange(256)]) + content[cut:] if draw.random() < 0.05 else content


def try_each(
    kind: str, originals: Sequence[Path], seeds: range, folder: Path, tried: Callable[[Path, random.Random], object]
) -> None:
    """Every seed makes something of its file with mistakes, or an error of the tool's own in its own words."""
    for seed in seeds:
        draw = random.Random(f"{kind} {seed}")  # noqa: S311 - the same every time
        original = draw.choice(originals)
        path = folder / f"{kind}{original.suffix}"
        path.write_bytes(mistaken(original.read_text("utf-8"), draw))
        check_answer(partial(tried, path, draw), f"{kind} {seed}")


def check_answer(
    act: Callable[[], object],
    seed: str,
    exits: Collection[int] = EXITS,
    raw: Collection[str] = RAW,
    cpu_s_max: float = CPU_SECONDS_MAX,
) -> None:
    """Fails unless ``act`` ends soon, well or with an error of the tool's own that has one of the exit codes."""
    begun = time.process_time()
    code, said = _answer(act, f"seed {seed}")
    assert code in exits, f"seed {seed}"
    assert not any(word in said for word in raw), f"seed {seed}: {said}"
    took_s = time.process_time() - begun
    assert took_s < cpu_s_max, f"seed {seed}: {took_s:.1f} s"


def _answer(act: Callable[[], object], seed: str) -> tuple[int, str]:
    """Exit code and text of the error, 0 and nothing where there is none.

    The error is kept in no name: a ring of one with an error of a model in it is never given back.
    """
    try:
        act()
    except AssayError as error:
        return error.exit_code, str(error)
    except BaseException as error:
        raise AssertionError(seed) from error
    return 0, ""
