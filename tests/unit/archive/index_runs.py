"""Runs with texts drawn at random, put into an index without run folders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.archive.index.drive_use import DriveUse
from assay.archive.index.write import ReadRun, store_runs, writing
from assay.summary.forms import ListedDrive, ListedRun, ListedTest, Quoted
from assay.summary.record import Measure

if TYPE_CHECKING:
    from random import Random

    from assay.archive.index.location import Place

TEXTS = (
    "", "Night", "NIGHT 2", "night",
    "stra\xdfe", "STRASSE", "\u0130stanbul", "istanbul", "\u03a3\u03c2", "100 %", "a_b",
    "'; DROP TABLE assay_runs; --", "back\\slash", "two\nlines", "\u6771\u4eac", "nul\0", "half\ud83d", "sm\xe9",
)  # fmt: skip
"""Of runs and of what users look for: cases that fold to other lengths, signs of SQL, what no database takes."""
VERDICTS = ("steady", "not-steady", "not-settled", "not-judged", "no-rule", "withheld", "cut-short")
LABELS = ("conforming", "not-conforming", "simulated")


def listed_run(folder: str, /, **values: Any) -> ListedRun:
    """A run in a list, of which only some values matter."""
    base = {
        "run": folder, "run_id": folder, "name": "", "tags": (), "started": "then", "started_wall_ns": None,
        "drive": "/dev/x", "drive_facts": None, "edition": "e", "suite": "", "operator": "", "lab": "", "host": "",
        "system": "", "tool_version": "1", "label": "conforming", "label_class": "conforming", "deviations": (),
        "level": "self-checked", "complete": True, "interrupted": False, "journal_hash": f"hash {folder}",
        "journal_lines": 1, "run_schema": 5, "exit_code": 0, "exit_codes": (), "tests": (), "withheld": (),
        "fault": None, "numbers_fault": None, "missing": False,
    }  # fmt: skip
    return ListedRun(**{**base, **values})


def drive(
    model: str = "M", serial: str | None = "S1", firmware: str | None = "F1", drive_id: str = "S1"
) -> ListedDrive:
    """A drive of 1 TB."""
    return ListedDrive(
        id=drive_id, path="/dev/x", model=model, firmware=firmware, capacity_bytes=10**12, kind="block", serial=serial
    )


def a_test(name: str = "iops", verdict: str = "steady", edition: str = "e", **numbers: float) -> ListedTest:
    """A test with key results in IOPS by their items."""
    quoted = tuple(
        Quoted(item=item, unit="IOPS", value=value, least=None, greatest=None, basis="", claim=None)
        for item, value in numbers.items()
    )
    return ListedTest(
        test=name, procedure=name.partition("-")[0], edition=edition, measured="5 rounds", ended=None, reached=True,
        withheld=None, verdict=verdict, cut_short=False, started_wall_ns=0, ended_wall_ns=None, headlines=quoted,
    )  # fmt: skip


def drawn_run(random: Random, name: str) -> ListedRun:
    """One of any kind."""
    if random.random() < 0.1:
        return listed_run(name, fault="cannot be read", drive="unknown", label_class="unknown")

    def word() -> str:
        return random.choice(TEXTS)

    tests = tuple(
        a_test(random.choice(("iops", "tp-128", "tp-1024", "LAT")), random.choice(VERDICTS), random.choice("eEf"))
        for _ in range(random.randrange(4))
    )
    return listed_run(
        name, name=word(), lab=word(), host=word(), system=word(), drive=random.choice(("/dev/x", "/dev/Y", "sim:a")),
        tags=tuple(filter(None, (word() for _ in range(random.randrange(3))))), tests=tests,
        started_wall_ns=random.choice((None, -5, 0, 10, 20, 30)), label_class=random.choice(LABELS),
        drive_facts=drive(word(), random.choice((None, word())), random.choice((None, word())), word() or "id"),
    )  # fmt: skip


def store(index: Place, runs: list[ListedRun], site: str, parent: str = "/runs", **use: Any) -> None:
    """Put runs into an index as those of a host and folder. use : what each did to its drive."""
    with writing(index) as connection:
        reads = [
            ReadRun(folder=run.run, look="", listed=run, use=DriveUse(**use), measures=tuple(map(_measures, run.tests)))
            for run in runs
        ]
        store_runs(connection, site, parent, reads)


def _measures(test: ListedTest) -> tuple[Measure, ...]:
    """The key results of a test."""
    return tuple(
        Measure(cell=(), key="iops", label=one.item, unit=one.unit, value=one.value, stat="mean", quoted=True)
        for one in test.headlines
    )
