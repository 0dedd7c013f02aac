"""Whether two runs were made under like conditions: every difference by name."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from assay.compare.subject import Unlikeness
from assay.errors import UnlikeRunsError, joined
from assay.spec.units import KIB, MIB, duration_label
from assay.summary.conditions import test_conditions
from assay.words.printed import capacity_label, printable, size_label

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.compare.subject import LoadedRun, Subject
    from assay.engine.records import StoredRun, StoredTest
    from assay.summary.record import TestSummary

_SHARE_TOLERANCE = 1e-3
"""Amounts of two drives are alike where they are this near to the same share of their capacities."""
_AMOUNT, _SEGMENTS = "range_amount_bytes", "segment_count"


def unlike(first: LoadedRun, other: LoadedRun) -> tuple[Unlikeness, ...]:
    """Every condition of ``other`` that is not that of ``first``, those of the whole run before those of tests.

    Worked: two runs of the same plan on two drives of one size -> none.
    """
    return tuple(chain(_of_run(first, other), _of_tests(first, other)))


def with_unlike(subjects: Sequence[Subject], *, despite: bool, blind: bool) -> tuple[Subject, ...]:
    """The subjects, each with how its runs differ from the first run of the first, each difference once.

    Raises UnlikeRunsError for the first subject that differs unless ``despite`` is set.
    """
    first = subjects[0].first
    found = [dict.fromkeys(chain.from_iterable(unlike(first, run) for run in subject.runs)) for subject in subjects]
    for subject, listed in zip(() if despite else subjects, () if despite else found, strict=True):
        if listed:
            raise unlike_error(first, subject.first, tuple(listed))
    shown = [[replace(each, first="", other="") for each in listed] if blind else listed for listed in found]
    return tuple(replace(subject, unlike=tuple(listed)) for subject, listed in zip(subjects, shown, strict=True))


def held_conditions(run: StoredRun, test: StoredTest) -> dict[str, Any]:
    """What runs of one drive model share where a number of a test is followed over time: its settings by their names.

    With the scale of the plan, the write cache and faults of the drive. Host and versions are left out: they are what
    may change in between. Worked: ``demand.queue_depth`` 16, ``scale`` 1.0.
    """
    identity = run.identity
    drive = {"write_cache": identity.write_cache, "faults": identity.faults_label}
    return {**test_conditions(test), "scale": run.plan.get("scale", 1.0), **drive}


def condition_words(key: str, value: Any) -> tuple[str, str]:
    """A condition in words: its name and its value.

    Worked: ``demand.queue_depth`` of 16 -> ``("demand, queue depth", "16")``.
    """
    return _name(key), _shown(key, value)


def unlike_error(first: LoadedRun, other: LoadedRun, unlikenesses: Sequence[Unlikeness]) -> UnlikeRunsError:
    """All differences as one error, a line each."""
    remedy = "compare runs of the same plan, or list it separately with --despite"
    return joined(
        [UnlikeRunsError(other.path, f"unlike {first.path}, {unlikeness.text}", remedy) for unlikeness in unlikenesses]
    )


def _of_run(first: LoadedRun, other: LoadedRun) -> Iterator[Unlikeness]:
    facts = zip(_run_facts(first), _run_facts(other), strict=True)
    for (what, one), (_, two) in facts:
        if one != two:
            yield Unlikeness(test="", what=what, first=printable(one), other=printable(two))


def _run_facts(run: LoadedRun) -> tuple[tuple[str, Any], ...]:
    summary, platform = run.summary, run.summary.platform
    # Virtual time passes alike on every host.
    host = ("virtual time",) * 3 if summary.is_simulated else (platform.host_id, platform.cpu, platform.kernel)
    return (
        ("edition", summary.edition),
        ("label", summary.label_class),
        ("scale", summary.scale),
        ("host", host[0]),
        ("processor", host[1]),
        ("kernel", host[2]),
        ("tool", f"{platform.tool} {platform.tool_version}"),
        ("write cache", run.identity.write_cache),
        ("faults on purpose", run.identity.faults_label),
    )


def _of_tests(first: LoadedRun, other: LoadedRun) -> Iterator[Unlikeness]:
    others = {test.prefix: test for test in other.summary.tests}
    sizes = first.identity.capacity_bytes, other.identity.capacity_bytes
    for test in first.summary.tests:
        if test.prefix in others:
            yield from _of_test(test, others[test.prefix], sizes)


def _of_test(first: TestSummary, second: TestSummary, sizes: tuple[int, int]) -> Iterator[Unlikeness]:
    ours, theirs = dict(first.conditions), dict(second.conditions)
    segment_bytes = _common_segment(ours, theirs)
    for key in dict.fromkeys((*ours, *theirs)):
        values = ours.get(key), theirs.get(key)
        slack_bytes = segment_bytes if key == _AMOUNT else 0
        follows = bool(segment_bytes) and _last(key) == _SEGMENTS
        if not follows and not _alike(key, values, sizes, slack_bytes):
            shown = [_shown(key, value) for value in values]
            yield Unlikeness(test=first.label, what=_name(key), first=shown[0], other=shown[1])


def _last(key: str) -> str:
    return key.rpartition(".")[2]


def _name(key: str) -> str:
    """A setting in words, without its unit. Worked: ``demand.queue_depth`` -> ``demand, queue depth``."""
    return key.removesuffix("_ns").removesuffix("_bytes").replace("_", " ").replace(".", ", ")


def _shown(key: str, value: Any) -> str:
    """A setting as printed, lists and what they hold included.

    Worked: ``step_ns`` of 60,000,000,000 -> ``1 min``; ``sizes_bytes`` of 4,096 and 8,192 -> ``4KiB, 8KiB``.
    """
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return " ".join(f"{_name(str(inner))} {_shown(str(inner), one)}" for inner, one in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(_shown(key, one) for one in value) or "none"
    if key.endswith("_bytes") and isinstance(value, int):
        return size_label(value) if value < MIB * KIB else capacity_label(value)
    return duration_label(value) if key.endswith("_ns") and isinstance(value, int) else printable(value)


def _common_segment(ours: dict[str, Any], theirs: dict[str, Any]) -> float:
    """The size of the segments of both ranges, to which an amount is rounded; 0 where there is none.

    Worked: 59 segments of 8 MiB on 1 GB, 238 on 4 GB -> 8388608.0.
    """
    one, two = (each[_AMOUNT] / each[_SEGMENTS] if each.get(_SEGMENTS) else 0.0 for each in (ours, theirs))
    return one if one == two else 0.0


def _alike(key: str, values: tuple[Any, Any], sizes: tuple[int, int], slack_bytes: float) -> bool:
    if values[0] == values[1]:
        return True
    if not key.endswith("_bytes") or not all(isinstance(value, int) for value in values):
        return False
    one, two = (float(value) / size for value, size in zip(values, sizes, strict=True))
    return abs(one - two) <= max(_SHARE_TOLERANCE * max(one, two), slack_bytes / min(sizes))
