"""The condition of a drive: health log, temperature and link."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from assay.dut.real.command import CommandError, run_command
from assay.dut.real.identity import sysfs_directory
from assay.dut.real.sysfs import SYSFS, read_text
from assay.engine.records import DriveCondition
from assay.spec.units import link_bytes_per_s as bytes_per_s_of_link

if TYPE_CHECKING:
    from pathlib import Path

    from assay.engine.records import DriveIdentity


_LOG = "nvme_smart_health_information_log"
_BYTE, _WORD, _LONG = 8, 32, 128
# Name in the report: groups and name in smartctl's JSON, bits of the field, what one unit counts.
_FIELDS: dict[str, tuple[tuple[str, ...], int, int]] = {
    "critical_warning": ((_LOG, "critical_warning"), _BYTE, 1),
    "available_spare_pct": ((_LOG, "available_spare"), _BYTE, 1),
    "media_errors": ((_LOG, "media_errors"), _LONG, 1),
    "error_log_entries": ((_LOG, "num_err_log_entries"), _LONG, 1),
    "unsafe_shutdowns": ((_LOG, "unsafe_shutdowns"), _LONG, 1),
    "warning_temperature_minutes": ((_LOG, "warning_temp_time"), _WORD, 1),
    "critical_temperature_minutes": ((_LOG, "critical_comp_time"), _WORD, 1),
    # A data unit is 1,000 blocks of 512 bytes, whatever the drive's block.
    "host_read_bytes": ((_LOG, "data_units_read"), _LONG, 512_000),
    "host_written_bytes": ((_LOG, "data_units_written"), _LONG, 512_000),
    "power_on_hours": (("power_on_time", "hours"), _LONG, 1),
    "power_cycles": (("power_cycle_count",), _LONG, 1),
    "grown_defects": (("scsi_grown_defect_list",), _WORD, 1),
}


def health_counts(told: dict[str, Any]) -> dict[str, int]:
    """The counts of a health log by name; a field that is missing, no whole number, negative or all ones is left out.

    told : smartctl's JSON. Source: NVMe base specification, SMART / Health Information log; smartctl(8).
    Worked: ``data_units_written`` 2 is ``host_written_bytes`` 1024000; ``available_spare`` 255 is left out.
    """
    counts = {name: (_at(told, place), bits, unit) for name, (place, bits, unit) in _FIELDS.items()}
    return {
        name: value * unit
        for name, (value, bits, unit) in counts.items()
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**bits - 1
    }


def _at(told: object, place: tuple[str, ...]) -> object:
    for name in place:
        told = told.get(name) if isinstance(told, dict) else None
    return told


_CELSIUS_MIN, _CELSIUS_MAX = -55, 150


def too_hot(identity: DriveIdentity, *, sysfs: Path = SYSFS) -> str | None:
    """Say that a drive is at or above its warning temperature; None where it is not, or where that is unknown.

    Source: Linux hwmon ``temp1_input`` and ``temp1_max`` (NVMe WCTEMP, ATA and SCSI by drivetemp).
    Worked: 85000 with a maximum of 80000 is ``is at 85 °C, its warning temperature is 80 °C``.
    """
    if identity.kind != "block":
        return None
    folder = sysfs_directory(identity, sysfs=sysfs).resolve()
    now, limit = sensor_c(folder, "input"), sensor_c(folder, "max")
    if now is None or limit is None or now < limit:
        return None
    return f"is at {now:g} °C, its warning temperature is {limit:g} °C"


def sensor_c(folder: Path, value: str) -> float | None:
    """A value of a drive's first temperature sensor in degrees Celsius; None where there is none, or no sense in it.

    folder : of the drive in sysfs. value : ``input``, ``max`` or ``crit``. Legal range: -55 to 150.
    """
    result = sorted([*folder.glob(f"device/hwmon*/temp1_{value}"), *folder.glob(f"device/hwmon/hwmon*/temp1_{value}")])
    text = read_text(result[0]) if result else None
    return plausible_c(int(text) / 1000) if text and text.lstrip("-").isdigit() else None


def plausible_c(celsius: float | None) -> float | None:
    """A temperature that a working drive can have; None for others, such as what an empty log page gives.

    Worked: 0 K is -273 and gives None, as 65535 K does; 31.85 stays.
    """
    return celsius if celsius is not None and _CELSIUS_MIN <= celsius <= _CELSIUS_MAX else None


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


FASTEST_BYTES_PER_S = 15.75e9
"""PCIe 5.0 with four lanes, what a drive's link is at most: 32 GT/s x 4 lanes x 128/130 / 8."""


def link_bytes_per_s(drive: DriveIdentity) -> float:
    """Bytes per second that the link of a drive carries at most; of the fastest there is where it is not told."""
    return link_rate(drive)[0]


def link_rate(drive: DriveIdentity) -> tuple[float, str]:
    """Bytes per second that the link of a drive carries at most, and the link in words."""
    if drive.kind == "simulated":
        from assay.dut.simulated.model import parse_simulated  # noqa: PLC0415 - heavy

        return float(parse_simulated(drive.path).drive_model["link_bytes_per_s"]), "the link of its drive model"
    link = read_link(drive) if drive.kind == "block" else None
    if link is None:
        return FASTEST_BYTES_PER_S, "the fastest link available, because the drive reports none"
    return line_rate(link), f"its link, {link}"


def line_rate(link: str) -> float:
    """Bytes per second of a link as ``read_link`` names it.

    Worked: ``SATA 6.0 Gbps`` -> 600e6; ``PCIe 8.0 GT/s x4`` -> 3.94e9; an unknown word -> ``FASTEST_BYTES_PER_S``.
    """
    return bytes_per_s_of_link(link) or FASTEST_BYTES_PER_S
