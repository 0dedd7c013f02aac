"""``assay drives``: what could be tested, and what stands against it."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from assay.engine.records import DriveIdentity

_KEYS = ("id", "path", "model_number", "serial", "capacity_bytes", "kind", "refusals")


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--describe", metavar="DRIVE", help="Everything known of one drive.")
@click.option("--file-target", is_flag=True, help="DRIVE is a regular file.")
def drives(as_json: bool, describe: str | None, file_target: bool) -> None:
    """List the drives of this host and the simulated ones, or describe one."""
    if describe is not None:
        facts = _describe(describe, file_target)
        click.echo(json.dumps(facts, indent=2) if as_json else _lines(facts))
        return
    found = _all_drives()
    if as_json:
        click.echo(json.dumps([_short(drive) for drive in found], indent=2))
    else:
        for drive in found:
            click.echo(_row(drive))


def _all_drives() -> list[DriveIdentity]:
    from assay.dut.real.listing import list_drives  # noqa: PLC0415
    from assay.dut.simulated.model import PREFIX, parse_simulated, simulated_names  # noqa: PLC0415

    simulated = [parse_simulated(PREFIX + name).identity for name in simulated_names()]
    return [*list_drives(), *simulated]


def _describe(target: str, file_target: bool) -> dict[str, Any]:
    from assay.dut.real.condition import read_condition  # noqa: PLC0415
    from assay.dut.real.gate import examined  # noqa: PLC0415
    from assay.dut.real.identity import identify  # noqa: PLC0415
    from assay.dut.simulated.model import is_simulated, known_parameters, parse_simulated  # noqa: PLC0415

    if not is_simulated(target):
        identity = examined(identify(target, file_target=file_target))
        return {**asdict(identity), "condition": asdict(read_condition(identity))}
    simulated = parse_simulated(target)
    model, drive_model = simulated.model, simulated.drive_model
    about = {one.name: one.about for one in known_parameters(drive_model.kind)}
    stated = {
        name: {"value": drive_model[name], "source": datum.source, "about": about[name]}
        for name, datum in model.parameters.items()
    }
    absent = {
        name: {"value": drive_model[name], "source": "not stated", "about": text}
        for name, text in about.items()
        if name not in stated
    }
    facts = {**asdict(simulated.identity), "summary": model.summary, "parameters": stated, "others": absent}
    faults = [fault.model_dump(exclude_none=True) for file in simulated.faults for fault in file.faults]
    return {**facts, "injected_faults": faults} if faults else facts


def _short(drive: DriveIdentity) -> dict[str, Any]:
    facts = asdict(drive)
    return {key: facts[key] for key in _KEYS}


def _row(drive: DriveIdentity) -> str:
    from assay.spec.units import gigabytes  # noqa: PLC0415
    from assay.visible import visible  # noqa: PLC0415

    state = "; ".join(drive.refusals) or "may be tested"
    size = f"{gigabytes(drive.capacity_bytes):.2f} GB"
    parts = (drive.path, size, drive.model_number or "unknown model", f"id {drive.id}", state)
    return "\t".join(map(visible, parts)).expandtabs(4)


def _lines(facts: dict[str, Any], indent: str = "") -> str:
    from assay.visible import visible  # noqa: PLC0415

    lines = []
    for key, value in facts.items():
        if isinstance(value, dict) and "source" in value:
            lines.append(visible(f"{indent}{key}: {value['value']}  ({value['source']})"))
        elif isinstance(value, dict) and value:
            lines += [visible(f"{indent}{key}:"), _lines(value, indent + "  ")]
        else:
            lines.append(visible(f"{indent}{key}: {'unknown' if value is None or value == {} else value}"))
    return "\n".join(lines)
