"""What a link carries follows from its name."""

import pytest
from assay.spec.units import link_bytes_per_s


@pytest.mark.parametrize(
    ("link", "mb_per_s"),
    [
        ("SATA 6.0 Gbps", 600.0),
        ("3 Gb/s SATA (simulated)", 300.0),
        ("6 Gb/s SAS (simulated)", 600.0),
        ("SAS 12.0 Gbit x2", 2400.0),
        ("PCIe 5.0 GT/s x2", 1000.0),
        ("PCIe 8.0 GT/s x4", 3938.5),
        ("PCIe 3.0 x4 (simulated)", 3938.5),
        ("PCIe 4.0 x4 (simulated)", 7876.9),
    ],
)
def test_a_link_carries_what_its_line_rate_and_code_leave(link: str, mb_per_s: float) -> None:
    assert link_bytes_per_s(link) == pytest.approx(mb_per_s * 1e6, rel=1e-4)


@pytest.mark.parametrize("link", ["", "USB 3.0", "loop device", "PCIe 9.0 x4"])
def test_a_link_that_is_not_known_carries_nothing_that_can_be_said(link: str) -> None:
    assert link_bytes_per_s(link) is None
