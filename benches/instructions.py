"""Instructions per I/O of our engine, of the bare kernel path and of fio, in a guest whose clock counts instructions.

Goal: a figure without noise. QEMU interprets one instruction per nanosecond of the guest's clock, kernel and time
stamp counter included, so that elapsed nanoseconds over I/Os are instructions, to 0.2 %. Non-goal: a time; there are
no caches and no mispredicted branches here.

The drives are two of the kernel's null_blk, one that completes while it is submitted to and one with a poll queue, with
merging off as in every run of the tool. ``bare`` is the least a program can do on the same kernel: registered file and
buffers, no timing, no counting. What differs between engine and bare is ours. ``data`` makes what writes hold and sends
nothing: the guest's CPU has AVX2, so that the engine's writes cost as ``data avx2``.

--gate    ours alone, held against benches/instructions.toml to 1 % (queue depth 1: 3.5 %); the kernel's part is taken
          from the bare loops of the same run, so that any current Debian kernel serves
--keep    write benches/instructions.toml anew
--smoke   one case of ours with few I/Os

Run it by make, which knows where ``guest`` lies: make bench for all of it, make instructions for the gate. Needs
QEMU, busybox and kmod (tools/debian-packages --install), cargo, and a Debian kernel, which apt-get fetches once.
fio's own t/io_uring is not part of Debian's fio; it joins the table where target/guest/io_uring is one.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import time
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from guest import Content, GuestFailedError, GuestMissingError, Kernel, Machine, Outcome, Task, find_kernel, run_guest

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parents[1]
CACHE = ROOT / "target/guest"
KEPT = Path(__file__).with_suffix(".toml")
TOLERANCE = 0.01
# One I/O at a time jumps by up to 170 instructions between builds of the same engine, in the bare loop as well.
SINGLE_TOLERANCE = 0.035
COUNT = 100_000
SMOKE_COUNT = 10_000
TIME_LIMIT_S = 600
DRIVE = "/dev/nullb0"
POLLED_DRIVE = "/dev/nullb1"
SETUP = """set -e
for poll_queues in 0 1; do
    drive=nullb$poll_queues
    mkdir /sys/kernel/config/nullb/$drive
    cd /sys/kernel/config/nullb/$drive
    echo 0 >irqmode; echo 512 >blocksize; echo 16384 >size; echo 256 >hw_queue_depth
    echo $poll_queues >poll_queues; echo 1 >power
    echo none >/sys/block/$drive/queue/scheduler
    echo 2 >/sys/block/$drive/queue/nomerges
done
cat /sys/devices/system/clocksource/clocksource0/current_clocksource"""
FIO = (
    "fio --name=j --thread --rw=randread --bs=4k --direct=1 --norandommap --randrepeat=0 --output-format=json"
    f" --number_ios={COUNT}"
)
FIXED = "--ioengine=io_uring --registerfiles --fixedbufs"
BATCH = "--iodepth_batch_submit=16 --iodepth_batch_complete_min=1 --iodepth_batch_complete_max=16"


@dataclass(frozen=True, kw_only=True)
class Case:
    """One line of the table; reference names the case that the ratio is taken to, floor the bare loop of ours."""

    name: str
    command: str
    read: Callable[[str], float]
    reference: str | None = None
    floor: str | None = None
    limit: int | None = None


def per_io_of_ours(output: str) -> float:
    """From the line of our own example.

    >>> per_io_of_ours("io_count=100 elapsed_ns=420000 latency_ns_mean=0 effective_depth=0.000")
    4200.0
    """
    fields = dict(re.findall(r"(\w+)=(\S+)", output))
    return float(fields["elapsed_ns"]) / float(fields["io_count"])


def per_io_of_fio(output: str) -> float:
    """From fio's report; its job's time has a resolution of 1 ms."""
    job = json.loads(output[output.index("{") :])["jobs"][0]["read"]
    return float(job["runtime"]) * 1e6 / float(job["total_ios"])


def per_io_of_t_io_uring(output: str) -> float:
    """From the last line of fio's t/io_uring, which has three digits or more."""
    rate, unit = re.findall(r"Maximum IOPS=([\d.]+)([KM]?)", output)[-1]
    return 1e9 / (float(rate) * {"": 1, "K": 1e3, "M": 1e6}[unit])


def ours(name: str, options: str, *, floor: str | None = None, limit: int | None = None) -> Case:
    """A case of our own example."""
    device = "none" if "nop" in options or "data" in options else POLLED_DRIVE if "polled" in options else DRIVE
    return Case(name=name, command=f"instructions {device} {options}", read=per_io_of_ours, floor=floor, limit=limit)


def fio(name: str, options: str, reference: str = "engine qd32") -> Case:
    """A case of fio with full latency statistics."""
    drive = POLLED_DRIVE if "--hipri" in options else DRIVE
    return Case(
        name=f"fio {name}", command=f"{FIO} --filename={drive} {options}", read=per_io_of_fio, reference=reference
    )


OURS = [
    ours("bare qd32", "--loop bare"),
    ours("bare qd1", "--loop bare --depth 1"),
    ours("bare qd32 write", "--loop bare --write"),
    ours("bare qd32 nop", "--loop bare-nop"),
    ours("engine qd32", "", floor="bare qd32", limit=4200),
    ours("engine qd1", "--depth 1", floor="bare qd1", limit=5200),
    # Every byte written is fresh.
    ours("engine qd32 write", "--write", floor="bare qd32 write"),
    # What a write of 4 KiB holds, by the code that makes it: of this CPU, of every CPU, the old way, and addressed.
    ours("data avx2", "--loop data --data avx2"),
    ours("data baseline", "--loop data --data baseline"),
    ours("data stamped", "--loop data --data stamped"),
    ours("data addressed", "--loop data --data addressed"),
    ours("nop qd32", "--loop nop", floor="bare qd32 nop", limit=480),
    ours("nop qd32 untimed", "--loop nop-untimed", floor="bare qd32 nop"),
    # Every completion is handed to another thread, which writes it nowhere; enough of them that the chunks go round.
    ours("engine qd32 capture", "--capture --count 400000", floor="bare qd32"),
    ours("bare qd32 polled", "--loop bare --path polled"),
    ours("engine qd32 polled", "--path polled", floor="bare qd32 polled", limit=3600),
]
FIOS = [
    fio("qd32 default", "--ioengine=io_uring --iodepth=32"),
    fio("qd32 reg+fixed", f"{FIXED} --iodepth=32"),
    fio("qd32 reg+fixed batch16", f"{FIXED} --iodepth=32 {BATCH}"),
    fio("qd32 reg+fixed batch16 hipri", f"{FIXED} --iodepth=32 {BATCH} --hipri", "engine qd32 polled"),
    fio("qd1", "--ioengine=io_uring --iodepth=1", "engine qd1"),
    fio("qd1 reg+fixed", f"{FIXED} --iodepth=1", "engine qd1"),
    fio("qd1 psync", "--ioengine=psync", "engine qd1"),
]
RATIOS = {"fio qd32 default": 1.9, "fio qd32 reg+fixed batch16": 1.35}
T_IO_URING = [
    Case(
        name="t/io_uring qd32",
        command=f"t_io_uring -d32 -s16 -c16 -p0 -r2 {DRIVE}",
        read=per_io_of_t_io_uring,
        reference="engine qd32",
    )
]


def main() -> int:
    """Print the table, and with --gate fail where our figures left the kept ones."""
    options = set(sys.argv[1:])
    gate, smoke = "--gate" in options, "--smoke" in options
    began = time.monotonic()
    try:
        kernel = find_kernel(CACHE, fetch=not smoke)
        programs = {"instructions": build_ours(), **({} if gate or smoke else theirs())}
        cases = smoke_cases() if smoke else OURS + (FIOS if "fio" in programs else [])
        cases += T_IO_URING if "t_io_uring" in programs else []
        figures, outcomes = measure(kernel, programs, cases)
    except GuestMissingError as missing:
        print(f"skipped: {missing}")
        return 0
    except GuestFailedError as failed:
        print(f"failed: {failed}")
        return 1
    print_table(cases, figures, outcomes)
    print(f"kernel {kernel.package_version}, {time.monotonic() - began:.0f} s")
    if "--keep" in options:
        keep(kernel, figures)
    return hold(figures) if gate else 0


def smoke_cases() -> list[Case]:
    """One case of ours, small."""
    return [ours("engine qd32", f"--count {SMOKE_COUNT}")]


def build_ours() -> Path:
    """Our example, built as the tool is."""
    cargo = shutil.which("cargo")
    if cargo is None:
        raise GuestMissingError("cargo is missing: install Rust")
    command = [cargo, "build", "--locked", "--quiet", "--release", "-p", "assay-uring", "--example", "instructions"]
    subprocess.run(command, cwd=ROOT, check=True)
    return ROOT / "target/release/examples/instructions"


def theirs() -> dict[str, Path]:
    """The independent tools that this host has; a line for each that it has not."""
    fio_path, t_io_uring = shutil.which("fio"), CACHE / "io_uring"
    found = {"fio": Path(fio_path)} if fio_path else {}
    found |= {"t_io_uring": t_io_uring} if t_io_uring.exists() else {}
    for name, remedy in {
        "fio": "install the Debian package fio",
        "t_io_uring": f"build t/io_uring from fio's sources and copy it to {t_io_uring.relative_to(ROOT)}",
    }.items():
        if name not in found:
            print(f"left out: {name} ({remedy})")
    return found


def measure(
    kernel: Kernel, programs: dict[str, Path], cases: list[Case]
) -> tuple[dict[str, float], dict[str, Outcome]]:
    """Instructions per I/O by case, and what each printed."""
    tasks = [Task(name="setup", script=SETUP)]
    tasks += [Task(name=task_name(case), script=case.command) for case in cases]
    machine = Machine(memory_mib=2048, counts_instructions=True, time_limit_s=TIME_LIMIT_S)
    content = Content(programs=programs, modules=["configfs", "null_blk nr_devices=0"])
    outcomes = run_guest(kernel, content, tasks, machine)
    failed = [f"{name}: {outcome.output}" for name, outcome in outcomes.items() if outcome.status != 0]
    if failed:
        raise GuestFailedError("; ".join(failed))
    if outcomes["setup"].output.strip() != "tsc":
        raise GuestFailedError(f"the guest's clock is {outcomes['setup'].output.strip()}, which counts no instructions")
    return {case.name: case.read(outcomes[task_name(case)].output) for case in cases}, outcomes


def task_name(case: Case) -> str:
    """The case's name as one word."""
    return re.sub(r"[^a-z0-9+]+", "-", case.name)


def print_table(cases: list[Case], figures: dict[str, float], outcomes: dict[str, Outcome]) -> None:
    """One line per case: the figure, what we add to the kernel's path, the ratio to ours, the bar."""
    print(f"{'case':28} {'instr/IO':>9} {'ours':>6} {'ratio':>6}  bar")
    for case in cases:
        figure = figures[case.name]
        above = f"{figure - figures[case.floor]:+.0f}" if case.floor in figures else ""
        ratio = figure / figures[case.reference] if case.reference in figures else None
        shown = f"{ratio:.2f}" if ratio else ""
        print(
            f"{case.name:28} {figure:9.0f} {above:>6} {shown:>6}  {bar(case, figure, ratio)}{depth_of(case, outcomes)}"
        )
    print_differences(figures)


def bar(case: Case, figure: float, ratio: float | None) -> str:
    """The bar of the case and whether it is met."""
    if case.limit is not None:
        return f"<= {case.limit} {'met' if figure <= case.limit else 'MISSED'}"
    if ratio is not None and case.name in RATIOS:
        return f">= {RATIOS[case.name]} x {'met' if ratio >= RATIOS[case.name] else 'MISSED'}"
    return ""


def depth_of(case: Case, outcomes: dict[str, Outcome]) -> str:
    """The queue depth that was really kept, where the case tells it."""
    found = re.search(r"effective_depth=([1-9][\d.]*)", outcomes[task_name(case)].output)
    return f"  depth {found[1]}" if found else ""


def print_differences(figures: dict[str, float]) -> None:
    """What follows from two cases."""
    if {"nop qd32", "nop qd32 untimed"} <= figures.keys():
        stamps = figures["nop qd32"] - figures["nop qd32 untimed"]
        print(f"time stamps: {stamps:.0f} instructions per I/O (<= 60 with the histogram)")
    if {"engine qd32 capture", "engine qd32"} <= figures.keys():
        print(
            f"full capture: {figures['engine qd32 capture'] - figures['engine qd32']:.0f} instructions per I/O (<= 60)"
        )
    if {"engine qd32 write", "engine qd32"} <= figures.keys():
        write = figures["engine qd32 write"] - figures["bare qd32 write"]
        data = write - (figures["engine qd32"] - figures["bare qd32"])
        print(f"data of a 4 KiB write: {data:.0f} instructions more than a read")
    ways = ("avx2", "baseline", "stamped", "addressed")
    if {f"data {way}" for way in ways} <= figures.keys():
        listed = ", ".join(f"{figures[f'data {way}']:.0f} {way}" for way in ways)
        print(f"made alone: {listed}")


def keep(kernel: Kernel, figures: dict[str, float]) -> None:
    """Write the figures that --gate holds ours against."""
    lines = [
        "# Instructions per I/O in the counting guest; written by benches/instructions.py --keep, held by --gate.",
        f'kernel = "{kernel.package_version}"',
        "",
        "[instructions_per_io]",
        *(f'"{case.name}" = {figures[case.name]:.0f}' for case in OURS),
    ]
    KEPT.write_text("\n".join(lines) + "\n", "utf-8")
    print(f"kept in {KEPT.relative_to(ROOT)}")


def hold(figures: dict[str, float]) -> int:
    """Compare with the kept figures; 1 where one is off by more than the tolerance."""
    kept = tomllib.loads(KEPT.read_text("utf-8"))["instructions_per_io"]
    faults = [fault for case in OURS if (fault := fault_of(case, figures, kept))]
    for fault in faults:
        print(f"gate: {fault}")
    print("gate: failed" if faults else f"gate: {len(OURS)} figures near the kept ones ({TOLERANCE:.0%})")
    return 1 if faults else 0


def fault_of(case: Case, figures: dict[str, float], kept: dict[str, float]) -> str | None:
    """How far a case is off, where that is too far. Another kernel's part is replaced by that of this run.

    >>> case = ours("engine qd32", "", floor="bare qd32")
    >>> kept = {"engine qd32": 4100, "bare qd32": 3950}
    >>> fault_of(case, {"engine qd32": 4300, "bare qd32": 4150}, kept)
    >>> fault_of(case, {"engine qd32": 4200, "bare qd32": 3950}, kept)
    'engine qd32 is 4200, kept 4100 (+2.4%)'
    >>> fault_of(ours("data avx2", "--loop data"), {"data avx2": 611}, kept)
    'data avx2 has no kept figure: run with --keep'
    """
    if case.name.startswith("bare"):
        return None
    if case.name not in kept:
        return f"{case.name} has no kept figure: run with --keep"
    kernel = figures[case.floor] - kept[case.floor] if case.floor else 0
    expected = kept[case.name] + kernel
    off = figures[case.name] / expected - 1
    if abs(off) <= (SINGLE_TOLERANCE if "qd1" in case.name else TOLERANCE):
        return None
    return f"{case.name} is {figures[case.name]:.0f}, kept {expected:.0f} ({off:+.1%})"


if __name__ == "__main__" and (status := main()):
    sys.exit(status)
