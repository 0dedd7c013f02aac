"""Where the accesses really went, read back from the file that was written."""

from pathlib import Path

import pytest
from assay.dut.real.gate import open_drive
from assay.dut.real.identity import identify
from assay.engine.pattern import cell_pattern, leading_range, random_pattern
from assay.engine.records import AccessPattern, DataPattern, Demand, StepSpec, StopRule
from assay.engine.stimulus import Stimulus
from conftest import allocate

SIZE = 16 << 20
BLOCK = 4096


def write(path: Path, pattern: AccessPattern, sequences: list[int]) -> list[frozenset[int]]:
    """Run sequences of so many I/Os each; the blocks that were written up to the end of each."""
    drive = identify(str(path), file_target=True)
    written = []
    with (
        open_drive(drive, confirmation=drive.id, acknowledged_signatures=frozenset(), needed_bytes=0) as held,
        Stimulus.real(
            held.fd,
            capacity_bytes=SIZE,
            logical_block_bytes=drive.logical_block_bytes,
            thread_count=2,
            seed=7,
            data_origin=1,
            counters_path=None,
        ) as stimulus,
    ):
        for count in sequences:
            step = StepSpec(
                label="step",
                pattern=pattern,
                demand=Demand(thread_count=2, queue_depth=4),
                active_range=leading_range(SIZE),
                stop=StopRule(io_count=count),
            )
            stimulus.run([step])
            written.append(blocks(path))
    return written


def blocks(path: Path) -> frozenset[int]:
    content = path.read_bytes()
    empty = bytes(BLOCK)
    return frozenset(n for n in range(SIZE // BLOCK) if content[n * BLOCK : (n + 1) * BLOCK] != empty)


def test_random_writes_of_four_capacities_reach_nearly_every_block_whatever_the_programs(tmp_path: Path) -> None:
    path = allocate(tmp_path / "drive.img", SIZE)
    count = SIZE // BLOCK
    *_, last = write(path, random_pattern(BLOCK, 0.0, DataPattern()), [count // 2] * 8)
    # Uniform random writes leave e^-4 of the blocks; a sequence begun anew in each sequence would leave e^-0.5.
    assert len(last) / count == pytest.approx(1 - 0.0183, abs=0.01)


def test_two_programs_do_not_write_the_same_blocks_again(tmp_path: Path) -> None:
    path = allocate(tmp_path / "drive.img", SIZE)
    first, second = write(path, random_pattern(BLOCK, 0.0, DataPattern()), [500, 500])
    assert len(second) > len(first) * 1.8


def test_the_sequential_position_runs_on_from_program_to_program(tmp_path: Path) -> None:
    path = allocate(tmp_path / "drive.img", SIZE)
    pattern = cell_pattern("sequential", 64 * 1024, 0.0, DataPattern())
    first, second = write(path, pattern, [20, 20])
    assert (first, second) == (frozenset(range(20 * 16)), frozenset(range(40 * 16)))
