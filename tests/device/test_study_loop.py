"""Studies on a loop device: trims reach it, what cannot be set is not applicable, the kernel counts every byte."""

import subprocess
import sys
from pathlib import Path

import pytest
from assay.procedures.studies.result import study_result
from assay.results import sequence_audits
from assay.run.store.read import read_run
from conftest import PATIENT, LoopDrive, known_id

ASSAY = str(Path(sys.executable).with_name("assay"))
SIZE = 256 << 20


def assay(*arguments: str) -> subprocess.CompletedProcess[str]:
    patient = PATIENT if arguments[0] == "run" else ()
    return subprocess.run([ASSAY, *arguments, *patient], capture_output=True, text=True, timeout=280, check=False)


@pytest.mark.long
def test_studies_run_on_a_loop_device_and_trim_frees_its_file(loop_drive_in_memory: LoopDrive, tmp_path: Path) -> None:
    path, out = loop_drive_in_memory(SIZE), tmp_path / "run"
    names = "oio,trim,write-cache"
    done = assay("run", path, "--study", names, "--scale", "0.0005", "--yes-destroy", known_id(path), "--out", str(out))
    assert done.returncode in {0, 5}, done.stderr
    run = read_run(out, histograms=True)
    assert [test.settings.test for test in run.tests] == ["study-oio", "study-trim"]
    assert [test.test for test in run.skipped] == ["study-write-cache"]
    for test in run.tests:
        for audit in sequence_audits(test):
            assert audit.read_bytes[0] == audit.read_bytes[1], audit
            assert audit.write_bytes[0] == audit.write_bytes[1], audit
    oio = study_result(run.tests[0])
    asked = [stage.settled.asked for stage in oio.variants[0].stages if stage.settled]
    # A busy host may withhold them.
    assert asked == ([] if oio.withheld else [2**n for n in range(9)])
    assert "no test of the specification" in (out / "report/report.html").read_text()
    backing = Path(Path(f"/sys/block/{Path(path).name}/loop/backing_file").read_text().strip())
    # The last variant trims the second half and writes to the first only.
    assert backing.stat().st_blocks * 512 <= SIZE * 0.55
    assert backing.stat().st_blocks * 512 >= SIZE * 0.45
