"""What all readers of text files of others have in common: marks, blank lines and ends of lines change nothing."""

from __future__ import annotations

import codecs
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from assay.spec.toml_file import read_toml
from assay.workloads.fio import read_jobs
from assay.workloads.iometer import read_icf, read_results
from assay.workloads.traces import open_trace

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = Path(__file__).parents[1]
MSR = "128166372003061629,hm,1,Read,4096,32768,413\n128166372016382155,hm,1,Write,8192,4096,2022\n"
BIOSNOOP = """\
TIME(s)     COMM           PID     DISK      T SECTOR     BYTES  LAT(ms)
0.000000    dd             1234    nvme0n1   R 8          4096      0.12
0.001000    Web Content    77      nvme0n1   W 16         8192      1.50
"""
RESULTS = """\
'Results
'Target Type,Target Name,Access Specification Name,IOps,Read IOps,Write IOps,Average Response Time
ALL,All,x,1,1,0,3
"""


def ios(path: Path) -> object:
    return [
        (batch.time_ns.tolist(), batch.operation.tolist(), batch.offset_bytes.tolist(), batch.length_bytes.tolist())
        for batch in open_trace(path)
    ]


def icf(path: Path) -> object:
    found = read_icf(path)
    return found.specs, found.setup


def results(path: Path) -> object:
    return list(read_results(path).runs)


READERS: dict[str, tuple[str, Callable[[Path], Any]]] = {
    "job.fio": ("[global]\ndirect=1\nruntime=1\n[a]\nrw=randread\n", read_jobs),
    "general.icf": ((HERE / "icf/general-1.1.0.icf").read_text("cp1252"), icf),
    "plan.toml": ('schema = 1\ndrive = "sim:x"\n', read_toml),
    "results.csv": (RESULTS, results),
    "trace.log": ((HERE / "short-trace.iolog").read_text("utf-8"), ios),
    "msr.csv": (MSR, ios),
    "biosnoop.txt": (BIOSNOOP, ios),
}


@pytest.mark.parametrize("name", READERS)
def test_a_byte_order_mark_changes_nothing(name: str, tmp_path: Path) -> None:
    text, read = READERS[name]
    path = tmp_path / name
    path.write_bytes(text.encode("utf-8"))
    plain = read(path)
    path.write_bytes(codecs.BOM_UTF8 + text.encode("utf-8"))
    assert read(path) == plain


@pytest.mark.parametrize("end", ["\n", "\n\n", "\r\n", " \n", "\n\t\n \n"])
@pytest.mark.parametrize("name", READERS)
def test_blank_lines_at_the_end_change_nothing(name: str, end: str, tmp_path: Path) -> None:
    text, read = READERS[name]
    path = tmp_path / name
    path.write_text(text)
    plain = read(path)
    path.write_bytes((text + end).encode("utf-8"))
    assert read(path) == plain
