"""The walls between the rooms: who may import whom."""

import ast
import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "python/assay"

BASE = {"errors", "files", "units", "records", "datum", "visible"}
ALLOWED = {
    "errors": set(),
    "codec": {"errors"},
    "files": set(),
    "visible": set(),
    "units": {"errors"},
    "records": set(),
    "datum": set(),
    "steady": {"records", "errors"},
    "toml_file": BASE | {"_native"},
    "profile": BASE | {"toml_file"},
    "plan": BASE | {"profile", "toml_file"},
    "pattern": BASE | {"_native"},
    "stimulus": BASE | {"_native", "codec"},
    "window": BASE | {"steady"},
    "rounds": BASE | {"window"},
    "procedures": BASE | {"pattern", "window", "plan", "profile", "rounds", "steady"},
    "device": BASE | {"_native", "toml_file"},
    "host": BASE | {"_native", "certificate", "device", "toml_file"},
    "bench": BASE | {"_native", "device", "host", "pattern", "stimulus", "plan", "procedures"},
    "store": BASE | {"codec"},
    "stack": BASE | {"device"},
    "report": BASE | {"crosscheck", "stack", "window", "profile", "steady"},
    "reporting": {"crosscheck", "records", "report", "stack", "store"},
    "calibrate": BASE | {"device", "pattern", "plan", "procedures", "profile", "stimulus", "window"},
    "certificate": BASE | {"_native", "device", "pattern", "stimulus", "window"},
    "crosscheck": BASE | {"bench", "device", "pattern", "stimulus", "window"},
    "reference": BASE | {"bench", "crosscheck", "device", "stimulus", "window"},
    "session": BASE
    | {"bench", "certificate", "device", "procedures", "profile", "rounds", "stimulus", "store", "plan", "window"},
    "cli": BASE
    | {
        "bench",
        "calibrate",
        "certificate",
        "crosscheck",
        "device",
        "host",
        "plan",
        "procedures",
        "reference",
        "report",
        "reporting",
        "rounds",
        "session",
        "stack",
        "store",
        "window",
    },
}


def room(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        found |= {name.split(".")[1] for name in names if name.startswith("assay.")}
    return found - {room(path)}


MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_room_imports_only_what_the_plan_of_the_house_allows(path: Path) -> None:
    assert imports(path) <= ALLOWED[room(path)]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_nothing_below_the_doors_prints(path: Path) -> None:
    if room(path) != "cli":
        calls = [node.func for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call)]
        assert not [call for call in calls if isinstance(call, ast.Name) and call.id == "print"]


def test_only_the_drive_room_knows_device_nodes_and_commands() -> None:
    outside = [path for path in MODULES if room(path) != "device"]
    # The PDF is typeset by this very interpreter in a process of its own, which is no command of the system.
    assert [path.name for path in outside if "subprocess" in path.read_text("utf-8")] == ["pdf.py"]
    assert not [path for path in outside if re.search(r"O_DIRECT\b", path.read_text("utf-8"))]


def test_no_procedure_asks_whether_a_drive_is_simulated() -> None:
    procedures = [path for path in MODULES if room(path) in {"procedures", "rounds", "window", "stimulus"}]
    assert not [path for path in procedures if '"simulated"' in path.read_text("utf-8")]


def test_no_crate_of_the_product_knows_the_file_that_tests_are_held_against() -> None:
    manifests = [
        path for path in (PACKAGE.parents[1] / "crates").glob("*/Cargo.toml") if path.parent.name != "timed-file"
    ]
    assert len(manifests) == 6
    assert not [path for path in manifests if "timed-file" in path.read_text("utf-8")]
