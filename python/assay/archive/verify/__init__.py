"""Whether a stored run is what it says: everything is worked out again from the lowest level that is stored."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay.archive.verify.evidence import Evidence
from assay.archive.verify.opening import refuse_unreadable
from assay.archive.verify.report import is_older
from assay.archive.verify.rule import PARTS, Answer, Broken, Rule
from assay.archive.verify.rules import RULES
from assay.errors import AssayError, StoreError
from assay.report.formats.write import foreign
from assay.results.outcome import stored_exit_codes, withheld_reason
from assay.version import tool_version
from assay.words.text import text

if TYPE_CHECKING:
    from pathlib import Path

    from assay.archive.verify.rule import Part

__all__ = ["RULES", "Answer", "Rule", "Verification", "verify_run"]

PLACES_MAX = 20
"""Of one rule that are named; the others are counted."""
_GATES: tuple[Part, ...] = ("folder", "tables")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What was found of one run folder.

    run_id, tool_version : of the run; empty where ``run.json`` does not tell. edition : its name. checker : version of
    the tool that verified it. rules : IDs of the rules that were checked. unchecked : of those that were not, because
    they rest on what is broken, or ask for what an earlier version did not store. answers : one for each place where
    a rule is broken, in the order of the rules.
    journal_hash : SHA-256 of the journal's last line. complete : the journal ends as that of a finished run; one that
    does not was interrupted or cut, which breaks no rule. sequence_count : stored sequences of steps; None where not
    known. withheld : what the run itself says against its results, by test; it stands whatever was verified.
    """

    checker: str
    edition: str = ""
    run_id: str = ""
    tool_version: str = ""
    rules: tuple[str, ...] = ()
    unchecked: tuple[str, ...] = ()
    answers: tuple[Answer, ...] = ()
    journal_hash: str = ""
    complete: bool = False
    sequence_count: int | None = None
    withheld: tuple[tuple[str, str], ...] = ()
    exit_codes: tuple[int, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether no rule is broken."""
        return not self.answers


def verify_run(folder: Path) -> Verification:
    """Hold a run folder against every rule.

    Nothing is written to it. Raises StoreError where it is no run folder, cannot be read, or is of a form that this
    version does not know.
    Worked: latencies divided by ten, and the hash chain made good -> answers of ``W-04``, ``W-12``, ``W-13``, ``V-04``.
    """
    refuse_unreadable(folder)
    evidence = Evidence(folder=folder)
    answers: list[Answer] = []
    checked: list[str] = []
    stopped = False
    for part in PARTS:
        if stopped and part not in _GATES:
            break
        for rule in (rule for rule in RULES if rule.part == part):
            if (rule.of_form and is_older(evidence)) or not _applies(rule, evidence):
                continue
            result = _asked(rule, evidence, broken=stopped)
            if result is not None:
                answers += result
                checked.append(rule.id)
            stopped |= bool(result) and part in _GATES
    left = tuple(rule.id for rule in RULES if rule.id not in checked)
    return _verification(evidence, tuple(checked), left, tuple(answers))


def _applies(rule: Rule, evidence: Evidence) -> bool:
    """Whether a run stores what a rule asks for; one that cannot be read is left to the rule, which says so."""
    try:
        return rule.applies is None or foreign(lambda: bool(rule.applies and rule.applies(evidence)), "")
    except AssayError:
        return True


def _asked(rule: Rule, evidence: Evidence, *, broken: bool) -> list[Answer] | None:
    """Let a rule answer. What stops it breaks it as well: nothing of a good folder does.

    broken : a rule that this one rests on is broken already; what stops it then says nothing, which is None.
    """
    try:
        found = foreign(lambda: tuple(rule.check(evidence)), str(evidence.folder))
    except AssayError as error:
        told = Broken(place=error.thing, found=error.reason, expected=rule.sentence)
        return None if broken else [_answer(rule, evidence, told)]
    answers = [_answer(rule, evidence, one) for one in found[:PLACES_MAX]]
    if (more := len(found) - PLACES_MAX) > 0:
        answers.append(Answer(rule=rule.id, place="", found=f"and in {more:,} more places", expected=rule.sentence))
    return answers


def _answer(rule: Rule, evidence: Evidence, broken: Broken) -> Answer:
    return Answer(rule=rule.id, place=evidence.place(broken.place), found=broken.found, expected=broken.expected)


def _verification(
    evidence: Evidence, checked: tuple[str, ...], left: tuple[str, ...], answers: tuple[Answer, ...]
) -> Verification:
    known = _known(evidence)
    with suppress(AssayError):
        # Where the run cannot be read, every rule that needs it has said so.
        known |= foreign(lambda: _of_run(evidence), str(evidence.folder))
    return Verification(**known, rules=checked, unchecked=left, answers=answers)


def _of_run(evidence: Evidence) -> dict[str, Any]:
    """What the run itself says of its end and against its results."""
    run, journal = evidence.run, evidence.journal
    withheld = ((test.settings.test, text(reason)) for test in run.tests if (reason := withheld_reason(test)))
    codes = stored_exit_codes(run)
    count = sum(line.kind == "steps" for line in journal.lines)
    end = {"journal_hash": journal.digest, "complete": journal.complete, "sequence_count": count}
    return {**end, "withheld": tuple(withheld), "exit_codes": codes}


def _known(evidence: Evidence) -> dict[str, Any]:
    """Who checked, and what ``run.json`` says of the run, where it can be read."""
    checker = tool_version()
    try:
        document = evidence.document
    except StoreError:
        return {"checker": checker}
    edition = str(document.edition.get("name", ""))
    written_by = document.platform.tool_version
    return {"checker": checker, "edition": edition, "run_id": document.run_id, "tool_version": written_by}
