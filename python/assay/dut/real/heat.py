"""How warm a drive is and how warm it may become, by the kernel's sensors; cheap enough to ask in every round."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.dut.real.identity import sysfs_directory
from assay.dut.real.sysfs import SYSFS, read_text

if TYPE_CHECKING:
    from pathlib import Path

    from assay.engine.records import DriveIdentity

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
