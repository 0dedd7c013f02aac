"""Runs that this host let come to their end, and the one exit code that follows from what they stored.

A host can cost a run its time by being late where no record of it stands: at a boundary of two threads, in a step too
short for it to complete an I/O, between two sequences. Such an attempt counts for nothing, and only where the host was
seen to be disturbed meanwhile.
"""

from __future__ import annotations

import json
import subprocess
import time
from typing import TYPE_CHECKING

import pytest
from assay.dut.real.host_watch import HostWatch
from assay.errors import EXIT_NOT_STEADY, EXIT_OK, EXIT_WITHHELD, TimekeepingError
from assay.results.outcome import withholding
from assay.run.store.read import read_run
from assay.words.outcomes import NO_COMPLETIONS
from conftest import HANG_S
from quiet_host import QUIET_ASSAY, was_disturbed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from assay.engine.records import StoredTest

ATTEMPTS_MAX, PATIENCE_S = 5, 180
"""No attempt is begun later: a run of minutes has fewer of them."""
HOST_ENDINGS = {TimekeepingError.slug, NO_COMPLETIONS}
"""Of tests: a thread was held up at a boundary, or had no processor in a whole step of milliseconds."""


def quiet_assay(*arguments: str, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """The command line on a quiet host, whatever its exit code."""
    return subprocess.run(
        [*QUIET_ASSAY, *arguments], capture_output=True, text=True, timeout=HANG_S, check=False, env=env
    )


def undisturbed(
    attempt: Callable[[Path], subprocess.CompletedProcess[str]],
    folder: Path,
    broken: Callable[[Path], str | None] = lambda _: None,
) -> tuple[subprocess.CompletedProcess[str], Path]:
    """The first attempt in which this host cost the run no time, and its run folder; skips where there is none.

    attempt : makes a run in a new folder, on a quiet host. broken : what a run that ended well lacks if its threads
    were late, None where it has it.
    """
    lost: list[str] = []
    latest = time.monotonic() + PATIENCE_S
    for number in range(ATTEMPTS_MAX):
        if time.monotonic() > latest:
            break
        out = folder / f"run-{number}"
        with HostWatch() as watch:
            done = attempt(out)
        assert out.exists(), f"no run was begun: {done.stderr}"
        lacks = {EXIT_OK: broken, EXIT_WITHHELD: lost_time}.get(done.returncode)
        reason = lacks(out) if lacks else None
        if reason is None:
            return done, out
        assert was_disturbed(watch.record), f"the host kept still, and yet: {reason}"
        lost.append(reason)
    pytest.skip(f"SKIPPED: the host disturbed all {len(lost)} attempts: {'; '.join(lost)}")


def lost_time(out: Path) -> str | None:
    """What this host cost a run that is withheld, None where it is withheld for any other reason."""
    found = [lost_of_test(test) for test in read_run(out).tests if withholding(test)]
    return "; ".join(str(one) for one in found) if found and None not in found else None


def lost_of_test(test: StoredTest) -> str | None:
    """The same of one test: its ending, where that is the host's, and gaps, where nothing else withholds it."""
    by_host = {"sequence-gap"} | ({"ended", "completions"} if test.ended in HOST_ENDINGS else set[str]())
    found = list(withholding(test))
    if not found or any(one.name not in by_host for one in found):
        return None
    return "; ".join([str(test.ended), *(one.finding.words for one in found)])


def verdict_code(out: Path) -> int:
    """7 if and only if the last stored verdict of a stage says not steady, else 0; of tests that require it in each."""
    reached: dict[tuple[int, str], bool] = {}
    number = 0
    for line in (out / "journal.jsonl").read_text("utf-8").splitlines():
        fact = json.loads(line)
        number += fact["kind"] == "test_started"
        if fact["kind"] == "verdict":
            reached[number, fact["data"]["stage"]] = fact["data"]["window"]["reached"]
    assert reached, "no verdict is stored"
    return EXIT_OK if all(reached.values()) else EXIT_NOT_STEADY
