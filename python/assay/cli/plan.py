"""``assay plan``: what a run would write and how long it takes; touches nothing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from assay.cli.options import make_plan, plan_options

if TYPE_CHECKING:
    from assay.procedures.loop import PlannedTest
    from assay.records import DriveIdentity

ROUNDS_MIN = 5


@click.command()
@plan_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def plan(as_json: bool, **options: Any) -> None:
    """Show what a run of DRIVE or PLAN.toml would write and how long it takes. Nothing is touched."""
    from assay.bench import find_drive  # noqa: PLC0415
    from assay.session import plan_tests  # noqa: PLC0415

    made = make_plan(**options)
    drive = find_drive(made)
    tests = plan_tests(made, drive)
    facts = {
        "drive": {"id": drive.id, "path": drive.path, "capacity_bytes": drive.capacity_bytes, "kind": drive.kind},
        "refusals": list(drive.refusals),
        "profile": made.edition,
        "tests": [_test_facts(test) for test in tests],
    }
    click.echo(json.dumps(facts, indent=2) if as_json else describe(drive, tests, made.edition))


def describe(drive: DriveIdentity, tests: list[PlannedTest], profile: str) -> str:
    """The plan in words, as shown before a confirmation."""
    from assay.units import gigabytes  # noqa: PLC0415

    size = f"{gigabytes(drive.capacity_bytes):.2f} GB"
    lines = [
        f"Drive     {drive.path}: {drive.model or 'unknown model'}, {size}, id {drive.id}",
        f"Profile   {profile}",
        "Time      that of the rounds; purge and preconditioning come on top, at the drive's own speed",
    ]
    for test in tests:
        lines += _test_lines(_test_facts(test))
    lines += [f"Refusal   {reason}" for reason in drive.refusals]
    if drive.kind != "simulated":
        lines.append("Deviation purge by discard where the drive takes it, else by one overwrite")
        lines.append(f"ALL DATA on {drive.path} will be destroyed.")
    return "\n".join(lines)


def _test_lines(facts: dict[str, Any]) -> list[str]:
    from assay.units import GIB, duration_label, gigabytes  # noqa: PLC0415

    first, last, cell = (duration_label(facts[key]) for key in ("loop_ns_min", "loop_ns_max", "step_ns"))
    written = f"{gigabytes(facts['preconditioning_bytes']):.2f} GB"
    demand = f"TC {facts['thread_count']} x QD {facts['queue_depth']}"
    return [
        f"Test      {facts['test']}: purge, {written} of preconditioning, and {first} to {last} of rounds",
        f"          {facts['cells']} cells of {cell}, {demand}, test range {facts['range_amount_bytes'] / GIB:g} GiB",
        *(f"Deviation {line}" for line in facts["deviations"]),
    ]


def _test_facts(test: PlannedTest) -> dict[str, Any]:
    settings = test.settings
    return {
        "test": settings.test,
        "preconditioning_bytes": settings.preconditioning_bytes,
        "cells": len(settings.cells),
        "step_ns": settings.step_ns,
        "loop_ns_min": ROUNDS_MIN * test.loop_ns,
        "loop_ns_max": settings.round_limit * test.loop_ns,
        "thread_count": settings.demand.thread_count,
        "queue_depth": settings.demand.queue_depth,
        "range_amount_bytes": settings.range_amount_bytes,
        "not_applicable": {str(size): reason for size, reason in settings.not_applicable.items()},
        "deviations": list(test.deviations),
    }
