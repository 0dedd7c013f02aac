"""The set-up from the sources: it names what a host lacks before it downloads, says how far it is, two take turns."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import IO

import pytest
import stage

ROOT = Path(__file__).parents[2]
RUST = "1.88"
PROGRAMS = (
    *("bash", "cat", "chmod", "cut", "dirname", "env", "find", "flock", "grep", "make", "mkdir", "mktemp", "mv", "rm"),
    *("sed", "sh", "sort", "touch", "uname"),
)
"""What every Debian has, and make."""
REMEDY = "Install rustup, then type: rustup update stable && rustup default stable"
LINES = {
    "venv": "apt-get install python3-venv",
    "python": "apt-get install python3 python3-venv",
    "cc": "apt-get install gcc libc6-dev",
    "certificates": "apt-get install ca-certificates",
    "rust": f"Rust {RUST} or newer is missing: no cargo; no rustc. {REMEDY}",
}
OTHER_CERTIFICATES = any(map(os.path.exists, ("/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem")))


def script(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n", "utf-8")
    path.chmod(0o755)


def python(path: Path, first: str = "pass") -> None:
    """A Python in which some code of the test precedes what ``-c`` is given."""
    code = f"import sys; {first}; exec(sys.argv[1])"
    script(path, f'[ "$1" = -c ] || exec {sys.executable} "$@"\nexec {sys.executable} -c \'{code}\' "$2"')


def rust_tool(path: Path, version: str) -> None:
    """A program that knows its version and writes down whatever else it is asked."""
    script(path, f'[ "$1" = --version ] && echo "x {version}" || echo "$0 $*" >>"$HOME/calls"')


@pytest.fixture
def host(tmp_path: Path) -> Path:
    """A home with a folder of programs, which lacks nothing that the set-up needs."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in PROGRAMS:
        (programs / name).symlink_to(shutil.which(name) or name)
    # A compiler finds its parts by the name and the path that it is called by.
    script(programs / "cc", f'PATH={os.environ["PATH"]} exec {shutil.which("cc")} "$@"')
    python(programs / "python3")
    for name in ("cargo", "rustc"):
        rust_tool(programs / name, "1.95.0 (0 2026-04-14)")
    (tmp_path / "certificates.crt").write_text("x", "ascii")
    return tmp_path


@pytest.fixture
def sources(host: Path) -> Path:
    """A folder with what the set-up reads, and no ``.venv``."""
    folder = host / "sources"
    shutil.copytree(ROOT / "tools", folder / "tools", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "crates").mkdir()
    for name in ("Makefile", "Cargo.toml", "pyproject.toml", "requirements.txt", "crates/dependencies.toml"):
        shutil.copy(ROOT / name, folder / name)
    return folder


def start(host: Path, folder: Path, *command: str) -> subprocess.Popen[str]:
    home, certificates = str(host), str(host / "certificates.crt")
    environment = {"PATH": str(host / "bin"), "HOME": home, "SSL_CERT_FILE": certificates}
    return subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def run(host: Path, folder: Path, *command: str) -> tuple[int, str]:
    with start(host, folder, *command) as process:
        text, _ = process.communicate()
    return process.returncode, text


def take_away(host: Path, name: str) -> None:
    """Take away what is missing by a key of ``LINES``."""
    for program in {"python": ["python3"], "rust": ["cargo", "rustc"], "cc": ["cc"]}.get(name, []):
        (host / "bin" / program).unlink()
    if name == "venv":
        python(host / "bin/python3", 'sys.modules["ensurepip"] = None')
    if name == "certificates":
        (host / "certificates.crt").unlink()


def test_of_a_host_that_lacks_nothing_nothing_is_said(host: Path) -> None:
    assert run(host, ROOT, "tools/needs") == (0, "")


@pytest.mark.parametrize("name", LINES)
def test_what_is_missing_is_named_with_what_to_type(host: Path, name: str) -> None:
    if name == "certificates" and OTHER_CERTIFICATES:
        pytest.skip("this host keeps certificates in another place, too")
    take_away(host, name)
    code, text = run(host, ROOT, "tools/needs")
    assert (code, LINES[name] in text, text.count("\n")) == (1, True, 1), text


def test_the_readme_names_the_same_packages(host: Path) -> None:
    if OTHER_CERTIFICATES:
        pytest.skip("this host keeps certificates in another place, too")
    for name in ("venv", "cc", "certificates"):
        take_away(host, name)
    code, text = run(host, ROOT, "tools/needs", "--packages")
    (line,) = re.findall(r"`apt-get install (.*?)`", (ROOT / "README.md").read_text("utf-8"))
    assert (code, sorted(line.split())) == (0, sorted(["make", *text.split()]))


def test_a_compiler_without_the_headers_of_libc_is_none(host: Path) -> None:
    script(host / "bin/cc", "echo 'stdio.h: No such file or directory' >&2; exit 1")
    assert LINES["cc"] in run(host, ROOT, "tools/needs")[1]


def test_what_is_too_old_is_named_with_its_version(host: Path) -> None:
    python(host / "bin/python3", 'import platform; platform.python_version = lambda: "3.9.2"')
    rust_tool(host / "bin/rustc", "1.63.0")
    code, text = run(host, ROOT, "tools/needs")
    assert (code, text.splitlines()) == (
        1,
        [
            "Python 3.11 or newer is missing: python3 is 3.9.2. Put a newer python3 on the PATH.",
            f"Rust {RUST} or newer is missing: rustc is 1.63.0, too old. {REMEDY}",
        ],
    )


@pytest.mark.parametrize("target", ["setup", "demo", "test", "test-all", "check", "test-rust"])
def test_all_that_is_missing_is_named_before_anything_is_fetched(host: Path, sources: Path, target: str) -> None:
    for name in ("venv", "cc"):
        take_away(host, name)
    rust_tool(host / "bin/cargo", "0.66.0")
    code, text = run(host, sources, "make", target)
    assert code == 2
    assert "apt-get install python3-venv gcc libc6-dev\n" in text
    assert f"Rust {RUST} or newer is missing: cargo is 0.66.0, too old." in text
    assert not (host / "calls").exists()
    assert not (sources / ".venv").exists()


def test_the_programs_of_a_distribution_are_named_before_anything_is_built(host: Path, sources: Path) -> None:
    code, text = run(host, sources, "make", "dist")
    assert (code, text.splitlines()[0]) == (2, "Debian packages are missing. As root, type: apt-get install git dpkg")
    assert not (sources / ".venv").exists()


def test_the_version_of_rust_is_the_largest_that_a_dependency_needs() -> None:
    """``Cargo.toml`` states it once; the README repeats it."""
    command = ["cargo", "metadata", "--locked", "--offline", "--format-version", "1", "--filter-platform"]
    found = subprocess.run([*command, "x86_64-unknown-linux-gnu"], cwd=ROOT, capture_output=True, check=True)
    packages = [one for one in json.loads(found.stdout)["packages"] if not one["name"].startswith("assay-")]
    versions = [tuple(map(int, one["rust_version"].split("."))) for one in packages if one["rust_version"]]
    assert f'rust-version = "{RUST}"' in (ROOT / "Cargo.toml").read_text("utf-8")
    assert (*map(int, RUST.split(".")), 0) == max((*version, 0)[:3] for version in versions)
    assert f"Rust {RUST}" in (ROOT / "README.md").read_text("utf-8")


def made(sources: Path, maturin: str, loads: str) -> None:
    """An environment whose programs do what a test asks, in ``.venv``; the lock of the Rust dependencies is there."""
    for name, text in {"pip": "", "uv": "", "maturin": maturin, "python": loads}.items():
        script(sources / ".venv/bin" / name, text)
    (sources / "Cargo.lock").touch()


def until(line: str, output: IO[str]) -> None:
    assert line in iter(output.readline, ""), line


def test_two_at_once_take_turns_and_build_once(host: Path, sources: Path) -> None:
    os.mkfifo(host / "go")
    built = 'echo built >>"$HOME/built"; read -r _ <"$HOME/go"'
    made(sources, built, 'test -e "$HOME/built"')
    with start(host, sources, "make", "setup") as first:
        assert first.stdout
        until("Set-up 4 of 4: native module (3 min on two quiet cores)\n", first.stdout)
        with start(host, sources, "make", "setup") as second:
            assert second.stdout
            until("Waiting: another make sets up this folder.\n", second.stdout)
            (host / "go").write_text("go\n", "ascii")
            assert (first.wait(), second.wait()) == (0, 0)
    assert (host / "built").read_text("ascii") == "built\n"
    assert (sources / ".venv/.native-built").exists()


def test_a_module_that_does_not_load_is_not_built(host: Path, sources: Path) -> None:
    made(sources, "", "exit 1")
    code, text = run(host, sources, "make", "setup")
    assert (code, "The native module does not load." in text) == (2, True)
    assert not (sources / ".venv/.native-built").exists()


def test_a_stage_that_fails_shows_its_log(host: Path, sources: Path) -> None:
    made(sources, "echo error: linker not found >&2; exit 7", "")
    code, text = run(host, sources, "make", "setup")
    assert code == 2
    assert "error: linker not found\nSet-up 4 of 4: native module: maturin ended with 7" in text
    assert not (sources / ".venv/.native-built").exists()


def test_a_stage_says_in_a_pipe_how_far_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(stage, "_PIPE_S", 0.0)
    command = ["sh", "-c", r"printf 'Compiling a\n   Building [=> ] 7/57: b\r'"]
    monkeypatch.setattr(sys, "argv", ["stage.py", str(tmp_path / "log"), "Module (long)", *command])
    assert stage.main() == 0
    lines = capfd.readouterr().out.splitlines()
    assert (lines[0], lines[-1].startswith("  done in ")) == ("Module (long)", True)
    assert any(line.endswith(" s: Building [=> ] 7/57: b") for line in lines)
    assert (tmp_path / "log").read_text("ascii").startswith("Compiling a\n")


def test_what_passed_for_one_user_is_left_out_for_the_next(tmp_path: Path) -> None:
    (tmp_path / "unit").mkdir()
    shutil.copy(ROOT / "tests/conftest.py", tmp_path)
    (tmp_path / "test_parts.py").write_text(
        "import pytest\n"
        "def test_alone(): pass\n"
        "@pytest.mark.xdist_group('pair')\ndef test_of_a_group(): pass\n"
        "@pytest.mark.skip\ndef test_skipped(): pass\n"
        "def test_failing(): assert False\n",
        "utf-8",
    )
    command = [sys.executable, "-m", "pytest", "-n", "1", "--dist", "loadgroup", "test_parts.py"]

    def counts(option: str) -> str:
        variables = os.environ | {"PYTEST_ADDOPTS": ""}
        options = [f"{option}={tmp_path / 'passed'}"]
        done = subprocess.run(
            [*command, *options], cwd=tmp_path, env=variables, capture_output=True, text=True, check=False
        )
        return done.stdout.splitlines()[-1]

    assert "1 failed, 2 passed, 1 skipped" in counts("--keep-passed")
    assert "1 failed, 1 skipped" in counts("--without-passed")
