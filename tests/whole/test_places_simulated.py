"""Where the I/Os of job files of fio and of Iometer files go: as captured, and as counted."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from assay.cli import assay
from assay.results.stimulus_audit import stimulus_audit
from assay.run.store.read import read_run

if TYPE_CHECKING:
    from numpy.typing import NDArray

DRIVE = "sim:client-2011?capacity=1GB"
FIO = "[job]\nioengine=libaio\ndirect=1\ntime_based\nruntime=2\niodepth=8\nnorandommap\n"
ICF = Path(__file__).parent.parent / "unit/icf/large-2008.06.22-rc2.icf"


def ran(folder: Path, words: list[str]) -> tuple[Any, NDArray[np.int64], NDArray[np.int64]]:
    """The record of the measured step, and offsets and lengths in the order of submission."""
    words = ["run", DRIVE, *words, "--seed", "1", "--capture", "addresses", "--no-report", "--out", str(folder)]
    assert assay(words, standalone_mode=False) in {0, None}
    run = read_run(folder)
    (sequence,) = (one for one in run.tests[0].sequences if one.role == "measure")
    rows = pq.read_table(next((folder / "traces").glob("*"))).to_pydict()
    kept = np.array(rows["step"]) == sequence.ramp_up_steps
    begun = np.array(rows["at_ns"])[kept] - np.array(rows["latency_ns"])[kept]
    order = np.argsort(begun, kind="stable")
    offsets, lengths = (np.array(rows[name])[kept][order] for name in ("offset_bytes", "length_bytes"))
    return sequence.steps[sequence.ramp_up_steps], offsets, lengths


def audited(folder: Path) -> dict[str, str]:
    run = read_run(folder)
    return {row.name: row.level for row in stimulus_audit(run, run.tests[0])}


def job(folder: Path, keys: str) -> list[str]:
    path = folder / "x.fio"
    path.write_text(FIO + keys, "utf-8")
    return ["--fio", str(path)]


def test_zones_of_fio_keep_to_the_grid_of_the_ios(tmp_path: Path) -> None:
    words = job(tmp_path, "bs=4k\nrw=randwrite\nrandom_distribution=zoned:80/20:20/80\n")
    record, offsets, _ = ran(tmp_path / "run", words)
    assert not (offsets % 4096).any()
    # A border of 20 % of 1 GB is no multiple of 4 KiB.
    assert (offsets < 200_000_000).mean() == pytest.approx(0.8, abs=0.02)
    assert (record.misaligned_io_count, record.successor_io_count) == (0, None)
    assert audited(tmp_path / "run")["alignment"] == "pass"


def test_a_start_in_per_cent_is_on_the_grid_of_the_ios(tmp_path: Path) -> None:
    record, offsets, _ = ran(tmp_path / "run", job(tmp_path, "bs=4k\nrw=randread\noffset=10%\nsize=80%\n"))
    assert not (offsets % 4096).any()
    assert offsets.min() >= 100_000_000
    assert record.misaligned_io_count == 0


def test_ios_that_are_not_random_go_on_behind_the_last_as_in_fio(tmp_path: Path) -> None:
    record, offsets, lengths = ran(tmp_path / "run", job(tmp_path, "bs=8k\nrw=randwrite\npercentage_random=30\n"))
    follows = (offsets[1:] == (offsets + lengths)[:-1]).mean()
    assert follows == pytest.approx(0.7, abs=5 * (0.21 / len(offsets)) ** 0.5)
    issued = record.write.window_io_count + record.write.tail_io_count + record.write.lead_in_io_count
    assert record.successor_io_count / issued == pytest.approx(follows, abs=0.001)
    assert audited(tmp_path / "run")["successors"] == "pass"


@pytest.mark.parametrize(
    ("row", "start", "share", "grid"),
    [("8192,100,80,80,0,1,0,0", 0, 0.2, 512), ("4096,100,100,100,0,1,4096,0", 63, 0.0, 4096)],
)
def test_ios_of_iometer_go_on_behind_the_last_and_are_aligned_from_byte_0(
    row: str, start: int, share: float, grid: int, tmp_path: Path
) -> None:
    path = tmp_path / "x.icf"
    text = re.sub(r"(seconds\n\t)[0-9 ]+", r"\g<1>0 0 2", ICF.read_text("cp1252"))
    text = re.sub(r"(Ramp Up Time \(s\)\n\t)[0-9]+", r"\g<1>1", text)
    text = text.replace("4096,100,0,100,0,1,4096,0", row).replace("8589934592,17179869184", f"0,{start}")
    path.write_text(text, "cp1252")
    record, offsets, lengths = ran(tmp_path / "run", ["--icf", str(path)])
    assert offsets.min() >= 512 * start
    assert not (offsets % grid).any()
    assert (offsets[1:] == (offsets + lengths)[:-1]).mean() == pytest.approx(share, abs=0.02)
    assert record.misaligned_io_count == 0
    assert audited(tmp_path / "run")["alignment"] == "pass"
