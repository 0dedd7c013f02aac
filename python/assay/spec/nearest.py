"""The known word that a wrong one is nearest to: the one place that says what somebody may have meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_LENGTH_MAX = 64
"""Longer texts are no misspelled words, and comparing them takes the square of their length."""


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that is most like another, None where none is.

    A name with a place in front of it is also known by what follows its last ``/`` or ``:``; letters may be of either
    case, and the dashes of an option make none alike. Worked: ``nearest("sdb", ["/dev/sdb"])`` is ``"/dev/sdb"``,
    ``nearest("clinet", ["client"])`` is ``"client"``.
    """
    from difflib import get_close_matches  # noqa: PLC0415 - loaded by those who have misspelled something

    forms: dict[str, str] = {}
    for whole in known:
        for form in (whole, whole.rpartition("/")[2], whole.rpartition(":")[2]):
            forms.setdefault(form.casefold().lstrip("-"), whole)
    result = get_close_matches(word.strip()[:_LENGTH_MAX].casefold().lstrip("-"), forms, n=1)
    return forms[result[0]] if result else None


def did_you_mean(word: str, known: Iterable[str], otherwise: str) -> str:
    """A remedy that names the nearest known word. otherwise : what it is where none is near.

    Worked: ``did_you_mean("seeed", ["seed"], "remove it")`` is ``'did you mean "seed"?'``.
    """
    result = nearest(word, known)
    return otherwise if result is None else f'did you mean "{result}"?'
