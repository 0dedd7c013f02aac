"""Names of numbers on the page of limits are words."""

import pytest
from assay.summary.measures import MEASURE_KEYS, measure_words


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("latency_ms_p99.9", "99.9 % response time"),
        ("latency_ms_max", "largest response time"),
        ("mb_per_s", "MB/s"),
        ("media_errors", "media errors"),
    ],
)
def test_a_number_is_named_in_words(name: str, shown: str) -> None:
    assert measure_words(name) == shown


def test_no_name_of_a_number_is_shown_as_a_key() -> None:
    assert [name for name in MEASURE_KEYS if "_" in measure_words(name)] == []
