"""What was issued is what the kernel and the drive itself have counted."""

import json
import mmap
import subprocess
from pathlib import Path

import pytest
from assay.engine.pattern import leading_range
from assay.engine.records import DriveIdentity, StopRule
from emulated import CAPACITY, KIB, MIB, Control, FindDrive, held, io_count, step


def smart_reads(identity: DriveIdentity) -> int:
    """Read commands that the drive has seen from the host."""
    command = ["nvme", "smart-log", identity.path, "--output-format=json"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return int(json.loads(said)["host_read_commands"])


def part_bytes(identity: DriveIdentity) -> tuple[int, int]:
    """What one command moves at least and at most: from pages that lie apart, and from ones side by side."""
    queue = Path(f"/sys/block/{Path(identity.path).name}/queue")
    largest = int((queue / "max_sectors_kb").read_text()) * KIB
    return min(largest, int((queue / "max_segments").read_text()) * mmap.PAGESIZE), largest


@pytest.mark.parametrize(("transfer_bytes", "count"), [(4 * KIB, 1_000), (256 * KIB, 64), (MIB, 64)])
def test_ios_reach_an_nvme_drive_one_to_one_up_to_what_it_takes_at_once(
    drive: FindDrive, control: Control, transfer_bytes: int, count: int
) -> None:
    found = drive("Q-NVME-A")
    smallest, largest = part_bytes(found)
    assert largest == 512 * KIB, "the drive's own limit (MDTS)"
    everywhere = leading_range(CAPACITY)
    with held(found) as (_, stimulus, _):
        seen = smart_reads(found)
        record = stimulus.run([step(StopRule(io_count=count), everywhere, transfer_bytes=transfer_bytes)])[0]
        seen = smart_reads(found) - seen
    before, after = record.counters_before, record.counters_after
    assert before
    assert after
    requests = after.read_io_count - before.read_io_count
    control.say(f"{count} I/Os of {transfer_bytes // KIB} KiB were {requests} requests and {seen} commands")
    assert io_count(record.read) == count
    assert after.read_bytes - before.read_bytes == count * transfer_bytes
    assert after.read_merge_count == before.read_merge_count
    assert seen == requests
    assert -(-transfer_bytes // largest) * count <= requests <= -(-transfer_bytes // smallest) * count
