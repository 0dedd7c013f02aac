"""Ten job files by fio and by us on one loop device: fio's I/Os as the block layer sees them, ours as captured."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from math import gcd
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.parquet as pq
import pytest
from assay.run.store.read import read_run
from conftest import HANG_S, PATIENT, known_id
from undisturbed import quiet_assay, undisturbed

if TYPE_CHECKING:
    from conftest import LoopDrive
    from numpy.typing import NDArray

SIZE = 256 << 20
JOB = (
    "[job]\nfilename={path}\nioengine=libaio\ndirect=1\nthread\nnorandommap\nrandrepeat=0\ntime_based\nruntime=1\n"
    "iodepth=1\n{keys}"
)
JOBS = {
    "random reads": "rw=randread\nbs=4k\n",
    "random mix": "rw=randrw\nrwmixread=70\nbs=8k\n",
    "sequential writes": "rw=write\nbs=128k\n",
    "sequential mix": "rw=rw\nbs=16k\n",
    "30 % random": "rw=randwrite\nbs=8k\npercentage_random=30\n",
    "30 % random mix": "rw=randrw\nbs=8k\npercentage_random=30\n",
    "from 10 %": "rw=randread\nbs=4k\noffset=10%\nsize=80%\n",
    "zones": "rw=randwrite\nbs=4k\nrandom_distribution=zoned:80/20:20/80\n",
    "several sizes": "rw=randread\nbssplit=4k/60:64k/40\n",
    "own grid": "rw=randread\nbs=4k\nblockalign=16k\n",
}
TRACED = r"""
tracing=/sys/kernel/tracing
mountpoint -q $tracing || mount -t tracefs tracefs $tracing || exit 99
own=$tracing/instances/places-$$
mkdir $own || exit 99
echo 65536 > $own/buffer_size_kb
echo "dev == $1" > $own/events/block/block_bio_queue/filter
echo 1 > $own/events/block/block_bio_queue/enable
fio "$2" > /dev/null; code=$?
echo 0 > $own/tracing_on
cat $own/trace > "$3"
rmdir $own
exit $code
"""
# Other programs probe a device that was written.
EVENT = re.compile(r"block_bio_queue: \S+ ([RW])\S* (\d+) \+ (\d+) \[fio\]")


@dataclass(frozen=True)
class Places:
    """I/Os in the order of submission."""

    writes: NDArray[np.bool_]
    offsets: NDArray[np.int64]
    lengths: NDArray[np.int64]

    @property
    def grid(self) -> int:
        """The largest that all starts lie on."""
        return gcd(*np.unique(self.offsets).tolist())

    @property
    def read_share(self) -> float:
        """Reads among all I/Os."""
        return float(1 - self.writes.mean())

    @property
    def followed(self) -> float:
        """Share that begins where the one of its direction before it ended, or again at the start."""
        found = 0
        for chosen in (self.writes, ~self.writes):
            offsets, ends = self.offsets[chosen], (self.offsets + self.lengths)[chosen]
            wraps = (offsets[1:] == self.offsets.min()) & (ends[:-1] == ends.max(initial=0))
            found += int(((offsets[1:] == ends[:-1]) | wraps).sum())
        return found / len(self.offsets)

    def share_of(self, size: int) -> float:
        """I/Os of a size among all."""
        return float((self.lengths == size).mean())

    def share_below(self, offset: float) -> float:
        """I/Os that begin below an offset among all."""
        return float((self.offsets < offset).mean())


def by_fio(path: str, job: Path, folder: Path) -> Places:
    number = Path(path).stat().st_rdev
    kernel_number = (number >> 8) << 20 | (number & 0xFF)
    command = ["/usr/bin/unshare", "--mount", "bash", "-c", TRACED, "bash", str(kernel_number), str(job)]
    done = subprocess.run(
        [*command, str(folder / "trace.txt")], capture_output=True, text=True, timeout=HANG_S, check=False
    )
    if done.returncode == 99:
        pytest.skip("SKIPPED: the kernel has no tracefs to be mounted")
    assert done.returncode == 0, done.stderr
    events = EVENT.findall((folder / "trace.txt").read_text("utf-8"))
    kinds, sectors, counts = zip(*events, strict=True)
    places = (np.array(column, np.int64) * 512 for column in (sectors, counts))
    return Places(np.array(kinds) == "W", *places)


def by_us(path: str, job: Path, folder: Path) -> Places:
    options = ("run", path, "--fio", str(job), "--capture", "addresses", "--yes-destroy", known_id(path), "--no-report")
    done, out = undisturbed(lambda out: quiet_assay(*options, *PATIENT, "--out", str(out)), folder)
    assert done.returncode == 0, done.stderr
    (sequence,) = (one for one in read_run(out).tests[0].sequences if one.role == "measure")
    assert sequence.steps[0].misaligned_io_count == 0
    rows = pq.read_table(next((out / "traces").glob("*"))).to_pydict()
    order = np.argsort(np.array(rows["at_ns"]) - np.array(rows["latency_ns"]), kind="stable")
    operations, offsets, lengths = (
        np.array(rows[name])[order] for name in ("operation", "offset_bytes", "length_bytes")
    )
    return Places(operations == 1, offsets, lengths)


@pytest.mark.long
@pytest.mark.parametrize("name", JOBS)
def test_ios_go_where_those_of_fio_go(name: str, loop_drive_in_memory: LoopDrive, tmp_path: Path) -> None:
    if shutil.which("fio") is None:
        pytest.skip("SKIPPED: needs the Debian package fio")
    path, job = loop_drive_in_memory(SIZE), tmp_path / "job.fio"
    job.write_text(JOB.format(path=path, keys=JOBS[name]), "utf-8")
    theirs, ours = by_fio(path, job, tmp_path), by_us(path, job, tmp_path)
    print(f"{name}: fio {shown(theirs)}; assay {shown(ours)}")  # noqa: T201 - for pytest -rP
    spread = 5 * (0.25 / min(len(theirs.offsets), len(ours.offsets))) ** 0.5
    assert ours.grid == theirs.grid
    assert ours.read_share == pytest.approx(theirs.read_share, abs=2 * spread)
    assert ours.followed == pytest.approx(theirs.followed, abs=2 * spread)
    for size in np.unique(theirs.lengths).tolist():
        assert ours.share_of(size) == pytest.approx(theirs.share_of(size), abs=2 * spread)
    for part in (0.1, 0.2, 0.5, 0.9):
        # A place in order depends on how far each has come.
        if theirs.followed < 0.01:
            assert ours.share_below(part * SIZE) == pytest.approx(theirs.share_below(part * SIZE), abs=2 * spread)
    starts = [(one.offsets.min(), (one.offsets + one.lengths).max()) for one in (theirs, ours)]
    assert abs(int(starts[0][0]) - int(starts[1][0])) < SIZE // 100
    assert starts[0][0] >= SIZE // 10 or name != "from 10 %"
    assert starts[1][0] >= SIZE // 10 or name != "from 10 %"


def shown(places: Places) -> str:
    first, last = int(places.offsets.min()), int((places.offsets + places.lengths).max())
    return (
        f"{len(places.offsets):,} I/Os, grid {places.grid}, reads {places.read_share:.3f}, "
        f"followed {places.followed:.4f}, range {first:,} to {last:,}"
    )
