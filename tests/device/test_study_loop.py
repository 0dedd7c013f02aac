"""Studies on a loop device: trims reach it, what cannot be set is not applicable, the kernel counts every byte."""

from pathlib import Path

import pytest
from assay.procedures.studies.result import study_result
from assay.results.audit import sequence_audits
from assay.run.store.read import read_run
from conftest import PATIENT, LoopDrive, known_id
from undisturbed import quiet_assay, undisturbed

SIZE = 256 << 20


@pytest.mark.long
def test_studies_run_on_a_loop_device_and_trim_frees_its_file(loop_drive_in_memory: LoopDrive, tmp_path: Path) -> None:
    path = loop_drive_in_memory(SIZE)
    named = ("--study", "oio,trim,write-cache", "--scale", "0.0005")
    options = ("run", path, *named, "--yes-destroy", known_id(path), *PATIENT)
    done, out = undisturbed(lambda out: quiet_assay(*options, "--out", str(out)), tmp_path)
    assert done.returncode == 0, done.stderr
    run = read_run(out, histograms=True)
    assert [test.settings.test for test in run.tests] == ["study-oio", "study-trim"]
    assert [test.test for test in run.skipped] == ["study-write-cache"]
    for test in run.tests:
        for audit in sequence_audits(test):
            assert audit.read_bytes[0] == audit.read_bytes[1], audit
            assert audit.write_bytes[0] == audit.write_bytes[1], audit
    oio = study_result(run.tests[0])
    asked = [stage.settled.asked for stage in oio.variants[0].stages if stage.settled]
    assert asked == [2**n for n in range(9)]
    assert "no test of the specification" in (out / "report/report.html").read_text()
    backing = Path(Path(f"/sys/block/{Path(path).name}/loop/backing_file").read_text().strip())
    # The last variant trims the second half and writes to the first only.
    assert backing.stat().st_blocks * 512 <= SIZE * 0.55
    assert backing.stat().st_blocks * 512 >= SIZE * 0.45
