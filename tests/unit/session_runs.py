"""Runs on simulated drives that tests only read: each is made once in a test session, whichever worker asks first."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from assay.dut.dut import Answers
from assay.run.run import run_plan

if TYPE_CHECKING:
    from assay.run.plan_file import Plan


def session_run(plan: Plan) -> Path:
    """The folder of the run of a plan, which no test may change; made where the session has none.

    plan : with a seed, of a simulated drive. Raises what the run raises; then nothing is kept.
    """
    runs = Path(os.environ["ASSAY_TEST_RUNS"])
    kept = runs / _key(plan)
    with kept.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            unfinished = kept.with_suffix(".unfinished")
            shutil.rmtree(unfinished, ignore_errors=True)
            run_plan(plan, out=unfinished, answers=Answers(), show=lambda _: None)
            unfinished.rename(kept)
    return kept


def copied_run(plan: Plan, folder: Path) -> int:
    """The same as a folder of the test's own, and the exit code of the run. folder : new or empty."""
    shutil.copytree(session_run(plan), folder, dirs_exist_ok=True)
    ended = (folder / "journal.jsonl").read_bytes().splitlines()[-1]
    code: int = json.loads(ended)["data"]["exit_code"]
    return code


def _key(plan: Plan) -> str:
    """Of the plan and the files that it names: a folder of an earlier test may have had the same name."""
    assert plan.seed is not None
    asked = plan.model_dump_json()
    files = [Path(name) for name in re.findall(r'/[^"&?\\]+', asked)]
    digest = hashlib.sha256(asked.encode())
    for file in files:
        digest.update(file.read_bytes() if file.is_file() else b"")
    return digest.hexdigest()
