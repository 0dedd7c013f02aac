"""A file on a file system over a disk with sectors of 4096 bytes is tested as a disk with such sectors is."""

from __future__ import annotations

import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from assay.dut.real.identity import identify
from assay.run.store.read import read_run
from conftest import PATIENT, allocate, command, find_loop
from undisturbed import quiet_assay, undisturbed, verdict_code

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SIZE = 64 << 20


@contextmanager
def file_on_sectors_of(sector_bytes: int, folder: Path) -> Iterator[Path]:
    """A file that is only allocated, on ext4 over a loop device with such sectors."""
    image, mounted = folder / "disk.img", folder / "mounted"
    with image.open("wb") as file:
        file.truncate(3 * SIZE)
    try:
        node = find_loop(f"--sector-size={sector_bytes}", str(image))
    except subprocess.CalledProcessError as error:
        pytest.skip(f"SKIPPED: no loop device with sectors of {sector_bytes} bytes to be had: {error.stderr}")
    try:
        command("mkfs.ext4", "-q", node)
        mounted.mkdir()
        command("mount", node, str(mounted))
        try:
            yield allocate(mounted / "target.img", SIZE)
        finally:
            command("umount", str(mounted))
    finally:
        command("losetup", "--detach", node)


@pytest.mark.usefixtures("needs_root")
@pytest.mark.parametrize("sector_bytes", [512, 4096])
def test_the_logical_block_of_a_file_is_the_alignment_of_direct_io_on_it(sector_bytes: int, tmp_path: Path) -> None:
    with file_on_sectors_of(sector_bytes, tmp_path) as path:
        drive = identify(str(path), file_target=True)
    assert (drive.logical_block_bytes, drive.capacity_bytes) == (sector_bytes, SIZE)


@pytest.mark.long
@pytest.mark.usefixtures("needs_root")
def test_a_file_over_large_sectors_runs_without_the_cells_that_it_cannot_have(tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text('scale = 0.0003\nsuite = "client"\ntests = ["iops"]\n[iops]\nround_limit = 5\n', "utf-8")
    with file_on_sectors_of(4096, tmp_path) as path:
        options = ("run", str(plan), str(path), "--file-target", "--yes-destroy", str(path), "--no-report", *PATIENT)
        done, out = undisturbed(lambda out: quiet_assay(*options, "--out", str(out)), tmp_path)
    assert done.returncode == verdict_code(out), done.stderr
    (test,) = read_run(out).tests
    assert list(test.settings.not_applicable) == [512]
    cells = [cell for round_ in test.rounds for cell in round_.cells]
    assert len(cells) == len(test.rounds) * len(test.settings.cells) > 0
    assert not [cell for cell in cells if cell.read.errors or cell.write.errors]
