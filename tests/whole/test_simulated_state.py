"""A simulated drive that remembers: its state is kept, taken up again, and told from any other."""

from dataclasses import replace
from pathlib import Path

import pytest
from assay.dut.dut import Answers, open_dut
from assay.dut.simulated.model import DriveModel, parse_simulated
from assay.engine.pattern import fill_pattern, leading_range, random_pattern
from assay.engine.records import DataPattern, Demand, StepRecord, StepSpec, StopRule
from assay.engine.stimulus import Stimulus
from assay.errors import ValueRangeError
from assay.run.plan_file import Plan, load_plan

CAPACITY = 128_000_000


def _drive_model() -> DriveModel:
    return parse_simulated(f"sim:client-2011?capacity={CAPACITY}B&seed=3").drive_model


def _random(count: int, data: DataPattern | None = None) -> StepSpec:
    return StepSpec(
        label="random",
        pattern=random_pattern(4096, 0.0, data or DataPattern()),
        demand=Demand(thread_count=1, queue_depth=8),
        active_range=leading_range(CAPACITY),
        stop=StopRule(io_count=count),
    )


def _fill() -> StepSpec:
    return replace(_random(1), pattern=fill_pattern(131072, DataPattern()), stop=StopRule(amount_bytes=CAPACITY))


def _rate(record: StepRecord) -> float:
    return record.write.window_io_count / record.span_ns


def test_a_kept_drive_goes_on_as_it_was(tmp_path: Path) -> None:
    kept = tmp_path / "drive.state"
    with Stimulus.simulated(_drive_model(), seed=1, epoch_wall_ns=0) as stimulus:
        stimulus.run([_fill(), _random(100_000)])
        stimulus.keep_state(kept)
        before = stimulus.state_hash()
        steady = _rate(stimulus.run([_random(20_000)])[0])
        assert stimulus.state_hash() != before
    with Stimulus.from_state(_drive_model(), seed=1, epoch_wall_ns=0, path=kept) as stimulus:
        assert stimulus.state_hash() == before
        assert _rate(stimulus.run([_random(20_000)])[0]) == pytest.approx(steady, rel=0.02)
    with Stimulus.simulated(_drive_model(), seed=1, epoch_wall_ns=0) as stimulus:
        assert _rate(stimulus.run([_random(20_000)])[0]) > 2 * steady
    assert list(tmp_path.iterdir()) == [kept], "nothing is left beside the state"


def test_a_state_of_another_drive_is_refused_with_what_to_do(tmp_path: Path) -> None:
    kept = tmp_path / "drive.state"
    with Stimulus.simulated(_drive_model(), seed=1, epoch_wall_ns=0) as stimulus:
        stimulus.keep_state(kept)
    with pytest.raises(ValueRangeError, match=r"other parameters.*seed"):
        Stimulus.from_state(_drive_model().replaced(seed=4), seed=1, epoch_wall_ns=0, path=kept)
    kept.write_bytes(b"nonsense")
    with pytest.raises(ValueRangeError, match="no state"):
        Stimulus.from_state(_drive_model(), seed=1, epoch_wall_ns=0, path=kept)
    with (
        Stimulus.simulated(_drive_model(), seed=1, epoch_wall_ns=0) as stimulus,
        pytest.raises(ValueRangeError, match="written"),
    ):
        stimulus.keep_state(tmp_path / "no folder" / "state")


def test_a_named_file_is_the_memory_of_a_drive_from_run_to_run(tmp_path: Path) -> None:
    plan = _plan(f"sim:client-2011?capacity=128MB&state={tmp_path / 'mine'}")
    identity = parse_simulated(plan.drive).identity
    with open_dut(plan, identity, [], answers=Answers(), seed=1) as dut:
        fresh = dut.condition().state_hash
        dut.stimulus.run([_fill()])
        left = dut.condition().state_hash
    with open_dut(plan, identity, [], answers=Answers(), seed=2) as dut:
        assert dut.condition().state_hash == left != fresh


@pytest.mark.parametrize("name", ["sim:ideal?state=", "sim:ideal?state=/no/folder/f", "sim:hdd-15k?state=f"])
def test_a_state_that_cannot_be_kept_is_refused_before_the_run(name: str) -> None:
    with pytest.raises(ValueRangeError, match="state"):
        parse_simulated(name)


def test_what_was_trimmed_is_free_again() -> None:
    def relocation_share(*, trimmed: bool) -> float:
        with Stimulus.simulated(_drive_model(), seed=1, epoch_wall_ns=0) as stimulus:
            stimulus.run([_fill(), _random(60_000)])
            if trimmed:
                stimulus.trim_simulated(0, CAPACITY)
            return _rate(stimulus.run([_random(15_000)])[0])

    assert relocation_share(trimmed=True) > 1.5 * relocation_share(trimmed=False)


def test_compressible_data_is_faster_on_a_drive_that_compresses() -> None:
    half = DataPattern(kind="compressible", stored_share=0.5)

    def rate(data: DataPattern) -> float:
        drive_model = _drive_model().replaced(compresses=True, write_buffer_bytes=16 << 20)
        with Stimulus.simulated(drive_model, seed=1, epoch_wall_ns=0) as stimulus:
            stimulus.run([_random(60_000, data)])
            return _rate(stimulus.run([_random(20_000, data)])[0])

    assert rate(half) > 1.5 * rate(DataPattern())


def _plan(drive: str) -> Plan:
    return load_plan(None, {"drive": drive})
