"""The fenced blocks of README and documentation: commands, what they print, files, and what is not run."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
_BLOCK = re.compile(r"^(?:<!-- (.*?) -->\n)?^```(\S*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_EXIT = re.compile(r"# .*?exit codes? ([\d, or]+)")
_NOT_RUN, _FILE = "not run: ", "file: "


@dataclass(frozen=True)
class Block:
    """A fenced block with the comment above it.

    not_run : why its commands are not run, empty where they are. file : the name that the page gives its text.
    """

    language: str
    text: str
    not_run: str
    file: str

    @property
    def commands(self) -> list[str]:
        """The lines that are typed."""
        lines = self.text.replace("\\\n", "").splitlines() if self.language == "sh" else []
        return [line for line in lines if line.strip() and not line.startswith("#")]


def blocks(page: Path) -> list[Block]:
    """The blocks of a page in their order."""
    return [
        Block(language, text, comment.partition(_NOT_RUN)[2], comment.partition(_FILE)[2])
        for comment, language, text in _BLOCK.findall(page.read_text("utf-8"))
    ]


def exit_codes(command: str) -> set[int]:
    """The codes that a command may end with: 0, or those of its comment."""
    stated = _EXIT.search(command)
    return {int(code) for code in re.findall(r"\d+", stated[1])} if stated else {0}


def page_name(page: Path) -> str:
    """A page from the root of the tree."""
    return str(page.relative_to(ROOT))
