"""What every entry of the registry has: words, tables and the header from which its page is made."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from assay.engine import records
from assay.errors import UsageError
from assay.procedures.editions import edition_model, edition_names, load_edition
from assay.procedures.registry import SUITES, find_procedure, known_studies, known_tests, procedures
from assay.run.plan_file import Plan

if TYPE_CHECKING:
    from assay.plan.procedure import Procedure

FIELDS = ("Question", "Purge", "Precondition", "Loop", "Result")
STUDY_FIELDS = ("Question", "Preparation", "Loop", "Result")


@pytest.mark.parametrize("one", procedures(), ids=lambda one: one.label)
def test_each_has_its_words_and_a_header_in_the_fixed_form(one: Procedure) -> None:  # type: ignore[type-arg]
    assert all((one.title, one.question, one.outline, one.preconditioning))
    assert issubclass(one.settings, records.TestSettings)
    found = re.findall(r"^([A-Z][A-Za-z ]+):", one.header, re.MULTILINE)
    fields = STUDY_FIELDS if "Preparation" in found else FIELDS
    assert [name for name in found if name in {*FIELDS, *STUDY_FIELDS}] == list(fields)


def test_names_are_told_apart_and_found() -> None:
    names = [one.name for one in procedures()]
    assert len(set(names)) == len(names)
    assert [find_procedure(name).name for name in names] == names
    with pytest.raises(UsageError, match="known are wsat, iops"):
        find_procedure("stream")


def test_tests_come_before_studies() -> None:
    kinds = [one.kind for one in procedures()]
    assert kinds == sorted(kinds, key=["test", "study"].index)
    assert (*known_tests(), *known_studies()) == tuple(one.name for one in procedures())


def test_suites_name_tests_studies_and_editions_that_there_are() -> None:
    for edition, suite_tests, suite_studies in SUITES.values():
        assert edition in edition_names()
        assert suite_tests or suite_studies
        assert {find_procedure(name).kind for name in suite_tests} <= {"test"}
        assert {find_procedure(name).kind for name in suite_studies} <= {"study"}


def test_an_edition_and_a_plan_have_a_table_for_every_test() -> None:
    tables = {one.name for one in procedures() if one.table is not None}
    assert tables <= set(edition_model().model_fields)
    assert {one.key for one in procedures()} <= set(Plan.model_fields)
    assert all(load_edition("pts-e-2.0").table(name) is not None for name in tables)
