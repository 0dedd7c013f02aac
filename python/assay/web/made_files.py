"""Files that the child process makes: reports and bundles to download, and the verification kept with a page."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from assay.words.visible import unicode_name, visible

if TYPE_CHECKING:
    from pathlib import Path

    from assay.archive.verify import Verification
    from assay.engine.records import StoredRun

CSV_FILE = "csv.zip"
BUNDLE = "bundle"
FILE = "verification.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """title : of the link. file : name of the file that is made, in its own folder of the cache."""

    title: str
    file: str


RUN_FORMATS = {
    "pdf": Format(title="PDF", file="report.pdf"),
    "html": Format(title="HTML", file="report.html"),
    "xlsx": Format(title="Workbook", file="report.xlsx"),
    "csv": Format(title="CSV", file=CSV_FILE),
    "json": Format(title="JSON", file="results.json"),
    BUNDLE: Format(title="Bundle", file="run.assay"),
}
"""By their keys in an address; all but the bundle are formats of ``assay report``."""
COMPARISON_FORMATS = {
    "pdf": Format(title="PDF", file="report.pdf"),
    "html": Format(title="HTML", file="report.html"),
    "xlsx": Format(title="Workbook", file="comparison.xlsx"),
    "csv": Format(title="CSV", file=CSV_FILE),
    "json": Format(title="JSON", file="comparison.json"),
}
"""The files of ``assay compare --out``, its CSV files as one archive."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenRule:
    """A broken rule at one location. statement : the rule. actual, expected : values at the location."""

    rule: str
    statement: str
    location: str
    actual: str
    expected: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """The verification of a run. level : as the report prints it. broken : in the order of the rules."""

    level: str
    broken: tuple[BrokenRule, ...] = ()


def checked_run(folder: Path) -> tuple[StoredRun, Verified]:
    """A run with its level, checked unless it was before, and the rules that it breaks.

    Rules of its report are left out: the report is made anew here. Raises StoreError.
    """
    from assay.archive.levels import known_check, with_level  # noqa: PLC0415 - heavy, and only of the child
    from assay.archive.rendering import stored_run  # noqa: PLC0415
    from assay.archive.verify import verify_run  # noqa: PLC0415
    from assay.dut.real.platform import host_id  # noqa: PLC0415
    from assay.report.annex.trust import level_label  # noqa: PLC0415

    verifications: list[Verification] = []

    def verify(path: Path) -> Verification:
        verifications.append(verify_run(path))
        return verifications[-1]

    run = with_level(stored_run(folder), folder, host_id(), verify=verify)
    if not verifications and known_check(run, folder) is False:
        # The kept check has no locations.
        verify(folder)
    broken = tuple(rule for verification in verifications for rule in _broken(verification))
    return run, Verified(level=level_label(run), broken=broken)


def keep_verified(folder: Path, verified: Verified) -> None:
    """Write the file that ``kept_verified`` reads."""
    (folder / FILE).write_text(json.dumps(asdict(verified)), "utf-8")


def kept_verified(folder: Path) -> Verified:
    """The verification kept with a page, with texts made safe to show. Raises OSError."""
    kept = json.loads((folder / FILE).read_bytes())
    rules = (BrokenRule(**{name: visible(text) for name, text in rule.items()}) for rule in kept["broken"])
    return Verified(level=visible(kept["level"]), broken=tuple(rules))


def _broken(verification: Verification) -> list[BrokenRule]:
    from assay.archive.verify import RULES  # noqa: PLC0415 - as above

    rules = {rule.id: rule for rule in RULES if rule.part != "report"}
    return [
        BrokenRule(
            rule=answer.rule,
            statement=rules[answer.rule].sentence,
            location=unicode_name(answer.place),
            actual=unicode_name(answer.found),
            expected=unicode_name(answer.expected),
        )
        for answer in verification.answers
        if answer.rule in rules
    ]
