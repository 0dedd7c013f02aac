"""The file of what a run does now: its size is fixed, its lines are whole, and no reader waits or makes wait."""

import os
import threading
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from assay.engine.live import LivePoint, LiveSecond, live_seconds
from assay.run.store import LIVE
from assay.run.store.live import (
    FILE_BYTES,
    MINUTE_SLOTS,
    SECOND_SLOTS,
    SLOT_BYTES,
    LiveFile,
    LiveLine,
    LiveReader,
    LiveSums,
    SecondKey,
    minute_lines,
    second_line,
    unpacked,
)
from assay.spec.units import SECOND_NS

EPOCH_NS = 1_800_000_000 * SECOND_NS


class Clock:
    """Wall time that passes when a test says so."""

    def __init__(self) -> None:
        self.now_ns = EPOCH_NS

    def __call__(self) -> int:
        """Wall time in ns."""
        return self.now_ns


def second(number: int, covered_ns: int = SECOND_NS, step: int = 0) -> LiveSecond:
    return LiveSecond(step, number, covered_ns, (LivePoint(step, 1, number + 1, 4096 * (number + 1), 1000, 900),))


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def real(tmp_path: Path, clock: Clock) -> Iterator[LiveFile]:
    file = LiveFile(tmp_path, clock, virtual=False)
    yield file
    file.close()


def pass_seconds(file: LiveFile, clock: Clock, count: int, first: int = 0) -> None:
    for number in range(first, first + count):
        clock.now_ns += SECOND_NS
        file.add(1, [second(number)])


def test_rows_of_the_engine_become_records() -> None:
    (result,) = live_seconds([(0, 4, SECOND_NS, [(0, 1, 5, 20480, 900, 300)])])
    assert result == LiveSecond(0, 4, SECOND_NS, (LivePoint(0, 1, 5, 20480, 900, 300),))


def test_steps_side_by_side_are_added_up() -> None:
    points = (LivePoint(2, 0, 1, 10, 50, 50), LivePoint(2, 1, 1, 1, 1, 1), LivePoint(3, 0, 2, 20, 80, 60))
    line = second_line(7, LiveSecond(2, 0, SECOND_NS, points))
    assert (line.first, line.last) == (SecondKey(7, 2, 0), SecondKey(7, 2, 0))
    assert (line.read, line.write) == (LiveSums(3, 30, 130, 60), LiveSums(1, 1, 1, 1))
    assert line.total == LiveSums(4, 31, 131, 60)


def test_a_second_is_a_line_and_a_reader_gets_each_once(real: LiveFile, clock: Clock, tmp_path: Path) -> None:
    reader = LiveReader(tmp_path)
    assert reader.lines() == []
    pass_seconds(real, clock, 3)
    assert [line.write.io_count for line in reader.lines()] == [1, 2, 3]
    assert reader.lines() == []
    pass_seconds(real, clock, 1, first=3)
    (line,) = reader.lines()
    expected = (4, EPOCH_NS + 4 * SECOND_NS, SECOND_NS, LiveSums(4, 4 * 4096, 1000, 900))
    assert (line.number, line.wall_ns, line.covered_ns, line.write) == expected


def test_the_rest_of_a_step_goes_to_the_next_line(real: LiveFile, clock: Clock, tmp_path: Path) -> None:
    real.add(1, [second(0), second(1), second(2, SECOND_NS // 2)])
    clock.now_ns += SECOND_NS
    real.add(2, [second(0)])
    lines = LiveReader(tmp_path).lines()
    assert [line.covered_ns for line in lines] == [SECOND_NS, SECOND_NS, 3 * SECOND_NS // 2]
    assert (lines[2].first, lines[2].last) == (SecondKey(1, 0, 2), SecondKey(2, 0, 0))


def test_virtual_time_gives_at_most_a_line_a_second_of_the_clock(tmp_path: Path, clock: Clock) -> None:
    file = LiveFile(tmp_path, clock, virtual=True)
    for part in range(10):
        file.add(1, [second(number) for number in range(part * 50, part * 50 + 50)])
        clock.now_ns += SECOND_NS // 5
    file.add(1, [second(500)])
    file.close()
    lines = LiveReader(tmp_path).lines()
    assert [line.covered_ns // SECOND_NS for line in lines] == [50, 250, 201]
    assert [later.wall_ns - line.wall_ns for line, later in pairwise(lines)] == [SECOND_NS] * 2


def test_the_size_is_fixed_over_50_hours(real: LiveFile, clock: Clock, tmp_path: Path) -> None:
    assert (tmp_path / LIVE).stat().st_size == FILE_BYTES == 985_112
    pass_seconds(real, clock, 50 * 3600)
    assert (tmp_path / LIVE).stat().st_size == FILE_BYTES
    seconds, minutes = LiveReader(tmp_path).lines(), minute_lines(tmp_path)
    assert [line.number for line in seconds] == list(range(50 * 3600 - SECOND_SLOTS + 1, 50 * 3600 + 1))
    assert len(minutes) == MINUTE_SLOTS
    assert {line.covered_ns for line in minutes} == {60 * SECOND_NS}
    # A minute is the sum of its seconds, and only the one that goes on is not there yet.
    last = minutes[-1]
    inside = [line for line in seconds if last.first.second <= line.first.second <= last.last.second]
    assert last.write == LiveSums(sum(line.write.io_count for line in inside), *last.write[1:3], 900)
    assert seconds[-1].last.second - last.last.second <= 60


def test_a_reader_that_was_away_for_more_than_an_hour_gets_the_last_one(
    real: LiveFile, clock: Clock, tmp_path: Path
) -> None:
    reader = LiveReader(tmp_path)
    pass_seconds(real, clock, 5)
    assert len(reader.lines()) == 5
    pass_seconds(real, clock, SECOND_SLOTS + 10, first=5)
    assert [line.number for line in reader.lines()] == list(range(16, SECOND_SLOTS + 16))


def test_a_run_that_goes_on_later_begins_anew(real: LiveFile, clock: Clock, tmp_path: Path) -> None:
    reader = LiveReader(tmp_path)
    pass_seconds(real, clock, 5)
    assert len(reader.lines()) == 5
    clock.now_ns += SECOND_NS
    again = LiveFile(tmp_path, clock, virtual=False)
    pass_seconds(again, clock, 2)
    again.close()
    assert [line.number for line in reader.lines()] == [1, 2]


def test_a_slot_that_is_half_written_is_no_line(real: LiveFile, clock: Clock, tmp_path: Path) -> None:
    pass_seconds(real, clock, 2)
    content = (tmp_path / LIVE).read_bytes()
    slots = [content[at : at + SLOT_BYTES] for at in range(SLOT_BYTES, 3 * SLOT_BYTES, SLOT_BYTES)]
    assert isinstance(unpacked(slots[0]), LiveLine)
    for cut in range(8, SLOT_BYTES, 8):
        torn = slots[1][:cut] + slots[0][cut:]
        assert torn in slots or unpacked(torn) is None


@pytest.mark.parametrize("content", [b"", b"x" * FILE_BYTES, b"ASSAYLIV", bytes(FILE_BYTES)])
def test_what_is_no_such_file_has_no_lines(content: bytes, tmp_path: Path) -> None:
    (tmp_path / LIVE).write_bytes(content)
    assert (LiveReader(tmp_path).lines(), minute_lines(tmp_path)) == ([], [])


def test_nothing_is_read_over_a_link_or_from_a_pipe(tmp_path: Path) -> None:
    assert (LiveReader(tmp_path).lines(), minute_lines(tmp_path)) == ([], [])
    os.mkfifo(tmp_path / LIVE)
    assert (LiveReader(tmp_path).lines(), minute_lines(tmp_path)) == ([], [])
    (tmp_path / LIVE).unlink()
    (tmp_path / LIVE).symlink_to("/dev/zero")
    assert (LiveReader(tmp_path).lines(), minute_lines(tmp_path)) == ([], [])


def test_readers_at_any_time_of_a_writer_see_whole_lines_in_order(real: LiveFile, clock: Clock, tmp_path: Path) -> None:
    """Three readers beside 12,000 writes: each line that they see is one that was written, and none comes twice."""
    count, faults, ended = 12_000, list[str](), threading.Event()

    def read() -> None:
        reader, last = LiveReader(tmp_path), 0
        while not ended.is_set():
            for line in reader.lines():
                whole = line.write == LiveSums(line.number, 4096 * line.number, 1000, 900)
                if line.number <= last or not whole or line.last.second != line.number - 1:
                    faults.append(f"{last} {line}")
                last = line.number

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    pass_seconds(real, clock, count)
    ended.set()
    for thread in threads:
        thread.join()
    assert faults == []
