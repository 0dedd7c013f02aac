"""Documents speak plainly: no word that stands for a term, and no sentence that must be read twice."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from docs_blocks import PAGES, ROOT, page_name

if TYPE_CHECKING:
    from pathlib import Path

GENERATED = {"docs/reference.md", "docs/rules.md", "docs/kinds-of-drives.md", "docs/guide/published.md"}
WRITTEN = [
    page
    for page in [*PAGES, ROOT / "CHANGELOG.md"]
    if page_name(page) not in GENERATED and page.parent.name != "procedures"
]
SENTENCE_WORDS_MAX = 25
NOT_PROSE = re.compile(r"^```.*?^```$|<!--.*?-->|`[^`]*`|\]\([^)]*\)", re.MULTILINE | re.DOTALL)
AVOIDED = re.compile(
    r"(?<!-)\b(?:told|tells?|said|asked|found|behind|beside|places?|own|(?:each|that|another|older) one"
    r"|at the most|whoever)\b",
    re.IGNORECASE,
)


def prose(page: Path) -> str:
    """A page without code, comments and targets of links; code within a sentence is a word."""
    return NOT_PROSE.sub(
        lambda found: "]" if found[0][0] == "]" else "" if found[0][:3] == "```" else "x", page.read_text("utf-8")
    )


def sentences(text: str) -> list[str]:
    """The sentences of paragraphs, items of lists, and cells of tables; names in code are no words."""
    parts = re.split(r"\n\s*\n|\n\s*(?:[-*]|\d+\.) |\||\n#+ ", text)
    return [one for part in parts for one in re.split(r"(?<=[.!?:;])\s", " ".join(part.split())) if one]


@pytest.mark.parametrize("page", WRITTEN, ids=page_name)
def test_a_page_has_no_avoided_word(page: Path) -> None:
    assert AVOIDED.findall(prose(page)) == []


@pytest.mark.parametrize("page", WRITTEN, ids=page_name)
def test_its_sentences_are_short(page: Path) -> None:
    assert [one for one in sentences(prose(page)) if word_count(one) > SENTENCE_WORDS_MAX] == []


def word_count(sentence: str) -> int:
    return len([word for word in sentence.split() if word.strip(".,;:()") not in {"", "x"}])
