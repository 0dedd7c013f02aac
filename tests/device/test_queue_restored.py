"""The queue of a real device comes back to what it was, also behind a run that was killed."""

import subprocess
import sys
from pathlib import Path

from assay.dut.real.identity import identify
from assay.dut.real.queue import merging_off
from conftest import LoopDrive

SIZE = 16 << 20
RUN = """
import sys
from assay.dut.real.identity import identify
from assay.dut.real.queue import merging_off
with merging_off(identify(sys.argv[1], file_target=False)):
    print("set", flush=True)
    sys.stdin.read()
"""


def test_the_run_after_a_killed_one_puts_merging_back_as_it_was_before_both(loop_drive: LoopDrive) -> None:
    path = loop_drive(SIZE)
    attribute = Path("/sys/block", Path(path).name, "queue/nomerges")
    attribute.write_text("1")
    try:
        arguments = [sys.executable, "-c", RUN, path]
        with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            assert process.stdout
            assert process.stdout.readline() == b"set\n"
            process.kill()
        assert attribute.read_text().strip() == "2"
        with merging_off(identify(path, file_target=False)):
            assert attribute.read_text().strip() == "2"
        assert attribute.read_text().strip() == "1"
    finally:
        attribute.write_text("0")
