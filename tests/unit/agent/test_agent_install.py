"""``assay agent --install`` writes into folders of the test; no account of this host is made."""

from __future__ import annotations

import grp
import os
import pwd
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from assay.agent import install as installing
from assay.agent.config import AgentConfig, read_config
from assay.agent.install import NAMES, install, unit_text
from assay.dut.real.command import Answer, CommandError
from assay.errors import PlanError, StoreError, SystemRefusedError

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="SKIPPED: agent.toml must belong to root")
ASSAY = f"{sys.executable} -P -m assay.cli"
ANALYZE = shutil.which("systemd-analyze")
EXPOSURE_PCT_MAX = {"assay-agent.service": 28, "assay-serve.service": 17}
AGENT, SERVE = EXPOSURE_PCT_MAX
"""Exposure that ``systemd-analyze security`` finds, in hundredths of its worst."""


GROUP_ID = 5


class Accounts:
    """The accounts of a host: those that it has, and the commands that made others. exit_code : of the commands."""

    def __init__(self, *names: str, exit_code: int = 0) -> None:
        self.names, self.exit_code = set(names), exit_code
        self.commands: list[tuple[str, ...]] = []

    def find(self, name: str) -> object:
        """Raise KeyError for an account that the host lacks."""
        if name not in self.names:
            raise KeyError(name)
        return SimpleNamespace(gr_name=name, gr_gid=GROUP_ID)

    def run(self, tool: str, arguments: tuple[str, ...], *, seconds: float) -> Answer:
        """Note a command."""
        assert seconds > 0
        self.commands.append((tool, *arguments))
        if not self.exit_code:
            self.names.add(arguments[-1])
        return Answer(self.exit_code, b"", b"groupadd: Permission denied.\n")


def on_a_host(monkeypatch: pytest.MonkeyPatch, accounts: Accounts) -> Accounts:
    monkeypatch.setattr(grp, "getgrnam", accounts.find)
    monkeypatch.setattr(pwd, "getpwnam", accounts.find)
    monkeypatch.setattr(installing, "run_command", accounts.run)
    return accounts


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> Accounts:
    return on_a_host(monkeypatch, Accounts())


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A configuration whose folder of runs lies in the test's folder."""
    path = tmp_path / "agent.toml"
    path.write_text(f'group = "testers"\nruns = "{tmp_path}/runs"\n')
    path.chmod(0o600)
    return path


def test_the_template_allows_nothing(bare: Accounts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installing, "make_runs_folder", lambda _: False)
    lines = list(install(tmp_path / "etc/agent.toml", units=tmp_path / "units"))
    assert read_config(tmp_path / "etc/agent.toml") == AgentConfig(group="assay")
    assert lines[0] == f"written: {tmp_path}/etc/agent.toml; list the drives that may be erased in it"
    assert lines[-1].endswith("systemctl daemon-reload && systemctl enable --now assay-agent assay-serve")
    assert bare.commands == [
        ("groupadd", "--system", "assay"),
        *[("useradd", "--system", "--no-create-home", "--shell", "/usr/sbin/nologin", "--gid", "assay", "assay-web")],
    ]


def test_an_existing_configuration_stays_and_its_folder_of_runs_is_made(
    bare: Accounts, config: Path, tmp_path: Path
) -> None:
    before = config.read_text("utf-8")
    lines = list(install(config, units=tmp_path))
    assert config.read_text("utf-8") == before
    assert bare.commands[0] == ("groupadd", "--system", "testers")
    assert f"made: {tmp_path}/runs" in lines
    status = (tmp_path / "runs").stat()
    assert (status.st_mode & 0o777, status.st_gid) == (0o750, GROUP_ID)
    assert "usermod -aG testers USER; then: assay serve link --port 837" in lines[-2]
    (tmp_path / "runs").chmod(0o755)
    remark = f"every user can read runs, and hold them up: name a folder closed to others as runs in {config}"
    assert remark in list(install(config, units=tmp_path))
    # Once more: nothing is made twice.
    assert [line for line in install(config, units=tmp_path) if line.startswith("made: /")] == []


def test_units_start_this_installation(monkeypatch: pytest.MonkeyPatch, config: Path, tmp_path: Path) -> None:
    known = on_a_host(monkeypatch, Accounts("testers", "assay-web"))
    list(install(config, units=tmp_path))
    assert known.commands == []
    agent, serve = [(tmp_path / name).read_text("utf-8").splitlines() for name in (AGENT, SERVE)]
    assert "ListenStream=127.0.0.1:837" in (tmp_path / "assay-serve.socket").read_text("utf-8")
    assert f"ExecStart={ASSAY} agent" in agent
    assert f"ReadWritePaths=-{tmp_path}/runs" in agent
    assert f"ExecStart={ASSAY} serve {tmp_path}/runs" in serve
    assert "Group=testers" in serve
    assert not [line for line in (*agent, *serve) if "@" in line.replace("=@system", "").replace("=~@", "")[:20]]


def test_a_path_is_one_word_of_a_unit(tmp_path: Path) -> None:
    odd = AgentConfig(runs='/srv/a%b $c"d', log=f"{tmp_path}/log/agent.jsonl", state="/var/lib/assay/queue")
    assert "ReadWritePaths=" + rf'"-/srv/a%%b $c\"d" -{tmp_path}/log' in unit_text(AGENT, odd)
    assert r'serve "/srv/a%%b $$c\"d"' in unit_text(SERVE, odd)
    assert "\nReadWritePaths=\n" in unit_text(AGENT, AgentConfig())


def test_an_installation_in_a_home_folder_is_named(bare: Accounts, config: Path, tmp_path: Path) -> None:
    assert bare.commands == []
    words = list(installing._closed_to_services(Path("/usr/bin/python3"), Path("/home/a/assay/install.py")))
    assert words == [
        "assay-serve cannot start: it cannot read /home/a/assay/install.py; install Assay outside /home and /root"
    ]
    closed = any(str(path).startswith(("/root", "/home")) for path in (Path(sys.executable).resolve(), tmp_path))
    assert any("cannot start" in line for line in install(config, units=tmp_path)) == closed
    assert list(installing._closed_to_services(Path("/opt/assay/bin/python"))) == []


def test_a_fault_of_the_configuration_changes_nothing(bare: Accounts, config: Path, tmp_path: Path) -> None:
    config.write_text("may_erase = 3\n")
    with pytest.raises(PlanError, match="may_erase"):
        list(install(config, units=tmp_path / "units"))
    assert bare.commands == []
    assert not (tmp_path / "units").exists()


def test_an_environment_that_others_could_change_is_refused(
    bare: Accounts, config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "venv").mkdir()
    (tmp_path / "venv").chmod(0o777)
    for name, value in (("prefix", str(tmp_path / "venv")), ("path", [*sys.path, str(tmp_path / "venv")])):
        with monkeypatch.context() as patch:
            patch.setattr(sys, name, value)
            remedy = "install Assay as root, outside home folders, such as in /opt/assay"
            with pytest.raises(PlanError, match=f"venv: can be written by other users; {remedy}"):
                list(install(config, units=tmp_path))
    assert bare.commands == []


def test_an_installation_of_another_user_is_to_be_made_anew(
    bare: Accounts, config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "checkout").mkdir()
    os.chown(tmp_path / "checkout", 1000, -1)
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path / "checkout")])
    remedy = "install Assay as root, outside home folders, such as in /opt/assay"
    with pytest.raises(PlanError, match=f"checkout: belongs to uid 1000; {remedy}"):
        list(install(config, units=tmp_path))
    assert bare.commands == []


def test_an_ordinary_user_is_told_to_be_root(config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(SystemRefusedError, match=r"^assay agent --install: needs the rights of root; run it as root$"):
        list(install(config, units=tmp_path))


def test_what_needs_root_says_so(monkeypatch: pytest.MonkeyPatch, config: Path, tmp_path: Path) -> None:
    on_a_host(monkeypatch, Accounts(exit_code=10))
    with pytest.raises(SystemRefusedError, match=r"groupadd: groupadd: Permission denied\.; run this as root"):
        list(install(config, units=tmp_path))

    def missing(tool: str, *_: object, **__: object) -> None:
        raise CommandError(f"{tool} is not installed")

    monkeypatch.setattr(installing, "run_command", missing)
    with pytest.raises(SystemRefusedError, match="groupadd is not installed"):
        list(install(config, units=tmp_path))
    on_a_host(monkeypatch, Accounts("testers", "assay-web"))
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match=r"assay-agent\.service.*run this as root"):
        list(install(config, units=tmp_path / "file"))


@pytest.mark.skipif(ANALYZE is None, reason="SKIPPED: needs systemd-analyze")
def test_systemd_finds_no_fault_in_the_units_and_little_exposure(
    monkeypatch: pytest.MonkeyPatch, config: Path, tmp_path: Path
) -> None:
    on_a_host(monkeypatch, Accounts("testers", "assay-web"))
    list(install(config, units=tmp_path))
    paths = [str(tmp_path / name) for name in NAMES]
    # The manual page is installed by `assay man`, where root wants it.
    verified = analyzed("verify", "--man=no", *paths)
    assert (verified.returncode, verified.stdout + verified.stderr) == (0, "")
    for name, limit in EXPOSURE_PCT_MAX.items():
        exposure = analyzed("security", "--offline=true", f"--threshold={limit}", "--no-pager", str(tmp_path / name))
        assert exposure.returncode == 0, exposure.stdout[-200:]


def analyzed(*arguments: str) -> subprocess.CompletedProcess[str]:
    assert ANALYZE
    return subprocess.run([ANALYZE, *arguments], capture_output=True, text=True, check=False)


def test_an_installation_that_others_could_change_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shared = tmp_path / "bin" / "python"
    shared.parent.mkdir()
    shared.touch()
    shared.parent.chmod(0o777)
    monkeypatch.setattr(sys, "executable", str(shared))
    with pytest.raises(PlanError, match="can be written by other users"):
        list(install(tmp_path / "agent.toml", units=tmp_path))
    assert not (tmp_path / "agent.toml").exists()
