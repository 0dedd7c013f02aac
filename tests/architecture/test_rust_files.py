"""No two Rust files of a crate import each other."""

from __future__ import annotations

import re
from pathlib import Path

CRATES = Path(__file__).parents[2] / "crates"
_USE = re.compile(r"\b(crate|super)::(\{[^}]*\}|[\w:]+)")


def modules(crate: Path) -> dict[str, str]:
    """The text of each module before its tests, by its path. Worked: ``src/pattern/lines.rs`` -> ``pattern::lines``."""
    files = sorted((crate / "src").rglob("*.rs"))
    names = ["::".join(file.relative_to(crate / "src").with_suffix("").parts) for file in files]
    return {
        name: file.read_text("utf-8").partition("#[cfg(test)]")[0]
        for name, file in zip(names, files, strict=True)
        if name not in {"lib", "main"}
    }


def imported(name: str, text: str, known: dict[str, str]) -> set[str]:
    """The modules of the crate that a module names."""
    found = set()
    for base, path in _USE.findall(text):
        above = [] if base == "crate" else name.split("::")[:-1]
        for part in path.strip("{}").split(","):
            steps = [*above, *part.strip().split("::")]
            reached = ["::".join(steps[:count]) for count in range(len(steps), 0, -1)]
            found.add(next((one for one in reached if one in known), ""))
    return found - {"", name}


def test_no_two_rust_files_import_each_other() -> None:
    pairs = []
    for crate in sorted(CRATES.iterdir()):
        known = modules(crate) if crate.is_dir() else {}
        edges = {name: imported(name, text, known) for name, text in known.items()}
        pairs += [(crate.name, one, other) for one in edges for other in edges[one] if one in edges[other]]
    assert pairs == []
    assert imported("a::b", "use super::c::D;", {"a::b": "", "a::c": ""}) == {"a::c"}
