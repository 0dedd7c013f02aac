"""Drives that the kernel itself serves to other hosts: no process has them open."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from assay.dut.real.gate import Asking, refusals
from assay.dut.real.user_watch import UserWatch
from assay.errors import DriveChangedError
from emulated import held
from stacked import assert_each_refuses

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emulated import FindDrive

CONFIG = Path("/sys/kernel/config")
NQN = "nqn.2026-01.org.example:assay"


@contextmanager
def nvmet(path: str) -> Iterator[None]:
    """An enabled namespace of the NVMe target."""
    subsystem = CONFIG / f"nvmet/subsystems/{NQN}"
    namespace = subsystem / "namespaces/1"
    subsystem.mkdir()
    namespace.mkdir()
    try:
        (namespace / "device_path").write_text(path)
        (namespace / "enable").write_text("1")
        yield
    finally:
        namespace.rmdir()
        subsystem.rmdir()


@contextmanager
def lio(plugin: str, settings: str, udev_path: str) -> Iterator[None]:
    """An enabled backstore of LIO. udev_path : what its tools note beside the settings; empty: they note nothing."""
    adapter = CONFIG / f"target/core/{plugin}_7"
    store = adapter / "assay"
    adapter.mkdir(parents=True)
    store.mkdir()
    try:
        (store / "control").write_text(settings)
        if udev_path:
            (store / "udev_path").write_text(udev_path)
        (store / "enable").write_text("1")
        yield
    finally:
        store.rmdir()
        adapter.rmdir()


def test_a_drive_that_nvmet_serves_is_refused_by_that_rule_alone(
    drive: FindDrive, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = drive("Q-SCSI")
    with nvmet(found.path):
        assert_each_refuses(found, {"exports": f"exported by nvmet as .*{NQN}/namespaces/1"}, monkeypatch)
        assert refusals(drive("Q-SATA")) == ()
    assert refusals(found) == ()


def test_a_namespace_that_is_not_enabled_serves_nothing(drive: FindDrive) -> None:
    found = drive("Q-SCSI")
    with nvmet(found.path):
        (CONFIG / f"nvmet/subsystems/{NQN}/namespaces/1/enable").write_text("0")
        assert refusals(found) == ()


def test_a_held_drive_that_nvmet_begins_to_serve_is_seen(drive: FindDrive) -> None:
    found = drive("Q-NVME-A")
    with held(found) as (opened, *_):
        watch = UserWatch(opened, Asking(identity=found, held=opened.fd), frozenset())
        watch.look()
        with nvmet(found.path), pytest.raises(DriveChangedError, match="exported by nvmet"):
            watch.look()
        watch.look()


def test_a_drive_that_lio_serves_as_a_block_device_is_refused(
    drive: FindDrive, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = drive("Q-SCSI")
    with lio("iblock", f"udev_path={found.path}", found.path):
        assert_each_refuses(found, {"exports": "exported by LIO", "exclusive": "busy"}, monkeypatch)


@pytest.mark.parametrize("noted", [True, False])
def test_a_drive_that_lio_serves_as_a_file_is_refused(
    drive: FindDrive, monkeypatch: pytest.MonkeyPatch, noted: bool
) -> None:
    found = drive("Q-SCSI")
    settings = f"fd_dev_name={found.path},fd_dev_size={found.capacity_bytes}"
    with lio("fileio", settings, found.path if noted else ""):
        assert_each_refuses(found, {"exports": "exported by LIO"}, monkeypatch)
