"""Trims of a stream reach emulated drives: the kernel counts them, and what was trimmed reads as zeros."""

from __future__ import annotations

import mmap
import os
from dataclasses import replace

import pytest
from assay.dut.dut import Answers, hold_drive
from assay.engine.pattern import fill_pattern, leading_range
from assay.engine.records import DataPattern, Demand, IoPath, StepRecord, StepSpec, StopRule
from emulated import KIB, MIB, FindDrive, io_count, is_emulated

EXTENT = 16 * MIB
TRIM = 256 * KIB


def steps() -> list[StepSpec]:
    """Writes in order over the beginning of a drive, then trims of all of it."""
    fill = StepSpec(
        label="writes",
        pattern=fill_pattern(128 * KIB, DataPattern()),
        demand=Demand(thread_count=1, queue_depth=4),
        active_range=leading_range(EXTENT),
        stop=StopRule(amount_bytes=EXTENT),
    )
    pattern = replace(fill.pattern, sizes=((TRIM, 1.0),), operation="trim")
    return [fill, replace(fill, label="trims", pattern=pattern)]


def sent(found: FindDrive, serial: str, path: IoPath | None) -> tuple[list[StepRecord], dict[str, str], bytes]:
    """Run the steps on a drive; records, how they were carried out, and what the drive holds there afterwards."""
    identity = found(serial)
    assert is_emulated(identity)
    answers = Answers(confirmation=identity.id)
    more = {} if path is None else {"io_path": path}
    with hold_drive(
        identity, answers, needed_bytes=0, thread_count=1, transfer_bytes_max=128 * KIB, seed=1, **more
    ) as (
        opened,
        stimulus,
        _,
    ):
        (writes,) = stimulus.run(steps()[:1])
        assert any(content(opened.fd)), "nothing was written"
        (trims,) = stimulus.run(steps()[1:])
        return [writes, trims], stimulus.disclosure(), content(opened.fd)


def content(descriptor: int) -> bytes:
    """What the beginning of the drive holds now, past the page cache."""
    os.posix_fadvise(descriptor, 0, EXTENT, os.POSIX_FADV_DONTNEED)
    memory = bytearray()
    with mmap.mmap(-1, MIB) as part:
        for place in range(0, EXTENT, MIB):
            assert os.preadv(descriptor, [part], place) == MIB
            memory += part[:]
    return bytes(memory)


@pytest.mark.parametrize(
    ("serial", "path"), [("Q-NVME-A", None), ("Q-NVME-A", "passthrough"), ("Q-SATA", None), ("Q-SCSI", None)]
)
def test_trims_are_counted_and_what_was_trimmed_reads_as_zeros(
    drive: FindDrive, serial: str, path: IoPath | None
) -> None:
    (_, trims), how, left = sent(drive, serial, path)
    assert trims.other is not None
    assert not trims.other.errors
    assert io_count(trims.other) == EXTENT // TRIM
    assert trims.other.window_bytes + trims.other.tail_bytes == EXTENT
    if path is None:
        before, after = trims.counters_before, trims.counters_after
        assert before is not None
        assert after is not None
        assert after.discard_bytes - before.discard_bytes == EXTENT
    else:
        assert how["trims"] == "NVMe Dataset Management commands"
    assert not any(left), f"{serial}: what was trimmed is still there"
