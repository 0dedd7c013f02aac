"""Packages import each other in no circle, also where a function imports late or only types are checked."""

from __future__ import annotations

import ast
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "python/assay"
LOOSE = {"errors", "version"}
"""The only modules beside the packages."""
PACKAGES_MAX = 18

Edges = dict[str, dict[str, list[str]]]


def top(path: Path) -> str:
    """The package that a file belongs to."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported(tree: ast.AST) -> set[str]:
    """The packages that a module imports from: ``from assay import x`` and ``import assay.x`` count like the rest."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module == "assay":
            found |= {f"assay.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {node.module or ""}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return {name.split(".")[1] for name in found if name.startswith("assay.")}


def edges() -> Edges:
    """What each package imports, and by which files; the package's own ``__init__`` hands out ``load`` alone."""
    found: Edges = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        if path == PACKAGE / "__init__.py":
            continue
        for name in imported(ast.parse(path.read_text("utf-8"))) - {top(path)}:
            found.setdefault(top(path), {}).setdefault(name, []).append(str(path.relative_to(PACKAGE)))
    return found


def circle(graph: dict[str, set[str]]) -> dict[str, set[str]]:
    """What is left of a graph once everything is taken away that imports nothing that is left, or is not imported."""
    left = {name: set(found) for name, found in graph.items()}
    while True:
        inner = set().union(*left.values()) if left else set()
        going = {name for name, found in left.items() if not found & left.keys() or name not in inner}
        if not going:
            return {name: found & left.keys() for name, found in left.items()}
        left = {name: found for name, found in left.items() if name not in going}


def test_packages_import_each_other_in_no_circle() -> None:
    found = edges()
    left = circle({name: set(others) for name, others in found.items()})
    told = [f"{name} -> {other}: {', '.join(found[name][other])}" for name in left for other in sorted(left[name])]
    assert told == [], "\n".join(told)


def layers() -> list[list[str]]:
    """The packages in the picture of ARCHITECTURE.md, from the top line to the last."""
    text = (PACKAGE.parents[1] / "ARCHITECTURE.md").read_text("utf-8")
    picture = text.partition("## Packages, from the top")[2].split("```")[1]
    return [line.split() for line in picture.strip().splitlines()]


def test_the_picture_shows_what_imports_what() -> None:
    level = {name: number for number, line in enumerate(layers()) for name in line}
    graph = edges()
    assert set(level) == {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    wrong = [
        (name, other) for name, found in graph.items() for other in found if level.get(other, 99) <= level.get(name, -1)
    ]
    assert wrong == []


def test_there_are_few_packages_and_no_loose_modules() -> None:
    assert {path.stem for path in PACKAGE.glob("*.py")} - {"__init__"} == LOOSE
    packages = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert len(packages) <= PACKAGES_MAX, sorted(packages)


def test_a_circle_is_found() -> None:
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == {"b": {"c"}, "c": {"b"}}
    assert circle({"a": {"b", "c"}, "b": {"c"}}) == {}
