"""The condition of a drive: link, temperature, wear. Read before and after a run; what cannot be read is None."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from assay.dut.real.command import CommandError, run_command
from assay.dut.real.health import health_counts
from assay.dut.real.heat import plausible_c, sensor_c
from assay.dut.real.identity import sysfs_directory
from assay.dut.real.sysfs import SYSFS, read_text
from assay.engine.records import DriveCondition

if TYPE_CHECKING:
    from pathlib import Path

    from assay.engine.records import DriveIdentity

SMARTCTL = "/usr/sbin/smartctl"
_COMMAND_SECONDS = 20
# NVMe counts to 255, which stands for more; a byte of the log that holds nothing is all ones, too.
_ALL_ONES = 255


def read_condition(identity: DriveIdentity, *, sysfs: Path = SYSFS, smartctl: str = SMARTCTL) -> DriveCondition:
    """Read the condition of a block drive; all unknown for a file.

    Source: sysfs ``current_link_speed``, ``sata_spd``, ``negotiated_linkrate`` and hwmon; smartctl's JSON where it is
    installed (percentage used of NVMe, endurance indicator of ATA and SCSI).
    Worked: ``temp1_input`` 31850 is ``temperature_c`` 31.85.
    """
    if identity.kind != "block":
        return DriveCondition()
    folder = sysfs_directory(identity, sysfs=sysfs).resolve()
    health = _smart(identity.path, smartctl)
    temperatures = (sensor_c(folder, "input"), plausible_c(_number(health, "temperature", "current")))
    wear = (
        _number(health, "endurance_used", "current_percent"),
        _number(health, "nvme_smart_health_information_log", "percentage_used"),
    )
    return DriveCondition(
        link=_link(folder, sysfs),
        temperature_c=next((value for value in temperatures if value is not None), None),
        wear_used_pct=next((value for value in wear if value is not None and 0 <= value < _ALL_ONES), None),
        health=health_counts(health),
    )


def read_link(identity: DriveIdentity, *, sysfs: Path = SYSFS) -> str | None:
    """The link of a block drive as negotiated, by sysfs alone; None where it is not told.

    Worked: an NVMe drive in a slot of two lanes -> ``PCIe 8.0 GT/s x2 of PCIe 16.0 GT/s x4``.
    """
    return _link(sysfs_directory(identity, sysfs=sysfs).resolve(), sysfs)


def _link(folder: Path, sysfs: Path) -> str | None:
    return _sata_link(folder, sysfs) or _sas_link(folder) or _pcie_link(folder)


def _pcie_link(folder: Path) -> str | None:
    """Speed and width of an NVMe drive's slot, with what it could do where that is more."""
    if not folder.name.startswith("nvme"):
        return None
    slot = next((parent for parent in folder.parents if (parent / "current_link_speed").exists()), None)
    if slot is None:
        return None
    now, most = (slot_link(slot, kind) for kind in ("current", "max"))
    return now if now is None or now == most or most is None else f"{now} of {most}"


def slot_link(slot: Path, kind: str = "current") -> str | None:
    """The link of a PCI function; kind : ``current`` or ``max``. Worked: ``8.0 GT/s PCIe``, 4: ``PCIe 8.0 GT/s x4``."""
    speed, width = read_text(slot / f"{kind}_link_speed"), read_text(slot / f"{kind}_link_width")
    return f"PCIe {speed.removesuffix(' PCIe')} x{width}" if speed and width else None


def _sata_link(folder: Path, sysfs: Path) -> str | None:
    port = re.search(r"/ata(\d+)/", str(folder))
    speed = read_text(sysfs / f"class/ata_link/link{port[1]}/sata_spd") if port else None
    return f"SATA {speed}" if speed and speed != "<unknown>" else None


def _sas_link(folder: Path) -> str | None:
    rates = sorted(
        rate
        for parent in folder.parents
        if "end_device" in parent.name or "port-" in parent.name
        for path in parent.glob("phy-*/sas_phy/*/negotiated_linkrate")
        if (rate := read_text(path))
    )
    return f"SAS {rates[0]} x{len(rates)}" if rates else None


def _smart(path: str, smartctl: str) -> dict[str, Any]:
    """Health as smartctl tells it; its exit code is a set of warnings, so only its text counts."""
    arguments = ["--json=c", "--health", "--attributes", "--", path]
    try:
        result = json.loads(run_command(smartctl, arguments, seconds=_COMMAND_SECONDS).output)
    except (CommandError, ValueError):
        return {}
    return result if isinstance(result, dict) else {}


def _number(health: dict[str, Any], group: str, name: str) -> float | None:
    result = health.get(group)
    value = result.get(name) if isinstance(result, dict) else None
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
