"""The label comes from what ran: a run that was edited does not come out as conforming."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from assay.procedures.conformity import conformity_label, derived_deviations
from assay.procedures.families.loop.plan import LoopSettings
from every_kind import EVERY, KINDS, run_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from assay.engine.records import StoredRun

MINUTE_NS = 60 * 10**9


@pytest.fixture(scope="module")
def shipped(quiet: Callable[[str], StoredRun], tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], StoredRun]:
    """A quiet run of a kind by an edition as it is shipped."""
    folder = tmp_path_factory.mktemp("shipped")
    found: dict[str, StoredRun] = {}

    def of(kind: str) -> StoredRun:
        if "edition" not in KINDS[kind]:
            return quiet(kind)
        if kind not in found:
            found[kind] = run_of(kind, folder / kind, edition="pts-e-1.1")
        return found[kind]

    return of


@pytest.mark.parametrize("kind", EVERY)
def test_what_the_planner_lists_is_found_again_in_what_ran_and_nothing_else(
    kind: str, shipped: Callable[[str], StoredRun]
) -> None:
    run = shipped(kind)
    # No plan knows how many I/Os will end in a step of 60 ms.
    derived = {text for text in derived_deviations(run) if not text.startswith("short window: ")}
    assert derived == set(run.deviations)


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("iops", "cells of 0.06 s instead of 1 min"),
        ("wsat", "samples of 0.06 s instead of 1 min"),
        pytest.param("hir", "bursts of 0.05 s instead of 5 s", marks=pytest.mark.long),
        ("xsr", "for 28.8 s instead of 8 h"),
        ("dirth", "operating points of 0.6 s instead of 10 min"),
        ("study-oio", "study oio is no test of the specification"),
    ],
)
def test_a_run_that_hides_its_deviations_does_not_conform(
    kind: str, said: str, shipped: Callable[[str], StoredRun]
) -> None:
    run = shipped(kind)
    edited = replace(run, deviations=(), plan={}, identity=replace(run.identity, kind="block", write_cache="disabled"))
    label = conformity_label(edited)
    assert label.startswith("not conforming: ")
    assert said in label


def test_settings_that_claim_a_minute_do_not_hide_cells_of_less(shipped: Callable[[str], StoredRun]) -> None:
    run = shipped("iops")
    (test,) = run.tests
    claimed = replace(test, settings=replace(test.settings_as(LoopSettings), step_ns=MINUTE_NS))
    edited = replace(run, deviations=(), tests=(claimed,), identity=replace(run.identity, kind="block"))
    assert "cells of 0.06 s instead of 1 min" in conformity_label(edited)


def test_preconditioning_that_wrote_too_little_and_demands_that_were_exceeded_are_deviations(
    shipped: Callable[[str], StoredRun],
) -> None:
    run = shipped("lat")
    (test,) = run.tests
    sequences = tuple(
        replace(one, steps=tuple(replace(step, outstanding_ns=4 * step.span_ns) for step in one.steps))
        for one in test.sequences
        if one.stage != "precondition"
    )
    found = derived_deviations(replace(run, tests=(replace(test, sequences=sequences),)))
    assert "preconditioning of 0.00 GB instead of 2.00 GB" in found
    assert "lat: 4 I/Os outstanding in the mean instead of 1" in found
