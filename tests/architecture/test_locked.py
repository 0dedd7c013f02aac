"""The list that Cargo.lock is made from: every Rust dependency with version and checksum."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CARGO = shutil.which("cargo") or "cargo"
LIST = "crates/dependencies.toml"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A folder with the manifests of this one, its list and its tool, and no Cargo.lock."""
    (tmp_path / "crates").mkdir()
    (tmp_path / "tools").mkdir()
    for crate in (ROOT / "crates").glob("*/Cargo.toml"):
        (tmp_path / "crates" / crate.parent.name).symlink_to(crate.parent)
    for file in ("Cargo.toml", LIST, "tools/cargo-lock"):
        shutil.copy(ROOT / file, tmp_path / file)
    return tmp_path


def cargo_lock(workspace: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [str(workspace / "tools/cargo-lock"), *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")


def test_the_list_has_a_checksum_of_each_package_from_a_registry_and_names_no_host() -> None:
    text = (ROOT / LIST).read_text("utf-8")
    packages = text.split("[[package]]")[1:]
    without = [package.split('"')[1] for package in packages if "checksum = " not in package]
    assert sorted(without) == sorted(f"assay-{path.parent.name}" for path in (ROOT / "crates").glob("*/Cargo.toml"))
    assert "://" not in text


def test_cargo_takes_the_lock_made_from_the_list_as_it_is(workspace: Path) -> None:
    assert cargo_lock(workspace).returncode == 0
    tree = subprocess.run(
        [CARGO, "tree", "--locked", "--offline", "--quiet", "-e", "normal,build,dev"],
        cwd=workspace,
        capture_output=True,
        text=True,
        check=False,
    )
    assert tree.returncode == 0, tree.stderr
    assert cargo_lock(workspace, "--check").returncode == 0
    before = (workspace / LIST).read_text("utf-8")
    assert cargo_lock(workspace, "--keep").returncode == 0
    assert (workspace / LIST).read_text("utf-8") == before


def test_a_lock_that_differs_fails_until_it_is_kept(workspace: Path) -> None:
    cargo_lock(workspace)
    change(workspace / "Cargo.lock", 'checksum = "', 'checksum = "0')
    found = cargo_lock(workspace, "--check")
    assert (found.returncode, "run tools/cargo-lock" in found.stdout) == (1, True)
    assert cargo_lock(workspace, "--keep").returncode == 0
    assert cargo_lock(workspace, "--check").returncode == 0


def test_a_package_from_elsewhere_is_not_kept(workspace: Path) -> None:
    cargo_lock(workspace)
    change(workspace / "Cargo.lock", 'source = "registry+', 'source = "git+')
    found = cargo_lock(workspace, "--keep")
    assert (found.returncode, "elsewhere" in found.stdout) == (1, True)
