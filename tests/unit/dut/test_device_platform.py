"""The test system from files made up for the test."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from assay.dut.real.platform import describe_platform

if TYPE_CHECKING:
    from pathlib import Path


def write(root: Path, **files: str) -> Path:
    """Write files under a root; in the keys ``__`` stands for the slash."""
    for key, text in files.items():
        path = root / key.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def test_describes_the_machine(tmp_path: Path) -> None:
    dmi = {"sys_vendor": "Dell Inc.", "product_name": "R740", "board_vendor": "Dell Inc.", "board_name": "0YWR7D"}
    sysfs = write(tmp_path / "sys", **{f"class__dmi__id__{name}": text + "\n" for name, text in dmi.items()})
    write(sysfs, devices__system__clocksource__clocksource0__current_clocksource="tsc\n")
    proc = write(tmp_path / "proc", cpuinfo="processor\t: 0\nmodel name\t: Xeon: Gold\n", meminfo="MemTotal: 1024 kB\n")
    release = write(tmp_path, os_release='NAME=x\nPRETTY_NAME="Debian GNU/Linux 12"\n') / "os_release"
    platform = describe_platform(sysfs=sysfs, proc=proc, os_release=release)
    assert (platform.system, platform.motherboard) == ("Dell Inc. R740", "Dell Inc. 0YWR7D")
    assert (platform.cpu, platform.memory_bytes) == ("Xeon: Gold", 1 << 20)
    assert (platform.operating_system, platform.clock_source) == ("Debian GNU/Linux 12", "tsc")
    assert (platform.kernel, platform.tool) == (os.uname().release, "Assay")
    assert platform.tool_version


def test_what_cannot_be_read_is_unknown(tmp_path: Path) -> None:
    platform = describe_platform(sysfs=tmp_path, proc=tmp_path, os_release=tmp_path / "none")
    assert (platform.system, platform.motherboard, platform.cpu, platform.memory_bytes) == (None, None, None, None)
    assert (platform.operating_system, platform.clock_source) == (None, None)


def test_nonsense_is_unknown_and_an_open_quote_is_kept(tmp_path: Path) -> None:
    proc = write(tmp_path / "proc", meminfo="MemTotal: lots\n", cpuinfo="model name\t:\n")
    release = write(tmp_path, os_release='PRETTY_NAME="Debian\n') / "os_release"
    platform = describe_platform(sysfs=tmp_path, proc=proc, os_release=release)
    assert (platform.memory_bytes, platform.cpu, platform.operating_system) == (None, None, '"Debian')
