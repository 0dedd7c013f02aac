"""One short stored run of a simulated drive, and runs made of it that differ in just what a test is about."""

from __future__ import annotations

import hashlib
import random
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from assay.engine.records import JournalEnd
from assay.engine.records.host import HostCertificate, ReferenceDrive, ReferencePoint
from assay.report.comparison.files import loaded_run
from assay.results.reference import repeated
from assay.run.plan_file import load_plan
from assay.run.store.read import read_run
from session_runs import copied_run

if TYPE_CHECKING:
    from pathlib import Path

    from assay.compare.numbers import Price
    from assay.compare.subject import LoadedRun
    from assay.engine.records import StoredRun


def short_run(folder: Path, *, test: str = "lat", **more: Any) -> StoredRun:
    """A run of one test with steps of 60 ms or so. more : keys of the plan."""
    keys = {"drive": "sim:client-2011?capacity=1GB", "edition": "pts-c-1.0", "seed": 1, "scale": 0.001}
    plan = load_plan(None, {**keys, "tests": [test], **more})
    copied_run(plan, folder)
    return read_run(folder, histograms=True)


def variant(
    run: StoredRun,
    number: int,
    *,
    slower: float = 0.0,
    noise: float = 0.0,
    variation: float | None = None,
    identity: dict[str, Any] | None = None,
    price: Price | None = None,
    **more: Any,
) -> LoadedRun:
    """The same run as one of another seed, its numbers worse by a share and moved by chance.

    variation : of the reference drive of the host, None for none. identity, more : fields that differ.
    """
    digest = hashlib.sha256(str(number).encode()).hexdigest()
    changed = replace(
        run,
        plan={**run.plan, "seed": number},
        journal=JournalEnd(line_count=1, complete=True, hash=digest),
        identity=replace(run.identity, **(identity or {})),
        certificate=None
        if variation is None
        else HostCertificate(status="valid", reference=_reference(run, variation)),
        **more,
    )
    found = loaded_run(changed, f"runs/{number}", price)
    moved = random.Random(number)  # noqa: S311 - noise of a test
    run_factor = 1 + noise * moved.uniform(-1, 1)
    numbers = {}
    for key, one in found.numbers.items():
        factor = run_factor * (1 - slower if one.name.better == "higher" else 1 / (1 - slower))
        rounds = tuple(value * factor * (1 + noise / 10 * moved.uniform(-1, 1)) for value in one.rounds)
        numbers[key] = replace(one, value=None if one.value is None else one.value * factor, rounds=rounds)
    object.__setattr__(found, "numbers", numbers)
    return found


def _reference(run: StoredRun, variation: float) -> ReferenceDrive:
    values = repeated([100 * (1 + one * variation * 1.118) for one in (-1, -1, 0, 1, 1)])
    point = ReferencePoint(label="RND 4KiB R", iops=values, mean_ns=values)
    return ReferenceDrive(drive=run.identity, made_wall_ns=0, range_bytes=1, seconds=1, points=(point,))
