"""The script of the OEM guide on a loop device: results as Iometer writes them, which keep its invariants."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from assay.workloads.iometer import read_results
from conftest import HANG_S, PATIENT, known_id, set_throttle
from iometer_invariants import invariants
from quiet_host import QUIET_ASSAY
from undisturbed import undisturbed

if TYPE_CHECKING:
    from conftest import LoopDrive

pytestmark = pytest.mark.long

OEM = Path(__file__).parents[1] / "unit/icf/oem-guide-2006.07.27.icf"
SIZES = (131072, 131072, 4096, 4096)
SIZE = 256 << 20
CAP = 1000
"""I/Os per second that the drive is throttled to, in slices of 0.1 s: what waits for one at the end of a window of 15 s
makes the mean response time longer by 0.7 % at most. Low enough that a busy host serves it, data of writes included."""


def broken(out: Path) -> str | None:
    """The invariants that a row of results does not keep, None where each keeps all."""
    runs = zip(read_results(out / "report/iometer.csv").runs, SIZES, strict=True)
    rows = [(row, size_bytes) for run, size_bytes in runs for row in run.rows if row.kind != "PROCESSOR"]
    found = [one for row, size_bytes in rows for one in invariants(row, size_bytes) if not one.holds]
    return str(found) if found else None


def test_the_oem_guides_script_on_a_drive_gives_rows_that_keep_the_invariants(
    loop_drive: LoopDrive, throttle: Path, tmp_path: Path
) -> None:
    path = loop_drive(SIZE)
    # On a drive that answers at once, making a write's data takes a part of every I/O's turn.
    set_throttle(throttle, path, CAP, "read", "write")
    options = ["run", path, "--icf", str(OEM), "--scale", "0.5", "--yes-destroy", known_id(path), *PATIENT, "--out"]
    shell = f'echo $$ > {throttle}/cgroup.procs && exec "$@"'
    command = ["/bin/sh", "-c", shell, "sh", *QUIET_ASSAY, *options]

    def attempt(out: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*command, str(out)], capture_output=True, text=True, check=False, timeout=HANG_S)

    # Little's law needs a full queue, which a thread that is late does not keep.
    done, out = undisturbed(attempt, tmp_path, broken)
    assert done.returncode == 0, done.stderr
    found = [*read_results(out / "report/iometer.csv").runs]
    assert len(found) == len(SIZES)
    for run, size_bytes in zip(found, SIZES, strict=True):
        kinds = [row.kind for row in run.rows]
        # There is a row for each processor of this host.
        assert [kind for kind in kinds if kind != "PROCESSOR"] == ["ALL", "MANAGER", "WORKER", "DISK"]
        assert "PROCESSOR" in kinds
        for row in (one for one in run.rows if one.kind != "PROCESSOR"):
            assert len(invariants(row, size_bytes)) >= 4
            assert row.name in {"All", "Assay", "Worker 1", path}
