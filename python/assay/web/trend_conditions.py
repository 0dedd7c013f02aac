"""The conditions that runs of a trend share, in words: in the list of tests, and below the chart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.compare.subject import condition_words
from assay.words.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from assay.archive.index.history import Metric

_NAMED_MAX = 3
_UNKNOWN = "conditions unknown"


def test_word(metric: Metric) -> str:
    """The test of a metric in an address. Worked: ``iops`` by edition 1.1 -> ``"iops@1.1@5c1f0a9e77d2"``.

    The last part is the digest of the conditions; a result of an index of an earlier version has none.
    """
    return visible("@".join(filter(None, (metric.test, metric.edition, metric.conditions_key))))


def test_labels(metrics: Iterable[Metric]) -> dict[str, str]:
    """The tests of some metrics by their words, as a list names them.

    Conditions are named where those of the same test and edition differ, at most three of them.
    Worked: ``iops`` by edition 1.1 with queue depths 16 and 32 -> ``"iops, edition 1.1 (demand, queue depth 16)"``.
    """
    kinds: dict[str, Metric] = {}
    for metric in metrics:
        kinds.setdefault(test_word(metric), metric)
    return {word: _label(metric, _same(metric, kinds.values())) for word, metric in kinds.items()}


def condition_rows(metric: Metric) -> list[tuple[str, str]]:
    """All conditions of a metric, by name and value as printed; those without a value are left out."""
    words = (condition_words(key, value) for key, value in metric.held.items() if value is not None)
    return [(visible(name), visible(value)) for name, value in words]


def _same(metric: Metric, others: Iterable[Metric]) -> list[dict[str, Any]]:
    """The conditions of each result of the same test and edition."""
    return [other.held for other in others if (other.test, other.edition) == (metric.test, metric.edition)]


def _label(metric: Metric, same: Sequence[dict[str, Any]]) -> str:
    text = f"{metric.test}, edition {metric.edition}"
    if len(same) > 1:
        text += f" ({_differing(metric.held, same)})"
    return visible(text)


def _differing(held: dict[str, Any], same: Sequence[dict[str, Any]]) -> str:
    if not held:
        return _UNKNOWN
    known = [other for other in same if other]
    keys = [key for key, value in held.items() if any(other.get(key) != value for other in known)]
    words = [" ".join(condition_words(key, held[key])) for key in keys[:_NAMED_MAX]]
    more = len(keys) - len(words)
    return "; ".join([*words, *([f"{more} more"] if more else [])]) or "conditions known"
