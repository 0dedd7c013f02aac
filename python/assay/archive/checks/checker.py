"""Whether a run keeps the rules: as this user's host found it before, or as it finds it now."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.archive.checks.content import run_content
from assay.archive.checks.record import Check, keep, kept_checks, rules_version, seal_of
from assay.archive.verify import RULES, verify_run
from assay.errors import AssayError
from assay.run.store.journal import JOURNAL_NAME
from assay.run.store.status import run_state
from assay.spec.files import open_inside

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from assay.archive.checks.content import RunContent
    from assay.archive.verify import Verification
    from assay.engine.records import StoredRun

_TAIL_BYTES = 128
_GOES_ON = {"running", "suspended"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What is known of a run.

    passed : it keeps every rule; None where it was not checked. unkept : why that cannot be kept in the state folder.
    """

    passed: bool | None
    unkept: str | None = None


def known_check(run: StoredRun, folder: Path) -> bool | None:
    """Whether a run keeps all rules, as it was checked before; None where it was not, or has changed since."""
    try:
        candidates = kept_checks().get(_seal(folder), [])
        # Digests are made only where a line could fit.
        content = run_content(folder) if candidates else None
    except OSError:
        return None
    fitting = [check for check in candidates if content and _is_of(check, run, content)]
    return fitting[-1].passed if fitting else None


def check_run(run: StoredRun, folder: Path, verify: Callable[[Path], Verification] = verify_run) -> Checked:
    """Hold a run against the rules now, unless that was done before, and keep how they came out.

    A run that goes on is not checked: it changes. verify : the rules. Raises nothing.
    """
    known = known_check(run, folder)
    if known is not None:
        return Checked(passed=known)
    try:
        if run_state(folder).state in _GOES_ON:
            return Checked(passed=None)
        verification, unkept = verify_and_keep(folder, verify)
    except (AssayError, OSError):
        return Checked(passed=None)
    return Checked(passed=_passed(verification), unkept=unkept)


def verify_and_keep(
    folder: Path, verify: Callable[[Path], Verification] = verify_run
) -> tuple[Verification, str | None]:
    """What the rules say of a run folder, and why that could not be kept; None where it was. Raises as ``verify``."""
    before, seal = _now(folder)
    verification = verify(folder)
    if before is None or not seal or (before, seal) != _now(folder) or not verification.journal_hash:
        return verification, None
    check = Check(
        run_id=verification.run_id,
        document=before.document,
        journal=before.journal,
        journal_hash=verification.journal_hash,
        seal=seal,
        tables=before.tables,
        rules=rules_version(),
        passed=_passed(verification),
    )
    return verification, keep(check)


def _passed(verification: Verification) -> bool:
    """Whether the run keeps every rule; a report that differs from it can be made anew and says nothing of it."""
    of_report = {rule.id for rule in RULES if rule.part == "report"}
    return all(answer.rule in of_report for answer in verification.answers)


def _now(folder: Path) -> tuple[RunContent | None, str]:
    """What a folder holds, and the seal of its journal; nothing of one that cannot be read."""
    try:
        return run_content(folder), _seal(folder)
    except OSError:
        return None, ""


def _is_of(check: Check, run: StoredRun, content: RunContent) -> bool:
    return (check.run_id, check.journal_hash, check.document, check.journal, check.tables) == (
        run.run_id,
        _journal_hash(run),
        content.document,
        content.journal,
        content.tables,
    )


def _journal_hash(run: StoredRun) -> str:
    return run.journal.hash if run.journal else ""


def _seal(folder: Path) -> str:
    """The hash at the end of the journal; empty of a last line that is not whole. Raises OSError."""
    with os.fdopen(open_inside(folder, JOURNAL_NAME), "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(size - _TAIL_BYTES, 0))
        return seal_of(file.read())
