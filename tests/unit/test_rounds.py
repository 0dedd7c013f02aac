"""The driver that runs rounds until steady."""

from dataclasses import replace

from assay.records import LoopSettings, StepRecord
from assay.rounds import Judged, until_steady
from report_run import FALLING, GOLDEN, synthetic_rounds, synthetic_settings


def drive(settings: LoopSettings, tracked: tuple[float, ...]) -> list[Judged]:
    rounds = synthetic_rounds(settings, tracked)
    return list(until_steady(settings, lambda index: list(rounds[index - 1].cells)))


def test_five_steady_rounds_are_enough() -> None:
    judged = drive(synthetic_settings(), GOLDEN)
    assert [bool(item.window) for item in judged] == [False] * 4 + [True]
    assert judged[-1].window is not None
    assert judged[-1].window.reached


def test_a_falling_drive_runs_to_the_round_limit() -> None:
    judged = drive(synthetic_settings(round_limit=7), FALLING)
    assert len(judged) == 7
    assert judged[-1].window is not None
    assert not judged[-1].window.reached
    assert judged[-1].window.rounds == (3, 4, 5, 6, 7)


def test_a_round_with_an_error_ends_the_test_without_a_verdict() -> None:
    settings = synthetic_settings()
    failing = synthetic_rounds(settings, GOLDEN, errors=1)
    judged = list(until_steady(settings, lambda index: list(failing[index - 1].cells)))
    assert [(item.ended, item.window) for item in judged] == [("incomplete", None)]


def test_a_round_that_was_cut_short_ends_the_test() -> None:
    settings = synthetic_settings()
    cells: list[StepRecord] = list(synthetic_rounds(settings, GOLDEN)[0].cells[:3])
    cells[-1] = replace(cells[-1], ended="interrupted")
    assert [item.ended for item in until_steady(settings, lambda _: cells)] == ["incomplete"]
