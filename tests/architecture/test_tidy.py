"""Files and functions stay small."""

import ast
import re
import statistics
from pathlib import Path

import pytest
import words_count

ROOT = Path(__file__).parents[2]
PYTHON = sorted(path for folder in ("python", "tools", "benches") for path in (ROOT / folder).rglob("*.py"))
RUST = sorted((ROOT / "crates").rglob("*.rs"))
FILE_LINES_MAX = 600
FUNCTION_LINES_MAX = 60
WORDS_IN_TEXTS_MAX, LONG_SENTENCES_MAX, WORDS_IN_NAMES_MAX = 81, 29, 1_060
"""Everyday words that stand for terms, and sentences of more than 25 words: they only become fewer."""
ARCHITECTURE_LINES_MAX = 200
FORBIDDEN = {"utils", "helpers", "common", "misc", "manager"}


def python_functions() -> list[tuple[str, int]]:
    nodes = [(path.name, node) for path in PYTHON for node in ast.walk(ast.parse(path.read_text("utf-8")))]
    return [(f"{name}:{node.name}", body_lines(node)) for name, node in nodes if isinstance(node, ast.FunctionDef)]


def body_lines(node: ast.FunctionDef) -> int:
    body = node.body[1:] if ast.get_docstring(node) else node.body
    return body[-1].end_lineno - body[0].lineno + 1 if body and body[-1].end_lineno else 0


def rust_functions() -> list[tuple[str, int]]:
    found = []
    for path in RUST:
        lines = path.read_text("utf-8").splitlines()
        for index, line in enumerate(lines):
            match = re.match(r"( *)(pub(\([a-z]+\))? )?(const )?fn (\w+)", line)
            # A signature without a body, or with all of it on its line, has no lines of its own.
            if match and line.endswith("{"):
                end = next((n for n in range(index, len(lines)) if lines[n].startswith(match[1] + "}")), index)
                found.append((f"{path.name}:{match[5]}", end - index - 1))
    return found


def test_files_are_small_and_named_for_what_they_hold() -> None:
    lines = {str(path.relative_to(ROOT)): len(path.read_text("utf-8").splitlines()) for path in (*PYTHON, *RUST)}
    assert {name: count for name, count in lines.items() if count > FILE_LINES_MAX} == {}
    assert [path for path in (*PYTHON, *RUST) if path.stem in FORBIDDEN] == []


@pytest.mark.parametrize("functions", [python_functions(), rust_functions()], ids=["python", "rust"])
def test_functions_are_short(functions: list[tuple[str, int]]) -> None:
    assert statistics.median(lines for _, lines in functions) <= 10
    assert [(name, lines) for name, lines in functions if lines > FUNCTION_LINES_MAX] == []


def test_everyday_words_become_fewer() -> None:
    read = list(words_count.texts())
    assert len(words_count.everyday(read)) <= WORDS_IN_TEXTS_MAX
    assert len(words_count.long_sentences(read)) <= LONG_SENTENCES_MAX
    assert words_count.names().total() <= WORDS_IN_NAMES_MAX


def test_an_everyday_word_and_a_long_sentence_are_found() -> None:
    long = words_count.Text("a:1", f"It is {'very ' * 24}long. It is not.")
    assert words_count.everyday([words_count.Text("a:1", "Told of one Of two.")]) == [("a:1", "told"), ("a:1", "one")]
    assert [where for where, _ in words_count.long_sentences([long])] == ["a:1"]


def test_the_architecture_is_short() -> None:
    assert len((ROOT / "ARCHITECTURE.md").read_text("utf-8").splitlines()) <= ARCHITECTURE_LINES_MAX
