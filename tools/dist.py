"""Make what is given to users: wheel, source archive, Debian package, bill of materials, checksums: ``make dist``."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from bill_of_materials import ROOT, bill_of_materials

OUT = ROOT / "dist"
BIN = ROOT / ".venv" / "bin"
_PRIVATE = Path("usr/lib/assay")
_PYTHON = "python3.11"
"""Of Debian 12; NumPy and others have a build for each version of Python."""


def main() -> None:
    """Make ``dist/``; with ``--twice`` also prove that a copy of the tree elsewhere gives the same bytes."""
    made = make(ROOT, OUT)
    for path in made:
        print(f"{path.relative_to(ROOT)}  {path.stat().st_size / 1e6:,.1f} MB")
    if "--twice" in sys.argv[1:]:
        _make_again(made)


def make(tree: Path, out: Path) -> list[Path]:
    """Make everything from a tree into an empty folder; the paths, the checksums last."""
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    version = tomllib.loads((tree / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    environment = _environment(tree)
    command = [BIN / "maturin", "build", "--release", "--locked", "--strip", "--sdist", "--out", out]
    _stage(tree, "1 of 3: native module (8 min on two quiet cores)", command, environment)
    wheel = next(out.glob("*.whl"))
    with tempfile.TemporaryDirectory() as folder:
        wheels = _dependencies(tree, Path(folder))
        facts = [(*one.name.split("-")[:2], _sha256(one)) for one in wheels]
        bill = json.dumps(bill_of_materials(version, facts), indent=1) + "\n"
        (out / f"assay-{version}.cdx.json").write_text(bill, "utf-8")
        _debian(tree, out, version, [wheel, *wheels], environment)
    shutil.copy(tree / "packaging" / "Containerfile", out)
    sums = out / "SHA256SUMS"
    files = sorted(out.iterdir())
    sums.write_text("".join(f"{_sha256(path)}  {path.name}\n" for path in files), "utf-8")
    return [*files, sums]


def _environment(tree: Path) -> dict[str, str]:
    """The environment of a build whose bytes depend on the tree alone: its date is that of the last commit."""
    date = _run(["git", "log", "-1", "--format=%ct"], tree).strip()
    cargo = os.environ.get("CARGO_HOME", str(Path.home() / ".cargo"))
    remap = f"--remap-path-prefix={cargo}=/cargo"
    return {
        **os.environ,
        "SOURCE_DATE_EPOCH": date,
        "RUSTFLAGS": remap,
        "CFLAGS": f"-ffile-prefix-map={cargo}=/cargo",
        "CARGO_TARGET_DIR": str(tree / "target" / "dist"),
    }


def _dependencies(tree: Path, folder: Path) -> list[Path]:
    """The Python packages that Assay and ``assay serve`` need, as files.

    Their versions and hashes are those of ``requirements.txt``.
    """
    pinned = folder / "runtime.txt"
    command = [BIN / "uv", "pip", "compile", "--quiet", "--no-annotate", "--no-header", "--generate-hashes"]
    command += ["--extra", "web"]
    _run([*command, "--constraints", tree / "requirements.txt", "--output-file", pinned, "pyproject.toml"], tree)
    files = folder / "wheels"
    command = [BIN / "pip", "download", "--quiet", "--only-binary", ":all:", "--require-hashes", "--dest", files]
    _stage(tree, "2 of 3: Python packages (300 MB)", [*command, "--requirement", pinned])
    return sorted(files.iterdir())


def _debian(tree: Path, out: Path, version: str, wheels: list[Path], environment: dict[str, str]) -> None:
    """A Debian package with every Python package that Debian lacks in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "assay"
        _environment_of_its_own(tree, root, wheels)
        _install(tree / "packaging" / "assay", root / "usr" / "bin" / "assay", 0o755)
        _install(tree / "LICENSE", root / "usr" / "share" / "doc" / "assay" / "copyright", 0o644)
        size = sum(path.stat().st_size for path in root.rglob("*") if path.is_file()) // 1024
        control = (tree / "packaging" / "control").read_text("utf-8").format(version=version, installed_kib=size)
        (root / "DEBIAN").mkdir()
        (root / "DEBIAN" / "control").write_text(control, "utf-8")
        for script in ("postinst", "prerm"):
            _install(tree / "packaging" / script, root / "DEBIAN" / script, 0o755)
        package = out / f"assay_{version}_amd64.deb"
        command = ["dpkg-deb", "--root-owner-group", "-Zzstd", "--build", root, package]
        _stage(tree, "3 of 3: Debian package (1 min)", command, environment)


def _environment_of_its_own(tree: Path, root: Path, wheels: list[Path]) -> None:
    """A folder that is a virtual environment: no package of the system comes before one in it."""
    place = root / _PRIVATE
    packages = place / "lib" / _PYTHON / "site-packages"
    command = [BIN / "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-compile"]
    _run([*command, "--target", packages, *wheels], tree)
    shutil.rmtree(packages / "bin", ignore_errors=True)
    for path in packages.glob("*.dist-info/direct_url.json"):
        path.unlink()
    for path in packages.glob("*.dist-info/RECORD"):
        _forget_removed(path, packages)
    (place / "bin").mkdir()
    (place / "bin" / "python3").symlink_to("/usr/bin/python3")
    (place / "pyvenv.cfg").write_text("home = /usr/bin\ninclude-system-site-packages = false\n", "utf-8")


def _forget_removed(record: Path, packages: Path) -> None:
    """Leave out what is no longer there from a list of installed files: it had the path of the build in it."""
    lines = record.read_text("utf-8").splitlines(keepends=True)
    kept = [line for line in lines if (packages / line.partition(",")[0]).exists()]
    record.write_text("".join(kept), "utf-8")


def _install(source: Path, target: Path, mode: int) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)
    target.chmod(mode)


def _make_again(made: list[Path]) -> None:
    """Build a copy of the committed tree in another folder; end with an error where a byte differs."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "elsewhere"
        _run(["git", "clone", "--quiet", ROOT, copy], ROOT)
        _run([copy / "tools" / "cargo-lock"], copy)
        again = {path.name: _sha256(path) for path in make(copy, copy / "dist")}
    differing = [path.name for path in made if again.get(path.name) != _sha256(path)]
    if differing:
        sys.exit(f"built twice and different: {', '.join(differing)}; is everything committed?")
    print("built twice, in two folders: the same bytes")


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _stage(tree: Path, title: str, command: list[str | Path], environment: dict[str, str] | None = None) -> None:
    """Run a long command, which says how far it is."""
    stage = [sys.executable, tree / "tools" / "stage.py", tree / "target" / "dist.log", f"Distribution {title}"]
    if code := subprocess.run([*stage, *command], cwd=tree, env=environment, check=False).returncode:
        sys.exit(code)


def _run(command: list[str | Path], folder: Path, environment: dict[str, str] | None = None) -> str:
    """What a command prints; ends with its error output where it fails."""
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    main()
