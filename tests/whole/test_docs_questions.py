"""Each question of a user has a page and a heading that answer it."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
QUESTIONS = tomllib.loads((Path(__file__).parent / "questions.toml").read_text("utf-8"))
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def headings(page: Path) -> set[str]:
    text = FENCE.sub("", page.read_text("utf-8"))
    return {match.strip() for match in re.findall(r"^#{1,4} (.+)$", text, re.MULTILINE)}


def test_each_kind_of_user_asks_ten_questions() -> None:
    assert {user: len(questions) for user, questions in QUESTIONS.items()} == {
        "engineer": 10,
        "reviewer": 10,
        "CI": 10,
        "contributor": 10,
    }


@pytest.mark.parametrize(
    ("question", "answer"),
    [pytest.param(*pair, id=pair[0]) for questions in QUESTIONS.values() for pair in questions.items()],
)
def test_a_question_has_its_page_and_heading(question: str, answer: str) -> None:
    page, _, heading = answer.partition("#")
    assert heading in headings(ROOT / page), question
