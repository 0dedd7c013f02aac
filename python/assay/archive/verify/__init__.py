"""Verification of run folders: what enters is a folder, what leaves is every place where a rule is broken.

``rules`` is the one table of rules, each bound to the function that checks it (``folder``, ``steps``, ``drive``,
``verdicts``, ``report``). ``Evidence`` reads the folder for them. Rules recompute values from the lowest level that is
stored. Nothing is written.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay.archive.verify.evidence import PARTS, Answer, Broken, Evidence, Rule, refuse_unreadable
from assay.archive.verify.report import is_older
from assay.archive.verify.rules import RULES
from assay.errors import AssayError, StoreError
from assay.report.formats.write import foreign
from assay.results.outcome import stored_exit_codes, withheld_reason
from assay.version import tool_version
from assay.words.text import text

if TYPE_CHECKING:
    from pathlib import Path

    from assay.archive.verify.evidence import Part

__all__ = ["RULES", "Answer", "Rule", "Verification", "verify_run"]

PLACES_MAX = 20
"""Broken places of a rule that are named; the others are counted."""
_GATES: tuple[Part, ...] = ("folder", "tables")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """The result of verifying one run folder.

    run_id, tool_version : of the run; empty if ``run.json`` cannot be read. edition : its name. checker : version of
    the tool that verified it. rules : IDs of the rules that were checked. unchecked : IDs of the others: they
    rest on damaged files, or need what an earlier version did not store. answers : one for each place where a rule is
    broken, in the order of the rules.
    journal_hash : SHA-256 of the journal's last line. complete : the journal ends with the end of the run; a run that
    was interrupted or cut breaks no rule. sequence_count : stored sequences of steps; None if unknown. withheld : why
    the run itself withholds results, by test, whatever was verified.
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
    """Check a run folder by every rule; nothing is written to it.

    Raises StoreError if it is no run folder, cannot be read, or has a form that this version does not know.
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
            rule_answers = _answers(rule, evidence, stopped=stopped)
            if rule_answers is not None:
                answers += rule_answers
                checked.append(rule.id)
            stopped |= bool(rule_answers) and part in _GATES
    facts = _document_facts(evidence)
    with suppress(AssayError):
        # If the run cannot be read, every rule that needs it has said so.
        facts |= foreign(lambda: _run_facts(evidence), str(folder))
    unchecked = tuple(rule.id for rule in RULES if rule.id not in checked)
    return Verification(**facts, rules=tuple(checked), unchecked=unchecked, answers=tuple(answers))


def _applies(rule: Rule, evidence: Evidence) -> bool:
    """Whether a run stores what a rule needs. If that cannot be read, the rule applies, and reports the fault."""
    try:
        return rule.applies is None or foreign(lambda: bool(rule.applies and rule.applies(evidence)), "")
    except AssayError:
        return True


def _answers(rule: Rule, evidence: Evidence, *, stopped: bool) -> list[Answer] | None:
    """Check a rule. An error breaks it as well: a good folder raises none.

    stopped : a rule that this one rests on is broken; an error then says nothing of this rule, and None is returned.
    """
    try:
        broken = foreign(lambda: tuple(rule.check(evidence)), str(evidence.folder))
    except AssayError as error:
        if stopped:
            return None
        broken = (Broken(place=error.thing, found=error.reason, expected=rule.sentence),)
    answers = [
        Answer(rule=rule.id, place=evidence.place(fault.place), found=fault.found, expected=fault.expected)
        for fault in broken[:PLACES_MAX]
    ]
    if (more := len(broken) - PLACES_MAX) > 0:
        answers.append(Answer(rule=rule.id, place="", found=f"and in {more:,} more places", expected=rule.sentence))
    return answers


def _run_facts(evidence: Evidence) -> dict[str, Any]:
    """The end of the run, and why it withholds results."""
    run, journal = evidence.run, evidence.journal
    withheld = ((test.settings.test, text(reason)) for test in run.tests if (reason := withheld_reason(test)))
    codes = stored_exit_codes(run)
    count = sum(line.kind == "steps" for line in journal.lines)
    end = {"journal_hash": journal.digest, "complete": journal.complete, "sequence_count": count}
    return {**end, "withheld": tuple(withheld), "exit_codes": codes}


def _document_facts(evidence: Evidence) -> dict[str, Any]:
    """The version that checks, and, if ``run.json`` can be read, its facts."""
    checker = tool_version()
    try:
        document = evidence.document
    except StoreError:
        return {"checker": checker}
    edition = str(document.edition.get("name", ""))
    written_by = document.platform.tool_version
    return {"checker": checker, "edition": edition, "run_id": document.run_id, "tool_version": written_by}
