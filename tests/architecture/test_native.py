"""The border to the native module: what crosses it, and how its errors arrive."""

import copy
import functools
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from assay._native import NativeStimulus, toml_positions
from assay.dut.simulated.model import parse_simulated
from assay.engine.pattern import fill_pattern, leading_range, random_pattern, segmented_range
from assay.engine.records import (
    ActiveRange,
    DataPattern,
    Demand,
    DirectionRecord,
    KernelCounters,
    StepRecord,
    StepSpec,
    StopRule,
)
from assay.engine.stimulus import Stimulus, program_text
from assay.errors import PlanError, TooSmallError, ValueRangeError

MODEL = parse_simulated("sim:client-2011?capacity=1GB").drive_model


def step(**changes: object) -> StepSpec:
    parts = {
        "label": "step",
        "pattern": random_pattern(4096, 0.5, DataPattern()),
        "demand": Demand(thread_count=2, queue_depth=4),
        "active_range": leading_range(10**9),
        "stop": StopRule(io_count=1000),
    }
    return StepSpec(**{**parts, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("words", "changes"),
    [
        ("not a multiple", {"pattern": random_pattern(1000, 0.5, DataPattern())}),
        ("share", {"pattern": random_pattern(4096, 1.5, DataPattern())}),
        ("no data", {"pattern": random_pattern(4096, 0, DataPattern(kind="repeating"))}),
        ("outstanding", {"demand": Demand(thread_count=0, queue_depth=1)}),
        ("outstanding", {"demand": Demand(thread_count=1000, queue_depth=1000)}),
        ("of 1000000000", {"active_range": leading_range(2 * 10**9)}),
        ("overlap", {"active_range": ActiveRange(segment_starts=(0, 4096), segment_bytes=8192)}),
        ("stop rule", {"stop": StopRule(io_count=0)}),
        ("exactly one", {"stop": StopRule()}),
    ],
)
def test_an_impossible_step_is_a_value_error_before_any_io(words: str, changes: dict[str, object]) -> None:
    with Stimulus.simulated(MODEL, seed=1, epoch_wall_ns=0) as stimulus:
        with pytest.raises(ValueRangeError, match=words):
            stimulus.run([step(**changes)])
        (record,) = stimulus.run([step()])
    counters = record.counters_before
    assert counters is not None
    assert (counters.read_io_count, counters.write_io_count) == (0, 0)


@pytest.mark.parametrize("share", [0.0, 0.049, 0.951, 1.0])
def test_a_share_that_data_cannot_be_made_for_is_refused_by_name(share: float) -> None:
    data = DataPattern(kind="compressible", stored_share=share)
    with (
        Stimulus.simulated(MODEL, seed=1, epoch_wall_ns=0) as stimulus,
        pytest.raises(ValueRangeError, match=r"compressible data cannot be stored in .*, only in 0.05 to 0.95"),
    ):
        stimulus.run([step(pattern=random_pattern(4096, 0.5, data))])


WORDS = [
    (
        "pattern.data.kind",
        "compressable",
        "compressible",
        lambda word: {"pattern": random_pattern(4096, 0.5, DataPattern(kind=word))},
    ),
    (
        "demand.arrival_process",
        "posson",
        "poisson",
        lambda word: {"demand": Demand(thread_count=1, queue_depth=4, arrivals_per_s=1e3, arrival_process=word)},
    ),
    (
        "pattern.cursor",
        "per-thread",
        "per_thread",
        lambda word: {"pattern": replace(random_pattern(4096, 0.5, DataPattern()), cursor=word)},
    ),
]


@pytest.mark.parametrize(("thing", "word", "meant", "changes"), WORDS, ids=[word[0] for word in WORDS])
def test_an_unknown_word_is_refused_with_the_known_one_that_is_nearest(
    thing: str, word: str, meant: str, changes: Callable[[str], dict[str, object]]
) -> None:
    with Stimulus.simulated(MODEL, seed=1, epoch_wall_ns=0) as stimulus:
        with pytest.raises(ValueRangeError) as caught:
            stimulus.run([step(**changes(word))])
        assert caught.value.thing == f"sequence: steps.0.{thing}"
        assert caught.value.reason == f'there is none of the name "{word}"; did you mean "{meant}"?'
        assert meant in caught.value.remedy
        with pytest.raises(ValueRangeError) as far:
            stimulus.run([step(**changes("xyzxyzxyz"))])
        assert "did you mean" not in far.value.reason
        stimulus.run([step(**changes(meant))] if meant != "compressible" else [step()])


PROGRAM = json.loads(program_text([step(), step(stop=StopRule(time_ns=5)), step()]))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda it: it.update(stops=[]), "sequence: stops: there is no key of this name; did you mean .steps.?"),
        (lambda it: it["steps"][1].update(patern={}), "sequence: steps.1.patern: there is no key .* mean .pattern.?"),
        (lambda it: it["steps"][1]["demand"].pop("queue_depth"), "sequence: steps.1.demand.queue_depth: is missing"),
        (lambda it: it["steps"][0]["pattern"].update(read_share=None), "pattern.read_share: is null, not a number"),
        (
            lambda it: it["steps"][0].update(stop={"io_cont": 3}),
            "steps.0.stop.io_cont: there is no key .* mean .io_count.?",
        ),
        (lambda it: it["ranges"][0].update(segment_bytes=-1), "ranges.0.segment_bytes: is -1, not a whole number"),
        (lambda it: it["ranges"][0].update(segment_starts=[0, 1]), "ranges.0: the segments overlap"),
        (lambda it: it["order"].append(0), "sequence: has no label 3"),
        (lambda it: it["order"].__setitem__(0, 7), "sequence: has no step 7"),
        (lambda it: it["steps"][0].update(active_range=7), "sequence: has no range 7"),
    ],
)
def test_what_a_program_cannot_hold_is_refused_by_its_place(change: Callable[[Any], None], words: str) -> None:
    assert (PROGRAM["order"], len(PROGRAM["steps"]), len(PROGRAM["ranges"])) == ([0, 1, 0], 2, 1)
    sequence = copy.deepcopy(PROGRAM)
    change(sequence)
    native = NativeStimulus.simulated(MODEL.text, 1, 0)
    with pytest.raises(ValueRangeError, match=words):
        native.run(json.dumps(sequence), 1, 10**9, None, None, None, None)
    records, _ = native.run(json.dumps(PROGRAM), 1, 10**9, None, None, None, None)
    assert [record["label"] for record in json.loads(records)] == ["step"] * 3


def test_an_unknown_victim_policy_is_refused_with_the_nearest() -> None:
    for open_drive in (Stimulus.simulated, functools.partial(Stimulus.from_state, path=Path("/nowhere"))):
        with pytest.raises(ValueRangeError, match=r'drive model: parameters.victim: .* "gredy"; did you mean "greedy"'):
            open_drive(MODEL.replaced(victim="gredy"), seed=1, epoch_wall_ns=0)


def test_a_size_below_the_sector_is_refused() -> None:
    with (
        Stimulus.simulated(
            MODEL.replaced(logical_block_bytes=4096, capacity_bytes=244_140 * 4096), seed=1, epoch_wall_ns=0
        ) as stimulus,
        pytest.raises(ValueRangeError, match="4096-byte block"),
    ):
        stimulus.run([step(pattern=random_pattern(512, 0.5, DataPattern()), active_range=leading_range(1 << 20))])


def test_a_wrong_drive_model_names_its_parameter() -> None:
    for changes, words in (
        (
            {"over_provisioning": -1.0},
            r"drive model: parameters.over_provisioning: is -1.0, not in its range: .*0.02 to",
        ),
        ({"over_provisioning": "much"}, r'over_provisioning: is "much", not a number: Flash beyond'),
        ({"reed_ns": 1}, r'parameters.reed_ns: there is no key of this name; did you mean "read_ns"\?'),
        ({"capacity_bytes": 1 << 64}, r"capacity_bytes: is 1.8446.*, not a whole number"),
    ):
        with pytest.raises(ValueRangeError, match=words):
            Stimulus.simulated(MODEL.replaced(**changes), seed=1, epoch_wall_ns=0)


def test_a_record_adds_up_on_this_side_of_the_border() -> None:
    with Stimulus.simulated(MODEL, seed=1, epoch_wall_ns=7) as stimulus:
        (record,) = stimulus.run([step()])
        purge_ns = stimulus.purge_simulated()
    reads, writes = record.read, record.write
    assert sum(count for _, count in reads.histogram) == reads.window_io_count + reads.tail_io_count
    assert reads.window_io_count + reads.tail_io_count + writes.window_io_count + writes.tail_io_count == 1000
    assert sum(writes.series_bytes) == writes.window_bytes
    assert record.start_wall_ns == 7
    assert purge_ns is not None
    assert purge_ns > 0


def test_a_record_names_each_field_of_the_step_and_no_other() -> None:
    native = NativeStimulus.simulated(MODEL.text, 1, 0)
    (record,) = json.loads(native.run(program_text([step()]), 1, 10**9, None, None, None, None)[0])
    # The kernel's log is read beside the sequence, and trims or flushes are left out where there are none.
    assert set(record) == {field.name for field in fields(StepRecord)} - {"drive_events", "other"}
    for direction in ("read", "write"):
        assert set(record[direction]) == {field.name for field in fields(DirectionRecord)}
    discards = {"discard_io_count", "discard_bytes"}
    assert set(record["counters_before"]) == {field.name for field in fields(KernelCounters)} - discards
    assert (record["label"], record["ended"]) == ("step", "stop-rule")


def test_segments_that_do_not_fit_are_too_large_for_the_drive() -> None:
    assert len(segmented_range(32 * 10**9, 2048, 8 << 20, 1).segment_starts) == 2048
    with pytest.raises(TooSmallError):
        segmented_range(16 << 30, 2048, 8 << 20, 1)


def test_positions_of_keys_and_of_a_syntax_error() -> None:
    positions = toml_positions("a = 1\n[[b]]\nc = 2\n[d]\ne = { f = 3 }\n", "p")
    assert {key: positions[key] for key in ("a", "b.0.c", "d.e.f")} == {"a": (1, 1), "b.0.c": (3, 1), "d.e.f": (5, 7)}
    with pytest.raises(PlanError, match="p:2:5"):
        toml_positions("a = 1\nb = \n", "p")


def test_ctrl_c_in_a_program_gives_the_records_so_far() -> None:
    script = """
import os, signal, threading
from assay.dut.simulated.model import parse_simulated
from assay.engine.pattern import fill_pattern, leading_range
from assay.engine.records import DataPattern, Demand, StepSpec, StopRule
from assay.engine.stimulus import Stimulus
begun = threading.Event()
threading.Thread(target=lambda: begun.wait() and os.kill(os.getpid(), signal.SIGINT)).start()
drive = parse_simulated("sim:client-2011?capacity=1GB").drive_model
with Stimulus.simulated(drive, seed=1, epoch_wall_ns=0) as stimulus:
    spec = StepSpec(label="long", pattern=fill_pattern(4096, DataPattern()), active_range=leading_range(10**9),
                    demand=Demand(thread_count=1, queue_depth=1), stop=StopRule(time_ns=10**18))
    (record,) = stimulus.run([spec, spec], watch=lambda *_: begun.set())
print(record.ended, record.write.window_io_count > 0)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["interrupted", "True"]


def test_sequential_writes_cover_the_range_with_its_tail() -> None:
    with Stimulus.simulated(MODEL, seed=1, epoch_wall_ns=0) as stimulus:
        (record,) = stimulus.run(
            [step(pattern=fill_pattern(131072, DataPattern()), stop=StopRule(amount_bytes=2 * 10**9))]
        )
    assert record.write.window_bytes + record.write.tail_bytes == 2 * 10**9
