"""``assay plan``: what a run would write and how long it takes; touches nothing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from assay.cli.options import make_plan, plan_options

if TYPE_CHECKING:
    from assay.engine.records import DriveIdentity
    from assay.procedures.procedure import PlannedTest
    from assay.run.planning import PlannedRun


@click.command()
@plan_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def plan(as_json: bool, **options: Any) -> None:
    """Show what a run of DRIVE or PLAN.toml would write and how long it takes. Nothing is touched."""
    from assay.dut.dut import find_drive  # noqa: PLC0415
    from assay.run.run import plan_run  # noqa: PLC0415

    made = make_plan(**options)
    drive = find_drive(made)
    planned = plan_run(made, drive)
    facts = {
        "drive": {"id": drive.id, "path": drive.path, "capacity_bytes": drive.capacity_bytes, "kind": drive.kind},
        "refusals": list(drive.refusals),
        "edition": made.edition_name,
        "written_bytes": sum(test.written_bytes for test in planned.tests),
        "tests": [_test_facts(test) for test in planned.tests],
        "warnings": _warnings(drive, planned),
        "skipped": {test.test: test.reason for test in planned.skipped},
    }
    click.echo(json.dumps(facts, indent=2) if as_json else describe(drive, planned, made.edition_name))


def describe(drive: DriveIdentity, planned: PlannedRun, edition: str) -> str:
    """The plan in words, as shown before a confirmation."""
    from assay.spec.units import gigabytes  # noqa: PLC0415
    from assay.visible import visible  # noqa: PLC0415

    size = f"{gigabytes(drive.capacity_bytes):.2f} GB"
    lines = [
        f"Drive     {drive.path}: {drive.model_number or 'unknown model'}, {size}, id {drive.id}",
        f"Edition   {edition}",
        "Time      that of rounds and samples; purge and preconditioning come on top, at the drive's own speed",
    ]
    for test in planned.tests:
        lines += _test_lines(_test_facts(test))
    lines += [f"N/A       {test.test}: {test.reason}" for test in planned.skipped]
    lines += [f"Warning   {text}" for text in _warnings(drive, planned)]
    written = sum(test.written_bytes for test in planned.tests)
    share = f"{written / drive.capacity_bytes:.3g} times the drive"
    lines.append(f"Writes    {gigabytes(written):.2f} GB, {share}, and what rounds write in their time")
    lines += [f"Refusal   {reason}" for reason in drive.refusals]
    if drive.kind != "simulated":
        lines += _preparation_lines(drive)
        lines.append(f"ALL DATA on {drive.path} will be destroyed.")
    return "\n".join(map(visible, lines))


def _warnings(drive: DriveIdentity, planned: PlannedRun) -> list[str]:
    """What is planned and cannot give a good figure."""
    from assay.dut.real.link import link_bytes_per_s  # noqa: PLC0415
    from assay.procedures.draining import draining_warning  # noqa: PLC0415

    rate = link_bytes_per_s(drive)
    return [text for test in planned.tests if (text := draining_warning(test, rate))]


def _preparation_lines(drive: DriveIdentity) -> list[str]:
    """What is known before the drive is asked; that takes holding it."""
    if drive.kind == "file":
        return ["Deviation purge by one overwrite"]
    return [
        "Purge     what the drive is found to offer once it is held; discard and overwrite are deviations",
        f"Cache     write cache {drive.write_cache} now; set for the run where the drive lets itself be told",
    ]


def _test_lines(facts: dict[str, Any]) -> list[str]:
    from assay.pages.printed import amount_label  # noqa: PLC0415
    from assay.spec.units import duration_label, gigabytes  # noqa: PLC0415

    first, unit = duration_label(facts["device_ns_min"]), duration_label(facts["step_ns"])
    last = duration_label(facts["device_ns_max"]) if facts["device_ns_max"] else "as long as the drive takes"
    span = f"{first} to {last}" if facts["what"] == "rounds" else f"up to {last}"
    written = facts["preconditioning_bytes"]
    prepared = f"{gigabytes(written):.2f} GB of preconditioning" if written else "no preconditioning"
    demand = f"TC {facts['thread_count']} x QD {facts['queue_depth']}"
    amount = amount_label(facts["range_amount_bytes"], facts["segment_count"])
    return [
        f"Test      {facts['test']}: purge, {prepared}, and {span} of {facts['what']}",
        f"          {facts['steps']} of {unit}, {demand}, test range {amount}",
        *([f"          {facts['arrivals']}"] if facts["arrivals"] else []),
        *(f"          {note}" for note in facts["notes"]),
        *(f"Deviation {line}" for line in facts["deviations"]),
    ]


def _test_facts(test: PlannedTest) -> dict[str, Any]:
    from assay.results import arrival_label  # noqa: PLC0415

    settings, outline = test.settings, test.outline
    return {
        "test": settings.test,
        "preconditioning_bytes": test.written_first_bytes,
        "what": outline.what,
        "steps": outline.steps,
        "step_ns": outline.step_ns,
        "notes": list(outline.notes),
        **outline.facts,
        "device_ns_min": test.earliest_ns,
        "device_ns_max": test.latest_ns,
        "histogram_ns": settings.histogram_ns,
        "thread_count": settings.demand.thread_count,
        "queue_depth": settings.demand.queue_depth,
        "arrivals": arrival_label(settings.demand),
        "range_amount_bytes": settings.range_amount_bytes,
        "segment_count": settings.segment_count,
        "deviations": list(test.deviations),
    }
