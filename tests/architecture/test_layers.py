"""The boundaries between packages: who may import whom, and that modules import each other in no circle."""

import ast
import re
from pathlib import Path

import pytest
from assay.procedures.registry import known_tests

PACKAGE = Path(__file__).parents[2] / "python/assay"

BASE = {"errors", "spec", "version"}
"""What every package may use: errors, units and files that people write."""

ALLOWED = {
    "errors": set(),
    "version": set(),
    "spec": {"_native", "errors"},
    "engine": BASE | {"_native"},
    "workloads": BASE,
    "words": BASE | {"engine"},
    "results": BASE | {"engine", "words"},
    "summary": BASE | {"engine", "results", "words"},
    "plan": BASE | {"engine", "results", "summary", "words"},
    "dut": BASE | {"_native", "engine", "plan"},
    "procedures": BASE | {"engine", "plan", "results", "summary", "words", "workloads"},
    "compare": BASE | {"engine", "plan", "procedures", "results", "summary", "words", "workloads"},
    "host": BASE | {"_native", "dut", "engine", "results", "words"},
    "report": BASE | {"compare", "engine", "procedures", "results", "summary", "words", "workloads"},
    "run": BASE | {"compare", "dut", "engine", "host", "plan", "procedures", "results", "words", "workloads"},
    "archive": BASE
    | {"compare", "engine", "plan", "procedures", "report", "results", "run", "summary", "words", "workloads"},
    "tools": BASE | {"dut", "engine", "host", "procedures", "report", "results", "run", "summary", "words"},
    "agent": BASE | {"dut", "engine", "procedures", "run"},
    "web": BASE
    | {"agent", "archive", "compare", "dut", "engine", "procedures", "report", "results", "run", "summary", "words"},
    "cli": BASE
    | {
        "agent",
        "archive",
        "compare",
        "dut",
        "engine",
        "host",
        "plan",
        "procedures",
        "report",
        "results",
        "run",
        "summary",
        "tools",
        "web",
        "words",
        "workloads",
    },
}
"""Packages and those that they may import, each after all that it may; modules import each other in no circle."""


def package(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        found |= {name.split(".")[1] for name in names if name.startswith("assay.")}
    return found - {package(path)}


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts).removesuffix(".__init__")


def imported(path: Path, names: dict[str, Path]) -> set[str]:
    """The modules of the package that one imports, also where only types are checked."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("assay"):
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {one if one in names else str(node.module) for one in inner}
    return found & names.keys()


MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


def test_a_package_imports_only_what_it_may() -> None:
    found = {str(path.relative_to(PACKAGE)): imports(path) - ALLOWED[package(path)] for path in MODULES}
    assert {name: extra for name, extra in found.items() if extra} == {}


def prints(path: Path) -> bool:
    calls = [node.func for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call)]
    return any(isinstance(call, ast.Name) and call.id == "print" for call in calls)


def test_nothing_but_the_command_line_prints() -> None:
    assert [path for path in MODULES if package(path) != "cli" and prints(path)] == []


def test_modules_import_each_other_in_no_circle() -> None:
    names = {module_name(path): path for path in MODULES}
    graph = {name: imported(path, names) - {name} for name, path in names.items()}
    # What imports nothing that is left is taken away, until nothing is left; a circle would stay.
    while leaves := {name for name, found in graph.items() if not found & graph.keys()}:
        graph = {name: found for name, found in graph.items() if name not in leaves}
    assert sorted(graph) == []


@pytest.mark.parametrize("name", ["report", "run", "summary", "results", "plan"])
def test_what_tests_share_names_no_test(name: str) -> None:
    shared = {
        "checks",
        "conformity",
        "departures",
        "editions",
        "registry",
        "run_findings",
        "traits",
    }
    for path in (PACKAGE / name).rglob("*.py"):
        tree = ast.parse(path.read_text("utf-8"))
        modules = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        assert {one.split(".")[2] for one in modules if one.startswith("assay.procedures.")} <= shared
        texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
        assert not texts & set(known_tests()) - {"iops"}


def test_only_real_drives_know_device_nodes_and_commands() -> None:
    outside = [path for path in MODULES if path.relative_to(PACKAGE).parts[:2] != ("dut", "real")]
    # The PDF is typeset by this very interpreter in a process of its own, as are pages of a server; what the user asks
    # for at the end of a run touches no drive. The agent starts this tool's own command line.
    starting = [path.name for path in outside if "subprocess" in path.read_text("utf-8")]
    assert sorted(starting) == ["alerts.py", "jobs.py", "launch.py", "pdf.py", "supervise.py"]
    assert not [path for path in outside if re.search(r"O_DIRECT\b", path.read_text("utf-8"))]


def test_no_procedure_asks_whether_a_drive_is_simulated() -> None:
    # What these two say is of a run that is stored: how far it conforms, and which of its checks hold.
    of_runs = {"conformity.py"}
    shared = [
        path for path in MODULES if package(path) in {"procedures", "results", "plan"} or "summary/pages" in str(path)
    ]
    procedures = [path for path in shared if path.name not in of_runs]
    assert not [path for path in procedures if '"simulated"' in path.read_text("utf-8")]


def test_the_audit_of_places_knows_nothing_of_how_they_are_drawn() -> None:
    """A fault of the drawing code would confirm itself in an audit that shares it."""
    text = (PACKAGE.parents[1] / "crates/core/src/addressed.rs").read_text("utf-8")
    assert re.findall(r"^use crate::(\w+)", text, re.MULTILINE) == ["active_range", "contract", "pattern", "step"]
    (shared,) = re.findall(r"^use crate::pattern::\{(.*)\};", text, re.MULTILINE)
    # What a step states, of which each side makes its own.
    assert shared == "AccessPattern, Cursor, GridOrigin"
    python = (PACKAGE / "results/stimulus_offsets.py").read_text("utf-8")
    assert "engine.pattern" not in python


def test_no_crate_of_the_product_knows_the_file_that_tests_are_held_against() -> None:
    manifests = [
        path for path in (PACKAGE.parents[1] / "crates").glob("*/Cargo.toml") if path.parent.name != "timed-file"
    ]
    assert len(manifests) == 7
    assert not [path for path in manifests if "timed-file" in path.read_text("utf-8")]
