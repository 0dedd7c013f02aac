"""What a run shows and keeps while its drive is purged."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from assay.cli.progress import LogDisplay
from assay.cli.run import _advise
from assay.engine.records import PurgeRecord
from assay.run.progress import Progress
from assay.run.runner import _Runner
from assay.run.store.write import ADVICE, RunWriter

if TYPE_CHECKING:
    from pathlib import Path

    import pytest
    from assay.dut.real.purge import PurgeWatch

RECORD = PurgeRecord(method="ATA SECURITY ERASE UNIT (normal)", proof="seen", deviation=None, span_ns=1)


def purge(watch: PurgeWatch) -> PurgeRecord:
    watch.keep("/dev/x: free it with hdparm")
    for done in (None, 0.0, 0.04, 0.37, 0.39):
        watch.show(done, 2_000)
    return RECORD


def test_a_purge_shows_each_tenth_once_and_its_advice_is_kept_before_it_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    planned = SimpleNamespace(settings=SimpleNamespace(test="iops"), earliest_ns=0, latest_ns=None)
    shown: list[Progress] = []
    display = LogDisplay()

    def show(progress: Progress) -> None:
        if progress.advice:
            assert (tmp_path / ADVICE).read_text() == "/dev/x: free it with hdparm\n"
        shown.append(progress)
        display.show(progress)

    with RunWriter(tmp_path, {"schema": 1}) as writer:
        dut = SimpleNamespace(purge=purge)
        _Runner(cast("Any", planned), cast("Any", dut), writer, show, "none").purge()
    lines = [line.partition(" ")[2] for line in capsys.readouterr().out.splitlines()]
    assert lines == ["iops purge", "/dev/x: free it with hdparm", "iops purge 0 %", "iops purge 30 %"]
    assert (shown[-2].unit_done_ns, shown[-2].unit_ns) == (2_000, 5_405)
    kinds = [json.loads(line)["kind"] for line in (tmp_path / "journal.jsonl").read_text().splitlines()]
    assert kinds == ["advice", "purged"]


def test_a_silent_run_still_gives_its_advice(capsys: pytest.CaptureFixture[str]) -> None:
    for advice in ("", "free it with hdparm"):
        _advise(Progress(test="iops", phase="purge", advice=advice))
    output = capsys.readouterr()
    assert (output.out, output.err) == ("", "free it with hdparm\n")
