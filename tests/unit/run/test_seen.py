"""What a run keeps for those who begin to watch later, and that none of it can end a run."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from assay.engine.live import LivePoint, LiveSecond
from assay.engine.records import Ending
from assay.run.progress import PhaseEnd, Progress
from assay.run.store import LIVE, PROGRESS
from assay.run.store.live import LiveReader
from assay.run.store.progress_file import EVENT_EVERY_NS, EVERY_NS, RunHistory, keeping, kept_progress, step_facts
from assay.run.store.write import RunWriter
from assay.spec.units import MINUTE_NS, SECOND_NS
from going_run import DRIVE
from report_run import judged_samples
from saturation_run import saturation_settings, saturation_step

SECOND = LiveSecond(0, 0, SECOND_NS, (LivePoint(0, 0, 1, 4096, 10, 10),))


def shown(folder: Path, *progresses: Progress) -> Any:
    """What ``progress.json`` says after these."""
    clock = iter(range(0, 100 * EVERY_NS, EVERY_NS))
    with RunWriter(folder, {}) as writer:
        show = keeping(writer, lambda _: None, drive=DRIVE, clock=lambda: next(clock))
        for progress in progresses:
            show(progress)
        writer.wait()
        assert json.loads((folder / PROGRESS).read_text("utf-8"))
        return kept_progress(folder)


def test_samples_with_their_bounds_are_kept_until_the_next_test(tmp_path: Path) -> None:
    verdicts = judged_samples(saturation_settings(), lambda count: [saturation_step(5000)] * count)
    samples = [Progress(test="wsat", number=1, name="samples", judged=judged) for judged in verdicts[:6]]
    kept = shown(tmp_path, Progress(), *samples)
    assert (kept.drive.kind, kept.drive.model_number, kept.virtual) == ("block", DRIVE.model_number, False)
    assert kept.sample_count == sum(len(judged.steps) for judged in verdicts[:6])
    assert [round_.index for round_ in kept.rounds] == [judged.index for judged in verdicts[:6]]
    (bound,) = kept.bounds
    window = verdicts[5].window
    assert window
    (verdict,) = window.verdicts.values()
    assert (bound.average, bound.excursion_allowed, bound.steady) == (5000, verdict.excursion_allowed, True)
    assert [(event.kind, event.name) for event in kept.events] == [("round", "samples")] * 6
    again = tmp_path / "again"
    again.mkdir()
    kept = shown(again, *samples, Progress(test="iops", number=2))
    assert (kept.rounds, kept.bounds, kept.sample_count, kept.steps) == ((), (), 0, ())
    assert len(kept.events) == 6


def test_an_ended_step_has_rates_and_percentiles_from_its_histogram() -> None:
    times = {"histogram": ((500, 1000), (900, 20)), "latency_ns_min": 500, "latency_ns_max": 900}
    whole = saturation_step(5000)
    step = replace(whole, write=replace(whole.write, **times))
    facts = step_facts(step)
    assert (facts["span_ns"], facts["iops"], facts["mb_s"]) == (MINUTE_NS, 5000, 20.48)
    # Of 1,020 I/Os the 1,010th is the first of 900 ns; beyond 99.9 % are too few.
    percentiles = [facts[f"latency_ms_{name}"] for name in ("p50", "p99", "p999", "max")]
    assert percentiles == [0.0005, 0.0009, None, 0.0009]
    assert step_facts(replace(step, span_ns=0))["iops"] == 0


def test_only_the_last_events_and_steps_are_kept() -> None:
    history = RunHistory(clock=lambda: 7)
    step = saturation_step(50)
    for number in range(100):
        history.add(Progress(test="a", phase_end=PhaseEnd(name=f"fill {number}", span_ns=1, steps=(step,) * 30)))
    history.add(Progress(test="a", advice="x" * 1000))
    history.add(Progress(test="a", ending=Ending(reason="steady", reached=True)))
    facts = history.facts()()
    assert (len(facts["events"]), len(facts["steps"])) == (40, 16)
    assert [(event["kind"], len(event["detail"])) for event in facts["events"][-2:]] == [
        ("advice", 400),
        ("test", len(facts["events"][-1]["detail"])),
    ]
    assert facts["events"][0] == {
        "wall_ns": 7,
        "kind": "phase",
        "test": "a",
        "name": "fill 62",
        "span_ns": 1,
        "detail": "",
    }


def test_progress_is_kept_every_five_seconds_and_a_second_after_an_event(tmp_path: Path) -> None:
    now_ns, times = [0], list[int]()

    class Writer:
        """Notes when something is kept."""

        def keep_progress(self, make: Any) -> None:
            """Take what makes the facts."""
            assert make()["test"] == "a"
            times.append(now_ns[0])

    show = keeping(Writer(), lambda _: None, clock=lambda: now_ns[0])  # type: ignore[arg-type]
    for tenths in range(201):
        now_ns[0] = tenths * SECOND_NS // 10
        event = PhaseEnd(name="x", span_ns=1) if tenths in {105, 107} else None
        show(Progress(test="a", folder=tmp_path, phase_end=event))
    assert EVENT_EVERY_NS < EVERY_NS
    assert [time / SECOND_NS for time in times] == [0, 5, 10, 11, 16]


def test_nothing_that_fails_here_ends_a_run(tmp_path: Path) -> None:
    with RunWriter(tmp_path, {}) as writer:
        writer.keep_progress(lambda: {"x": 1 / 0})
        writer.keep_progress(lambda: {"x": float("nan")})
        (tmp_path / LIVE).mkdir()
        writer.keep_live([SECOND], virtual=False)
        writer.keep_live([SECOND], virtual=False)
        writer.note("still written")
        writer.wait()
        assert not (tmp_path / PROGRESS).exists()
        (tmp_path / LIVE).rmdir()


def test_lines_are_written_beside_the_journal_and_gone_at_the_end(tmp_path: Path) -> None:
    with RunWriter(tmp_path, {}) as writer:
        writer.keep_live([SECOND], virtual=False)
        writer.wait()
        (line,) = LiveReader(tmp_path).lines()
        assert (line.first.sequence, line.read.io_count) == (1, 1)
    assert not (tmp_path / LIVE).exists()
