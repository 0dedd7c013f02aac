"""Everyday words that stand for terms, and long sentences: where texts for users have them, and how many names do."""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT = Path(__file__).parents[1]
WORDS = (
    "told", "said", "asked", "found", "behind", "beside", "one", "place", "own", "whoever", "at the most", "room",
    "house", "door", "hands", "bench", "card", "walk",
)  # fmt: skip
SENTENCE_MAX = 25
"""Words of a sentence that users read."""
_WORD = re.compile(rf"\b({'|'.join(WORDS)})\b", re.IGNORECASE)
_FIELD = re.compile(r"\{\w+[^{}]*\}")
"""A field of a template: its name is a key, which nobody reads."""
_PARTS = re.compile(r"_+|(?<=[a-z])(?=[A-Z])")
_ENDS = re.compile(r"(?<=[.!?;:])\s+|\n\s*\n|\n(?=[-*|])")
_LISTED = re.compile(r"\x08\n.*?(?=\n\s*\n|\Z)", re.DOTALL)
"""A paragraph of help that click does not wrap: each line stands alone."""
_BODIES = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


class Text(NamedTuple):
    """A text that a user may read. where : file and line."""

    where: str
    words: str


def texts(root: Path = ROOT) -> Iterator[Text]:
    """Texts with a blank in the product that are no docstrings, help of commands, and documents."""
    for path in sorted((root / "python/assay").rglob("*.py")):
        name = str(path.relative_to(root))
        yield from (Text(f"{name}:{line}", words) for line, words in python_texts(ast.parse(path.read_text("utf-8"))))
    for path in (root / "README.md", *sorted((root / "docs").rglob("*.md"))):
        for line, words in enumerate(_prose(path.read_text("utf-8")), 1):
            yield Text(f"{path.relative_to(root)}:{line}", words)


def python_texts(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and words of each. Worked: ``click.echo("no run")`` in line 3 -> ``(3, "no run")``."""
    silent = {id(node) for node in _docstrings(tree)}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and any("command" in ast.dump(one) for one in node.decorator_list):
            yield node.lineno, ast.get_docstring(node) or ""
        elif isinstance(node, ast.Constant) and id(node) not in silent and " " in str(node.value).strip():
            yield node.lineno, str(node.value)


def everyday(found: Iterable[Text]) -> list[tuple[str, str]]:
    """Each use of a word of the list with its place. Worked: ``"one of two"`` -> ``one`` once."""
    shown = ((text.where, _FIELD.sub("", text.words)) for text in found)
    return [(where, match[1].lower()) for where, words in shown for match in _WORD.finditer(words)]


def long_sentences(found: Iterable[Text]) -> list[tuple[str, str]]:
    """Sentences of more than 25 words, with their places."""
    listed = ((text.where, _LISTED.sub(lambda lines: lines[0].replace("\n", "\n\n"), text.words)) for text in found)
    parts = ((where, part) for where, words in listed for part in _ENDS.split(words))
    return [(where, part) for where, part in parts if len(part.split()) > SENTENCE_MAX]


def names(root: Path = ROOT) -> Counter[str]:
    """How many names of functions, classes, arguments and variables have a word of the list as a part."""
    found: Counter[str] = Counter()
    for path in (root / "python/assay").rglob("*.py"):
        for name in _names(ast.parse(path.read_text("utf-8"))):
            found.update(part for part in map(str.lower, _PARTS.split(name)) if part in WORDS)
    return found


def _names(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name


def _docstrings(tree: ast.Module) -> Iterator[ast.Constant]:
    """Those of modules, classes and functions, and texts behind a variable."""
    for node in ast.walk(tree):
        body = node.body if isinstance(node, _BODIES) else []
        for statement in body:
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                yield statement.value


def _prose(text: str) -> Iterator[str]:
    """Lines of a document; those of code and of comments are empty."""
    fenced = False
    for line in text.splitlines():
        fenced ^= line.lstrip().startswith("```")
        yield "" if fenced or line.lstrip().startswith(("```", "<!--")) else re.sub(r"`[^`]*`", "", line)


def main() -> None:
    """Print the counts; with ``--list`` every use."""
    read = list(texts())
    uses, count = everyday(read), names()
    for where, word in uses if "--list" in sys.argv else ():
        print(f"{where}: {word}")
    for where, part in long_sentences(read) if "--list" in sys.argv else ():
        print(f"{where}: {len(part.split())} words: {' '.join(part.split()[:8])} ...")
    print(f"in texts {len(uses)}, long sentences {len(long_sentences(read))}, in names {count.total()}")
    print(", ".join(f"{word} {number}" for word, number in count.most_common()))


if __name__ == "__main__":
    main()
