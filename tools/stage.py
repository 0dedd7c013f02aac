"""Run a stage of the set-up: say what it is and how far it is, keep its log, and show the log where the stage fails.

Needs Python's standard library only, because it runs before anything is installed:
``python3 tools/stage.py LOG TITLE COMMAND...`` ends with the exit code of the command.
"""

from __future__ import annotations

import os
import re
import select
import subprocess
import sys
import time
from pathlib import Path
from typing import IO

_CONTROL = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]")
_TERMINAL_S, _PIPE_S = 0.5, 15.0
"""How often a terminal and a pipe are told how far a stage is."""
_WIDTH = 110
# Cargo draws its bar, with the count of crates, for terminals only unless asked; it draws it at this width.
_CARGO = {"CARGO_TERM_PROGRESS_WHEN": "always", "CARGO_TERM_PROGRESS_WIDTH": "80"}


def main() -> int:
    """Run the stage of the command line; its exit code."""
    log, title, *command = sys.argv[1:]
    begun = time.monotonic()
    print(title, flush=True)
    Path(log).parent.mkdir(parents=True, exist_ok=True)
    with (
        Path(log).open("wb", buffering=0) as kept,
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**os.environ, **_CARGO}
        ) as process,
    ):
        assert process.stdout  # noqa: S101 - for the type checker
        _follow(process.stdout, kept, begun)
        code = process.wait()
    if code:
        sys.stdout.write(Path(log).read_text("utf-8", "replace"))
        print(f"{title.split(' (')[0]}: {Path(command[0]).name} ended with {code}; its log is above and in {log}")
    else:
        print(f"  done in {span(time.monotonic() - begun)}", flush=True)
    return code


def _follow(output: IO[bytes], kept: IO[bytes], begun: float) -> None:
    """Write the lines of a command to its log, and show the last text now and then until it closes its output."""
    terminal = sys.stdout.isatty()
    every = _TERMINAL_S if terminal else _PIPE_S
    rest, text, shown = b"", "", time.monotonic()
    while True:
        ready, _, _ = select.select([output], [], [], every)
        chunk = os.read(output.fileno(), 1 << 16) if ready else b""
        if ready and not chunk:
            break
        lines, rest = split(rest + chunk)
        kept.writelines(line + b"\n" for line in lines)
        text = last_text([*lines, rest.rpartition(b"\r")[0]]) or text
        if time.monotonic() - shown >= every:
            shown = time.monotonic()
            line = f"  {span(shown - begun)}{text and ': '}{text}"[:_WIDTH]
            print(f"\r{line}\x1b[K" if terminal else line, end="" if terminal else "\n", flush=True)
    kept.writelines(split(rest + b"\n")[0])
    print("\r\x1b[K" if terminal else "", end="")


def split(content: bytes) -> tuple[list[bytes], bytes]:
    r"""Whole lines of a terminal as they stand in the end, and the rest behind them.

    content : what a program wrote; a carriage return begins its line anew, a progress bar does so many times.
    Returns the lines without line feeds, and what follows the last one.
    Worked:

    >>> split(b"[=> ] 1/2\r\x1b[KCompiling a\n[==>] 2/2\r")
    ([b'Compiling a'], b'[==>] 2/2\r')
    """
    *lines, rest = content.split(b"\n")
    return [_CONTROL.sub(b"", line).rstrip(b"\r").rpartition(b"\r")[2] for line in lines], rest


def last_text(lines: list[bytes]) -> str:
    r"""The last thing that a program says, without controls; empty where it says nothing.

    Worked:

    >>> last_text([b"Compiling a", b"   Building [==>] 2/2: b\r"])
    'Building [==>] 2/2: b'
    """
    parts = (part for line in reversed(lines) for part in reversed(_CONTROL.sub(b"", line).split(b"\r")))
    return next((part.decode("utf-8", "replace").strip() for part in parts if part.strip()), "")


def span(seconds: float) -> str:
    """A time as minutes and seconds.

    Worked:

    >>> span(59.9), span(754)
    ('59 s', '12 min 34 s')
    """
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


if __name__ == "__main__":
    sys.exit(main())
