"""Boots a guest, lets it do its tasks, and takes their results from its second serial port."""

from __future__ import annotations

import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from guest.errors import GuestFailedError, need_command
from guest.initramfs import Content, pack, with_libraries
from guest.kernel import module_name

if TYPE_CHECKING:
    from guest.kernel import Kernel

MACHINE = "-machine q35,accel=tcg -cpu max -nographic -no-reboot -nodefaults"
APPEND = "console=ttyS0 quiet panic=-1 loglevel=4"
# Every boot must be the same: time of day, addresses and random numbers of the host stay outside.
COUNTING = "-icount shift=0,sleep=off -rtc base=2020-01-01,clock=vm"
# The clock must be the one that follows the instructions, and mitigations differ from CPU to CPU.
COUNTING_APPEND = "tsc=reliable mitigations=off norandmaps random.trust_cpu=off random.trust_bootloader=off"
CONSOLE_LINES = 20
INIT = """#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin:/sbin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mount -t tmpfs tmpfs /tmp
exec </dev/null
sh /load-modules || poweroff -f
[ -d /sys/kernel/config ] && mount -t configfs configfs /sys/kernel/config
stty -F /dev/ttyS1 raw
for task in /tasks/*; do
    sh "$task" >/tmp/output 2>&1
    status=$?
    { echo "@begin ${task#/tasks/}"; cat /tmp/output; echo; echo "@end $status"; } >/dev/ttyS1
done
. /last
"""


@dataclass(frozen=True, kw_only=True)
class Task:
    """A shell script that the guest runs; time_limit_s (guest seconds, at least 1) ends it, None does not."""

    name: str
    script: str
    time_limit_s: int | None = None


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a task printed, both streams, and its exit status."""

    status: int
    output: str


@dataclass(frozen=True, kw_only=True)
class Machine:
    """The machine that a guest runs on.

    memory_mib : at least 256 beside what the content needs. counts_instructions : one instruction is one nanosecond of
    the guest's clock, so that the guest is deterministic; needs one CPU. options : further ones of QEMU, such as
    drives. append : further words of the kernel's command line. time_limit_s : wall seconds until the guest is ended.
    """

    memory_mib: int = 512
    cpu_count: int = 1
    counts_instructions: bool = False
    options: tuple[str, ...] = ()
    append: str = ""
    time_limit_s: float = 120


def run_guest(kernel: Kernel, content: Content, tasks: list[Task], machine: Machine) -> dict[str, Outcome]:
    """Boot, do the tasks one after the other, power off; what came of each, by its name.

    A task that fails does not end the guest: its status tells. Raises GuestMissingError (the host lacks QEMU or
    busybox), GuestFailedError (out of time, or the guest ended before its last task).
    """
    qemu = need_command("qemu-system-x86_64", "qemu-system-x86")
    with tempfile.TemporaryDirectory() as folder:
        initramfs, results = Path(folder) / "initramfs", Path(folder) / "results"
        initramfs.write_bytes(build(kernel, content, tasks))
        console = run(command(qemu, kernel, machine, initramfs, results), machine.time_limit_s)
        outcomes = parse(results.read_text("utf-8", errors="replace") if results.exists() else "")
    missing = [task.name for task in tasks if task.name not in outcomes]
    if missing:
        last = "\n".join(console.splitlines()[-CONSOLE_LINES:])
        raise GuestFailedError(f"the guest ended before its task {missing[0]}; its console said last:\n{last}")
    return outcomes


def build(kernel: Kernel, content: Content, tasks: list[Task]) -> bytes:
    """The guest's initramfs."""
    files = with_libraries({"busybox": Path(need_command("busybox", "busybox-static")), **content.programs})
    files["init"] = INIT.encode()
    load = []
    for module in content.modules:
        name, _, parameters = module.partition(" ")
        for file in kernel.module_files([name]):
            files[f"modules/{file.name}"] = file
            load.append(f"insmod /modules/{file.name} {parameters if module_name(file.name) == name else ''}")
    files["last"] = f"{content.last}\n".encode()
    files["load-modules"] = "\n".join(["set -e", *dict.fromkeys(load)]).encode()
    for index, task in enumerate(tasks):
        files[f"tasks/{index:03}-{task.name}"] = limited(task).encode()
    return pack(files)


def limited(task: Task) -> str:
    """The task's script, within its time limit."""
    if task.time_limit_s is None:
        return task.script
    return f"timeout -k 1 {task.time_limit_s} sh <<'@script'\n{task.script}\n@script\n"


def command(qemu: str, kernel: Kernel, machine: Machine, initramfs: Path, results: Path) -> list[str]:
    """The command line of QEMU."""
    append = f"{APPEND} {machine.append} {COUNTING_APPEND if machine.counts_instructions else ''}"
    counting = COUNTING.split() if machine.counts_instructions else []
    size = ["-smp", str(machine.cpu_count), "-m", str(machine.memory_mib)]
    ports = ["-serial", "stdio", "-serial", f"file:{results}"]
    start = ["-kernel", str(kernel.image), "-initrd", str(initramfs), "-append", append]
    return [qemu, *MACHINE.split(), *size, *counting, *ports, *start, *machine.options]


def run(command_line: list[str], time_limit_s: float) -> str:
    """What the guest's console said."""
    try:
        done = subprocess.run(
            command_line,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=time_limit_s,
            check=False,
        )
    except subprocess.TimeoutExpired as expired:
        raise GuestFailedError(
            f"the guest was ended after {time_limit_s:.0f} s; its console:\n{said(expired.stdout)[-2000:]}"
        ) from expired
    return said(done.stdout)


def said(console: bytes | None) -> str:
    r"""The console's text without what moves its cursor.

    >>> said(b"\x1bc\x1b[2J\x1b[0mhello")
    'hello'
    """
    return re.sub(r"\x1b(c|\[[0-9;?]*[A-Za-z])", "", (console or b"").decode(errors="replace"))


def parse(results: str) -> dict[str, Outcome]:
    r"""Outcomes by task.

    >>> parse("@begin 000-a\none\n\n@end 0\n@begin 001-b\ncut short")
    {'a': Outcome(status=0, output='one\n')}
    """
    found = re.findall(r"@begin \d+-(\S+)\n(.*?)\n@end (\d+)\n", results.replace("\r\n", "\n"), flags=re.DOTALL)
    return {name: Outcome(status=int(status), output=output) for name, output, status in found}
