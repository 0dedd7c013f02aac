"""What is known of one drive, in words: ``assay drives --describe DRIVE``."""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from assay.words.visible import visible

if TYPE_CHECKING:
    from assay.dut.simulated.model import SimulatedTarget

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
    faults = _faults(simulated)
    return {**facts, "injected_faults": faults} if faults else facts


def _faults(simulated: SimulatedTarget) -> list[dict[str, Any]]:
    return [fault.model_dump(exclude_none=True) for file in simulated.faults for fault in file.faults]


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
    rows = [(name, _value(one["value"]), one["source"]) for name, one in facts["parameters"].items()]
    print_table(("parameter", "value", "source"), rows, right={"value"})
    click.echo("\nParameters that its model does not state:")
    absent = [(name, _value(one["value"]), _REFERENCE.sub("", one["about"])) for name, one in facts["others"].items()]
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
