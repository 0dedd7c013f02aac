"""Drives that QEMU emulates; outside the guest of ``make test-drives`` every test here is skipped, with reason."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest
from assay.dut.real.identity import disks
from emulated import INSIDE, Control, FindDrive, is_emulated

if TYPE_CHECKING:
    from assay.engine.records import DriveIdentity

APPEARANCE_SECONDS = 20
_channel: list[Control] = []


def channel() -> Control:
    """The one connection to the host."""
    if not _channel:
        _channel.append(Control())
    return _channel[0]


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave this guest its share: of guest 2 of 2, every other test from the second."""
    if INSIDE:
        number, count = map(int, os.environ["ASSAY_EMULATED_DRIVES"].split("/"))
        items[:] = items[number - 1 :: count]


@pytest.fixture(autouse=True)
def in_the_guest() -> None:
    if not INSIDE:
        pytest.skip("SKIPPED: needs emulated drives: make test-drives")


@pytest.fixture
def control(in_the_guest: None) -> Control:  # noqa: ARG001
    """The machine outside: removes, inserts and resizes drives."""
    return channel()


@pytest.fixture
def drive(in_the_guest: None) -> FindDrive:  # noqa: ARG001
    """A finder of drives by serial; the kernel may need a moment to see one that was just inserted."""

    def find(serial: str) -> DriveIdentity:
        deadline = time.monotonic() + APPEARANCE_SECONDS
        while time.monotonic() < deadline:
            if found := [identity for identity in disks() if identity.serial == serial]:
                assert all(map(is_emulated, found)), f"{serial} is no emulated drive: nothing is done to it"
                return min(found, key=lambda identity: identity.path)
            time.sleep(0.1)
        pytest.fail(f"the guest has no drive with the serial {serial}")

    return find


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Tell the host of each test as it ends, in case that a later one takes the guest with it."""
    if INSIDE and (report.when == "call" or report.outcome != "passed"):
        channel().say(f"{report.outcome:8}{report.duration:6.1f} s  {report.nodeid.partition('::')[2]}")
