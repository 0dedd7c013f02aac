"""The command line in the process of the test: an interpreter of its own takes up to a second to start."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from unittest.mock import patch

import pytest
from assay.cli import main

_NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM)


def assay(*arguments: str, cwd: Path | None = None, columns: int | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, with its output and exit code.

    cwd : the folder that it is given in. columns : of the terminal that it prints on, None for a pipe.
    """
    out, errors = (_Terminal() if columns else _Pipe() for _ in range(2))
    handlers = [signal.getsignal(number) for number in _NUMBERS]
    with (
        contextlib.chdir(cwd or Path.cwd()),
        patch.object(sys, "argv", ["assay", *arguments]),
        patch.object(sys, "unraisablehook", sys.unraisablehook),
        patch.dict(os.environ, {"COLUMNS": str(columns)} if columns else {}),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(errors),
        pytest.raises(SystemExit) as ended,
    ):
        main()
    for number, handler in zip(_NUMBERS, handlers, strict=True):
        signal.signal(number, handler)
    code = int(ended.value.code or 0)
    with out, errors:
        return subprocess.CompletedProcess(arguments, code, out.written(), errors.written())


class _Pipe(io.TextIOWrapper):
    """Text with bytes below, and a number that commands of the command take."""

    def __init__(self) -> None:
        super().__init__(tempfile.TemporaryFile(), encoding="utf-8", write_through=True)  # noqa: SIM115 - closed with it

    def written(self) -> str:
        """All that was written, as a reader has it."""
        self.seek(0)
        return self.read()


class _Terminal(_Pipe):
    def isatty(self) -> bool:
        """It is one."""
        return True
