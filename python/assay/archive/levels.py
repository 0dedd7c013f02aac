"""How far to trust a run: whether it keeps the rules, and where it comes from, by the keys that this user trusts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.archive.checks import Check, journal_seal, keep, kept_checks, known_result, rules_version, run_content
from assay.archive.verify import RULES, verify_run
from assay.errors import AssayError
from assay.run.store.status import run_state
from assay.spec.files import config_folder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from assay.archive.checks import RunContent
    from assay.archive.verify import Verification
    from assay.engine.records import StoredRun


_GOES_ON = {"running", "suspended"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """The check of a run. passed : it keeps every rule; None if unchecked. unkept : why the check cannot be kept."""

    passed: bool | None
    unkept: str | None = None


def known_check(run: StoredRun, folder: Path) -> bool | None:
    """Whether a run keeps all rules by an earlier check; None without one, or if the run has changed since."""
    try:
        seal = journal_seal(folder)
        # Digests are made only where a line could fit.
        content = run_content(folder) if kept_checks().get(seal) else None
    except OSError:
        return None
    journal_hash = run.journal.hash if run.journal else ""
    return None if content is None else known_result(run.run_id, journal_hash, content, seal)


def check_run(run: StoredRun, folder: Path, verify: Callable[[Path], Verification] = verify_run) -> Checked:
    """Check a run by the rules, unless it was checked before, and keep the result.

    A run that goes on is not checked: it changes. verify : checks a folder. Raises nothing.
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
    """Verify a run folder. Returns why the check could not be kept as well; None if it was. Raises as ``verify``."""
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
    """Whether the run keeps every rule, those of its report aside: a report can be made anew."""
    of_report = {rule.id for rule in RULES if rule.part == "report"}
    return all(answer.rule in of_report for answer in verification.answers)


def _now(folder: Path) -> tuple[RunContent | None, str]:
    """The content of a folder and the seal of its journal; None and ``""`` if it cannot be read."""
    try:
        return run_content(folder), journal_seal(folder)
    except OSError:
        return None, ""


def with_level(
    run: StoredRun,
    folder: Path,
    host_id: str | None,
    *,
    verify: Callable[[Path], Verification] = verify_run,
    unkept: Callable[[str], None] = lambda _: None,
) -> StoredRun:
    """A run with its level. If this user has not checked it yet, it is checked now, as ``assay verify`` does.

    A run is checked once: the result is kept in the user's state folder. unkept : called with the reason if it cannot
    be kept. host_id : of this host. Raises StoreError if the trusted keys cannot be read.
    """
    result = check_run(run, folder, verify)
    if result.unkept is not None:
        unkept(result.unkept)
    return _with_origin(run, folder, host_id, checked=result.passed, whole=True)


def with_known_level(run: StoredRun, folder: Path, host_id: str | None) -> StoredRun:
    """A run with its level by earlier checks. Captures are not compared with a bundle. Raises as ``with_level``."""
    return _with_origin(run, folder, host_id, checked=known_check(run, folder), whole=False)


def _with_origin(run: StoredRun, folder: Path, host_id: str | None, *, checked: bool | None, whole: bool) -> StoredRun:
    from assay.archive.bundle import trusted_keys, with_origin  # noqa: PLC0415 - heavy

    keys = trusted_keys(config_folder())
    return with_origin(run, folder, keys, host_id=host_id, checked=checked, whole=whole)
