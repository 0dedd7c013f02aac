"""``assay drives``: what could be tested, and what stands against it; with ``--describe`` all facts of one drive."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from dataclasses import asdict
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

import click

from assay.cli.commands import HelpedCommand, json_option
from assay.cli.completion import drive_candidates
from assay.words.visible import visible

if TYPE_CHECKING:
    from assay.dut.simulated.shipped import ShippedModel
    from assay.engine.records import DriveIdentity


_KEYS = ("id", "path", "model_number", "serial", "capacity_bytes", "kind", "refusals")
_NO_IDENTITY = "none needed"
_COLUMNS_MIN = 80
_REASONS_SHOWN = 2
_REASON_LETTERS = 60


@click.command(cls=HelpedCommand, examples=("drives", "drives --describe /dev/nvme0n1"))
@json_option
@click.option(
    "--describe",
    metavar="DRIVE",
    shell_complete=drive_candidates,
    help="Show every fact of DRIVE. Default: all drives are listed.",
)
@click.option("--file-target", is_flag=True, help="DRIVE is a regular file.")
def drives(as_json: bool, describe: str | None, file_target: bool) -> None:
    """List the drives of this host and the simulated drives, or describe a drive.

    The reasons against a test of a drive are shortened; --describe and --json show them in full.
    """
    if describe is not None:
        _describe(describe, file_target=file_target, as_json=as_json)
        return
    result = _all_drives()
    if as_json:
        click.echo(json.dumps(result, indent=2))
    else:
        _print(result)


def _all_drives() -> list[dict[str, Any]]:
    from assay.dut.real.preflight import list_drives  # noqa: PLC0415
    from assay.dut.simulated.shipped import shipped_models  # noqa: PLC0415

    return [*map(_real, list_drives()), *map(_simulated, shipped_models())]


def _real(drive: DriveIdentity) -> dict[str, Any]:
    facts = asdict(drive)
    return {key: facts[key] for key in _KEYS}


def _simulated(model: ShippedModel) -> dict[str, Any]:
    return {
        "id": model.drive,
        "path": model.drive,
        "model_number": model.title,
        "serial": model.serial,
        "capacity_bytes": model.capacity_bytes,
        "kind": "simulated",
        "refusals": (),
    }


def _print(listed: list[dict[str, Any]]) -> None:
    """Print the drives as a table; without the model on a narrow terminal."""
    from assay.cli.table import print_table  # noqa: PLC0415

    left_out = {"model"} if sys.stdout.isatty() and get_terminal_size().columns < _COLUMNS_MIN else set()
    rows = [{key: text for key, text in _row(drive).items() if key not in left_out} for drive in listed]
    headers = [key for key in _row(listed[0]) if key not in left_out]
    print_table(headers, [tuple(row.values()) for row in rows], right={"GB"})


def _row(drive: dict[str, Any]) -> dict[str, str]:
    """A drive by the headers of the table."""
    from assay.spec.units import gigabytes  # noqa: PLC0415

    return {
        "drive": drive["path"],
        "GB": f"{gigabytes(drive['capacity_bytes']):,.2f}",
        "model": drive["model_number"] or "unknown",
        "identity": _NO_IDENTITY if drive["kind"] == "simulated" else drive["id"],
        "may be tested": _short(drive["refusals"]),
    }


def _short(refusals: tuple[str, ...]) -> str:
    """Whether a drive may be tested, and if not, the kinds of reasons.

    Worked: ("backs the system (/)", "backs the system (/boot)") -> ``no: backs the system (2x)``.
    """
    if not refusals:
        return "yes"
    kinds = Counter(reason.partition(" (")[0] for reason in refusals)
    shown = [f"{_cut(kind)} ({count}x)" if count > 1 else _cut(kind) for kind, count in kinds.items()]
    more = len(shown) - _REASONS_SHOWN
    return f"no: {'; '.join(shown[:_REASONS_SHOWN])}" + (f"; {more} more" if more > 0 else "")


def _cut(text: str) -> str:
    return text if len(text) <= _REASON_LETTERS else f"{text[: _REASON_LETTERS - 3]}..."


def _describe(target: str, *, file_target: bool, as_json: bool) -> None:
    from assay.dut.simulated.model import is_simulated  # noqa: PLC0415

    simulated = is_simulated(target)
    facts = simulated_facts(target) if simulated else real_facts(target, file_target=file_target)
    if as_json:
        click.echo(json.dumps(facts, indent=2))
    elif simulated:
        describe_simulated(facts)
    else:
        describe_real(facts)


_WORDS = {
    "id": "identity",
    "eui": "EUI",
    "nguid": "NGUID",
    "wwn": "WWN",
    "numa_node": "NUMA node",
    "temperature_c": "temperature in degrees Celsius",
    "wear_used_pct": "wear used in %",
    "diskseq": "sequence number of the kernel",
    "model_number": "model",
    "path": "drive",
    "controls": "takes commands",
    "faults": "injected faults",
}
_LEFT_OUT = {"refusals", "condition", "summary", "parameters", "others", "injected_faults", "faults_sha256"}
_REFERENCE = re.compile(r"; see \[`\w+`\]")
"""To the documentation of the native module."""
_GIVEN, _ABSENT = "given in the drive's name", "not stated"


def real_facts(target: str, *, file_target: bool) -> dict[str, Any]:
    """Everything known of a real drive, as JSON values."""
    from assay.dut.real.condition import read_condition  # noqa: PLC0415
    from assay.dut.real.gate import examined, on_file_system  # noqa: PLC0415
    from assay.dut.real.identity import identify  # noqa: PLC0415

    identity = examined(on_file_system(identify(target, file_target=file_target)))
    return {**asdict(identity), "condition": asdict(read_condition(identity))}


def simulated_facts(target: str) -> dict[str, Any]:
    """Everything known of a simulated drive, as JSON values: each parameter with its source.

    A value that the drive's name sets (``?capacity=``, ``?seed=``) names that as its source, not that of its model.
    """
    from assay.dut.simulated.model import known_parameters, parse_simulated  # noqa: PLC0415

    simulated = parse_simulated(target)
    model, drive_model = simulated.model, simulated.drive_model
    stated: dict[str, Any] = {}
    absent: dict[str, Any] = {}
    for known_parameter in known_parameters(drive_model.kind):
        value, datum = drive_model[known_parameter.name], model.parameters.get(known_parameter.name)
        usual = known_parameter.default if datum is None else datum.value
        source = _GIVEN if value != usual else _ABSENT if datum is None else datum.source
        (absent if source == _ABSENT else stated)[known_parameter.name] = {
            "value": value,
            "source": source,
            "about": known_parameter.about,
        }
    ordered = {name: stated.pop(name) for name in model.parameters if name in stated} | stated
    facts = {**asdict(simulated.identity), "summary": model.summary, "parameters": ordered, "others": absent}
    faults = [fault.model_dump(exclude_none=True) for file in simulated.faults for fault in file.faults]
    return {**facts, "injected_faults": faults} if faults else facts


def describe_real(facts: dict[str, Any]) -> None:
    """Print what is known of a real drive."""
    known = {**facts, **facts["condition"]}
    if not known["faults"]:
        del known["faults"]
    _say_facts(known)
    _say_refusals(facts["refusals"])


def describe_simulated(facts: dict[str, Any]) -> None:
    """Print what is known of a simulated drive, its parameters as tables."""
    from assay.cli.table import print_table  # noqa: PLC0415

    click.echo(visible(facts["summary"]))
    click.echo()
    # What a simulated drive has not is no gap of knowledge.
    _say_facts({key: value for key, value in facts.items() if value not in (None, ())})
    click.echo()
    rows = [(name, _value(parameter["value"]), parameter["source"]) for name, parameter in facts["parameters"].items()]
    print_table(("parameter", "value", "source"), rows, right={"value"})
    click.echo("\nParameters that its model does not state:")
    absent = [
        (name, _value(parameter["value"]), _REFERENCE.sub("", parameter["about"]))
        for name, parameter in facts["others"].items()
    ]
    print_table(("parameter", "value", "what it is"), absent, right={"value"})


def _say_facts(facts: dict[str, Any]) -> None:
    known = {key: value for key, value in facts.items() if key not in _LEFT_OUT}
    lines = [(_word(key), text) for key, value in known.items() if (text := _text(key, value))]
    width = max(len(word) for word, _ in lines)
    for word, text in lines:
        click.echo(visible(f"{word.ljust(width)}  {text}"))
    unknown = [_word(key) for key, value in known.items() if not _text(key, value)]
    if unknown:
        click.echo(f"{'unknown'.ljust(width)}  {', '.join(unknown)}")


def _say_refusals(refusals: tuple[str, ...]) -> None:
    if not refusals:
        click.echo("It may be tested: nothing stands against it.")
        return
    click.echo("It may not be tested:")
    for reason in refusals:
        click.echo(visible(f"  {reason}"))


def _word(key: str) -> str:
    """A key in words. Worked: ``logical_block_bytes`` -> ``logical block``."""
    return _WORDS.get(key, key.removesuffix("_bytes").replace("_", " "))


def _text(key: str, value: Any) -> str:
    """A value in words; empty where it is not known."""
    from assay.spec.units import gigabytes_label  # noqa: PLC0415

    if value is None or value == "unknown":
        return ""
    if isinstance(value, dict):
        return "; ".join(f"{_word(name)} {text}" for name, inner in value.items() if (text := _text(name, inner)))
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value)) or "none"
    if key == "capacity_bytes":
        return f"{gigabytes_label(value)} ({value:,} bytes)"
    return f"{value:,} bytes" if key.endswith("_bytes") else str(value)


def _value(value: Any) -> str:
    """A parameter's value. Worked: True -> ``yes``, 128000000000 -> ``128,000,000,000``."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, (int, float)) else str(value)
