"""Temperature against the drive's own warning, and values that no working drive can have."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from assay.dut.real.condition import plausible_c, read_condition, too_hot
from assay.engine.records import DriveCondition, DriveIdentity

if TYPE_CHECKING:
    from pathlib import Path


def drive(kind: str = "block") -> DriveIdentity:
    return DriveIdentity(id="x", path="/dev/nvme0n1", kind=kind, capacity_bytes=4096, logical_block_bytes=512)  # type: ignore[arg-type]


def sensors(sysfs: Path, **values: str) -> Path:
    folder = sysfs / "block/nvme0n1/device/hwmon3"
    folder.mkdir(parents=True)
    for name, text in values.items():
        (folder / f"temp1_{name}").write_text(text + "\n")
    return sysfs


def test_at_its_warning_temperature_a_drive_is_too_hot(tmp_path: Path) -> None:
    sensors(tmp_path, input="85000", max="80000")
    assert too_hot(drive(), sysfs=tmp_path) == "is at 85 °C, its warning temperature is 80 °C"


@pytest.mark.parametrize(
    "values",
    [{"input": "79999", "max": "80000"}, {"input": "85000"}, {"input": "85000", "max": "65261850"}, {"max": "0"}, {}],
)
def test_a_drive_that_is_cooler_or_does_not_tell_is_not(tmp_path: Path, values: dict[str, str]) -> None:
    assert too_hot(drive(), sysfs=sensors(tmp_path, **values)) is None


def test_a_file_has_no_temperature(tmp_path: Path) -> None:
    assert too_hot(drive("file"), sysfs=sensors(tmp_path, input="85000", max="80000")) is None


@pytest.mark.parametrize(("celsius", "expected"), [(31.85, 31.85), (-273.0, None), (65262.0, None), (None, None)])
def test_a_temperature_of_zero_or_65535_kelvin_is_unknown(celsius: float | None, expected: float | None) -> None:
    assert plausible_c(celsius) == expected


@pytest.mark.parametrize(
    "answer",
    [
        '{"temperature":{"current":65262},"nvme_smart_health_information_log":{"percentage_used":65535}}',
        '{"temperature":{"current":-273},"endurance_used":{"current_percent":-1}}',
        '{"temperature":{"current":"41"},"nvme_smart_health_information_log":[]}',
        '{"temperature":{}}',
        "error: no such device",
        "",
    ],
)
def test_a_health_page_that_is_short_or_all_ones_is_unknown(tmp_path: Path, answer: str) -> None:
    (tmp_path / "block/nvme0n1").mkdir(parents=True)
    tool = tmp_path / "smartctl"
    tool.write_text(f"#!/bin/sh\ncat <<'END'\n{answer}\nEND\n")
    tool.chmod(0o755)
    assert read_condition(drive(), sysfs=tmp_path, smartctl=str(tool)) == DriveCondition()
