"""What is compared: runs and their repeats under letters, and every way in which their conditions differ."""

from __future__ import annotations

import hashlib
import hmac
import re
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from assay.compare.numbers import numbers_of, priced, test_state
from assay.errors import UnlikeRunsError, UsageError, joined
from assay.spec.units import KIB, MIB, count_label, duration_label, gigabytes_label
from assay.summary.conditions import test_conditions
from assay.words.printed import capacity_label, printable, size_label

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from assay.compare.numbers import Number, Price, State
    from assay.engine.records import DriveIdentity, StoredRun, StoredTest
    from assay.summary.pages.test_record import TestRecord
    from assay.summary.record import RunSummary, TestSummary


_LETTERS, _SHORT_MAX = 26, 20
SERIAL_PREFIX = "SIM-"
"""Begins the serial numbers of simulated drives, before the name of the model."""
_CAPACITY = re.compile(r"[ ,_-]*\b\d+(?:[.,]\d+)? ?[GT]i?B$", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedRun:
    """A run that is compared. path : as the user named it. content : what it holds, as the hash of its journal.

    records : its tests with curves and response times, for pages. price : of the drive, if known.
    states : how each test came out, with the reason, by its name.
    """

    path: str
    summary: RunSummary
    content: str
    records: Callable[[], Sequence[TestRecord]] = field(repr=False)
    price: Price | None = None
    numbers: dict[object, Number] = field(init=False, repr=False)
    states: dict[str, tuple[State, str]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Work the numbers out once."""
        result = {number.name.key: number for test in self.summary.tests for number in numbers_of(test)}
        if self.price:
            result |= {number.name.key: number for number in priced(result.values(), self.price)}
        object.__setattr__(self, "numbers", result)
        object.__setattr__(self, "states", {test.prefix: test_state(test) for test in self.summary.tests})

    @property
    def identity(self) -> DriveIdentity:
        """Who the drive is."""
        return self.summary.identity

    def record(self, test: str) -> TestRecord | None:
        """A test with its curves; None where the run has none of this name."""
        return next((record for record in self.records() if record.prefix == test), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unlikeness:
    """One way in which a run differs from the first. test : the one that it is of, empty for all.

    first, other : the values as printed; empty in a blind comparison, where they could tell who measured what.
    """

    test: str
    what: str
    first: str
    other: str

    @property
    def text(self) -> str:
        """The difference in words. Worked: ``LAT: demand, thread count 2 instead of 1``."""
        where = f"{self.test}: " if self.test else ""
        return f"{where}{self.what}" + (f" {self.other} instead of {self.first}" if self.other or self.first else "")


@dataclass(frozen=True, kw_only=True)
class Subject:
    """One column of a comparison. letter : ``A`` to ``Z``, then ``AA``. runs : one, or repeats of the same.

    model, short, serial, firmware, level, called : as printed; of a blind comparison what is told instead of them.
    unlike : how its runs differ in their conditions from the first run of the comparison.
    """

    letter: str
    runs: tuple[LoadedRun, ...]
    model: str
    short: str
    serial: str
    firmware: str
    capacity: str
    level: str
    called: str
    unlike: tuple[Unlikeness, ...] = ()

    def unlike_in(self, shown: str) -> tuple[Unlikeness, ...]:
        """The differences that keep it apart in a test. shown : the test as printed."""
        return tuple(unlikeness for unlikeness in self.unlike if unlikeness.test in {"", shown})

    @property
    def unlike_texts(self) -> tuple[str, ...]:
        """The differences in words."""
        return tuple(unlikeness.text for unlikeness in self.unlike)

    @property
    def run_count(self) -> int:
        """How many runs it has."""
        return len(self.runs)

    @property
    def first(self) -> LoadedRun:
        """The run that stands for all in figures."""
        return self.runs[0]

    @property
    def label(self) -> str:
        """How far its runs conform."""
        return self.first.summary.label_class

    @property
    def title(self) -> str:
        """Letter, short model and capacity, as legends have it. Worked: ``A MLC-A 256 GB``."""
        return " ".join(filter(None, (self.letter, self.short, self.capacity)))


def check_given_once(runs: Sequence[LoadedRun]) -> None:
    """Raise UsageError where a run is named twice, or is a copy of another."""
    seen: dict[str, LoadedRun] = {}
    for run in runs:
        if run.content in seen:
            reason = f"holds the same as {seen[run.content].path}"
            raise UsageError(run.path, reason, "name each run once: a copy is no repeat")
        seen[run.content] = run


def check_independent(runs: Sequence[LoadedRun]) -> None:
    """Raise UsageError where repeats of a simulated drive have the same seed: it does the very same again."""
    seen: dict[object, LoadedRun] = {}
    for run in runs:
        if not run.summary.is_simulated:
            continue
        key = (run.identity.id, run.summary.seed)
        if key in seen:
            reason = f"is no repeat of {seen[key].path}: the simulated drive and the seed are the same"
            raise UsageError(run.path, reason, "run each repeat with another --seed")
        seen[key] = run


def subjects_of(runs: Sequence[LoadedRun], *, repeats: bool) -> list[tuple[LoadedRun, ...]]:
    """The runs as subjects: each by itself, or those of one drive and firmware together as repeats.

    Raises as ``check_independent``.
    """
    if not repeats:
        return [(run,) for run in runs]
    groups: dict[object, list[LoadedRun]] = {}
    for run in runs:
        groups.setdefault((run.identity.id, run.identity.serial, run.identity.firmware), []).append(run)
    for group in groups.values():
        check_independent(group)
    return [tuple(group) for group in groups.values()]


def named(groups: Iterable[tuple[LoadedRun, ...]]) -> tuple[Subject, ...]:
    """Subjects with letters in the order given, under their own names."""
    return tuple(_named(letter(index), runs) for index, runs in enumerate(groups))


def blinded(groups: Iterable[tuple[LoadedRun, ...]], key: str) -> tuple[Subject, ...]:
    """Subjects under a class and a letter instead of their names.

    The order is that of a hash of what the runs hold, keyed with ``key``, so that the same runs in any order get the
    same letters, and who does not know the key and the runs learns nothing from them.
    """

    def keyed(runs: tuple[LoadedRun, ...]) -> str:
        content = "\n".join(sorted(run.content for run in runs)).encode()
        return hmac.new(key.encode(), content, hashlib.sha256).hexdigest()

    ordered = sorted(groups, key=keyed)
    return tuple(_blinded(letter(index), runs) for index, runs in enumerate(ordered))


def letter(index: int) -> str:
    """The letter of a place from 0. Worked: 0 -> ``A``, 25 -> ``Z``, 26 -> ``AA``."""
    return ("" if index < _LETTERS else chr(ord("A") + index // _LETTERS - 1)) + chr(ord("A") + index % _LETTERS)


def _named(name: str, runs: tuple[LoadedRun, ...]) -> Subject:
    identity = runs[0].identity
    more = f" and {count_label(len(runs) - 1, 'repeat')}" if len(runs) > 1 else ""
    return Subject(
        letter=name,
        runs=runs,
        model=_model(runs[0]),
        short=short_model(runs[0]),
        serial=printable(identity.serial),
        firmware=printable(identity.firmware),
        capacity=_capacity(runs),
        level="; ".join(dict.fromkeys(run.summary.level for run in runs)),
        called=printable(runs[0].path) + more,
    )


def _blinded(name: str, runs: tuple[LoadedRun, ...]) -> Subject:
    more = f", {len(runs)} repeats" if len(runs) > 1 else ""
    return Subject(
        letter=name, runs=runs, model=_class(runs[0]), short=_class(runs[0]), serial="-", firmware="-",
        capacity=_capacity(runs),
        level="imported" if any(run.summary.is_imported for run in runs) else runs[0].summary.level,
        called=f"blind{more}",
    )  # fmt: skip


def short_model(run: LoadedRun) -> str:
    """The model in at most 20 characters, without the capacity that many names of models end with.

    Of a simulated drive the name of its model. Worked: ``Samsung SSD 870 EVO 500GB`` -> ``Samsung SSD 870 EVO``.
    """
    identity = run.identity
    own = (identity.serial or "").removeprefix(SERIAL_PREFIX) if run.summary.is_simulated else ""
    whole = _CAPACITY.sub("", printable(own or identity.model_number or identity.path))
    return whole if len(whole) <= _SHORT_MAX else f"{whole[: _SHORT_MAX - 1].rstrip()}\N{HORIZONTAL ELLIPSIS}"


def _model(run: LoadedRun) -> str:
    """What the drive calls itself; of a simulated one without the capacity that it was modelled on."""
    whole = printable(run.identity.model_number or run.identity.path)
    return _CAPACITY.sub("", whole) if run.summary.is_simulated else whole


def _class(run: LoadedRun) -> str:
    """The class of a drive by how it is attached; nothing of what it calls itself is printed.

    Worked: an interface of ``PCIe 4.0 x4`` -> ``NVMe drive``.
    """
    interface = (run.identity.interface or "").upper()
    known = {"SAS": "SAS drive", "SATA": "SATA drive", "PCI": "NVMe drive", "NVME": "NVMe drive"}
    kind = next((text for word, text in known.items() if word in interface), "drive")
    return f"simulated {kind}" if run.summary.is_simulated else kind


def _capacity(runs: Sequence[LoadedRun]) -> str:
    return gigabytes_label(runs[0].identity.capacity_bytes, 0)


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
    result = []
    for subject in subjects:
        listed = tuple(dict.fromkeys(chain.from_iterable(unlike(first, run) for run in subject.runs)))
        if listed and not despite:
            remedy = "compare runs of the same plan, or list it separately with --despite"
            reasons = (f"unlike {first.path}, {unlikeness.text}" for unlikeness in listed)
            raise joined([UnlikeRunsError(subject.first.path, reason, remedy) for reason in reasons])
        shown = tuple(replace(unlikeness, first="", other="") for unlikeness in listed) if blind else listed
        result.append(replace(subject, unlike=shown))
    return tuple(result)


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


def _of_run(first: LoadedRun, other: LoadedRun) -> Iterator[Unlikeness]:
    ours, theirs = _run_conditions(first), _run_conditions(other)
    for what, value in ours.items():
        if value != theirs[what]:
            yield Unlikeness(test="", what=what, first=printable(value), other=printable(theirs[what]))


def _run_conditions(run: LoadedRun) -> dict[str, Any]:
    summary, platform = run.summary, run.summary.platform
    # Virtual time passes alike on every host.
    host = ("virtual time",) * 3 if summary.is_simulated else (platform.host_id, platform.cpu, platform.kernel)
    return {
        "edition": summary.edition,
        "label": summary.label_class,
        "scale": summary.scale,
        **dict(zip(("host", "processor", "kernel"), host, strict=True)),
        "tool": f"{platform.tool} {platform.tool_version}",
        "write cache": run.identity.write_cache,
        "faults on purpose": run.identity.faults_label,
    }


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
        follows = bool(segment_bytes) and key.rpartition(".")[2] == _SEGMENTS
        if not follows and not _alike(key, values, sizes, slack_bytes):
            shown = [_shown(key, value) for value in values]
            yield Unlikeness(test=first.label, what=_name(key), first=shown[0], other=shown[1])


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
        return " ".join(f"{_name(str(inner))} {_shown(str(inner), item)}" for inner, item in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(_shown(key, item) for item in value) or "none"
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
