"""NVMe commands past the block layer: every one arrives whole, and no counter of the kernel moves."""

import errno
import os
from dataclasses import dataclass
from pathlib import Path

import pytest
from assay.dut.dut import Answers, hold_drive
from assay.dut.real.gate import OpenDrive, open_drive, open_passthrough
from assay.engine.pattern import fill_pattern, leading_range, random_pattern
from assay.engine.records import ActiveRange, DataPattern, Demand, DriveIdentity, StepRecord, StepSpec, StopRule
from assay.errors import IdentityError, NotADriveError, ValueRangeError
from emulated import CAPACITY, KIB, MIB, Control, FindDrive, assert_only_whole_ios_count, io_count, is_emulated
from test_drive_counters import smart_reads

BLOCK = 4 * KIB


@dataclass(frozen=True, kw_only=True)
class Sent:
    """What came of one step, how it was done, and what the drive and the kernel have counted meanwhile."""

    record: StepRecord
    how: dict[str, str]
    drive_reads: int
    kernel_stood_still: bool


def run(identity: DriveIdentity, step: StepSpec) -> Sent:
    """Hold a drive and send it the commands of a step."""
    assert is_emulated(identity)
    with hold_drive(
        identity,
        Answers(confirmation=identity.id),
        needed_bytes=0,
        thread_count=1,
        transfer_bytes_max=128 * KIB,
        seed=1,
        io_path="passthrough",
    ) as (_, stimulus, _):
        reads, counted = smart_reads(identity), kernel_counts(identity)
        record = stimulus.run([step])[0]
        reads, stood_still = smart_reads(identity) - reads, kernel_counts(identity) == counted
        return Sent(record=record, how=stimulus.disclosure(), drive_reads=reads, kernel_stood_still=stood_still)


def held(identity: DriveIdentity) -> OpenDrive:
    assert is_emulated(identity)
    return open_drive(identity, confirmation=identity.id, acknowledged_signatures=frozenset(), needed_bytes=0)


def enter(opened: OpenDrive, transfer_bytes: int) -> None:
    with open_passthrough(opened, transfer_bytes_max=transfer_bytes) as descriptor:
        assert os.fstat(descriptor).st_rdev != os.fstat(opened.fd).st_rdev


def step(queue_depth: int, count: int, *, read_share: float = 1.0, active_range: ActiveRange | None = None) -> StepSpec:
    return StepSpec(
        label="step",
        pattern=random_pattern(BLOCK, read_share, DataPattern()),
        demand=Demand(thread_count=1, queue_depth=queue_depth),
        active_range=active_range or leading_range(CAPACITY),
        stop=StopRule(io_count=count),
    )


def kernel_counts(identity: DriveIdentity) -> list[str]:
    """Reads, merges, sectors, and the same of writes, as the kernel has counted them."""
    fields = Path(f"/sys/block/{Path(identity.path).name}/stat").read_text().split()
    return fields[:3] + fields[4:7]


@pytest.mark.parametrize(("queue_depth", "count"), [(1, 500), (32, 2_000)])
def test_every_read_is_one_command_that_the_kernel_does_not_count(
    drive: FindDrive, control: Control, queue_depth: int, count: int
) -> None:
    sent = run(drive("Q-NVME-A"), step(queue_depth, count))
    record, seen = sent.record, sent.drive_reads
    depth = record.outstanding_ns / record.span_ns
    control.say(f"passthrough: {count} I/Os at QD {queue_depth} ({depth:.2f} held) were {seen} commands")
    assert io_count(record.read) == count == seen
    assert record.read.errors == {}
    assert_only_whole_ios_count(record)
    # The guest is interpreted: from a completion to the next submission takes a tenth of an I/O at QD 1.
    assert 0.8 * queue_depth < depth <= queue_depth
    assert sent.kernel_stood_still
    assert record.counters_before is record.counters_after is None
    assert sent.how["I/O path"].startswith("NVMe commands")
    assert sent.how["kernel counters"].startswith("unknown: ")


@pytest.mark.parametrize("queue_depth", [1, 32])
def test_what_is_written_by_commands_is_read_back_through_the_block_device(drive: FindDrive, queue_depth: int) -> None:
    found = drive("Q-NVME-A")
    span = 4 * MIB
    fill = StepSpec(
        label="fill",
        pattern=fill_pattern(128 * KIB, DataPattern()),
        demand=Demand(thread_count=1, queue_depth=queue_depth),
        active_range=leading_range(span),
        stop=StopRule(amount_bytes=span),
    )
    before = blocks(found, span)
    record = run(found, fill).record
    after = blocks(found, span)
    assert record.write.window_bytes + record.write.tail_bytes == span
    assert record.write.errors == {}
    assert not set(before[: span // 512]) & set(after[: span // 512]), "every block is written anew"
    assert len(set(after[: span // 512])) == span // 512, "and unlike the others"
    assert before[span // 512 :] == after[span // 512 :], "and nothing behind the range"


def blocks(identity: DriveIdentity, span: int) -> list[bytes]:
    """The first blocks of 512 bytes of a drive, and 1 MiB behind them; the kernel drops its cache at the last close."""
    with Path(identity.path).open("rb", buffering=0) as content:
        os.posix_fadvise(content.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        data = b"".join(iter(lambda: content.read(min(MIB, span + MIB - content.tell())), b""))
    return [data[at : at + 512] for at in range(0, len(data), 512)]


def test_a_media_error_is_the_errno_of_the_block_layer(drive: FindDrive) -> None:
    bad = ActiveRange(segment_starts=(MIB,), segment_bytes=BLOCK)
    record = run(drive("Q-NVME-BAD"), step(1, 20, active_range=bad)).record
    assert record.read.errors == {errno.ENODATA: 20}
    assert io_count(record.read) == 0


def test_a_transfer_beyond_the_drive_and_other_drives_are_refused(drive: FindDrive) -> None:
    with held(drive("Q-NVME-A")) as opened:
        with pytest.raises(ValueRangeError, match=r"1024 KiB exceed the 512 KiB of a command \(max_hw_sectors_kb\)"):
            enter(opened, MIB)
        enter(opened, 512 * KIB)
    with pytest.raises(IdentityError, match="is not held any more"):
        enter(opened, BLOCK)
    with held(drive("Q-SCSI")) as opened, pytest.raises(NotADriveError, match="takes no NVMe commands"):
        enter(opened, BLOCK)
