"""The rules that a run breaks, worked out by the child process and kept next to the page that it made."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from assay.words.visible import unicode_name, visible

if TYPE_CHECKING:
    from pathlib import Path

    from assay.archive.verify import Verification
    from assay.engine.records import StoredRun

FILE = "broken_rules.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenRule:
    """A rule that does not hold, at one location. statement : what should hold. actual, expected : at the location."""

    rule: str
    statement: str
    location: str
    actual: str
    expected: str


def checked_run(folder: Path) -> tuple[StoredRun, tuple[BrokenRule, ...]]:
    """A run with its level, checked where it was not yet, and the rules that it breaks.

    Rules of its report are left out: the report is made anew here. Raises StoreError.
    """
    from assay.archive.checks.checker import known_check  # noqa: PLC0415 - heavy, and only of the child
    from assay.archive.levels import with_level  # noqa: PLC0415
    from assay.archive.rendering import stored_run  # noqa: PLC0415
    from assay.archive.verify import verify_run  # noqa: PLC0415
    from assay.dut.real.platform import host_id  # noqa: PLC0415

    verifications: list[Verification] = []

    def verify(path: Path) -> Verification:
        verifications.append(verify_run(path))
        return verifications[-1]

    run = with_level(stored_run(folder), folder, host_id(), verify=verify)
    if not verifications and known_check(run, folder) is False:
        # That it fails is kept, but not where.
        verify(folder)
    return run, tuple(rule for verification in verifications for rule in _broken(verification))


def keep_broken(folder: Path, rules: tuple[BrokenRule, ...]) -> None:
    """Write what ``kept_broken`` reads."""
    (folder / FILE).write_text(json.dumps([asdict(rule) for rule in rules]), "utf-8")


def kept_broken(folder: Path) -> tuple[BrokenRule, ...]:
    """The rules that a run breaks, with texts made safe to show; empty where none was kept."""
    try:
        rules = json.loads((folder / FILE).read_bytes())
    except FileNotFoundError:
        return ()
    return tuple(BrokenRule(**{name: visible(text) for name, text in rule.items()}) for rule in rules)


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
