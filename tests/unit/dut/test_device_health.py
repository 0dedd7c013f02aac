"""A health log is taken for what it is: strict numbers, and nothing where the drive says nonsense."""

from __future__ import annotations

import pytest
from assay.dut.real.condition import health_counts

LOG = "nvme_smart_health_information_log"


def test_units_are_bytes_and_names_are_ours() -> None:
    told = {LOG: {"data_units_written": 2, "media_errors": 0, "warning_temp_time": 7}, "power_on_time": {"hours": 12}}
    assert health_counts(told) == {
        "host_written_bytes": 1_024_000,
        "media_errors": 0,
        "warning_temperature_minutes": 7,
        "power_on_hours": 12,
    }


@pytest.mark.parametrize(
    "log",
    [
        {"available_spare": 255, "media_errors": 2**128 - 1, "warning_temp_time": 2**32 - 1},
        {"available_spare": "100", "media_errors": 1.0, "unsafe_shutdowns": True},
        {"media_errors": -1, "critical_warning": None, "data_units_read": [1]},
        {"media_errors": 2**200},
        {},
    ],
)
def test_short_and_senseless_logs_give_unknown_and_no_number(log: dict[str, object]) -> None:
    assert health_counts({LOG: log}) == {}


@pytest.mark.parametrize("told", [{}, {LOG: []}, {LOG: "x"}, {"power_on_time": 3}, {"power_cycle_count": "9"}])
def test_another_form_gives_nothing(told: dict[str, object]) -> None:
    assert health_counts(told) == {}
