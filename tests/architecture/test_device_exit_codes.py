"""Tests of real devices demand the exit code that follows from what ran, and not that this host kept still."""

from __future__ import annotations

import ast
from itertools import pairwise
from pathlib import Path

import pytest
from assay.errors import EXIT_WITHHELD

ROOT = Path(__file__).parents[2]
DEVICE = sorted((ROOT / "tests/device").glob("*.py"))
ACCEPTING = [*DEVICE, ROOT / "tests/whole/test_docs_commands_run.py"]
HOST_CHECKS = {"test_host_disturbed.py"}
"""Tests of how this host is watched and judged."""
REFUSED = {"test_gate_doors.py"}
"""Tests of runs that end before anything is measured, or that measure simulated drives."""


def several_with_withheld(tree: ast.AST) -> list[int]:
    """Lines that accept several exit codes, one of which says that results are withheld.

    A set, what ``in`` looks through, or one comparison ``or`` another; other tuples are results of several values.
    """
    looked_through = {
        id(right)
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare)
        for operator, right in zip(node.ops, node.comparators, strict=True)
        if isinstance(operator, ast.In | ast.NotIn)
    }
    choices: list[tuple[int, list[ast.expr]]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Set) or (isinstance(node, ast.Tuple | ast.List) and id(node) in looked_through):
            choices.append((node.lineno, node.elts))
        elif isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
            compared = [one for one in node.values if isinstance(one, ast.Compare)]
            choices.append((node.lineno, [right for one in compared for right in one.comparators]))
    return [line for line, values in choices if len(values) > 1 and any(map(_is_withheld, values))]


def _is_withheld(node: ast.expr) -> bool:
    """The code, its name, or that of an error with it."""
    if isinstance(node, ast.Constant):
        return type(node.value) is int and node.value == EXIT_WITHHELD
    return ast.unparse(node) in {"EXIT_WITHHELD", "TimekeepingError.exit_code", "VerificationError.exit_code"}


def runs_on_this_host(tree: ast.AST) -> list[int]:
    """Lines that start ``assay run`` as it is installed, with the watch of this host."""
    found, passed_on, verbs = [], [], False
    for node in ast.walk(tree):
        words = node.args if isinstance(node, ast.Call) else getattr(node, "elts", getattr(node, "values", []))
        verbs |= bool(words) and _word(words[0]) == "run"
        for first, second in pairwise(words):
            if _is_command(first) and _word(second).split()[:1] == ["run"]:
                found.append(node.lineno)
            elif _is_command(first) and isinstance(second, ast.Starred):
                passed_on.append(node.lineno)
    return found + (passed_on if verbs else [])


def _word(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _is_command(node: ast.expr) -> bool:
    """The path of the command: by its name in these tests, or made from that of the interpreter."""
    text = ast.unparse(node.value if isinstance(node, ast.FormattedValue) else node)
    return text == "ASSAY" or ("sys.executable" in text and "'assay'" in text)


def _tree(path: Path) -> ast.AST:
    return ast.parse(path.read_text("utf-8"))


@pytest.mark.parametrize("path", ACCEPTING, ids=lambda path: path.name)
def test_no_test_of_a_device_accepts_withheld_results_beside_another_ending(path: Path) -> None:
    remedy = "demand the code that follows from what is stored, see undisturbed.verdict_code"
    assert several_with_withheld(_tree(path)) == [], remedy


@pytest.mark.parametrize("path", DEVICE, ids=lambda path: path.name)
def test_only_tests_of_the_host_check_run_with_the_watch_of_this_host(path: Path) -> None:
    found = runs_on_this_host(_tree(path))
    assert bool(found) == (path.name in HOST_CHECKS | REFUSED), f"lines {found}: start it with quiet_host.QUIET_ASSAY"


@pytest.mark.parametrize(
    "text",
    [
        "assert code in {0, 5, 7}",
        "assert code in (0, 5)",
        "assert code in ({5, 7} if withheld else {0})",
        "assert code in {0, EXIT_WITHHELD}",
        "assert code == 0 or code == 5",
        "GOOD = {'check': {0, 5}}",
    ],
)
def test_a_choice_with_withheld_results_is_seen(text: str) -> None:
    assert several_with_withheld(ast.parse(text)) == [1]


@pytest.mark.parametrize(
    "text",
    [
        "assert code == 5",
        "assert code in {0, 7}",
        "values = (0, 5)",
        "assert code == (5 if withheld else 0)",
        "assert found == (5, 1)",
    ],
)
def test_a_single_code_and_other_choices_are_none(text: str) -> None:
    assert several_with_withheld(ast.parse(text)) == []


@pytest.mark.parametrize(
    "text",
    [
        "run([ASSAY, 'run', path])",
        "run([str(Path(sys.executable).with_name('assay')), 'run', path])",
        "run(f'{ASSAY} run {path}')",
        "run([ASSAY, *arguments]); assay('run', path)",
        "run([ASSAY, *arguments]); options = ('run', path)",
    ],
)
def test_a_run_of_the_installed_command_is_seen(text: str) -> None:
    assert runs_on_this_host(ast.parse(text)) == [1]


@pytest.mark.parametrize(
    "text", ["run([*QUIET_ASSAY, 'run', path])", "run([ASSAY, *arguments]); assay('drives')", "run([ASSAY, 'report'])"]
)
def test_a_run_on_a_quiet_host_and_other_commands_are_none(text: str) -> None:
    assert runs_on_this_host(ast.parse(text)) == []
