"""The drive's health log, as smartctl tells it. What cannot be a reading is left out and printed as unknown."""

from __future__ import annotations

from typing import Any

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
