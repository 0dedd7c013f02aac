"""What was issued is what the kernel and the drive itself have counted."""

import json
import subprocess
from pathlib import Path

import pytest
from assay.pattern import leading_range
from assay.records import DriveIdentity, StopRule
from emulated import CAPACITY, KIB, MIB, FindDrive, held, io_count, step


def smart_reads(identity: DriveIdentity) -> int:
    """Read commands that the drive has seen from the host."""
    command = ["nvme", "smart-log", identity.path, "--output-format=json"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return int(json.loads(said)["host_read_commands"])


@pytest.mark.parametrize(("transfer_bytes", "count"), [(4 * KIB, 1_000), (512 * KIB, 64), (MIB, 64)])
def test_ios_reach_an_nvme_drive_one_to_one_up_to_what_it_takes_at_once(
    drive: FindDrive, transfer_bytes: int, count: int
) -> None:
    found = drive("Q-NVME-A")
    largest = int(Path(f"/sys/block/{Path(found.path).name}/queue/max_sectors_kb").read_text()) * KIB
    assert largest == 512 * KIB, "the drive's own limit (MDTS)"
    before = smart_reads(found)
    with held(found) as (_, stimulus, _):
        record = stimulus.run([step(StopRule(io_count=count), leading_range(CAPACITY), transfer_bytes=transfer_bytes)])[
            0
        ]
    parts = -(-transfer_bytes // largest)
    assert io_count(record.read) == count
    assert record.counters_before
    assert record.counters_after
    assert record.counters_after.read_bytes - record.counters_before.read_bytes == count * transfer_bytes
    assert record.counters_after.read_merge_count == record.counters_before.read_merge_count
    assert record.counters_after.read_io_count - record.counters_before.read_io_count == count * parts
    assert smart_reads(found) - before == count * parts
