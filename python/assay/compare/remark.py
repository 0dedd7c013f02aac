"""What one sentence says of each subject beside the others, as a kind and its values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from assay.compare.standing import Ranked, Standing
    from assay.compare.subject import Subject

RemarkKind = Literal["leads", "trails", "level", "state"]
"""``leads`` : it is clearly the best of a number. ``trails`` : of none, and far from the best of some.
``level`` : no number of it is far from the best. ``state`` : none of its numbers counts."""

LEVEL_SHARE = 0.9
"""From this share of the best on a subject is level with it."""
_NUMBERS_MAX = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Cited:
    """A number that a remark names. share : of the best, by ``other``; of one that leads, of the next one by it."""

    number: Ranked
    share: float
    other: Subject


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """One sentence. first : in how many numbers it is the best, of how many it has; maxima are none of them.

    ahead : those in which it leads most; behind : that in which it is farthest from the best, None where it is level.
    """

    kind: RemarkKind
    subject: Subject
    first: int = 0
    count: int = 0
    ahead: tuple[Cited, ...] = ()
    behind: Cited | None = None


def remarks(subjects: Sequence[Subject], numbers: Sequence[Ranked]) -> tuple[Remark, ...]:
    """A remark for each subject, in their order."""
    return tuple(_remark(subject, numbers, index) for index, subject in enumerate(subjects))


def _remark(subject: Subject, numbers: Sequence[Ranked], index: int) -> Remark:
    own = [
        (number, number.standings[index])
        for number in numbers
        if number.standings[index].order is not None and number.name.stat != "maximum"
    ]
    if not own:
        return Remark(kind="state", subject=subject)
    ahead = sorted((_lead(one) for one, standing in own if _is_first(standing)), key=lambda cited: cited.share)
    clear = tuple(_unlike(one for one in ahead if one.share < LEVEL_SHARE))[:_NUMBERS_MAX]
    behind = _farthest(own)
    kind: RemarkKind = "leads" if clear else "trails" if behind else "level"
    return Remark(kind=kind, subject=subject, first=len(ahead), count=len(own), ahead=clear, behind=behind)


def _unlike(citeds: Iterable[Cited]) -> Iterator[Cited]:
    """Of several numbers of the same accesses the one in which it leads most."""
    seen: set[object] = set()
    for cited in citeds:
        about = (cited.number.name.about or cited.number.name.cell, cited.number.name.unit)
        if about not in seen:
            seen.add(about)
            yield cited


def _is_first(standing: Standing) -> bool:
    return standing.order == 1


def _lead(number: Ranked) -> Cited:
    """How far the best of a number is ahead of the next. Worked: 100 and 25 IOPS -> a share of 0.25."""
    following = number.counted[1]
    return Cited(number=number, share=following.share or 1.0, other=following.subject)


def _farthest(own: Sequence[tuple[Ranked, Standing]]) -> Cited | None:
    """The number in which a subject is farthest from the best; None where it is level in all."""
    one, standing = min(own, key=lambda pair: pair[1].share or 1.0)
    share = standing.share or 1.0
    return Cited(number=one, share=share, other=one.best.subject) if share < LEVEL_SHARE else None
