"""Purge and write cache by the drives' own commands, on every bus that QEMU emulates.

QEMU implements NVMe Format and discard on all buses; no sanitize, no ATA security, no working FORMAT UNIT.
"""

from __future__ import annotations

import mmap
import os
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from assay.dut.dut import Answers, expected_drive
from assay.dut.real.cache import read_write_cache
from assay.dut.real.gate import OpenDrive
from assay.dut.real.identity import disk_identity
from assay.dut.real.purge import choose_purge, purge_drive
from assay.dut.real.transport import HeldDrive, command_set
from assay.dut.real.write_cache import NOTES, WriteCache, write_cache_held
from assay.errors import DeviceFailureError, GateRefusedError, IdentityError, UsageError
from assay.run.plan_file import Plan, load_plan
from assay.run.run import run_plan
from assay.run.store.read import read_run
from emulated import CAPACITY, FindDrive, held, is_emulated

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from assay.engine.records import DriveIdentity, PurgeMethod

CONTENT = b"\xa5" * 4096
ALL_BUSES = ["Q-NVME-A", "Q-SATA", "Q-SCSI"]


@contextmanager
def opened(identity: DriveIdentity) -> Iterator[OpenDrive]:
    """A namespace straight away: the gate refuses one of two with the same serial, and that is not the subject here."""
    assert is_emulated(identity)
    with OpenDrive(identity, os.open(identity.path, os.O_RDWR | os.O_DIRECT | os.O_EXCL)) as drive:
        yield drive


def fill(drive: OpenDrive, place: int = 12 << 20) -> None:
    with mmap.mmap(-1, len(CONTENT)) as page:
        page[:] = CONTENT
        assert os.pwritev(drive.fd, [page], place) == len(CONTENT)


def content(drive: OpenDrive, place: int = 12 << 20) -> bytes:
    with mmap.mmap(-1, len(CONTENT)) as page:
        assert os.preadv(drive.fd, [page], place) == len(CONTENT)
        return page[:]


def never(_show: object) -> int:
    pytest.fail("overwritten although the drive has something better")


@pytest.mark.parametrize(
    ("serial", "method", "label", "deviation"),
    [
        ("Q-NVME-A", "auto", "NVMe Format (user data erase)", None),
        ("Q-NVME-A", "format", "NVMe Format (user data erase)", None),
        ("Q-NVME-A", "discard", "discard", "purge by discard, not by a sanitize or format command"),
        ("Q-SATA", "auto", "discard", "purge by discard, not by a sanitize or format command"),
        ("Q-SCSI", "auto", "discard", "purge by discard, not by a sanitize or format command"),
    ],
)
def test_each_bus_is_purged_by_what_its_drive_can_do(
    drive: FindDrive, serial: str, method: PurgeMethod, label: str, deviation: str | None
) -> None:
    found = drive(serial)
    with held(found) as (opened_drive, _, _):
        fill(opened_drive)
        record = purge_drive(opened_drive, choose_purge(opened_drive, never, wanted=method))
        assert not any(content(opened_drive))
        opened_drive.verify()
    assert (record.method, record.deviation) == (label, deviation)
    assert record.proof.startswith(
        f"64 marked blocks were read before and after the {label}: 64 as zeros, none as written"
    )
    assert "not run on hardware" not in record.proof
    assert disk_identity(found.path.removeprefix("/dev/")).capacity_bytes == CAPACITY


def test_a_format_erases_the_chosen_namespace_alone_and_only_when_both_are_acknowledged(drive: FindDrive) -> None:
    first = drive("Q-NVME-TWIN")
    second = disk_identity(first.path.removeprefix("/dev/")[:-1] + "2")
    with opened(first) as one, opened(second) as other:
        fill(one)
        fill(other)
        for wrong in (None, 1, 3):
            with pytest.raises(GateRefusedError, match=r"has 2 namespaces.*--all-namespaces 2"):
                choose_purge(other, never, wanted="format", all_namespaces=wrong)
        assert content(one) == content(other) == CONTENT
        record = purge_drive(other, choose_purge(other, never, wanted="format", all_namespaces=2))
        assert "namespace 2 alone was formatted" in record.proof
        assert not any(content(other))
        assert content(one) == CONTENT


def test_a_purge_of_its_own_accord_spares_what_was_not_acknowledged(drive: FindDrive) -> None:
    with opened(drive("Q-NVME-TWIN")) as one:
        record = purge_drive(one, choose_purge(one, never))
    assert record.method == "discard"
    assert record.deviation is not None
    assert "the controller has 2 namespaces" in record.deviation


@pytest.mark.parametrize(
    ("serial", "method"),
    [
        ("Q-NVME-A", "sanitize-block"),
        ("Q-NVME-A", "sanitize-crypto"),
        ("Q-NVME-A", "erase"),
        ("Q-SATA", "erase"),
        ("Q-SATA", "erase-enhanced"),
        ("Q-SATA", "sanitize-block"),
        ("Q-SATA", "format"),
        ("Q-SCSI", "sanitize-block"),
        ("Q-SCSI", "sanitize-crypto"),
    ],
)
def test_what_a_drive_does_not_offer_is_refused_before_anything_is_written(
    drive: FindDrive, serial: str, method: PurgeMethod
) -> None:
    with held(drive(serial)) as (opened_drive, _, _):
        fill(opened_drive)
        with pytest.raises(
            UsageError, match=rf"--purge {method}: is not offered by .*; it offers .*discard, overwrite"
        ):
            choose_purge(opened_drive, never, wanted=method)
        assert content(opened_drive) == CONTENT


@pytest.mark.parametrize("serial", ALL_BUSES)
def test_the_write_cache_goes_off_and_on_and_kernel_and_drive_agree(drive: FindDrive, serial: str) -> None:
    found = drive(serial)
    name = found.path.removeprefix("/dev/")
    with held(found) as (opened_drive, _, _):
        cache = WriteCache(found, HeldDrive(opened_drive.fd), command_set(found))
        before = cache.look()
        for state in ("disabled", "enabled", "disabled"):
            view = cache.set(state)
            assert (view.kernel, view.drive) == (state, state)
            assert read_write_cache(name) == state
        assert cache.restore(before)
    assert expected_drive(Plan(drive=found.path), found, "disabled").write_cache == "disabled"


@pytest.mark.parametrize("serial", ALL_BUSES)
def test_the_write_cache_comes_back_after_a_run_and_after_a_crash(
    drive: FindDrive, serial: str, tmp_path: Path
) -> None:
    found = drive(serial)
    with held(found) as (opened_drive, _, _):
        cache = WriteCache(found, HeldDrive(opened_drive.fd), command_set(found))
        cache.set("enabled")
        with write_cache_held(found, cache, "disabled", notes=tmp_path) as now:
            assert now.state == cache.look().drive == "disabled"
            assert now.facts["write_cache_note"] == "disabled for the run, enabled before it"
            # A second holder is what the next run is after a crash: it finds the note and puts back what it names.
            with write_cache_held(found, cache, "disabled", notes=tmp_path) as again:
                assert again.state == "disabled"
            assert (cache.look().kernel, cache.look().drive) == ("enabled", "enabled")
        assert (cache.look().kernel, cache.look().drive) == ("enabled", "enabled")
    assert list(tmp_path.iterdir()) == []


def test_a_block_size_that_changed_under_the_run_ends_it(drive: FindDrive) -> None:
    with held(drive("Q-NVME-A")) as (opened_drive, _, _):
        other = OpenDrive(replace(opened_drive.identity, logical_block_bytes=4096), os.dup(opened_drive.fd))
        with other, pytest.raises((DeviceFailureError, IdentityError), match="its blocks changed from"):
            purge_drive(other, choose_purge(other, never))


def test_a_run_formats_the_drive_with_its_cache_as_the_edition_asks_and_puts_the_cache_back(
    drive: FindDrive, tmp_path: Path
) -> None:
    found = drive("Q-NVME-A")
    with held(found) as (opened_drive, _, _):
        WriteCache(found, HeldDrive(opened_drive.fd), command_set(found)).set("enabled")
    named = drive("Q-NVME-A")
    chosen = {"round_limit": 5, "histogram_minutes": 0}
    wanted = {"drive": named.path, "suite": "enterprise", "tests": ("lat",), "scale": 0.001, "seed": 1, "lat": chosen}
    answers = Answers(confirmation=named.id)
    outcome = run_plan(load_plan(None, wanted), out=tmp_path / "run", answers=answers, show=lambda _: None)
    run = read_run(outcome.folder)
    assert run.tests[0].purge is not None
    assert run.tests[0].purge.method == "NVMe Format (user data erase)"
    assert run.identity.write_cache == run.engine["write_cache_drive"] == "disabled"
    assert run.engine["write_cache_note"] == "disabled for the run, enabled before it"
    assert run.deviations
    assert not [line for line in run.deviations if "purge" in line or "write cache" in line]
    assert drive("Q-NVME-A").write_cache == "enabled"
    assert list(NOTES.iterdir()) == []
