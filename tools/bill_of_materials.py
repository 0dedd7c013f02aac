"""What Assay is made of, as a CycloneDX 1.5 document: names, versions and SHA-256 of every package; no addresses."""

from __future__ import annotations

import subprocess
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

ROOT = Path(__file__).resolve().parent.parent


def bill_of_materials(version: str, wheels: Iterable[tuple[str, str, str]]) -> dict[str, Any]:
    """The document of this version.

    wheels : name, version and SHA-256 of each Python package that is installed beside Assay.
    Rust crates are those linked into the native module; their checksums stand in ``crates/dependencies.toml``.
    """
    components = [_component("cargo", *crate) for crate in _crates()]
    components += [_component("pypi", *wheel) for wheel in sorted(wheels)]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {"type": "application", "name": "assay", "version": version}},
        "components": components,
    }


def _component(kind: str, name: str, version: str, sha256: str) -> dict[str, Any]:
    return {
        "type": "library",
        "name": name,
        "version": version,
        "purl": f"pkg:{kind}/{name}@{version}",
        "hashes": [{"alg": "SHA-256", "content": sha256}],
    }


def _crates() -> list[tuple[str, str, str]]:
    """Name, version and checksum of each crate from outside that the native module is linked with."""
    listed = tomllib.loads((ROOT / "crates" / "dependencies.toml").read_text("utf-8"))["package"]
    linked = _linked()
    return [
        (crate["name"], crate["version"], crate["checksum"])
        for crate in listed
        if "checksum" in crate and (crate["name"], crate["version"]) in linked
    ]


def _linked() -> set[tuple[str, str]]:
    """Name and version of each crate of the native module, without those that only build or test it."""
    command = ["cargo", "tree", "--locked", "--edges", "normal", "--package", "assay-native", "--prefix", "none"]
    lines = subprocess.run([*command, "--format", "{p}"], cwd=ROOT, check=True, capture_output=True, text=True)
    words = (line.split() for line in lines.stdout.splitlines())
    return {(name, version.removeprefix("v")) for name, version, *_ in words}
