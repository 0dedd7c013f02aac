"""What a run shows and keeps while its drive is purged."""

from __future__ import annotations

import json
import sys
from itertools import count
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from assay.cli.progress import PlainDisplay, RunDisplay
from assay.engine.records import PurgeRecord
from assay.run.progress import Progress, RunTimes, TimeLeft
from assay.run.runner import _Runner
from assay.run.store.write import ADVICE, RunWriter
from assay.spec.units import MINUTE_NS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pytest
    from assay.dut.real.purge import PurgeWatch

RECORD = PurgeRecord(method="ATA SECURITY ERASE UNIT (normal)", proof="seen", deviation=None, span_ns=1)


def purge(watch: PurgeWatch) -> PurgeRecord:
    watch.keep("/dev/x: free it with hdparm")
    for done in (None, 0.0, 0.04, 0.37, 0.39):
        watch.show(done, 2_000)
    return RECORD


def minutes() -> Callable[[], int]:
    """A clock that is a minute on at every look."""
    return count(0, MINUTE_NS).__next__


def test_a_purge_shows_what_is_left_and_its_advice_is_kept_before_it_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    planned = SimpleNamespace(
        settings=SimpleNamespace(test="iops"),
        phases=(),
        earliest_ns=0,
        latest_ns=None,
        written_first_bytes=0,
        purge_count=1,
    )
    shown: list[Progress] = []
    display = PlainDisplay(sys.stderr)

    def show(progress: Progress) -> None:
        if progress.advice:
            assert (tmp_path / ADVICE).read_text() == "/dev/x: free it with hdparm\n"
        shown.append(progress)
        display.show(progress)

    with RunWriter(tmp_path, {"schema": 1}) as writer:
        dut = SimpleNamespace(purge=purge, look=lambda: None, host_time=True)
        times = RunTimes([cast("Any", planned)], real=True, clock=minutes())
        times.test_begins()
        _Runner(cast("Any", planned), cast("Any", dut), writer, show=show, capture="none", times=times).purge()
    lines = [line.partition(" ")[2] for line in capsys.readouterr().err.splitlines()]
    assert lines == [
        "iops (test 1 of 1): purge",
        "/dev/x: free it with hdparm",
        "iops purge: 37 %, 1 s left",
        "iops purge (ATA SECURITY ERASE UNIT (normal)) done in 1e-09 s",
    ]
    assert shown[-3].left == TimeLeft(3_405, 3_405)
    kinds = [json.loads(line)["kind"] for line in (tmp_path / "journal.jsonl").read_text().splitlines()]
    assert kinds == ["advice", "purged"]


def test_a_silent_run_still_gives_its_advice(capsys: pytest.CaptureFixture[str]) -> None:
    with RunDisplay("quiet") as display:
        for advice in ("", "free it with hdparm"):
            display.show(Progress(test="iops", phase="purge", advice=advice))
    output = capsys.readouterr()
    assert (output.out, output.err) == ("", "free it with hdparm\n")
