"""Drives of this host as their page shows them, and what root writes for each into ``agent.toml``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

import tomli_w

from assay.archive.index.folders import drive_address
from assay.dut.real.identity import disk_identity
from assay.dut.real.loop import loop_backing
from assay.dut.real.sysfs import disk_at
from assay.spec.units import gigabytes_label
from assay.words.visible import visible

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from assay.agent.messages import DriveFacts, Health


@dataclass(frozen=True, slots=True, kw_only=True)
class DriveRow:
    """A drive. plan : address of its plan. history : address of its page, empty where it has none.

    to_allow : lines of ``agent.toml``, empty where it may be erased or nobody says. health : names and values.
    """

    facts: DriveFacts
    model: str
    capacity: str
    plan: str
    history: str
    to_allow: str
    refusals: tuple[str, ...]
    health: tuple[tuple[str, str], ...]


def drive_rows(drives: Iterable[DriveFacts], known: Collection[str], *, by_agent: bool) -> list[DriveRow]:
    """Drives in their order.

    known : addresses of drives that have runs. by_agent : the agent says what may be erased.
    """
    return [_row(drive, known, by_agent=by_agent) for drive in drives]


def lines_to_allow(drive: DriveFacts) -> str:
    """What root adds to ``agent.toml`` so that a drive may be erased.

    Worked: a drive of the identity ``S1`` -> ``may_erase = ["S1"]``, to be joined with the list that is there; a loop
    device is named with its backing file, in a table for the end of the file.
    """
    disk = disk_at(drive.path)
    if disk is None or drive.serial is not None or disk_identity(disk.name).wwn is not None:
        return tomli_w.dumps({"may_erase": [drive.id]})
    backing = loop_backing(disk)
    named = {"path": drive.path} | ({"backing": str(backing)} if backing else {})
    return f"[[devices]]\n{tomli_w.dumps(named)}"


def _row(drive: DriveFacts, known: Collection[str], *, by_agent: bool) -> DriveRow:
    address = drive_address(drive.model or "unknown", drive.serial, drive.id)
    listed = not by_agent or drive.may_erase
    return DriveRow(
        facts=drive,
        model=visible(drive.model or "Unknown model"),
        capacity=gigabytes_label(drive.capacity_bytes),
        plan=f"/plan?drive={quote(drive.path, safe='')}",
        history=address if address in known else "",
        to_allow="" if listed else lines_to_allow(drive),
        refusals=tuple(map(visible, drive.refusals)),
        health=_health(drive.health) if drive.health else (),
    )


def _health(health: Health) -> tuple[tuple[str, str], ...]:
    """Worked: 38.0 degrees -> ``("Temperature", "38 °C")``; counts of the drive as it names them."""
    known = (
        ("Temperature", health.temperature_c, " \N{DEGREE SIGN}C"),
        ("Wear", health.wear_used_pct, " %"),
    )
    values = [(name, f"{value:g}{unit}") for name, value, unit in known if value is not None]
    counts = [(name.replace("_", " ").capitalize(), f"{count:,}") for name, count in health.counts.items()]
    return (*values, *counts)
