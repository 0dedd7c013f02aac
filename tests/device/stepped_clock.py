"""A wall clock that steps for one process and its threads; the clock of the host stays as it is.

A library stands before libc's ``clock_gettime``, adds what a mapped file says to ``CLOCK_REALTIME``, and nothing to
other clocks.
"""

from __future__ import annotations

import shutil
import struct
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_OFFSET = struct.Struct("<q")
_VARIABLE = "ASSAY_TRIAL_CLOCK"
_SOURCE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
static volatile int64_t *offset_s;
static int (*kept)(clockid_t, struct timespec *);
__attribute__((constructor)) static void begin(void) {
    kept = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    const char *path = getenv("ASSAY_TRIAL_CLOCK");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    void *map = file < 0 ? MAP_FAILED : mmap(0, 8, PROT_READ, MAP_SHARED, file, 0);
    offset_s = map == MAP_FAILED ? 0 : map;
}
int clock_gettime(clockid_t clock, struct timespec *time) {
    if (!kept) begin();
    int result = kept(clock, time);
    if (offset_s && clock == CLOCK_REALTIME) time->tv_sec += *offset_s;
    return result;
}
"""


def may_step() -> bool:
    """Whether this host has a C compiler."""
    return shutil.which("cc") is not None


def clock_environment(folder: Path) -> tuple[dict[str, str], Path]:
    """Variables for a process whose wall clock can be stepped, and the file for ``step_clock``."""
    library, file = folder / "clock.so", folder / "clock"
    file.write_bytes(_OFFSET.pack(0))
    command = ["cc", "-O2", "-shared", "-fPIC", "-x", "c", "-", "-o", str(library), "-ldl"]
    subprocess.run(command, input=_SOURCE, text=True, check=True)
    return {"LD_PRELOAD": str(library), _VARIABLE: str(file)}, file


def step_clock(file: Path, seconds: int) -> None:
    """Put the wall clock of the process this many seconds off that of the host. Worked: 3,600 -> an hour ahead."""
    with file.open("r+b") as stream:
        stream.write(_OFFSET.pack(seconds))
