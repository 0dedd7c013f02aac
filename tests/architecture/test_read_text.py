"""Numbers stay numbers: each place that takes text apart says what it reads, and ever fewer read what we printed."""

import ast
import re
from collections import Counter
from pathlib import Path

import pytest
from text_places import all_places, of_package, python_places, template_places

LIST = Path(__file__).with_name("read_text.txt")
READS = {"user input", "stored code", "foreign file", "path", "name of ours", "documentation", "looks only"}
OUR_OWN_WORDS = "OUR OWN WORDS"
PLACES = list(all_places())


def listed() -> list[tuple[str, str, int, str]]:
    """The entries of the list: what is read, the place, how often, why."""
    lines = [line for line in LIST.read_text("utf-8").splitlines() if not line.startswith(("#", "ratchet "))]
    return [entry(*re.split(" {2,}", line)) for line in lines]


def entry(reads: str, place: str, why: str) -> tuple[str, str, int, str]:
    name, _, count = place.rpartition(" x")
    return (reads, name, int(count), why) if count.isdecimal() and name else (reads, place, 1, why)


def ratchet() -> int:
    return int(re.findall(r"^ratchet (\d+)$", LIST.read_text("utf-8"), re.MULTILINE)[0])


def test_each_place_that_reads_text_is_listed() -> None:
    lines = dict(PLACES)
    found = Counter(place for place, _ in PLACES)
    known = Counter({place: count for _, place, count, _ in listed()})
    assert {place: f"line {lines[place]}, {count} more" for place, count in (found - known).items()} == {}


def test_the_list_has_no_place_that_is_gone() -> None:
    found = Counter(place for place, _ in PLACES)
    known = Counter({place: count for _, place, count, _ in listed()})
    assert known - found == Counter()


def test_each_entry_says_once_what_it_reads() -> None:
    assert {reads for reads, *_ in listed()} <= READS | {OUR_OWN_WORDS}
    assert [place for place, count in Counter(place for _, place, *_ in listed()).items() if count > 1] == []


def test_ever_fewer_places_read_our_own_words() -> None:
    """Lower the ratchet with each entry that goes."""
    assert sum(reads == OUR_OWN_WORDS for reads, *_ in listed()) == ratchet()


CASES = {
    "verdict.startswith('YES')": ["startswith('YES')"],
    "label.partition(': ')[0]": ["partition(': ')"],
    "_NUMBER.fullmatch(text)": ["_NUMBER.fullmatch"],
    "all(map(_NUMBER.fullmatch, cells))": ["_NUMBER.fullmatch"],
    "re.sub('a', '', text)": ["re.sub('a')"],
    "float(text)": ["float(text)"],
    "text.replace(',', '')": ["replace(',', '')"],
    "text[:1]": ["[:1]"],
    "'moved' in text": ["'moved' in text"],
    "text == 'not reached'": ["== 'not reached'"],
    "text in {'n/a', '-'}": ["in {'n/a', '-'}"],
    "replace(figure, title='')": [],
    "moment.replace(tzinfo=None)": [],
    "rows.index(row)": [],
    "rows[:1]": [],
    "name in rows": [],
    "state == 'steady'": [],
}


@pytest.mark.parametrize("code", CASES)
def test_places_are_found_in_code(code: str) -> None:
    tree = ast.parse(f"def shown(text: str, rows: list[int]) -> str:\n    return {code}")
    found = [place.removeprefix("shown::") for place, _ in python_places(tree, of_package())]
    assert found == CASES[code]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('{% if "not conforming" in first.outcome %}', ['"not conforming" in first.outcome']),
        ('if (heads[2] === "Unit") fold();', ['=== "Unit"']),
        ('let own = place.starts-with("A")', ['.starts-with("A"']),
        ('table.classList.contains("matrix")', []),
    ],
)
def test_places_are_found_in_templates(line: str, expected: list[str]) -> None:
    assert [place.removeprefix("template::") for place, _ in template_places(line)] == expected
