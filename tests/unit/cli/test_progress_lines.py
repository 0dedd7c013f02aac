"""What a run says of itself: what is drawn where, and why a test ended."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from assay.cli.progress import LiveDisplay
from assay.cli.progress_lines import begin_line, event_lines, judged_line, still_line, tracked_lines
from assay.engine.records import Ending, MeasurementWindow
from assay.plan.until import RoundOutcome, TrackedValue
from assay.run.progress import Extent, PhaseEnd, Progress, TimeLeft, Watched
from assay.spec.steady import steady_state
from assay.spec.units import GB, MINUTE_NS, SECOND_NS
from rich.console import Console

if TYPE_CHECKING:
    from pathlib import Path

LEFT = TimeLeft(60 * MINUTE_NS, 180 * MINUTE_NS)
FILL = Progress(
    test="iops",
    number=2,
    count=4,
    phase="precondition",
    name="preconditioning",
    whole=Extent(0, 64 * GB),
    done=Extent(0, 16 * GB),
    share=0.25,
    device_ns=32 * SECOND_NS,
    left=TimeLeft(97 * SECOND_NS, 97 * SECOND_NS),
    run_left=LEFT,
    run_shares=(0.25, 0.5),
    elapsed_ns=60 * MINUTE_NS,
)
ROUND = RoundOutcome(
    stage="round", index=3, steps=(), window=None, ended=None, values=(TrackedValue("X", 3189.96, "IOPS"),), gathered=3
)


def test_a_phase_says_its_amount_when_it_begins_and_its_rate_and_time_left_while_it_runs() -> None:
    run = "; run: 25 to 50 %, 1 h to 3 h left"
    assert begin_line(FILL) == f"iops (test 2 of 4): preconditioning, 64.0 GB{run}"
    assert still_line(FILL) == f"iops preconditioning: 25 %, 16.0 of 64.0 GB, 500 MB/s, 1 min 37 s left{run}"
    rounds = replace(FILL, phase="round", name="round 1", whole=Extent(56 * MINUTE_NS), step_count=56)
    assert begin_line(rounds) == f"iops (test 2 of 4): rounds of 56 cells, 56 min each{run}"
    end = PhaseEnd(name="preconditioning", span_ns=128 * SECOND_NS, amount_bytes=64 * GB)
    (line,) = event_lines(replace(FILL, phase_end=end))
    assert line == f"iops preconditioning done: 64.0 GB in 2 min 8 s, 500 MB/s{run}"


def test_a_round_says_its_value_with_unit_and_what_is_missing_until_steady() -> None:
    assert (
        judged_line(ROUND, "round 3")
        == "round 3: 0 cells in 0 s; X 3,190.0 IOPS; 3 of the 5 rounds that a verdict takes"
    )
    verdict = steady_state((1, 2, 3, 4, 5), [83715.0, 97000.0, 71090.0, 83000.0, 84000.0])
    window = MeasurementWindow(rounds=(1, 2, 3, 4, 5), verdicts={"X": verdict}, reached=False)
    judged = replace(ROUND, index=5, window=window, gathered=5)
    line = judged_line(judged, "round 5", virtual=True)
    assert "; not steady yet; average 83,761 IOPS, excursion 25,910 of 16,752 allowed (too wide), slope " in line
    (short,) = tracked_lines(judged)
    assert short.startswith("X: 3,190.0 IOPS, excursion 25,910 > 16,752, slope ")


@pytest.mark.parametrize(
    ("reason", "verdict", "said"),
    [
        ("time", "not steady in its last verdict", "its time is over; not steady in its last verdict"),
        ("amount", "too few values for a verdict", "its amount is written; too few values for a verdict"),
        ("time", "", "all of it ran"),
        ("steady", "steady in its last verdict", "steady state"),
    ],
)
def test_a_test_says_why_it_ended(reason: str, verdict: str, said: str) -> None:
    (line,) = event_lines(Progress(test="wsat", ending=Ending(reason=reason, reached=True), verdict=verdict))
    assert line == f"wsat ended: {said}"


def test_nothing_is_drawn_before_a_drive_is_held(tmp_path: Path) -> None:
    out = io.StringIO()
    with LiveDisplay(Console(file=out, force_terminal=True, width=120, height=40)) as display:
        display.show(Progress(folder=tmp_path))
    assert out.getvalue() == ""


def test_the_panel_has_the_tracked_variable_its_temperature_and_what_the_host_did() -> None:
    out = io.StringIO()
    seen = Watched(after="round 3", temperature_c=41.0, host_stalls=2, host_stalled_ns=30_000_000)
    with LiveDisplay(Console(file=out, force_terminal=True, width=120, height=40, no_color=True)) as display:
        display.show(Progress(test="iops", judged=ROUND))
        display.show(replace(FILL, watched=seen))
    text = out.getvalue()
    for words in ("test 2 of 4", "25 %, 16.0 of 64.0 GB, 500 MB/s", "X: 3,190.0 IOPS, 3 of 5 values for a verdict"):
        assert words in text
    assert "41 C after round 3" in text
    assert "2 stalls of this host, 30 ms in all up to round 3" in text
