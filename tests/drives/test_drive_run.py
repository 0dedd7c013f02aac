"""The command line on an emulated drive."""

import subprocess
import sys
from pathlib import Path

from assay.errors import DeviceFailureError, DriveChangedError
from assay.procedures.families.loop.result import loop_result
from assay.run.store.read import read_run
from emulated import Control, FindDrive, short_iops
from shown_errors import error_lines

ASSAY = str(Path(sys.executable).with_name("assay"))


def test_a_run_whose_drive_is_removed_ends_with_no_headline_and_keeps_what_it_had(
    drive: FindDrive, control: Control, tmp_path: Path
) -> None:
    found, out = drive("Q-NVME-A"), tmp_path / "run"
    command = [ASSAY, "run", found.path, *short_iops(found, out)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr
            while "round 1" not in (line := process.stderr.readline()):
                assert line
            control.remove("nvme-a")
            # In the same slot at once: a run never goes on with what has appeared in its drive's place.
            control.insert("nvme-a")
            error = error_lines(process.communicate(timeout=150)[1])
        finally:
            process.kill()
    assert (process.returncode, error.count("\n")) == (4, 1), error
    control.say(error.strip())
    (test,) = read_run(out).tests
    # A look at the stack may find it gone before an I/O fails.
    assert test.ended in {DeviceFailureError.slug, DriveChangedError.slug}
    assert loop_result(test).matrix == {}
