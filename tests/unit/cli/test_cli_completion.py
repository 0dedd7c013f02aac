"""What a shell is told when it asks how a command line could go on."""

import subprocess
import sys
from pathlib import Path

import pytest
from assay.cli import assay
from assay.cli.completion import SHELLS, use_own_shells
from assay.dut.simulated.shipped import shipped_names
from assay.procedures.registry import SUITES
from click.shell_completion import get_completion_class
from click.testing import CliRunner

DRIVES = [f"sim:{name}" for name in shipped_names()]


def completed(line: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What bash is told of a line, without the kind of each answer."""
    use_own_shells()
    found = get_completion_class("bash")
    assert found is not None
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(line.split()) - (not line.endswith(" "))))
    told = found(assay, {}, "assay", "_ASSAY_COMPLETE").complete().splitlines()
    return [answer.partition(",")[2] for answer in told if answer.startswith("plain,")]


@pytest.mark.parametrize(
    ("line", "answers"),
    [
        ("assay ru", ["run", "runs"]),
        ("assay run sim", DRIVES),
        ("assay check sim:client-2", ["sim:client-2011", "sim:client-2013"]),
        ("assay fit sim:h", ["sim:hdd-15k"]),
        ("assay run sim:ideal?", [f"sim:ideal?{one}" for one in ("capacity=", "seed=", "state=", "faults=")]),
        ("assay run sim:ideal?seed=1&c", ["sim:ideal?seed=1&capacity="]),
        ("assay run x --suite ", list(SUITES)),
        ("assay plan x --suite=ad", ["advanced"]),
        ("assay run x --test iops,l", ["iops,lat"]),
        ("assay run x --study tr", ["trim"]),
        ("assay run x --edition pts-c", ["pts-c-1.0", "pts-c-2.0"]),
        ("assay run x --write-cache o", ["on", "off"]),
        ("assay completion ", list(SHELLS)),
    ],
)
def test_names_are_completed(line: str, answers: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert completed(line, monkeypatch) == answers


def test_the_disks_of_the_host_are_completed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, size in (("sda", "1000"), ("nvme0n1", "9"), ("ram0", "8"), ("loop7", "0")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "size").write_text(f"{size}\n")
    monkeypatch.setattr("assay.cli.completion._BLOCK", tmp_path)
    assert completed("assay run /dev/", monkeypatch) == ["/dev/nvme0n1", "/dev/sda"]


@pytest.mark.skipif(not Path("/bin/bash").exists(), reason="there is no bash")
def test_bash_completes_drives_and_files(tmp_path: Path) -> None:
    (tmp_path / "my plan.toml").write_text("")
    script = CliRunner().invoke(assay, ["completion", "bash"]).stdout
    asks = [f"assay run {word}" for word in ("sim:client-2", "'sim:hd", f"{tmp_path}/my")]
    tries = "".join(
        f'COMP_LINE="{ask}"; COMP_POINT=${{#COMP_LINE}}; _assay_completion assay; printf "%s\\n" "${{COMPREPLY[@]}}"\n'
        for ask in asks
    )
    path = f'PATH="{Path(sys.executable).parent}:$PATH"\n'
    done = subprocess.run(
        ["/bin/bash", "--norc"], input=path + script + tries, capture_output=True, text=True, check=True
    )
    # Bash breaks words at the colon, but not inside quotes.
    assert done.stdout.splitlines() == ["client-2011", "client-2013", "sim:hdd-15k", f"{tmp_path}/my plan.toml"]


@pytest.mark.parametrize(
    ("shell", "place"),
    [
        ("bash", "data/bash-completion/completions/assay"),
        ("zsh", "data/zsh/site-functions/_assay"),
        ("fish", "config/fish/completions/assay.fish"),
    ],
)
def test_a_script_is_installed_where_the_shell_looks(shell: str, place: str, tmp_path: Path) -> None:
    home = {"XDG_DATA_HOME": str(tmp_path / "data"), "XDG_CONFIG_HOME": str(tmp_path / "config")}
    printed = CliRunner().invoke(assay, ["completion", shell], env=home).stdout
    done = CliRunner().invoke(assay, ["completion", shell, "--install"], env=home)
    assert done.stdout.splitlines()[0] == f"Written: {tmp_path / place}"
    assert (tmp_path / place).read_text("utf-8") == printed
    assert f"assay completion {shell} --install" in printed


def test_a_script_for_zsh_begins_with_what_it_is_for() -> None:
    assert CliRunner().invoke(assay, ["completion", "zsh"]).stdout.startswith("#compdef assay\n")
