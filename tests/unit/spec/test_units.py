"""Units: the worked numbers of the docstrings, and what is refused."""

import pytest
from assay.errors import AssayError, ValueRangeError
from assay.spec import units
from assay.words.printed import capacity_label


@pytest.mark.parametrize(
    ("expected", "text"),
    [(32_000_000_000, "32GB"), (512, "0.5KiB"), (4096, "4 kib"), (1 << 30, "1GiB"), (7, "7"), (1500, "1.5kB")],
)
def test_sizes_are_read_with_their_unit(expected: int, text: str) -> None:
    assert units.parse_bytes(text) == expected


@pytest.mark.parametrize("text", ["", "GB", "-1GB", "1e9", "0", "0.3", "1 XB", "NaN", "9" * 30 + "GB"])
def test_anything_else_is_no_size(text: str) -> None:
    with pytest.raises(ValueRangeError):
        units.parse_bytes(text)


@pytest.mark.parametrize(
    ("expected", "got"),
    [
        (256.0, units.gigabytes(256_000_000_000)),
        (0.5, units.kibibytes(512)),
        ("0.5", units.kib_label(512)),
        ("1024", units.kib_label(1 << 20)),
        (1.5, units.milliseconds(1_500_000)),
        (60.0, units.seconds(60_000_000_000)),
        ("1 h 30 min", units.duration_label(5_400_000_000_000)),
        ("0.05 s", units.duration_label(50_000_000)),
        ("1 min 1 s", units.duration_label(61_000_000_000)),
    ],
)
def test_worked_numbers(expected: object, got: object) -> None:
    assert got == expected


def test_an_error_is_one_line_naming_thing_reason_and_remedy() -> None:
    assert str(AssayError("/dev/x\n", "does not exist", "run assay drives")) == (
        "/dev/x : does not exist; run assay drives"
    )


def test_amounts_and_rates_have_separators_everywhere() -> None:
    assert units.gigabytes_label(1 << 40) == "1,099.51 GB"
    assert units.gigabytes_label(16_000_000_000, 1) == "16.0 GB"
    assert units.rate_label(6_600_000_000) == "6,600 MB/s"
    assert capacity_label(1 << 40) == units.gigabytes_label(1 << 40)
