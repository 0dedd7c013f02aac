"""Random topologies against ``assay run``: a child in a session and mount namespace of its own, judged by its exit.

The user is another process, elsewhere again. It comes before the run, or while that measures.
"""

from __future__ import annotations

import hashlib
import json
import random
import shutil
import subprocess
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from assay.dut.real.identity import identify
from assay.run.store.read import read_run
from gate_topologies import NOBODY, Dealt, arranged, use_another
from gate_topology_users import AFTER, BEFORE, FILE, KINDS
from quiet_host import QUIET_ASSAY

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from gate_topologies import Outcome, Trial
    from gate_topology_images import Dut

_PATIENCE_S = 900
_REFUSED, _CHANGED = 3, 4
_FREE = (0, 5, 7)
"""Exit codes of a run that was let in: of its results, which no trial is about."""
_FREE_EVERY = 10
_SMALLEST = """
drive = "{path}"
tests = ["lat"]
scale = 0.001
stall_limit_seconds = 3600
io_time_limit_seconds = 3600
file_target = {is_file}
[lat]
round_limit = 5
"""


def _deal() -> list[Dealt]:
    """Kinds by turns before a run and while it measures."""
    # What only this process sees, a child does not.
    seen = {name: kind for name, kind in KINDS.items() if not kind.is_set_here}
    early = [Dealt(name, BEFORE) for name in seen]
    # Nor can an image be mounted or swapped to once a run has overwritten it.
    late = [Dealt(name, AFTER) for name, kind in seen.items() if AFTER in kind.moments and not kind.is_on_disk]
    for index in range(0, len(early), _FREE_EVERY):
        early.insert(index, Dealt(NOBODY, BEFORE))
    return [one for index, first in enumerate(early) for one in (first, late[index % len(late)])]


RUN_DEAL = _deal()


def run_trial(dut: Dut, seed: int, dealt: Dealt | None = None) -> Outcome:
    """One trial with a run; everything is undone at its end. dealt : what it is about; None leaves that to the seed."""
    dice = random.Random(seed)  # noqa: S311 - a trial is to be repeatable
    try:
        one = arranged(dut, dice, dealt or RUN_DEAL[seed % len(RUN_DEAL)], is_run=True)
        use_another(one)
        shutil.rmtree(_folder(one), ignore_errors=True)
        identity = identify(one.path, file_target=one.target == FILE)
        one.confirmation = identity.id
        return _before(one) if one.dealt.moment == BEFORE else _while(one)
    finally:
        dut.reset()


def _before(one: Trial) -> Outcome:
    if one.kind:
        one.let_come()
    contents = _contents(one.chosen.path)
    with _running(one) as run:
        code = run.wait(_PATIENCE_S)
    is_refused, is_free = code == _REFUSED, one.is_right and not one.counts
    is_still = one.kind is None or not one.kind.is_written
    if is_refused and is_still and _contents(one.chosen.path) != contents:
        return one.outcome("refused", "A REFUSED RUN WROTE")
    if is_free:
        return one.outcome(f"exit {code}", "" if code in _FREE else f"EXIT {code} OF A FREE DRIVE: {_error(one)}")
    return one.outcome(f"exit {code}", "" if is_refused else f"EXIT {code}, NOT 3, OF A USED DRIVE: {_error(one)}")


def _while(one: Trial) -> Outcome:
    out = _folder(one)
    with _running(one) as run:
        if not _has_measured(out, run):
            return one.outcome(f"exit {run.returncode}", f"A FREE DRIVE WAS NOT MEASURED: {_error(one)}")
        one.let_come()
        came_ns = time.time_ns()
        code = run.wait(_PATIENCE_S)
    must_stop = one.counts and one.kind is not None and not one.kind.is_read
    if must_stop and code != _CHANGED and came_ns >= _last_ns(out):
        return one.outcome("came too late")
    is_right = code == _CHANGED if must_stop else code in _FREE
    return one.outcome(f"exit {code}", "" if is_right else f"EXIT {code}, stop {must_stop}: {_error(one)}")


@contextmanager
def _running(one: Trial) -> Iterator[subprocess.Popen[bytes]]:
    plan, out = one.dut.disk / "plan.toml", _folder(one)
    plan.write_text(_SMALLEST.format(path=one.path, is_file=str(one.target == FILE).lower()))
    call = [*QUIET_ASSAY, "run", str(plan), "--out", str(out), "--no-report", "--yes-destroy", one.confirmation]
    call += [word for signature in one.signatures for word in ("--destroy-signature", signature)]
    call += [word for said in one.words for word in ("--acknowledge", said)]
    with (
        _errors(one).open("wb") as errors,
        subprocess.Popen(
            ["/usr/bin/unshare", "--mount", *call],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            start_new_session=True,
        ) as process,
    ):
        try:
            yield process
        finally:
            process.kill()


def _folder(one: Trial) -> Path:
    return one.dut.disk / "run"


def _errors(one: Trial) -> Path:
    return _folder(one).with_suffix(".errors")


def _error(one: Trial) -> str:
    return _errors(one).read_text("utf-8", "replace").strip()[-600:]


def _contents(path: Path) -> tuple[str, int]:
    """A hash of an image and the blocks that it has: a discard takes some of them."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest(), path.stat().st_blocks


def _has_measured(out: Path, run: subprocess.Popen[bytes]) -> bool:
    """Wait until a run has measured its first steps; whether it has before it ended."""
    until = time.monotonic() + _PATIENCE_S
    while not _lines(out, "steps"):
        if run.poll() is not None or time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


def _lines(out: Path, kind: str) -> list[dict[str, Any]]:
    try:
        text = (out / "journal.jsonl").read_text("utf-8")
    except OSError:
        return []
    found = [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]
    return [line for line in found if line["kind"] == kind]


def _last_ns(out: Path) -> int:
    """When the last step of a run ended: who came before that must have been seen by the look behind it."""
    (test,) = read_run(out).tests
    return max(step.start_wall_ns + step.span_ns for sequence in test.sequences for step in sequence.steps)
