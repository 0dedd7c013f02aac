"""The page on JSON has every key of a run."""

from __future__ import annotations

from pathlib import Path

from assay.report.formats import data as forms
from assay.summary.forms import ListedRun, ListedTest, Quoted, ShownDrive


def test_the_table_of_a_run_in_the_guide_of_formats_has_every_key() -> None:
    page = (Path(__file__).parents[2] / "docs/formats/output.md").read_text("utf-8")
    for model in (
        forms.ShownForm,
        forms.TestForm,
        forms.VerdictForm,
        forms.MeasureForm,
        forms.TableForm,
        ShownDrive,
        Quoted,
        ListedRun,
        ListedTest,
    ):
        names = {field.alias or name for name, field in model.model_fields.items()}
        assert {name for name in names if f"`{name}`" not in page} == set(), model
