"""Installation by root: the configuration, the group, the user of the web page, and units for systemd."""

from __future__ import annotations

import grp
import os
import pwd
import re
import stat
import sys
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from assay.agent.config import AgentConfig, make_runs_folder, read_config
from assay.agent.supervise import PYTHON
from assay.dut.real.command import CommandError, run_command
from assay.errors import StoreError, SystemRefusedError
from assay.spec.root_file import owned_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

UNITS = Path("/etc/systemd/system")
GROUP, WEB_USER = "assay", "assay-web"
NAMES = ("assay-agent.service", "assay-serve.socket", "assay-serve.service")
_FOLDERS = (Path("/var/lib/assay"), Path("/var/log/assay"), Path("/run/assay"))
"""Folders that the agent's unit makes for it."""
_HOMES = (Path("/home"), Path("/root"), Path("/run/user"))
"""Closed by ``ProtectHome=yes``."""
_SECONDS = 30
_OPEN = stat.S_IWGRP | stat.S_IRWXO
_TEMPLATE = f"""\
# What the agent of Assay may do. Restart it after a change: systemctl restart assay-agent
# After a change of group or of a folder, first: assay agent --install
schema = 1
# Members may connect: they have the right to erase the drives below.
group = "{GROUP}"
# Identities of the drives that may be erased, as assay drives prints them.
may_erase = []
# A drive without a serial number, such as a loop device:
# [[devices]]
# path = "/dev/loop0"
# backing = "/srv/drive.img"
"""


def install(config: Path, *, units: Path = UNITS) -> Iterator[str]:
    """Write what is missing; yield a line for each thing done, then what is left to do.

    units : folder of the units, which are replaced.
    Raises StoreError, SystemRefusedError; PlanError also for an installation that other users could change.
    """
    if os.geteuid() != 0:
        raise SystemRefusedError("assay agent --install", "needs the rights of root", "run it as root")
    installed = Path(sys.executable).resolve(), Path(__file__)
    # Whoever may replace a link on the way, or add a module, is root by that.
    searched = (
        Path(sys.executable).parent,
        Path(sys.prefix),
        *(Path(path) for path in sys.path if Path(path).is_dir()),
    )
    for path in (*installed, *searched):
        owned_path(path, remedy="install Assay as root, outside home folders, such as in /opt/assay")
    if not config.exists():
        _write(config, _TEMPLATE)
        yield f"written: {config}; list the drives that may be erased in it"
    chosen = read_config(config)
    yield from _accounts(chosen.group)
    if make_runs_folder(chosen):
        yield f"made: {chosen.runs}"
    elif Path(chosen.runs).exists() and Path(chosen.runs).stat().st_mode & _OPEN:
        yield f"every user can read runs, and hold them up: name a folder closed to others as runs in {config}"
    for name in NAMES:
        _write(units / name, unit_text(name, chosen))
        yield f"written: {units / name}"
    yield from _closed_to_services(*installed)
    yield f"for each user of the page: usermod -aG {chosen.group or GROUP} USER; then: assay serve link --port 837"
    yield "start both: systemctl daemon-reload && systemctl enable --now assay-agent assay-serve"


def unit_text(name: str, config: AgentConfig) -> str:
    """A unit for this installation. Worked: ``ExecStart=/usr/lib/assay/bin/python3 -P -m assay.cli agent``."""
    text = (resources.files("assay.agent") / "units" / name).read_text("utf-8")
    values = {
        "ASSAY": " ".join(_word(word, command=True) for word in (*PYTHON, "assay.cli")),
        "GROUP": config.group or GROUP,
        "RUNS": _word(config.runs, command=True),
        "WRITTEN": " ".join(_word(f"-{folder}") for folder in _other_folders(config)),
    }
    for key, value in values.items():
        text = text.replace(f"@{key}@", value)
    return text


def _other_folders(config: AgentConfig) -> list[Path]:
    """Folders that the agent writes to and that its unit does not name."""
    written = [Path(config.runs), Path(config.state), Path(config.log).parent, Path(config.socket).parent]
    return [path for path in dict.fromkeys(written) if not any(path.is_relative_to(folder) for folder in _FOLDERS)]


def _word(text: str, *, command: bool = False) -> str:
    """A word of a unit's line. Source: ``systemd.syntax(7)``, ``systemd.service(5)``. Worked: ``a%b`` -> ``"a%%b"``."""
    if re.fullmatch(r"[\w./@:+,=-]+", text, re.ASCII):
        return text
    for letter, escaped in (("\\", r"\\"), ('"', r"\""), ("%", "%%"), *([("$", "$$")] if command else [])):
        text = text.replace(letter, escaped)
    return f'"{text}"'


def _closed_to_services(*paths: Path) -> Iterator[str]:
    """Say which file of this installation the unit of the page cannot read."""
    for path in paths:
        if any(path.is_relative_to(home) for home in _HOMES):
            yield f"assay-serve cannot start: it cannot read {path}; install Assay outside /home and /root"
            return


def _accounts(group: str) -> Iterator[str]:
    if not _known(grp.getgrnam, group or GROUP):
        _run("groupadd", "--system", group or GROUP)
        yield f"made: group {group or GROUP}"
    if not _known(pwd.getpwnam, WEB_USER):
        options = ("--system", "--no-create-home", "--shell", "/usr/sbin/nologin", "--gid", group or GROUP)
        _run("useradd", *options, WEB_USER)
        yield f"made: user {WEB_USER}"


def _known(find: Callable[[str], object], name: str) -> bool:
    try:
        find(name)
    except KeyError:
        return False
    return True


def _run(tool: str, *arguments: str) -> None:
    try:
        answer = run_command(tool, arguments, seconds=_SECONDS)
    except CommandError as error:
        raise SystemRefusedError(tool, str(error), "run this as root") from None
    if answer.code:
        raise SystemRefusedError(tool, answer.errors.decode("utf-8", "replace").strip(), "run this as root")


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        path.chmod(0o644)
    except OSError as error:
        raise StoreError(str(path), error.strerror or "cannot be written", "run this as root") from None
