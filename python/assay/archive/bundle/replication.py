"""Replication of a result: on another host, by another drive of the model, within 5 % in every number."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from assay.archive.bundle.redact import is_redacted
from assay.procedures.conformity import conformity_label
from assay.report import records_of_tests
from assay.words.printed import paragraph

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from assay.engine.records import Demand, StoredRun
    from assay.summary.pages.test_record import TestRecord

WITHIN = 0.05
"""Share of the smaller of two numbers. Source: MLPerf Storage, submission guidelines, 6.7: replicable within 5 %."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replication:
    """How two runs agree. replicated : every number agrees. reason : why not; empty if they replicate.

    difference_max : the largest difference of two numbers over the smaller, None if none were compared.
    """

    replicated: bool
    reason: str
    difference_max: float | None = None


def replication(
    first: StoredRun, second: StoredRun, reported: Callable[[StoredRun], list[TestRecord]] = records_of_tests
) -> Replication:
    """Whether the key results of two runs, read with their histograms, replicate each other.

    They do where host and drive are known and differ, the drive's model, the edition, the label and the tests are the
    same, no result is withheld, and each number differs by at most 5 % of the smaller. A simulated drive has no second
    sample, and a redacted run no known host: neither replicates anything. A run with the ID, seed, start or response
    times of the other is a copy. A run of this host counts unsigned, any other only with a signature that the user
    trusts.
    reported : the tests of a run with their numbers, for several pairs that have a run in common.
    Worked: 100,000 and 104,900 IOPS, all else alike -> replicated; 100,000 and 105,100 -> not.
    """
    unlike = _unlike(first, second)
    if unlike:
        return Replication(replicated=False, reason=unlike)
    if (first.edition.get("name"), conformity_label(first)) != (second.edition.get("name"), conformity_label(second)):
        return Replication(replicated=False, reason="edition or label differ")
    return _compared(reported(first), reported(second))


def replicated_by(runs: Sequence[StoredRun]) -> list[list[int]]:
    """For each run the indexes of the runs that replicate it, from 0."""
    known: dict[int, list[TestRecord]] = {}

    def reported(run: StoredRun) -> list[TestRecord]:
        return known.get(id(run)) or known.setdefault(id(run), records_of_tests(run))

    result: list[list[int]] = [[] for _ in runs]
    for index, other in combinations(range(len(runs)), 2):
        if replication(runs[index], runs[other], reported).replicated:
            result[index].append(other)
            result[other].append(index)
    return list(map(sorted, result))


def _reason(run: StoredRun) -> str | None:
    """Why a run can replicate nothing."""
    if run.identity.kind == "simulated":
        return "a simulated drive has no second sample"
    if is_redacted(run.description):
        return "host and drive of a redacted run are not known"
    if not (run.tests and run.journal and run.journal.complete):
        return "a run did not end"
    identity = run.identity
    if not (run.platform.host_id and identity.model_number and (identity.serial or identity.wwn)):
        return "host, model or serial are not known"
    return None


def _unlike(first: StoredRun, second: StoredRun) -> str | None:
    reason = _reason(first) or _reason(second)
    if reason:
        return reason
    if first.platform.host_id == second.platform.host_id:
        return "both were measured on the same host"
    mine, theirs = first.identity, second.identity
    if mine.model_number != theirs.model_number or mine.capacity_bytes != theirs.capacity_bytes:
        return "the drives are of different models"
    if (mine.serial, mine.wwn) == (theirs.serial, theirs.wwn):
        return "both were measured on the same drive"
    return _copied(first, second) or _unsigned(first, second)


def _copied(first: StoredRun, second: StoredRun) -> str | None:
    """Values that only a copy of a run shares with it."""
    if first.run_id == second.run_id:
        return "both have the same run ID"
    if first.started_wall_ns == second.started_wall_ns:
        return "both began at the same instant"
    if first.seed is not None and first.seed == second.seed:
        return "both drew from the same seed"
    return "both hold the same response times" if first.digests & second.digests else None


def _unsigned(first: StoredRun, second: StoredRun) -> str | None:
    """Why two runs of different hosts lack a trusted signature; one of the hosts may be this one."""
    unsigned = [run for run in (first, second) if run.origin is None or run.origin.signer is None]
    if len(unsigned) > 1 or any(run.origin is not None for run in unsigned):
        return "a run of another host is not signed by a trusted key"
    return None


def _compared(first: Sequence[TestRecord], second: Sequence[TestRecord]) -> Replication:
    if [*map(_demands, first)] != [*map(_demands, second)]:
        return Replication(replicated=False, reason="the tests or their demands differ")
    numbers = [_numbers(tests) for tests in (first, second)]
    if not numbers[0] or numbers[0].keys() != numbers[1].keys():
        return Replication(replicated=False, reason="they do not have the same key results")
    return _judged(*numbers)


def _judged(first: dict[str, float | None], second: dict[str, float | None]) -> Replication:
    worst, most = "", 0.0
    for name, mine in first.items():
        theirs = second[name]
        if mine is None or theirs is None:
            return Replication(replicated=False, reason=f"{name} is not there in both")
        if (difference := _difference(mine, theirs)) > most:
            worst, most = name, difference
    reason = f"{worst} differs by {most:.2%}".replace("%", " %") if most > WITHIN else ""
    return Replication(replicated=most <= WITHIN, reason=reason, difference_max=most)


def _difference(mine: float, theirs: float) -> float:
    if mine == theirs:
        return 0.0
    least = min(abs(mine), abs(theirs))
    return abs(mine - theirs) / least if least and (mine > 0) == (theirs > 0) else float("inf")


def _demands(report: TestRecord) -> tuple[str, set[Demand], bool]:
    """Name and demands of a test, and whether its results may be shown."""
    measured = (sequence for sequence in report.test.sequences if sequence.role == "measure")
    demands = {step.demand for sequence in measured for step in sequence.asked}
    return report.test.settings.test, demands or {report.test.settings.demand}, report.withheld is None


def _numbers(tests: Sequence[TestRecord]) -> dict[str, float | None]:
    numbers = {}
    for index, report in enumerate(tests, 1):
        for measure in (measure for measure in report.measures if measure.quoted):
            name = f"{index} {report.label} {measure.printed} ({paragraph(measure.unit)})"
            numbers[name] = None if measure.value is None else float(measure.value)
    return numbers
