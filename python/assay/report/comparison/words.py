"""The words of a comparison in one table: what stands beside a test, names of numbers, and a sentence per drive."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.compare.summary import LEVEL_SHARE
from assay.summary.measures import FIRST, LAST, MAXIMUM, SETTLED, percentile_key
from assay.words.coded import coded
from assay.words.digits import nth
from assay.words.text import joined, sentence, text

if TYPE_CHECKING:
    from assay.compare.numbers import NumberName
    from assay.compare.subject import Subject
    from assay.compare.summary import Cited, Remark, RemarkKind
    from assay.summary.record import Key
    from assay.words.coded import Coded

REMARKS: dict[RemarkKind, str] = {
    "leads": "best in {first} of {count}: {ahead}[; {behind}]",
    "trails": "[best in {first} of {count}; ]{behind}",
    "level": "within {share:share} of the best in all {count}",
    "state": "no number counts: {states}",
}
WORDS: dict[str, str] = {
    **{str(kind): words for kind, words in REMARKS.items()},
    "behind": "largest deficit to {other}: {number} ({times:times})",
    "rate-ahead": "{number} ({times:times} {other})",
    "time-ahead": "{number} ({share:share} of {other})",
    "unstable": "{count:cell} unstable",
    "stalls": "stalls {longest_ms:span}",
    "host": "host interference",
    "void": "{count:part} void",
    "short": "{count:step} too short",
    "sample-first": "{test} first sample",
    "sample-settled": "{test} settled",
    "sample-last": "{test} last sample",
    "size": "[{order} ]{way} {size:block}",
    "apart": "apart: {what}",
}
_ORDERS = {"RND": "random", "SEQ": "sequential", None: None}
_WAYS = {100: "read", 0: "write"}
_SAMPLES: dict[Key, str] = {FIRST: "sample-first", SETTLED: "sample-settled", LAST: "sample-last"}
_PARTS = {
    MAXIMUM: "max",
    **{percentile_key(share): nth(share) for share in (0.5, 0.9, 0.95, 0.99, 0.999, 0.9999, 0.99999)},
}


def worded(said: Coded) -> str:
    """A statement in words. Worked: ``coded("unstable", count=8)`` -> ``"8 cells unstable"``."""
    return text(said, WORDS)


def number_label(name: NumberName, unit: str) -> str:
    """A number as a row has it, with its unit. Worked: ``Random read 4 KiB, p99.9 (ms)``."""
    label = _short_name(name)
    return f"{label[:1].upper()}{label[1:]} ({unit})"


def number_phrase(name: NumberName) -> str:
    """A number within a sentence. Worked: ``p99.9 of random 4 KiB reads``, ``WSAT first sample per EUR``."""
    return f"{_phrase(name)} per {name.per}" if name.per else _phrase(name)


def _phrase(name: NumberName) -> str:
    if name.about is None:
        return _short_name(name)
    accesses = text(coded("subject", subject=name.about), {"subject": "{subject}"})
    return f"{_part(name)} of {accesses}" if name.unit == "ms" else accesses


def remark_sentence(remark: Remark, states: str) -> str:
    """One sentence of a drive. states : of its tests, where no number counts.

    Worked: ``Best in 4 of 12: random 4 KiB writes (4.5x C); largest deficit to B: p99.9 of random 4 KiB reads (1.6x).``
    """
    behind = remark.behind
    values = {
        "first": remark.first or None,
        "count": remark.count,
        "ahead": joined(_ahead(one) for one in remark.ahead) if remark.ahead else None,
        "behind": _behind(behind) if behind else None,
        "share": 1 - LEVEL_SHARE,
        "states": states,
    }
    return sentence(worded(coded(remark.kind, **values)))


def _ahead(cited: Cited) -> str:
    name = cited.number.name
    code = "time-ahead" if name.better == "lower" else "rate-ahead"
    return worded(
        coded(code, number=number_phrase(name), share=cited.share, times=1 / cited.share, other=cited.other.letter)
    )


def _behind(cited: Cited) -> str:
    values = {"times": 1 / cited.share, "other": cited.other.letter}
    return worded(coded("behind", number=number_phrase(cited.number.name), **values))


def _short_name(name: NumberName) -> str:
    about, code = name.about, _SAMPLES.get(name.cell)
    if code:
        return worded(coded(code, test=name.shown))
    if about is None or about.read_pct not in _WAYS:
        return name.label
    order = _ORDERS[about.order]
    label = worded(coded("size", order=order, way=_WAYS[about.read_pct], size=about.size_bytes))
    return f"{label}, {_part(name)}" if name.unit == "ms" else label


def _part(name: NumberName) -> str:
    """What of the response times a number is. Worked: ``latency_ms_p99.9`` -> ``"p99.9"``."""
    return _PARTS.get(name.name, "mean")


def order_text(letters: list[list[Subject]]) -> str:
    """Drives from the best on; those of one place are joined. Worked: B first, A and C equal -> ``"B A=C"``."""
    return " ".join("=".join(one.letter for one in group) for group in letters)
