"""An attempt is repeated for what this host cost it, for nothing else, and only where it was seen disturbed."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import undisturbed as module
from quiet_host import RECORDED, QuietWatch
from report_run import synthetic_test
from undisturbed import lost_of_test, undisturbed

if TYPE_CHECKING:
    from pathlib import Path

LATE = replace(RECORDED, late_ns_max=20_000_000, stalled_ns=20_000_000)


class DisturbedWatch(QuietWatch):
    """A watch that sees a thread run 20 ms late."""

    def __exit__(self, *_: object) -> None:
        self.record = LATE


def attempted(folder: Path, *codes: int) -> tuple[int, int]:
    """Attempts with these exit codes, one after the other: the code that is taken, and how many were made."""
    left = list(codes)

    def attempt(out: Path) -> subprocess.CompletedProcess[str]:
        out.mkdir()
        return subprocess.CompletedProcess([], left.pop(0), "", "")

    done, _ = undisturbed(attempt, folder)
    return done.returncode, len(codes) - len(left)


@pytest.fixture
def lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "lost_time", lambda _: "timekeeping")


@pytest.mark.usefixtures("lost")
def test_what_a_disturbed_host_cost_a_run_is_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "HostWatch", DisturbedWatch)
    assert attempted(tmp_path, 5, 5, 7) == (7, 3)


@pytest.mark.usefixtures("lost")
def test_what_is_lost_on_a_quiet_host_is_a_defect(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "HostWatch", QuietWatch)
    with pytest.raises(AssertionError, match="the host kept still, and yet: timekeeping"):
        attempted(tmp_path, 5, 0)


@pytest.mark.usefixtures("lost")
def test_a_host_that_is_disturbed_in_every_attempt_skips(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "HostWatch", DisturbedWatch)
    with pytest.raises(pytest.skip.Exception, match="SKIPPED: the host disturbed all 5 attempts"):
        attempted(tmp_path, *[5] * module.ATTEMPTS_MAX)


def test_results_withheld_for_any_other_reason_are_the_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "HostWatch", DisturbedWatch)
    monkeypatch.setattr(module, "lost_time", lambda _: None)
    assert attempted(tmp_path, 5, 0) == (5, 1)


@pytest.mark.parametrize(
    ("ended", "is_lost"),
    [("timekeeping", True), ("no-completions", True), ("device-failure", False), ("interrupted", False)],
)
def test_late_threads_cost_time_and_a_drive_that_fails_does_not(ended: str, is_lost: bool) -> None:
    assert (lost_of_test(synthetic_test(ended=ended)) is not None) == is_lost


@pytest.mark.parametrize("ended", ["steady", "timekeeping"])
def test_a_host_that_was_recorded_as_disturbed_is_no_lost_time(ended: str) -> None:
    stopped = replace(RECORDED, late_ns_max=1_502_000_000, stalled_ns=1_502_000_000)
    test = synthetic_test(ended=ended)
    sequences = tuple(replace(sequence, host=stopped) for sequence in test.sequences)
    assert lost_of_test(replace(test, sequences=sequences)) is None


def test_a_test_that_is_not_withheld_has_lost_nothing() -> None:
    assert lost_of_test(synthetic_test()) is None
