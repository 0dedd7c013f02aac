"""Names of the places in a report on the screen. They stay when another test is added."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from assay.summary.pages.model import Page

# What a subtitle prints of a result or a demand: it is no part of the place's name.
_VALUE = re.compile(r"\w+=\S+( [mun]?s\b)?")


def slug(text: str) -> str:
    """Turn a text into a word for addresses. Worked: ``"ART, 4 KiB"`` is ``art-4-kib``."""
    return "-".join(re.findall(r"[a-z0-9]+", _VALUE.sub("", text).lower())) or "place"


def test_pages(prefix: str, outcome: str, pages: Iterable[Page]) -> Iterator[Page]:
    """The pages of one test under its name; the first has the name alone as its anchor.

    prefix : name and number of the test, such as ``iops-1``. outcome : how it came out, which the first page holds.
    """
    part = prefix.removesuffix("-1")
    for index, page in enumerate(pages):
        anchor = slug(f"{part} {page.subtitle}") if index else slug(part)
        yield replace(page, part=part.upper(), outcome="" if index else outcome, anchor=anchor)


def unique(wanted: Iterable[str]) -> list[str]:
    """The names, each once. Worked: ``["a", "a"]`` gives ``["a", "a-2"]``."""
    given: list[str] = []
    for name in wanted:
        numbered = (f"{name}-{number}" for number in range(2, len(given) + 3))
        given.append(name if name not in given else next(one for one in numbered if one not in given))
    return given
